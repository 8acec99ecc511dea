"""The whole product over stdio, with files and people as they are: any bytes, at any moment."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Desk
from tests.e2e.test_agent_in_editor import agent, allow, edit, put, read
from tests.fakes.messages_api.double import Double, running_double
from tests.fakes.messages_api.script import reply, text, tool_use

pytestmark = pytest.mark.anyio

TEXT = "une façon\r\nde voir\r\n"
KINDS = {
    "CRLF": (TEXT.encode(), "utf-8"),
    "UTF-8 with a mark": (TEXT.encode("utf-8-sig"), "utf-8-sig"),
    "UTF-16 with a mark": (TEXT.encode("utf-16"), "utf-16"),
    "Windows-1252": (TEXT.encode("cp1252"), "cp1252"),
}


def results(double: Double) -> list[str]:
    """What the model was told about its calls, in the newest request."""
    return list(double.requests[-1].tool_results.values())


async def run(desk: Desk, task: str = "go") -> str:
    """A turn in a new session, to its end; the session."""
    session = await desk.new_session()
    assert await desk.ask(session, task) == {"stopReason": "end_turn"}
    return session


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opened", [True, False], ids=["open", "closed"])
async def test_an_edit_of_any_text_file_changes_its_words_and_no_other_byte(
    tmp_path: Path, kind: str, *, opened: bool
) -> None:
    data, codec = KINDS[kind]
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    script = [
        reply(read(path)),
        reply(edit(path, "de voir", "d’être" if codec != "cp1252" else "d'être")),
        reply(text("Done.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            if opened:
                await desk.editor.open(path, codec=codec)
            allow(desk)
            await run(desk)
            new = "d’être" if codec != "cp1252" else "d'être"
            assert path.read_bytes() == TEXT.replace("de voir", new).encode(codec)
            assert len(desk.editor.edits) == (1 if opened else 0)
            assert double.refusals == []


async def test_a_character_that_the_files_encoding_cannot_hold_is_named_and_nothing_written(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    script = [reply(read(path)), reply(edit(path, "de voir", "→")), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            allow(desk)
            await run(desk)
            (told,) = results(double)
            assert "cp1252, which cannot hold '→'" in told
            assert told.endswith("convert the file to UTF-8 first.")
            assert path.read_bytes() == TEXT.encode("cp1252")


async def test_a_file_that_the_editor_reads_in_a_wrong_encoding_keeps_all_its_letters(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    garbled = TEXT.encode("cp1252").decode("utf-8", "replace")
    script = [
        reply(read(path)),
        reply(edit(path, "façon", "FAÇON")),
        reply(edit(path, "de voir", "d'être")),
        reply(text("Done.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path, garbled)
            allow(desk)
            session = await run(desk)
            assert path.read_bytes() == "une FAÇON\r\nd'être\r\n".encode("cp1252")
            assert desk.editor.edits == []
            # The editor takes up what is on the disk, garbled as before.
            await desk.editor.write(uri, path.read_bytes().decode("utf-8", "replace"))
            await desk.editor.watched(path)
            original = await desk.client.ask("_sidelight/original", {"uri": uri})
            assert original == {"text": TEXT}
            review = {"sessionId": session, "action": "undo"}
            assert await desk.client.ask("_sidelight/review", review) == {"done": 1}
            assert path.read_bytes() == TEXT.encode("cp1252")
            assert desk.editor.edits == []


async def test_a_garbled_buffer_with_unsaved_changes_is_not_saved_by_an_edit(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode("cp1252"))
    script = [reply(read(path)), reply(edit(path, "de voir", "d'agir")), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            await desk.editor.open(path, "typed\r\n" + TEXT.replace("ç", "\ufffd"))
            allow(desk)
            await run(desk)
            (told,) = results(double)
            assert "is in cp1252, the editor reads it in another encoding" in told
            assert path.read_bytes() == TEXT.encode("cp1252")


async def test_a_binary_file_is_not_shown_and_the_model_hears_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"\x7fELF" + bytes(200))
    script = [reply(read(path)), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            await run(desk)
            (told,) = results(double)
            assert "an ELF program or library" in told
            assert "\0" not in told


async def test_unsaved_text_is_what_the_agent_reads_edits_and_saves(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "old\n")
    script = [reply(read(path)), reply(edit(path, "typed", "TYPED")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            await desk.editor.open(path, "old\ntyped, not saved\n")
            allow(desk)
            await run(desk)
            assert path.read_text() == "old\nTYPED, not saved\n"
            (file,) = desk.client.named("_sidelight/changes")[-1]["files"]
            assert [hunk["line"] for hunk in file["hunks"]] == [2]


async def test_what_the_person_types_while_the_edit_is_on_its_way_is_kept(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "one\ntwo\n")
    script = [reply(read(path)), reply(edit(path, "two", "TWO")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            allow(desk)

            async def type_on() -> None:
                await desk.editor.write(uri, "zero\none\ntwo\n")

            desk.editor.before_apply = type_on
            await run(desk)
            assert path.read_text() == "zero\none\nTWO\n"
            versions = [
                change["textDocument"]["version"]
                for sent in desk.editor.edits
                for change in sent["edit"]["documentChanges"]
            ]
            assert versions == [1, 2]
            (told,) = results(double)
            assert "zero" in told


async def test_an_edit_whose_place_the_person_has_just_rewritten_is_refused_in_words(
    tmp_path: Path,
) -> None:
    path = put(tmp_path / "a.txt", "one\ntwo\n")
    script = [reply(read(path)), reply(edit(path, "two", "TWO")), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            uri = await desk.editor.open(path)
            allow(desk)

            async def rewrite() -> None:
                await desk.editor.write(uri, "one\n2\n")

            desk.editor.before_apply = rewrite
            await run(desk)
            (told,) = results(double)
            assert "old_string" in told
            assert desk.editor.texts[uri] == "one\n2\n"
            assert path.read_text() == "one\ntwo\n"


async def test_what_a_formatter_does_at_the_save_is_shown_to_the_model(tmp_path: Path) -> None:
    path = put(tmp_path / "a.txt", "one\ntwo\n")
    script = [reply(read(path)), reply(edit(path, "two", "TWO   ")), reply(text("Done."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            await desk.editor.open(path)
            desk.editor.on_save = lambda now: "\n".join(line.rstrip() for line in now.split("\n"))
            allow(desk)
            await run(desk)
            assert path.read_text() == "one\nTWO\n"
            (told,) = results(double)
            assert "On saving, the file was changed further" in told


async def test_undoing_a_creation_removes_the_file_and_the_model_hears_of_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "new.txt"
    write: Any = tool_use("Write", {"file_path": str(path), "content": "made\n"})
    script = [reply(write), reply(text("Done.")), reply(text("I see."))]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            allow(desk)
            session = await run(desk)
            assert path.read_text() == "made\n"
            (file,) = desk.client.named("_sidelight/changes")[-1]["files"]
            review = {"sessionId": session, "action": "undo", "path": file["path"]}
            assert await desk.client.ask("_sidelight/review", review) == {"done": 1}
            assert not path.exists()
            assert desk.client.named("_sidelight/changes")[-1]["files"] == []
            await desk.ask(session, "and now?")
            told = json.dumps(double.requests[-1].messages[-1])
            assert f"The user undid your creation of {path}; the file is gone." in told


async def test_a_search_leaves_secrets_and_denied_files_out_says_so_and_asks_nobody(
    tmp_path: Path,
) -> None:
    """B077."""
    put(tmp_path / ".env", "needle=secret-value\n")
    put(tmp_path / "a.txt", "needle in a\n")
    put(tmp_path / "b.txt", "needle in b\n")
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"deny": ["Read(b.txt)"]}}))
    script = [
        reply(
            tool_use("Grep", {"pattern": "needle", "output_mode": "content"}),
            tool_use("Glob", {"pattern": "*.txt"}),
        ),
        reply(text("Done.")),
    ]
    with running_double(script) as double:
        async with agent(tmp_path, double) as desk:
            asked = allow(desk)
            await run(desk)
            assert asked == []
            grep, glob = results(double)
            rule = f"the rule Read(b.txt) in {settings} denies reading them"
            assert grep.splitlines() == [
                "a.txt:1:needle in a",
                "",
                "(1 matching line in 1 file.)",
                "",
                f"(Not looked into: 1 file; {rule}.)",
                "",
                "(Not looked into: 1 file; they may hold secrets.)",
            ]
            assert glob.splitlines() == ["a.txt", "", f"(Not looked into: 1 file; {rule}.)"]
