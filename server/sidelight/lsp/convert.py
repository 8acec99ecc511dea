"""Addresses and places: URIs to paths and back, offsets to positions and back.

A path is what the operating system calls the file. A document that is no file (`untitled:`,
`vscode-remote:`) keeps its URI as its path, so that it goes back to the editor unchanged.
"""

import os
import re
import sys
import unicodedata
from urllib.parse import quote, unquote, unquote_to_bytes, urlsplit

from lsprotocol import types

from sidelight.lsp.lines import Encoding, Lines, Place

WINDOWS = os.name == "nt"

_DRIVE = re.compile(r"[A-Za-z]:")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def path_of(uri: str, *, windows: bool = WINDOWS) -> str:
    """The path that a URI names; the URI itself when it is no `file:` URI."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        return uri
    if not windows:
        return os.fsdecode(unquote_to_bytes(parts.path))
    path = unquote(parts.path)
    if parts.netloc and parts.netloc != "localhost":
        return "\\\\" + unquote(parts.netloc) + path.replace("/", "\\")
    if _DRIVE.match(path, 1):
        path = path[1].upper() + path[2:]
    return path.replace("/", "\\")


def uri_of(path: str, *, windows: bool = WINDOWS) -> str:
    """The URI of an absolute path; what is no path (see `path_of`) stays as it is."""
    if not windows:
        return path if is_uri(path) else "file://" + quote(os.fsencode(path), safe="/")
    path = plain_path(path)
    if path.startswith("\\\\"):
        return "file:" + quote(path.replace("\\", "/"), safe="/")
    if not _DRIVE.match(path):
        return path
    return f"file:///{path[0].lower()}%3A" + quote(path[2:].replace("\\", "/"), safe="/")


def is_uri(path: str) -> bool:
    """Whether this is a document's URI that stands for a path."""
    return _SCHEME.match(path) is not None


def plain_path(path: str) -> str:
    """A Windows path without the prefixes of extended length and of the device namespace."""
    for prefix in ("\\\\?\\UNC\\", "\\\\.\\UNC\\"):
        if path.upper().startswith(prefix.upper()):
            return "\\\\" + path[len(prefix) :]
    for prefix in ("\\\\?\\", "\\\\.\\", "\\??\\"):
        if path.startswith(prefix):
            return path[len(prefix) :]
    return path


def file_key(path: str, *, platform: str = sys.platform) -> str:
    """One key for all spellings of a path: separators, letter case, composed characters."""
    if platform == "win32":
        return plain_path(path.replace("/", "\\")).casefold()
    if platform == "darwin":
        return unicodedata.normalize("NFC", path).casefold()
    return path


def real_key(path: str) -> str:
    """The key of the file that a path leads to, symbolic links followed."""
    return path if is_uri(path) and not WINDOWS else file_key(os.path.realpath(path))


def to_position(lines: Lines, offset: int, encoding: Encoding) -> types.Position:
    """The protocol's position of a code point."""
    place = lines.place(offset, encoding)
    return types.Position(line=place.line, character=place.column)


def to_range(lines: Lines, start: int, end: int, encoding: Encoding) -> types.Range:
    """The protocol's range between two code points."""
    return types.Range(
        start=to_position(lines, start, encoding), end=to_position(lines, end, encoding)
    )


def to_offset(lines: Lines, position: types.Position, encoding: Encoding) -> int:
    """The code point at a position."""
    return lines.offset(Place(position.line, position.character), encoding)
