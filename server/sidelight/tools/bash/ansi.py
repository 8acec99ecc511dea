"""Decodes the inside of bash's `$'...'` strings."""

import re

SIMPLE = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)


def decoded(text: str) -> str | None:
    """The text that the string stands for; None for escapes that only bash itself can tell."""
    out: list[str] = []
    position = 0
    for found in ESCAPE.finditer(text):
        out.append(text[position : found.start()])
        position = found.end()
        piece = _piece(found)
        if piece is None:
            return None
        out.append(piece)
    out.append(text[position:])
    return "".join(out)


def _piece(found: re.Match[str]) -> str | None:
    short, long, longest, octal, single = found.groups()
    if single is not None:
        return SIMPLE.get(single)
    code = int(octal, 8) & 0xFF if octal else int(short or long or longest, 16)
    unsafe = code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF
    if unsafe or (code > 0x7F and not (long or longest)):
        return None
    return chr(code)
