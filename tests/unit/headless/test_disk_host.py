"""The disk host's own part: who answers, and what is said of old bytes."""

from pathlib import Path

import anyio
import pytest

from sidelight.core.content import ToolUse
from sidelight.core.decision import Reason
from sidelight.core.host import FileEdit, PermissionPrompt, PermissionReply, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.headless.host import DiskHost

pytestmark = pytest.mark.anyio
PROMPT = PermissionPrompt(
    id="p", call=ToolUse(id="t", name="Bash", input={}), title="Run", reason=Reason(layer="mode")
)


def silent(severity: str, text: str) -> None:
    """Nobody listens here."""


async def test_where_nobody_can_be_asked_the_answer_is_no_and_says_what_would_help() -> None:
    reply = await DiskHost(silent).ask_permission(PROMPT)
    assert reply == PermissionReply(
        behavior="deny",
        feedback=(
            "Nobody can be asked in this run, so Bash was denied. Go on without it, and name in "
            "the final answer what could not be done. The user can allow it with a rule in the "
            "settings, --allowedTools or --permission-mode."
        ),
    )


async def test_a_policy_can_answer() -> None:
    async def allow(prompt: PermissionPrompt) -> PermissionReply:
        return PermissionReply(behavior="allow", feedback=prompt.title)

    reply = await DiskHost(silent, allow).ask_permission(PROMPT)
    assert reply == PermissionReply(behavior="allow", feedback="Run")


async def test_encoding_and_mark_are_told_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"\xff\xfea\0\n\0")
    host = DiskHost(silent)
    snapshot = await host.read_text(str(path))
    assert (snapshot.text, snapshot.encoding, snapshot.bom) == ("a\n", "utf-16-le", "fffe")
    edit = FileEdit(
        path=str(path), base=digest_of("a\n"), edits=(TextEdit(start=0, end=1, new_text="é"),)
    )
    with anyio.fail_after(5):
        outcome = await host.apply_edit((edit,), "test")
    assert outcome.after[0].encoding == "utf-16-le"
    assert path.read_bytes() == b"\xff\xfe\xe9\0\n\0"
