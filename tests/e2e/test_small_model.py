"""The small model alone, over stdio with real inference: what it says is not judged, what becomes
of it is. Whatever it answers, a file is either changed as the checks allow or not at all."""

import ast
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from sidelight.actions.checks import definitions, strip_docstring
from sidelight.actions.names import Names
from sidelight.model.local.weights import Store
from sidelight.process import group
from tests.e2e.conftest import ROOT, Desk
from tests.fakes.editor import OURS, PLAIN, FakeEditor
from tests.fakes.lsp_client import lsp_client
from tests.fakes.small_model import installed, require, smollm2

pytestmark = [pytest.mark.anyio, pytest.mark.req("MODEL-06")]
SECONDS = 60
NOBODY = 0x7FFFFFFF
CODE = """def area(width, height):
    size = width * height
    return size


def both(a, b):
    return area(a, b), area(b, a)
"""


@pytest.fixture(autouse=True)
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    require()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return installed()


@asynccontextmanager
async def small_desk(
    folder: Path, *, ours: bool = True, idle_s: float = 60, locale: str = "en"
) -> AsyncGenerator[Desk]:
    """A server with the small model alone; our extension looks for a model at once."""
    path = f"{ROOT / 'server'}{os.pathsep}{ROOT}"
    command = [sys.executable, "-P", str(ROOT / "tests/e2e/small_server.py"), str(idle_s)]
    async with lsp_client(command, {**os.environ, "PYTHONPATH": path}) as client:
        editor = FakeEditor(client, ours=ours)
        client.answers["window/workDoneProgress/create"] = nothing
        client.answers["window/showDocument"] = success
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        await client.initialize(
            OURS if ours else PLAIN,
            workspaceFolders=folders,
            initializationOptions={"trusted": True},
            locale=locale,
        )
        yield Desk(client, editor, folder)


async def nothing(_: Any) -> Any:
    return None


async def success(_: Any) -> Any:
    return {"success": True}


def put(path: Path, text: str = CODE) -> Path:
    path.write_text(text)
    return path


def get(path: Path) -> str:
    return path.read_text()


def target(uri: str, line: int, start: int, end: int, **more: str) -> dict[str, Any]:
    ends = ({"line": line, "character": at} for at in (start, end))
    return {"uri": uri, "range": dict(zip(("start", "end"), ends, strict=True)), **more}


async def connect(desk: Desk) -> Any:
    return await desk.client.ask("_sidelight/connect", {})


async def command(desk: Desk, name: str, argument: Any) -> Any:
    params = {"command": f"sidelight.{name}", "arguments": [argument]}
    asked = await desk.client.begin(EXECUTE, params)
    answer = await desk.client.wait_for(lambda one: one.get("id") == asked, SECONDS)
    return answer.get("result"), answer.get("error")


EXECUTE = "workspace/executeCommand"


async def told(desk: Desk) -> str:
    """The sentence at the end of an action."""
    shown = await desk.client.wait_for(
        lambda one: one.get("method") == "window/showMessage", SECONDS
    )
    return shown["params"]["message"]


def child_of(pid: int) -> int | None:
    """The model's process of a server."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with suppress(OSError):  # it may end while it is looked at
            stat = (folder / "stat").read_text().rpartition(")")[2].split()
            if stat[1] == str(pid) and b"serve" in (folder / "cmdline").read_bytes():
                return int(folder.name)
    return None


async def started(pid: int) -> int:
    """Wait for the model's process of a server."""
    with anyio.fail_after(SECONDS):
        while (child := child_of(pid)) is None:  # noqa: ASYNC110 - nobody announces it
            await anyio.sleep(0.02)
    return child


async def gone(pid: int) -> None:
    """Wait until no such process lives."""
    with anyio.fail_after(20):
        while group.is_alive(NOBODY, frozenset({pid})):  # noqa: ASYNC110 - nobody announces it
            await anyio.sleep(0.02)


async def test_the_agent_is_off_with_the_reason_and_the_actions_are_on_and_marked(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path) as desk:
        uri = await desk.editor.open(path)
        connection = await connect(desk)
        assert connection["ready"] is False
        assert connection["problem"].startswith("Only the small local model is here.")
        assert "it cannot work as an agent, so the chat is off" in connection["problem"]
        assert "ANTHROPIC_API_KEY" in connection["problem"]
        assert connection["small"] == {
            "ready": True,
            "title": smollm2().title,
            "megabytes": 98,
            "licence": "Apache-2.0",
            "place": str(Store(smollm2()).folder),
        }
        assert desk.client.named("_sidelight/connection")[-1] == connection
        where = target(uri, 0, 4, 8)
        context = {"diagnostics": [{"range": where["range"], "message": "wrong"}]}
        params = {"textDocument": {"uri": uri}, "range": where["range"], "context": context}
        actions = await desk.client.ask("textDocument/codeAction", params)
        assert [action["title"] for action in actions] == [
            "Sidelight: explain the selection (small local model)",
            "Sidelight: write a docstring (small local model)",
            "Sidelight: rename (small local model)",
        ]
        session = await desk.new_session()
        await desk.ask(session, "do it all")
        assert "No model is set up" in desk.client.named("_sidelight/state")[-1]["error"]


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "plain"])
async def test_an_explanation_is_a_document_that_says_who_speaks(
    tmp_path: Path, *, ours: bool
) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path, ours=ours) as desk:
        uri = await desk.editor.open(path)
        assert await command(desk, "explain", target(uri, 1, 4, 25)) == (None, None)
        shown = await desk.client.wait_for(
            lambda one: one.get("method") == "window/showDocument", SECONDS
        )
        said = get(desk.editor.path(shown["params"]["uri"]))
        text, mark = said.split("\n\n---\n")
        assert text.strip()
        assert mark == "By the small local model on this computer; it may be wrong.\n"
        begun = [one["value"].get("title") for one in desk.client.named("$/progress")]
        assert begun[0] == "Sidelight: explain the selection (small local model)"
        assert get(path) == CODE


