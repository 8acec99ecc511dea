"""Holds a command's words against the content of a Bash rule."""

import re
from dataclasses import dataclass
from functools import lru_cache

from sidelight.core.access import UNKNOWN

GAP = "\x1f"
ANY = "\x1e"


@dataclass(frozen=True, slots=True)
class Wording:
    """A rule's content as words joined by GAP, with ANY where a `*` stands for anything.

    `tail` means: and then anything or nothing. `count` is how many words it names.
    """

    text: str
    tail: bool
    count: int

    @property
    def exact(self) -> bool:
        """No wildcard in it."""
        return not self.tail and ANY not in self.text


@lru_cache(maxsize=2_000)
def wording(content: str, quoted_stars: bool) -> Wording | None:
    """Read a rule's content; None when its quotes do not close.

    With `quoted_stars` a `*` inside quotes is a wildcard too: deny and ask rules match more.
    """
    body = content.strip()
    tail = body.endswith(":*")
    if tail:
        words = _split(body[:-2], quoted_stars, stars=False)
    else:
        words = _split(body, quoted_stars, stars=True)
        if words and len(words) > 1 and words[-1] == ANY:
            words, tail = words[:-1], True
    if not words:
        return None
    return Wording(GAP.join(words), tail, len(words))


def _split(text: str, quoted_stars: bool, stars: bool) -> list[str] | None:
    words: list[str] = []
    word: str | None = None
    quote = ""
    index = 0
    while index < len(text):
        character = text[index]
        index += 1
        if quote and character == quote:
            quote = ""
        elif character == "\\" and quote != "'" and index < len(text):
            word = (word or "") + text[index]
            index += 1
        elif not quote and character in "'\"":
            quote, word = character, word or ""
        elif not quote and character in " \t\n":
            if word is not None:
                words.append(word)
            word = None
        else:
            wild = character == "*" and stars and (not quote or quoted_stars)
            word = (word or "") + (ANY if wild else character)
    if quote:
        return None
    return [*words, word] if word is not None else words


def fits(rule: Wording, words: tuple[str, ...]) -> bool:
    """Whether the rule matches these words for sure."""
    return _pattern(rule).fullmatch(GAP.join(words)) is not None


@lru_cache(maxsize=2_000)
def _pattern(rule: Wording) -> re.Pattern[str]:
    body = ".*".join(re.escape(part) for part in rule.text.split(ANY))
    return re.compile(body + (f"(?:{GAP}.*)?" if rule.tail else ""), re.DOTALL)


def may_fit(rule: Wording, words: tuple[str, ...]) -> bool:
    """Whether the rule could match once the unknown parts of the words are known."""
    left = rule.text
    right = GAP.join(words)
    if UNKNOWN not in right:
        return fits(rule, words)
    plain = _meets(left, right)
    return plain or (rule.tail and _meets(left + GAP + ANY, right))


def _meets(left: str, right: str) -> bool:
    """Whether two texts with wildcards (ANY and UNKNOWN) have a text in common."""
    reachable = {0}
    wild = {ANY, UNKNOWN}
    for index in range(len(left) + 1):
        reachable = _spread(reachable, right)
        if index == len(left):
            break
        reachable = _step(left[index], reachable, right, wild)
        if not reachable:
            return False
    return len(right) in reachable


def _spread(positions: set[int], right: str) -> set[int]:
    """Unknown parts of the words may be empty."""
    spread = set(positions)
    for position in positions:
        end = position
        while right[end : end + 1] == UNKNOWN:
            end += 1
            spread.add(end)
    return spread


def _step(letter: str, positions: set[int], right: str, wild: set[str]) -> set[int]:
    if letter in wild:
        first = min(positions)
        return set(range(first, len(right) + 1))
    following: set[int] = set()
    for position in positions:
        if position < len(right) and right[position] == UNKNOWN:
            following.add(position)
        elif position < len(right) and right[position] == letter:
            following.add(position + 1)
    return following


def forms(words: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """A command as deny and ask rules see it: without its path, without git's early options."""
    found = [words]
    if words and "/" in words[0]:
        found.append((words[0].rpartition("/")[2], *words[1:]))
    for each in tuple(found):
        if each and each[0] == "git":
            found.append(_bare_git(each))
    return tuple(dict.fromkeys(found))


GIT_VALUED = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix",
     "--attr-source"}
)  # fmt: skip


def _bare_git(words: tuple[str, ...]) -> tuple[str, ...]:
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in GIT_VALUED else rest[1:]
    return ("git", *rest)
