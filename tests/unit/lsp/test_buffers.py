"""Open documents: versions, spellings of a path, and what is not open."""

import logging
import os
from pathlib import Path

import pytest
from lsprotocol import types

from sidelight.lsp.buffers import Buffer, Buffers

URI = "file:///w/a.txt"


def partial(line: int, start: int, end: int, text: str) -> types.TextDocumentContentChangePartial:
    return types.TextDocumentContentChangePartial(
        range=types.Range(
            start=types.Position(line=line, character=start),
            end=types.Position(line=line, character=end),
        ),
        text=text,
    )


def open_buffer(buffers: Buffers, uri: str, text: str) -> Buffer:
    buffers.open(uri, 1, text, "text")
    buffer = buffers.get(uri)
    assert buffer is not None
    return buffer


def test_changes_of_one_notification_build_on_each_other() -> None:
    buffers = Buffers()
    buffer = open_buffer(buffers, URI, "ab\f\u2028c\r\nd")
    buffers.change(URI, 2, [partial(1, 0, 1, "D\nE"), partial(2, 1, 1, "!")])
    assert (buffer.text, buffer.version) == ("ab\f\u2028c\r\nD\nE!", 2)
    buffers.change(URI, 3, [types.TextDocumentContentChangeWholeDocument(text="new")])
    assert (buffer.text, buffer.version) == ("new", 3)


def test_a_change_of_a_document_that_is_not_open_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    buffers = Buffers()
    with caplog.at_level(logging.ERROR):
        buffers.change(URI, 2, [partial(0, 0, 0, "x")])
        buffers.close(URI)
    assert buffers.get(URI) is None
    assert [record.getMessage() for record in caplog.records] == [
        f"didChange for a document that is not open was ignored: {URI}",
        f"didClose for a document that is not open was ignored: {URI}",
    ]


def test_a_version_that_goes_backwards_is_logged_and_taken(
    caplog: pytest.LogCaptureFixture,
) -> None:
    buffers = Buffers()
    buffers.open(URI, 5, "a", "text")
    with caplog.at_level(logging.WARNING):
        buffers.change(URI, 4, [partial(0, 1, 1, "b")])
    buffer = buffers.get(URI)
    assert buffer is not None
    assert (buffer.version, buffer.text) == (4, "ab")
    assert "went from 5 to 4" in caplog.text


def test_the_first_encoding_that_is_known_is_used() -> None:
    buffers = Buffers()
    assert buffers.encoding == "utf-16"
    buffers.use_encoding(["ebcdic", "utf-32", "utf-8"])
    assert buffers.encoding == "utf-32"


def test_a_buffer_is_found_through_a_symbolic_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("v1\n", encoding="utf-8")
    link.symlink_to(real)
    buffers = Buffers()
    buffer = open_buffer(buffers, real.as_uri(), "v1\n")
    assert buffers.find(str(link)) is buffer
    assert buffers.find(str(tmp_path / "other.txt")) is None


def test_a_file_name_that_is_not_utf8_goes_both_ways(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(str(tmp_path)) + b"/caf\xe9.txt")
    uri = tmp_path.as_uri() + "/caf%E9.txt"
    buffers = Buffers()
    buffer = open_buffer(buffers, uri, "x")
    assert buffer.path == path
    assert buffers.find(path) is buffer


def test_saves_are_counted_and_remembered() -> None:
    buffers = Buffers()
    seen: list[tuple[str, str]] = []
    buffers.listeners.append(lambda buffer, event: seen.append((buffer.text, event)))
    buffer = open_buffer(buffers, URI, "a")
    buffers.change(URI, 2, [partial(0, 1, 1, "b")])
    assert buffer.saved_text is None
    buffers.disk_changed(URI)
    assert buffer.disk_changed
    buffers.saved(URI)
    assert (buffer.saved_text, buffer.saves, buffer.disk_changed) == ("ab", 1, False)
    buffers.close(URI)
    assert seen == [
        ("a", "opened"),
        ("ab", "changed"),
        ("ab", "disk"),
        ("ab", "saved"),
        ("ab", "closed"),
    ]
