"""Text that a person decides on, with nothing hidden in it."""

import re
import unicodedata

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
_GAP = re.compile(r" {9,}")


def hidden_characters(text: str) -> tuple[str, ...]:
    """Names (`U+200B`) of characters that cannot be seen or that turn the text around."""
    found = dict.fromkeys(character for character in text if _is_hidden(character))
    return tuple(_name(character) for character in found)


def visible(text: str) -> str:
    """The whole text; hidden characters and long gaps are replaced by what they are."""
    shown = "".join(_mark(_name(c)) if _is_hidden(c) else c for c in text)
    return _GAP.sub(lambda gap: " " + _mark(f"{len(gap[0])} spaces") + " ", shown)


def for_terminal(text: str) -> str:
    """The text without power over a terminal: control characters are replaced by what they are.

    Line ends and tabs stay, and so do joiners, of which emoji are made; turning text around does
    not.
    """
    return _CONTROLS.sub(lambda found: _mark(_name(found[0])), text.replace("\r\n", "\n"))


def _is_hidden(character: str) -> bool:
    if character in "\n\t":
        return False
    category = unicodedata.category(character)
    return category in {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"} or (
        category == "Zs" and character != " "
    )


def _name(character: str) -> str:
    return f"U+{ord(character):04X}"


def _mark(words: str) -> str:
    return f"\u27e8{words}\u27e9"
