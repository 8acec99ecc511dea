"""Bytes to text and back, exactly: `encode(*decode(data)) == data` for all that decodes."""

import codecs
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sidelight.core.errors import BinaryFileError, HostError

SNIFFED_BYTES = 8192
"""How far into a file a NUL byte makes it binary, as in git and in editors."""

# UTF-32 stands before UTF-16: the little-endian mark of one begins with that of the other.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
KINDS = (
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive (or an office document, a jar, a wheel)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\x00", "xz data"),
    (b"\x28\xb5\x2f\xfd", "zstd data"),
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ", "a Windows program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a macOS program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program or library"),
    (b"\x00asm", "a WebAssembly module"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"RIFF", "a RIFF file (WebP, WAV or AVI)"),
)
UNMISTAKABLE = re.compile(rb"[^\t\n\r -~]")
"""A signature with such a byte begins no text; `MZ` or `RIFF` well may."""
SINGLE_BYTE = ["cp1252", "cp1251", "koi8_r", "cp1250", "cp1253", "cp1254", "iso8859_15"]
BROKEN_WORD = re.compile(r"[^\W\d_][¡-¿×÷†‡•…]+[^\W\d_]|[a-zà-ÿ][À-ÖØ-ÞŠŒŽŸ]")
AMONG_ASCII = re.compile(r"(?<=[A-Za-z])[^\W\d_a-zA-Z]|[^\W\d_a-zA-Z](?=[A-Za-z])")
ALLOWED_CONTROLS = frozenset(b"\t\n\v\f\r\x1b\b")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text without its mark, the Python codec, and the mark's bytes in hex."""

    text: str
    encoding: str
    bom: str = ""


def decode(data: bytes) -> Decoded:
    """The text of a file's bytes; raises BinaryFileError, whose message names what was found."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            text = _exact(data[len(mark) :], encoding)
            if text is not None:
                return Decoded(text, encoding, mark.hex())
    if b"\0" in data[:SNIFFED_BYTES]:
        return _unmarked_utf16(data)
    # One byte is looked for ten times faster than two.
    escaped = b"\x1b" in data and b"\x1b$" in data and data.isascii()
    if escaped and (text := _exact(data, "iso2022_jp")) is not None:
        return Decoded(text, "iso2022_jp")
    text = _exact(data, "utf-8")
    return Decoded(text, "utf-8") if text is not None else _legacy(data)


def encode(text: str, encoding: str, bom: str) -> bytes:
    """The bytes to write; raises HostError that names the character the encoding cannot hold."""
    try:
        return bytes.fromhex(bom) + text.encode(encoding, _errors(encoding))
    except UnicodeEncodeError as error:
        character = text[error.start]
        name = unicodedata.name(character, "unnamed")
        line = text.count("\n", 0, error.start) + 1
        raise HostError(
            f"the file is in {encoding}, which cannot hold {character!r} "
            f"(U+{ord(character):04X} {name}) of line {line}; nothing was written. "
            "Use characters of that encoding, or convert the file to UTF-8 first."
        ) from error


def kind_of(data: bytes) -> str:
    """What binary data is, in words, by its first bytes."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "a WebP image"
    return next((kind for magic, kind in KINDS if data.startswith(magic)), "binary data")


def _errors(encoding: str) -> str:
    return "surrogatepass" if encoding.startswith("utf-") else "strict"


def _exact(data: bytes, encoding: str) -> str | None:
    """The text if it decodes and would be written back byte for byte."""
    try:
        text = data.decode(encoding, _errors(encoding))
        if encoding == "utf-8":
            return text  # it has one form for each text, and takes no other
        return text if text.encode(encoding, _errors(encoding)) == data else None
    except UnicodeError:
        return None