async def test_a_docstring_becomes_a_pending_hunk_or_the_file_stays(tmp_path: Path) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path) as desk:
        uri = await desk.editor.open(path)
        await connect(desk)
        session = await desk.new_session()
        assert await command(desk, "document", target(uri, 1, 4, 4)) == (None, None)
        words = await told(desk)
        if words.startswith("Failed: "):
            assert (get(path), desk.editor.edits) == (CODE, [])
            return
        assert words == "area has a docstring; look at it before you keep it."
        tree = ast.parse(get(path))
        assert ast.get_docstring(definitions(tree)[0])
        strip_docstring(definitions(tree)[0])
        assert ast.dump(tree) == ast.dump(ast.parse(CODE))
        changes = desk.client.named("_sidelight/changes")[-1]
        assert changes["sessionId"] == session
        assert [hunk["line"] for hunk in changes["files"][0]["hunks"]] == [2]
        review = {"sessionId": session, "action": "undo"}
        assert await desk.client.ask("_sidelight/review", review) == {"done": 1}
        assert get(path) == CODE


async def test_a_rename_is_the_deterministic_one_or_the_file_stays(tmp_path: Path) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path) as desk:
        uri = await desk.editor.open(path)
        await connect(desk)
        wish = target(uri, 0, 0, 0, words="rename size to square_size")
        assert await command(desk, "rename", wish) == (None, None)
        words = await told(desk)
        if words.startswith("Failed: "):
            assert (get(path), desk.editor.edits) == (CODE, [])
            return
        old, new = words.split()[0], words.split()[3]
        assert old == "size"
        assert get(path) == Names(CODE, str(path)).rename(old, new, 0, 0).after
        (file,) = desk.client.named("_sidelight/changes")[-1]["files"]
        assert file["path"] == str(path)


async def test_a_commit_message_is_the_answer_for_our_extension_and_a_message_elsewhere(
    tmp_path: Path,
) -> None:
    put(tmp_path / "a.py")
    for words in (["init", "-q"], ["add", "a.py"]):
        await anyio.run_process(["git", *words], cwd=tmp_path)
    folder = {"uri": tmp_path.as_uri()}
    async with small_desk(tmp_path) as desk:
        result, error = await command(desk, "commitMessage", folder)
        assert result or error["message"].startswith("The answer ")
        if result:
            assert 0 < len(result["text"]) <= 72
            assert "\n" not in result["text"]
    async with small_desk(tmp_path, ours=False) as desk:
        assert await command(desk, "commitMessage", folder) == (None, None)
        assert (await told(desk)).startswith(("Commit message: ", "Failed: "))


async def test_what_an_action_cannot_do_is_said_in_the_editors_language(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "words\n")
    async with small_desk(tmp_path, locale="zh-cn") as desk:
        uri = await desk.editor.open(path)
        await command(desk, "document", target(uri, 0, 0, 0))
        assert await told(desk) == "失败：本地小模型只改动 Python 文件。"
        _, error = await command(desk, "commitMessage", {"uri": tmp_path.as_uri()})
        assert error["message"] == f"{tmp_path} 不在 git 仓库中。"


async def test_the_process_starts_at_the_first_action_and_ends_when_idle(tmp_path: Path) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path, idle_s=1) as desk:
        uri = await desk.editor.open(path)
        await connect(desk)
        pid = desk.client.process.pid
        assert child_of(pid) is None
        await command(desk, "rename", target(uri, 0, 0, 0, words="rename size to total"))
        child = await started(pid)
        await told(desk)
        await gone(child)
        desk.client.messages.clear()
        await command(desk, "rename", target(uri, 0, 0, 0, words="rename both to pair"))
        again = await started(pid)
        assert again != child
        assert await desk.client.end() == 0
    await gone(again)


async def test_a_killed_server_leaves_no_model_behind(tmp_path: Path) -> None:
    path = put(tmp_path / "a.py")
    async with small_desk(tmp_path) as desk:
        uri = await desk.editor.open(path)
        await command(desk, "rename", target(uri, 0, 0, 0, words="rename size to total"))
        child = await started(desk.client.process.pid)
        os.kill(desk.client.process.pid, signal.SIGKILL)
        await gone(child)


async def test_a_long_action_can_be_stopped_and_another_is_not_begun_meanwhile(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.py", CODE * 15)
    async with small_desk(tmp_path) as desk:
        uri = await desk.editor.open(path)
        ends = {"start": {"line": 0, "character": 0}, "end": {"line": 80, "character": 0}}
        whole = {"uri": uri, "range": ends}
        assert await command(desk, "explain", whole) == (None, None)
        _, error = await command(desk, "explain", whole)
        assert error["message"] == "A task is running already; stop it first."
        await command(desk, "stop", {})
        assert await told(desk) == "Failed: Stopped"


async def test_without_it_it_is_offered_with_size_and_licence(tmp_path: Path, store: Store) -> None:
    async with small_desk(tmp_path) as desk:
        assert (await connect(desk))["small"]["ready"]
        store.remove()
        connection = await connect(desk)
        assert connection["small"]["ready"] is False
        assert connection["problem"].endswith(
            "Or get a small model that runs on this computer (98 MB, Apache-2.0): "
            "`sidelight local install`. It explains code, writes docstrings and commit messages, "
            "and renames. It cannot work as an agent."
        )
        _, error = await command(desk, "commitMessage", {"uri": tmp_path.as_uri()})
        assert error["message"] == "Ask for the commit message in the chat."
