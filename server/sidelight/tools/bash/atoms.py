"""Characters of a word with their quoting, and what bash makes of them: braces, tilde, splits."""

import re
from dataclasses import dataclass
from typing import Literal

from sidelight.core.access import UNKNOWN

HOME = "\1"
MOST_ALTERNATIVES = 200
WILD = frozenset("*?[")
ASSIGNING = re.compile(r"[A-Za-z_]\w*\+?=")
SEQUENCE = re.compile(r"(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.(-?\d{1,6}))?|([A-Za-z])\.\.([A-Za-z])")

Quoting = Literal["quoted", "plain", "value", "split", "match"]
Atom = tuple[str, Quoting]
Atoms = list[Atom]


@dataclass(frozen=True, slots=True)
class Word:
    """One word as the program gets it.

    `text` has UNKNOWN where only the run knows; `pattern` is the glob if unquoted wildcards are in
    it, quoted ones escaped; `loose` words may become several or none; `home` words begin at a
    home folder, written `~/x` or `~user/x`; `fed` ones are filled in by `xargs` or `find`;
    `matched` ones are unknown only in so far as they are some match of `pattern`.
    """

    text: str
    pattern: str = ""
    loose: bool = False
    home: bool = False
    fed: bool = False
    matched: bool = False

    @property
    def known(self) -> bool:
        """No part of it waits for the run."""
        return UNKNOWN not in self.text


class Unfolding(Exception):
    """A brace expansion with too many alternatives, or of a form that only bash knows."""


def literal(text: str, quoting: Quoting) -> Atoms:
    """The characters of a text, all quoted in one way; an empty quoted text keeps its place."""
    if not text and quoting == "quoted":
        return [("", "quoted")]
    return [(character, quoting) for character in text]


def unknown(quoted: bool) -> Atoms:
    """Text that only the run knows."""
    return [(UNKNOWN, "quoted" if quoted else "value")]


def known_value(text: str, quoted: bool) -> Atoms:
    """A variable's known text where it stands: unquoted, it is split at blanks."""
    if quoted:
        return literal(text, "quoted")
    return [(c, "split" if c in " \t\n" else "value") for c in text]


def unescaped(text: str, within_double_quotes: bool) -> Atoms:
    """Literal text with its backslashes worked off."""
    escapable = '$`"\\\n'
    atoms: Atoms = []
    index = 0
    while index < len(text):
        character = text[index]
        following = text[index + 1 : index + 2]
        if character != "\\" or not following:
            atoms.append((character, "quoted" if within_double_quotes else "plain"))
            index += 1
        elif within_double_quotes and following not in escapable:
            atoms.extend(literal(character + following, "quoted"))
            index += 2
        else:
            if following != "\n":
                atoms.append((following, "quoted"))
            index += 2
    return atoms


def words_of(atoms: Atoms, folder: str | None) -> list[Word]:
    """The words that one written word becomes; `folder` is what `~+` means, if known."""
    words: list[Word] = []
    for alternative in alternatives(atoms):
        for piece in _pieces(alternative):
            words.append(_word(_tilde(piece, folder)))
    return words


def alternatives(atoms: Atoms) -> list[Atoms]:
    """Brace expansion; raises Unfolding."""
    for start, atom in enumerate(atoms):
        if atom != ("{", "plain"):
            continue
        end, commas = _span(atoms, start)
        choices = _choices(atoms, start, end, commas) if end >= 0 else None
        if choices is None:
            if {(",", "plain"), ("}", "plain")} <= set(atoms[start:]):
                raise Unfolding
            continue
        tails = alternatives(atoms[end + 1 :])
        if len(choices) * len(tails) > MOST_ALTERNATIVES:
            raise Unfolding
        return [atoms[:start] + choice + tail for choice in choices for tail in tails]
    return [atoms]