def _unmarked_utf16(data: bytes) -> Decoded:
    """UTF-16 that is mostly ASCII: every second byte or so is NUL, on one side only."""
    low, high = sorted((data[0::2].count(0), data[1::2].count(0)))
    if not low and high * 4 >= len(data) and kind_of(data) == "binary data":
        encoding = "utf-16-be" if data[0::2].count(0) else "utf-16-le"
        text = _exact(data, encoding)
        if text is not None and all(c.isprintable() or c in "\t\n\r\f\v" for c in text):
            return Decoded(text, encoding)
    raise BinaryFileError(f"{kind_of(data)}, not text")


def _legacy(data: bytes) -> Decoded:
    """Text from before UTF-8; any guess is exact, a wrong one shows wrong letters at worst."""
    if any(data.startswith(magic) for magic, _ in KINDS if UNMISTAKABLE.search(magic)):
        raise BinaryFileError(f"{kind_of(data)}, not text")
    controls = sum(data.count(byte) for byte in range(32) if byte not in ALLOWED_CONTROLS)
    if controls * 50 > len(data):
        raise BinaryFileError(f"{kind_of(data)}, not text")
    for encoding in _guesses(data):
        text = _exact(data, encoding)
        if text is not None:
            return Decoded(text, encoding)
    return Decoded(data.decode("latin-1"), "latin-1")


def _guesses(data: bytes) -> Iterator[str]:
    # Imported here: with its tables it costs more than all of start-up may (list LAZY).
    from charset_normalizer import from_bytes

    eastern = _east_asian(data)
    if len(eastern) > 1:
        yield from (match.encoding for match in from_bytes(data, cp_isolation=eastern))
    yield from eastern
    if _looks_western(data):
        yield "cp1252"
    yield from (match.encoding for match in from_bytes(data, cp_isolation=SINGLE_BYTE))
    yield "cp1252"


def _looks_western(data: bytes) -> bool:
    """Whether accented letters stand among ASCII ones, and no sign or capital inside words."""
    text = _exact(data, "cp1252")
    if text is None or BROKEN_WORD.search(text):
        return False
    accented = sum(1 for c in text if not c.isascii() and c.isalpha())
    return len(AMONG_ASCII.findall(text)) * 2 >= accented


# Characters of everyday text sit in a known part of each East Asian set. Detection by statistics
# fails on the few characters of a comment; counting who is at home does not.
Home = Callable[[int, int], bool]
EAST_ASIAN: tuple[tuple[str, Home], ...] = (
    ("cp932", lambda lead, trail: 0x81 <= lead <= 0x97),
    ("euc_jp", lambda lead, trail: lead in {0xA1, 0xA4, 0xA5} or 0xB0 <= lead <= 0xCF),
    ("gb18030", lambda lead, trail: 0xA1 <= lead <= 0xD7 and trail >= 0xA1),
    ("cp949", lambda lead, trail: 0xA1 <= lead <= 0xC8 and trail >= 0xA1),
    ("big5", lambda lead, trail: 0xA1 <= lead <= 0xC6),
)


def _east_asian(data: bytes) -> list[str]:
    """The encodings under which the text is everyday text, equally good ones only."""
    scores = {encoding: _at_home(data, encoding, home) for encoding, home in EAST_ASIAN}
    best = max(scores.values())
    return [e for e, score in scores.items() if score > 0.7 and score >= best - 0.05]


def _at_home(data: bytes, encoding: str, home: Home) -> float:
    """Share of the characters beyond ASCII that are everyday ones and have such a neighbour."""
    text = _exact(data, encoding)
    if text is None:
        return 0.0
    total, good, before = 0, 0.0, False
    for character in text[:100_000]:
        if character.isascii():
            before = False
            continue
        total += 1
        pair = character.encode(encoding)
        here = len(pair) == 2 and home(pair[0], pair[1])
        good += 1.0 if here and before else 0.5 if here else 0.0
        before = here
    lone = 0.5 if total == 1 else 0.0
    return max(good - lone, 0.0) / total if total else 0.0
