"""What every host keeps: run on the fake and on the bare disk; the editor's joins by a factory."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from lsprotocol import types

from sidelight.core.content import ToolUse
from sidelight.core.decision import Reason
from sidelight.core.host import (
    EditOutcome,
    FileEdit,
    FileSnapshot,
    Host,
    PermissionPrompt,
    PermissionReply,
    TextEdit,
)
from sidelight.core.ledger import digest_of
from sidelight.headless.host import DiskHost
from sidelight.lsp.convert import path_of
from sidelight.lsp.edits import Edits
from sidelight.lsp.host import LspHost
from sidelight.lsp.questions import Questions
from sidelight.lsp.start import build
from tests.fakes.door import NoDoor
from tests.fakes.editor import OURS, PLAIN, FakeEditor, connected
from tests.fakes.host import FakeHost

pytestmark = pytest.mark.anyio


@dataclass
class Harness:
    """A host and the world behind it: `put` and `get` go past the host to the saved files.

    `typed` makes this the text of an open document, unsaved; False where nothing is open.
    """

    host: Host
    root: Path
    put: Callable[[str, str], None]
    get: Callable[[str], str | None]
    notices: Callable[[], list[tuple[str, str]]]
    watched: Callable[[], tuple[str, ...]]
    typed: Callable[[str, str], bool] = lambda path, text: False

    def path(self, name: str) -> str:
        return str(self.root / name)


def fake(root: Path) -> Harness:
    host = FakeHost()

    def notices() -> list[tuple[str, str]]:
        return list(host.notices)

    def typed(path: str, text: str) -> bool:
        host.open(path, text)
        return True

    return Harness(
        host, root, host.files.__setitem__, host.files.get, notices, lambda: host.watched, typed
    )


def disk(root: Path) -> Harness:
    notices: list[tuple[str, str]] = []

    async def answer(prompt: PermissionPrompt) -> PermissionReply:
        return PermissionReply(behavior="deny", feedback="Nobody is there.")

    host = DiskHost(lambda severity, text: notices.append((severity, text)), answer)

    def put(path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode())

    def get(path: str) -> str | None:
        return Path(path).read_bytes().decode() if Path(path).exists() else None

    return Harness(host, root, put, get, lambda: notices, lambda: host.watched)


@asynccontextmanager
async def editor(root: Path, *, opens: bool, ours: bool) -> AsyncGenerator[Harness]:
    """The editor's host over the protocol; with `opens` every file is open in the editor."""
    server = build("0.0.0", lambda _: NoDoor())
    async with connected(server) as client:
        fake = FakeEditor(client, ours=ours)
        await client.initialize(OURS if ours else PLAIN)
        client.answers.update(dict.fromkeys(("client/registerCapability",), _nothing))
        client.answers["client/unregisterCapability"] = _nothing
        client.answers["session/request_permission"] = _deny
        host = LspHost(server, "s1", Edits(server, lambda: "save"), Questions(server))

        def put(path: str, text: str) -> None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_bytes(text.encode())
            if opens:
                uri = Path(path).as_uri()
                fake.texts[uri], fake.versions[uri] = text, 1
                server.buffers.open(uri, 1, text, "text")

        def get(path: str) -> str | None:
            return Path(path).read_bytes().decode() if Path(path).exists() else None

        def watched() -> tuple[str, ...]:
            (registration,) = client.named("client/registerCapability")[-1]["registrations"]
            globs = [one["globPattern"] for one in registration["registerOptions"]["watchers"]]
            return tuple(path_of(f"{one['baseUri']}{one['pattern']}") for one in globs)

        def notices() -> list[tuple[str, str]]:
            told = client.named("_sidelight/notice")
            return [(one["severity"], one["text"]) for one in told]

        def typed(path: str, text: str) -> bool:
            uri = Path(path).as_uri()
            if not opens:
                return False
            if uri not in fake.texts:
                server.buffers.open(uri, 1, "", "text")
            version = fake.versions[uri] = fake.versions.get(uri, 1) + 1
            fake.texts[uri] = text
            whole = types.TextDocumentContentChangeWholeDocument(text=text)
            server.buffers.change(uri, version, [whole])
            return True

        yield Harness(host, root, put, get, notices, watched, typed)


