"""Edits through an editor: nothing is lost, and what is told is what is there."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import anyio
import pytest

from sidelight.core.errors import HostError
from sidelight.core.host import EditOutcome, FileEdit, FileSnapshot, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.lsp import edits as edits_module
from tests.unit.lsp.conftest import World

pytestmark = [pytest.mark.anyio, pytest.mark.req("EDITOR-03")]
Make = Callable[..., AbstractAsyncContextManager[World]]


def put(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def get(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a b 中.txt"
    put(path, b"one\r\ntwo\r\n")
    return path


def edit(path: Path, base: str | None, *parts: tuple[int, int, str]) -> FileEdit:
    return FileEdit(
        path=str(path),
        base=None if base is None else digest_of(base),
        edits=tuple(TextEdit(start=a, end=b, new_text=text) for a, b, text in parts),
    )


async def apply(world: World, *edits: FileEdit) -> EditOutcome:
    with anyio.fail_after(5):
        return await world.host.apply_edit(edits, "a test")


async def reach(world: World, uri: str, version: int) -> None:
    """Wait until the server has seen a version."""
    with anyio.fail_after(5):
        while (buffer := world.server.buffers.get(uri)) is None or buffer.version < version:
            await anyio.lowlevel.checkpoint()


async def open_file(world: World, path: Path, text: str | None = None) -> str:
    uri = await world.editor.open(path, text)
    await reach(world, uri, 1)
    return uri


async def test_an_open_file_is_edited_by_one_request_with_its_version(
    make: Make, file: Path
) -> None:
    """B010: the editor writes the file, not we."""
    async with make() as world:
        uri = await open_file(world, file)
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (5, 8, "2"), (10, 10, "😋x\r\n")))
        assert world.editor.edits == [
            {
                "label": "a test",
                "edit": {
                    "documentChanges": [
                        {
                            "textDocument": {"uri": uri, "version": 1},
                            "edits": [
                                {
                                    "range": {
                                        "start": {"line": 1, "character": 0},
                                        "end": {"line": 1, "character": 3},
                                    },
                                    "newText": "2",
                                },
                                {
                                    "range": {
                                        "start": {"line": 2, "character": 0},
                                        "end": {"line": 2, "character": 0},
                                    },
                                    "newText": "😋x\r\n",
                                },
                            ],
                        }
                    ]
                },
            }
        ]
        text = "one\r\n2\r\n😋x\r\n"
        after = FileSnapshot(path=str(file), text=text, digest=digest_of(text), version=2)
        assert outcome == EditOutcome(applied=True, after=(after,))
        assert get(file) == text.encode()


async def test_what_the_formatter_does_at_the_save_belongs_to_the_edit(
    make: Make, file: Path
) -> None:
    async with make() as world:
        await open_file(world, file)
        world.editor.on_save = lambda text: text.replace("  ", " ")
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1  1")))
        assert [(one.text, one.version, one.unsaved) for one in outcome.after] == [
            ("1 1\r\ntwo\r\n", 3, False)
        ]
        assert get(file) == b"1 1\r\ntwo\r\n"


async def test_unsaved_text_is_what_is_read_and_edited(make: Make, file: Path) -> None:
    """B034: the disk is older than the buffer."""
    async with make() as world:
        uri = await open_file(world, file)
        await world.editor.write(uri, "one\r\ntwo\r\nmine\r\n")
        await reach(world, uri, 2)
        snapshot = await world.host.read_text(str(file))
        assert (snapshot.text, snapshot.version, snapshot.unsaved) == (
            "one\r\ntwo\r\nmine\r\n",
            2,
            True,
        )
        stale = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert (stale.applied, stale.failure) == (False, "stale")
        outcome = await apply(world, edit(file, snapshot.text, (0, 3, "1")))
        assert (outcome.applied, outcome.note) == (True, "")
        assert get(file) == b"1\r\ntwo\r\nmine\r\n"


@pytest.mark.parametrize("ours", [True, False])
@pytest.mark.parametrize("by", ["editor", "settings"])
async def test_unsaved_text_stays_unsaved_where_the_user_wants_it_so(
    make: Make, file: Path, ours: bool, by: str
) -> None:
    options = {"unsavedBuffers": "keep"} if by == "editor" else {}
    setting = "save" if by == "editor" else "keep"
    async with make(ours=ours, unsaved=setting, initializationOptions=options) as world:
        world.editor.saves = False
        await open_file(world, file, "mine\r\n")
        outcome = await apply(world, edit(file, "mine\r\n", (0, 4, "ours")))
        assert outcome.applied
        assert outcome.note == (
            f"{file} had unsaved changes before this edit and is not saved: "
            "the disk is older than the editor's text."
        )
        assert [(one.text, one.unsaved) for one in outcome.after] == [("ours\r\n", True)]
        assert get(file) == b"one\r\ntwo\r\n"


async def test_a_save_that_fails_is_told_and_the_disk_is_not_assumed(
    make: Make, file: Path
) -> None:
    async with make() as world:
        await open_file(world, file)
        world.editor.cannot_save = True
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert outcome.note == (
            f"The editor did not save {file} (not saved: {file}): the disk is older than its text."
        )
        assert get(file) == b"one\r\ntwo\r\n"


async def test_a_plain_editor_has_the_file_written_for_it(make: Make, file: Path) -> None:
    async with make(ours=False) as world:
        uri = await open_file(world, file)
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "中")))
        assert (outcome.applied, outcome.note) == (True, "")
        assert get(file) == "中\r\ntwo\r\n".encode()
        assert world.editor.texts[uri] == "中\r\ntwo\r\n"
        assert not outcome.after[0].unsaved


async def test_a_file_that_another_program_changed_is_not_written_for_a_plain_editor(
    make: Make, file: Path
) -> None:
    async with make(ours=False) as world:
        await open_file(world, file)

        async def change() -> None:
            put(file, b"theirs\r\n")

        world.editor.before_apply = change
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert outcome.applied
        assert "the disk is older than the editor's text" in outcome.note
        assert get(file) == b"theirs\r\n"


async def test_what_the_user_types_at_that_moment_is_kept(make: Make, file: Path) -> None:
    """B035: the editor refuses an old version without a reason."""
    async with make() as world:
        uri = await open_file(world, file)
        world.editor.before_apply = lambda: world.editor.write(uri, "typed\r\n")
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert (outcome.applied, outcome.failure) == (False, "stale")
        assert world.editor.texts[uri] == "typed\r\n"


async def test_an_editor_that_refuses_is_believed(make: Make, file: Path) -> None:
    """B050."""
    async with make() as world:
        await open_file(world, file)
        world.editor.refusal = "read only"
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert outcome == EditOutcome(
            applied=False,
            failure="refused",
            detail="the editor did not apply the edit: read only",
        )
        assert get(file) == b"one\r\ntwo\r\n"


async def test_an_editor_that_only_says_that_it_applied_is_not_believed(
    make: Make, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edits_module, "SECONDS_TO_REPORT", 0.05)
    async with make(ours=False) as world:
        await open_file(world, file)
        world.editor.reports = False
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert (outcome.applied, outcome.failure) == (False, "refused")
        assert "its text is as before" in outcome.detail


async def test_edits_of_one_document_wait_for_each_other(make: Make, file: Path) -> None:
    """B037."""
    async with make() as world:
        await open_file(world, file)
        outcomes: list[bool] = []

        async def change(number: int) -> None:
            outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, str(number))))
            outcomes.append(outcome.applied)

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(change, number)
        assert sorted(outcomes) == [False] * 9 + [True]
        assert world.editor.most_at_once == 1


async def test_open_and_closed_files_are_changed_together_or_not_at_all(
    make: Make, file: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed.txt"
    put(closed, b"closed\n")
    async with make() as world:
        await open_file(world, file)
        both = edit(file, "one\r\ntwo\r\n", (0, 3, "1")), edit(closed, "old\n", (0, 3, "new"))
        outcome = await apply(world, *both)
        assert (outcome.applied, outcome.failure) == (False, "stale")
        assert world.editor.edits == []
        both = both[0], edit(closed, "closed\n", (0, 6, "new"))
        outcome = await apply(world, *both)
        assert [(Path(one.path).name, one.text) for one in outcome.after] == [
            ("a b 中.txt", "1\r\ntwo\r\n"),
            ("closed.txt", "new\n"),
        ]
        assert (get(file), get(closed)) == (b"1\r\ntwo\r\n", b"new\n")


async def test_the_editor_takes_its_part_back_when_the_disk_refuses(
    make: Make, file: Path, tmp_path: Path
) -> None:
    new = tmp_path / "new.txt"
    async with make() as world:
        uri = await open_file(world, file)

        async def forestall() -> None:
            put(new, b"already\n")

        world.editor.before_apply = forestall
        both = edit(file, "one\r\ntwo\r\n", (0, 3, "1")), edit(new, None, (0, 0, "new\n"))
        outcome = await apply(world, *both)
        assert (outcome.applied, outcome.failure) == (False, "stale")
        assert world.editor.texts[uri] == "one\r\ntwo\r\n"
        assert (get(file), get(new)) == (b"one\r\ntwo\r\n", b"already\n")


async def test_a_clean_buffer_that_is_older_than_its_file_is_read_from_the_file(
    make: Make, file: Path
) -> None:
    """B040: changed on disk while dirty, then typed back to what was saved."""
    async with make() as world:
        uri = await open_file(world, file)
        await world.editor.save(uri)
        await world.editor.write(uri, "dirty\r\n")
        put(file, b"one\r\ntwo\r\nthree\r\n")
        await world.editor.watched(file)
        await reach(world, uri, 2)
        assert (await world.host.read_text(str(file))).text == "dirty\r\n"
        await world.editor.write(uri, "one\r\ntwo\r\n")
        await reach(world, uri, 3)
        snapshot = await world.host.read_text(str(file))
        assert snapshot.text == "one\r\ntwo\r\nthree\r\n"
        outcome = await apply(world, edit(file, snapshot.text, (5, 8, "2")))
        assert outcome.applied
        assert get(file) == b"one\r\n2\r\nthree\r\n"
        assert world.editor.texts[uri] == "one\r\n2\r\nthree\r\n"


async def test_an_open_file_is_removed_by_the_editor_or_without_it(make: Make, file: Path) -> None:
    removal = edit(file, "one\r\ntwo\r\n").model_copy(update={"removes": True})
    async with make() as world:
        uri = await open_file(world, file)
        outcome = await apply(world, removal)
        assert outcome == EditOutcome(applied=True)
        assert get(file) is None
        assert uri not in world.editor.texts


async def test_an_open_file_is_removed_only_after_the_disk_took_its_part(
    make: Make, file: Path, tmp_path: Path
) -> None:
    locked = tmp_path / "locked.txt"
    put(locked, b"closed\n")
    locked.chmod(0o444)
    removal = edit(file, "one\r\ntwo\r\n").model_copy(update={"removes": True})
    async with make() as world:
        uri = await open_file(world, file)
        outcome = await apply(world, removal, edit(locked, "closed\n", (0, 6, "new")))
        assert (outcome.applied, outcome.failure) == (False, "refused")
        assert world.editor.texts[uri] == "one\r\ntwo\r\n"
        assert (get(file), get(locked)) == (b"one\r\ntwo\r\n", b"closed\n")
        locked.chmod(0o644)
        outcome = await apply(world, removal, edit(locked, "closed\n", (0, 6, "new")))
        assert [one.text for one in outcome.after] == ["new\n"]
        assert (get(file), get(locked)) == (None, b"new\n")


@pytest.mark.req("EDITOR-10")
@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "vscode-remote://wsl%2Bubuntu/w/a.py"], ids=["new", "remote"]
)
async def test_a_document_without_a_file_here_is_edited_by_its_own_uri(
    make: Make, uri: str
) -> None:
    """B145."""
    async with make() as world:
        item = {"uri": uri, "languageId": "text", "version": 1, "text": "draft"}
        await world.editor.client.notify("textDocument/didOpen", {"textDocument": item})
        world.editor.texts[uri], world.editor.versions[uri] = "draft", 1
        world.editor.saves = False
        await reach(world, uri, 1)
        part = TextEdit(start=0, end=5, new_text="text")
        base = digest_of("draft")
        outcome = await apply(world, FileEdit(path=uri, base=base, edits=(part,)))
        assert world.editor.texts[uri] == "text"
        assert outcome.note == f"{uri} has no file yet: its text is in the editor only."


async def test_a_file_written_again_with_the_same_text_is_not_changed(
    make: Make, file: Path
) -> None:
    """B041."""
    async with make() as world:
        await open_file(world, file)
        before = await world.host.read_text(str(file))
        put(file, b"one\r\ntwo\r\n")
        await world.editor.watched(file)
        outcome = await apply(world, edit(file, before.text, (0, 3, "1")))
        assert outcome.applied


async def test_an_editor_that_cannot_apply_edits_has_its_clean_files_edited_on_disk(
    make: Make, file: Path
) -> None:
    async with make(capabilities={}) as world:
        uri = await open_file(world, file)
        outcome = await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
        assert (outcome.applied, get(file)) == (True, b"1\r\ntwo\r\n")
        assert (await world.host.read_text(str(file))).text == "1\r\ntwo\r\n"
        await world.editor.write(uri, "mine")
        await reach(world, uri, 2)
        outcome = await apply(world, edit(file, "mine", (0, 4, "ours")))
        assert (outcome.applied, outcome.failure) == (False, "refused")
        assert outcome.detail.endswith("this editor cannot apply edits: save it first")


async def test_an_editor_that_is_gone_raises(make: Make, file: Path) -> None:
    async with make() as world:
        await open_file(world, file)
        world.server.protocol.lose_client()
        with pytest.raises(HostError, match="the editor is gone"):
            await apply(world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))


async def test_cancelling_an_edit_tells_the_editor(make: Make, file: Path) -> None:
    async with make() as world:
        await open_file(world, file)
        waiting = anyio.Event()

        async def hold() -> None:
            waiting.set()
            await anyio.sleep_forever()

        world.editor.before_apply = hold
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(apply, world, edit(file, "one\r\ntwo\r\n", (0, 3, "1")))
            with anyio.fail_after(5):
                await waiting.wait()
            tasks.cancel_scope.cancel()
        cancelled = await world.editor.client.wait_for_method("$/cancelRequest")
        question = await world.editor.client.wait_for_method("workspace/applyEdit")
        assert cancelled["params"] == {"id": question["id"]}
