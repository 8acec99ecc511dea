"""Reads a program's options the way getopt does: clusters, glued values, abbreviations."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.access import UNKNOWN
from sidelight.tools.bash.atoms import Word


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which options take a value: `short` letters, `long` names (`--name` or `-name`).

    `optional` letters take a value only if it is glued. `notable` are long names that are looked
    at, so that abbreviations of them are seen too. `stops` means that options end at the first
    operand.
    """

    short: str = ""
    long: frozenset[str] = frozenset()
    notable: frozenset[str] = frozenset()
    stops: bool = False
    optional: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One option; `name` with its dashes, `value` None where there is none."""

    name: str
    value: Word | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """Options and operands of a command; `first` is the index of the first operand.

    `doubtful`: a word that only the run knows stands where it could turn out to be an option.
    `abbreviated`: a long option is cut short, and only the program knows which one it becomes.
    """

    options: tuple[Option, ...]
    operands: tuple[Word, ...]
    first: int
    doubtful: bool = False
    abbreviated: bool = False

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(option.name in names for option in self.options)

    def values(self, *names: str) -> tuple[Word, ...]:
        """The values of these options, in order."""
        return tuple(o.value for o in self.options if o.name in names and o.value is not None)


def names(text: str) -> frozenset[str]:
    """A set of names from one text with blanks between them."""
    return frozenset(text.split())


def read_arguments(words: Sequence[Word], grammar: Grammar) -> Arguments:
    """Sort the words after a program's name."""
    options: list[Option] = []
    operands: list[Word] = []
    first = len(words)
    doubtful = any(word.loose for word in words)
    index = 0
    while index < len(words):
        word = words[index]
        text = word.text
        if text == "--":
            first = min(first, index + 1)
            operands.extend(words[index + 1 :])
            break
        if not text.startswith("-") or text == "-":
            first = min(first, index)
            if grammar.stops:
                operands.extend(words[index:])
                break
            operands.append(word)
            doubtful = doubtful or text.startswith(UNKNOWN)
            index += 1
            continue
        read, used = _option(words, index, grammar)
        options.extend(read)
        index += used
    abbreviated = any(_is_cut(option.name, grammar) for option in options)
    return Arguments(tuple(options), tuple(operands), first, doubtful, abbreviated)


def _option(words: Sequence[Word], index: int, grammar: Grammar) -> tuple[list[Option], int]:
    text = words[index].text
    if text.startswith("--"):
        return _long(words, index, grammar)
    return _cluster(words, index, grammar)


def _long(words: Sequence[Word], index: int, grammar: Grammar) -> tuple[list[Option], int]:
    name, equals, value = words[index].text.partition("=")
    names = _meant(name, grammar)
    if equals:
        return [Option(each, Word(value)) for each in names], 1
    if any(each in grammar.long for each in names) and index + 1 < len(words):
        return [Option(each, words[index + 1]) for each in names], 2
    return [Option(each) for each in names], 1


def _meant(name: str, grammar: Grammar) -> tuple[str, ...]:
    """The option itself, or if it is not known also every one that it may abbreviate."""
    known = grammar.notable | grammar.long
    if name in known:
        return (name,)
    longer = [each for each in known if each.startswith(name) and len(name) > 2]
    return tuple(dict.fromkeys((name, *sorted(longer))))


def _is_cut(name: str, grammar: Grammar) -> bool:
    known = grammar.notable | grammar.long
    return name.startswith("--") and name not in known and len(_meant(name, grammar)) > 1


def _cluster(words: Sequence[Word], index: int, grammar: Grammar) -> tuple[list[Option], int]:
    text = words[index].text
    options: list[Option] = []
    for position, letter in enumerate(text[1:], 1):
        glued = text[position + 1 :]
        if letter in grammar.optional:
            return [*options, Option("-" + letter, Word(glued))], 1
        if letter not in grammar.short:
            options.append(Option("-" + letter))
            continue
        if glued:
            return [*options, Option("-" + letter, Word(glued))], 1
        if index + 1 < len(words):
            return [*options, Option("-" + letter, words[index + 1])], 2
        return [*options, Option("-" + letter)], 1
    return options, 1