async def _nothing(_: object) -> object:
    return None


async def _deny(_: object) -> object:
    chosen = {"outcome": "selected", "optionId": "reject_once"}
    return {"outcome": {**chosen, "_meta": {"sidelight": {"feedback": "No."}}}}


@asynccontextmanager
async def ready(harness: Harness) -> AsyncGenerator[Harness]:
    yield harness


FACTORIES: dict[str, Callable[[Path], AbstractAsyncContextManager[Harness]]] = {
    "fake": lambda root: ready(fake(root)),
    "disk": lambda root: ready(disk(root)),
    "editor, closed files": lambda root: editor(root, opens=False, ours=True),
    "editor, open files": lambda root: editor(root, opens=True, ours=True),
}


@pytest.fixture(params=FACTORIES)
async def harness(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Harness]:
    async with FACTORIES[request.param](tmp_path) as harness:
        yield harness


def edit(path: str, base: str | None, *edits: tuple[int, int, str]) -> FileEdit:
    return FileEdit(
        path=path,
        base=None if base is None else digest_of(base),
        edits=tuple(TextEdit(start=a, end=b, new_text=text) for a, b, text in edits),
    )


async def apply(harness: Harness, *edits: FileEdit) -> EditOutcome:
    with anyio.fail_after(5):
        return await harness.host.apply_edit(edits, "a test")


async def test_a_text_is_read_with_its_exact_line_ends(harness: Harness) -> None:
    harness.put(harness.path("a.txt"), "one\r\ntwo\n\x0c\u2028three\r")
    with anyio.fail_after(5):
        snapshot = await harness.host.read_text(harness.path("a.txt"))
    assert snapshot.model_copy(update={"version": None}) == FileSnapshot(
        path=harness.path("a.txt"),
        text="one\r\ntwo\n\x0c\u2028three\r",
        digest=digest_of("one\r\ntwo\n\x0c\u2028three\r"),
    )


async def test_documents_with_unsaved_changes_are_told(harness: Harness) -> None:
    """B034: what a search has to know."""
    one, two, new = harness.path("1.txt"), harness.path("2.txt"), harness.path("new.txt")
    harness.put(one, "one\r\n")
    harness.put(two, "two\n")
    opens = [harness.typed(one, "one more\r\n"), harness.typed(two, "two\n")]
    opens.append(harness.typed(new, "new\n"))
    with anyio.fail_after(5):
        told = [(each.path, each.text, each.unsaved) for each in await harness.host.unsaved()]
    expected = [(one, "one more\r\n", True), (new, "new\n", True)]
    assert told == (expected if all(opens) else [])


async def test_a_missing_file_and_a_folder_are_told_apart(harness: Harness) -> None:
    harness.put(harness.path("folder/a.txt"), "x")
    with anyio.fail_after(5):
        with pytest.raises(FileNotFoundError):
            await harness.host.read_text(harness.path("none.txt"))
        with pytest.raises(IsADirectoryError):
            await harness.host.read_text(harness.path("folder"))


async def test_an_edit_is_saved_when_it_returns_and_tells_the_text_after(harness: Harness) -> None:
    """B031: what follows the edit, a shell command say, sees its effect."""
    path = harness.path("a.txt")
    harness.put(path, "one two three")
    outcome = await apply(harness, edit(path, "one two three", (0, 3, "1"), (8, 13, "3")))
    assert (outcome.applied, outcome.failure) == (True, "")
    assert [(s.path, s.text, s.digest) for s in outcome.after] == [
        (path, "1 two 3", digest_of("1 two 3"))
    ]
    assert harness.get(path) == "1 two 3"


async def test_offsets_count_code_points(harness: Harness) -> None:
    """B032: an emoji is one."""
    path = harness.path("a.py")
    harness.put(path, 'x="😋😋"; y=1')
    await apply(harness, edit(path, 'x="😋😋"; y=1', (8, 9, "z")))
    assert harness.get(path) == 'x="😋😋"; z=1'