def _span(atoms: Atoms, start: int) -> tuple[int, list[int]]:
    depth = 0
    commas: list[int] = []
    for index in range(start, len(atoms)):
        if atoms[index] == ("{", "plain"):
            depth += 1
        elif atoms[index] == ("}", "plain"):
            depth -= 1
            if depth == 0:
                return index, commas
        elif atoms[index] == (",", "plain") and depth == 1:
            commas.append(index)
    return -1, []


def _choices(atoms: Atoms, start: int, end: int, commas: list[int]) -> list[Atoms] | None:
    if not commas:
        return _sequence(atoms[start + 1 : end])
    edges = [start, *commas, end]
    choices: list[Atoms] = []
    for left, right in zip(edges, edges[1:], strict=False):
        choices.extend(alternatives(atoms[left + 1 : right]))
        if len(choices) > MOST_ALTERNATIVES:
            raise Unfolding
    return choices


def _sequence(inner: Atoms) -> list[Atoms] | None:
    if any(quoting != "plain" for _, quoting in inner):
        return None
    found = SEQUENCE.fullmatch("".join(character for character, _ in inner))
    if found is None:
        return None
    if found[4] is not None:
        first, last = ord(found[4]), ord(found[5])
        step = 1 if first <= last else -1
        return [literal(chr(code), "plain") for code in range(first, last + step, step)]
    first, last = int(found[1]), int(found[2])
    step = abs(int(found[3] or 1)) or 1
    numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
    if len(numbers) > MOST_ALTERNATIVES:
        raise Unfolding
    width = max(len(found[1]), len(found[2])) if re.match(r"-?0\d", found[1] + found[2]) else 0
    return [literal(str(number).zfill(width), "plain") for number in numbers]


def _pieces(atoms: Atoms) -> list[Atoms]:
    pieces: list[Atoms] = [[]]
    for atom in atoms:
        if atom[1] == "split":
            pieces.append([])
        else:
            pieces[-1].append(atom)
    return [piece for piece in pieces if piece]


def _tilde(atoms: Atoms, folder: str | None) -> Atoms:
    if atoms[0] != ("~", "plain"):
        return _inner_tilde(atoms)
    end = next((i for i, (c, _) in enumerate(atoms) if c == "/"), len(atoms))
    prefix = atoms[1:end]
    if any(quoting != "plain" for _, quoting in prefix):
        return atoms
    name = "".join(character for character, _ in prefix)
    start: Atoms
    if name == "+" and folder is not None:
        start = literal(folder, "quoted")
        if folder.startswith("~"):
            start[0] = (HOME, "quoted")
    elif name[:1] in {"+", "-"} or name[:1].isdigit():
        start = unknown(quoted=True)
    else:
        start = [(HOME, "quoted"), *literal(name, "quoted")] if name else [(HOME, "quoted")]
    return start + atoms[end:]


def _inner_tilde(atoms: Atoms) -> Atoms:
    """`name=~/x` is expanded too, as a value that only the run knows."""
    if not ASSIGNING.match("".join(c if quoting == "plain" else "-" for c, quoting in atoms)):
        return atoms
    inner = list(atoms)
    for index, before in enumerate(atoms[:-1]):
        if before in {("=", "plain"), (":", "plain")} and atoms[index + 1] == ("~", "plain"):
            inner[index + 1] = (UNKNOWN, "quoted")
    return inner


def _word(atoms: Atoms) -> Word:
    text = "".join(UNKNOWN if quoting == "match" else c for c, quoting in atoms)
    matched = UNKNOWN not in "".join(c for c, _ in atoms) and UNKNOWN in text
    loose = any(c == UNKNOWN and quoting == "value" for c, quoting in atoms)
    home = text.startswith(HOME)
    if home:
        text = "~" + text[1:]
    text = text.replace(HOME, UNKNOWN)
    return Word(text, _pattern(atoms), loose, home, matched=matched)


def _pattern(atoms: Atoms) -> str:
    if not any(c in WILD and quoting in {"plain", "value", "match"} for c, quoting in atoms if c):
        return ""
    parts = [
        f"[{character}]" if quoting == "quoted" and character in WILD else character
        for character, quoting in atoms
    ]
    return "".join(parts).replace(HOME, "~")