async def test_an_edit_for_an_older_text_changes_nothing(harness: Harness) -> None:
    """B025, B035: what the user wrote meanwhile stays."""
    path = harness.path("a.txt")
    harness.put(path, "a\nmine\n")
    outcome = await apply(harness, edit(path, "a\n", (0, 1, "b")))
    assert (outcome.applied, outcome.failure, outcome.after) == (False, "stale", ())
    assert harness.get(path) == "a\nmine\n"


async def test_all_files_are_changed_or_none_is(harness: Harness) -> None:
    one, two = harness.path("1.txt"), harness.path("2.txt")
    harness.put(one, "one")
    harness.put(two, "changed")
    outcome = await apply(harness, edit(one, "one", (0, 3, "1")), edit(two, "two", (0, 3, "2")))
    assert (outcome.applied, outcome.failure) == (False, "stale")
    assert (harness.get(one), harness.get(two)) == ("one", "changed")


async def test_a_new_file_is_made_and_an_existing_one_is_not_taken_for_new(
    harness: Harness,
) -> None:
    path = harness.path("deep/er/new.txt")
    first = await apply(harness, edit(path, None, (0, 0, "hello\n")))
    assert (first.applied, harness.get(path)) == (True, "hello\n")
    second = await apply(harness, edit(path, None, (0, 0, "other\n")))
    assert (second.applied, second.failure) == (False, "stale")
    assert harness.get(path) == "hello\n"


async def test_an_edit_of_a_file_that_is_gone_says_so(harness: Harness) -> None:
    outcome = await apply(harness, edit(harness.path("gone.txt"), "x", (0, 1, "y")))
    assert (outcome.applied, outcome.failure) == (False, "gone")


@pytest.mark.parametrize(
    "edits",
    [((4, 5, "x"), (0, 1, "y")), ((0, 3, "x"), (2, 4, "y")), ((3, 9, "x"),)],
    ids=["unsorted", "overlapping", "outside"],
)
async def test_edits_that_do_not_fit_are_refused(
    harness: Harness, edits: tuple[tuple[int, int, str], ...]
) -> None:
    path = harness.path("a.txt")
    harness.put(path, "abcdef")
    outcome = await apply(harness, edit(path, "abcdef", *edits))
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert harness.get(path) == "abcdef"


async def test_of_two_edits_for_one_text_only_one_is_applied(harness: Harness) -> None:
    path = harness.path("a.txt")
    harness.put(path, "0")
    outcomes: list[bool] = []

    async def change(value: str) -> None:
        outcomes.append(
            (await harness.host.apply_edit((edit(path, "0", (0, 1, value)),), "")).applied
        )

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            for value in "1234":
                tasks.start_soon(change, value)
    assert sorted(outcomes) == [False, False, False, True]
    assert harness.get(path) in set("1234")


async def test_a_question_gets_an_answer_notices_and_watches_arrive(harness: Harness) -> None:
    prompt = PermissionPrompt(
        id="p1",
        call=ToolUse(id="t1", name="Bash", input={"command": "make"}),
        title="Run make",
        reason=Reason(layer="mode"),
    )
    with anyio.fail_after(5):
        reply = await harness.host.ask_permission(prompt)
        await harness.host.notify("warning", "careful")
        await harness.host.watch(("/a", "/b"))
        await harness.host.watch(("/c",))
    assert reply.behavior == "deny"
    assert reply.feedback
    assert harness.notices() == [("warning", "careful")]
    assert harness.watched() == ("/c",)


async def test_a_removal_deletes_the_file_and_has_no_text_afterwards(harness: Harness) -> None:
    path = harness.path("made.txt")
    harness.put(path, "mine\n")
    removal = FileEdit(path=path, base=digest_of("mine\n"), edits=(), removes=True)
    outcome = await harness.host.apply_edit((removal,), "Undo")
    assert (outcome.applied, outcome.after, harness.get(path)) == (True, (), None)
