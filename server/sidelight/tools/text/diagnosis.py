"""Why a text was not found, and the lines that come nearest. Says; never applies."""

import difflib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from sidelight.tools.text.lines import lines_of, numbered
from sidelight.tools.text.match import NUMBER

COMPARED_LINES = 20_000
SHOWN_LINES = 12
LINE_CUT = 300
QUOTES = str.maketrans("‘’‚“”„«»–—−…\u00a0", '\'\'\'"""""---.\u0020')
Form = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Near:
    """A place that resembles: its first line (0-based), how many lines, and what differs."""

    first: int
    count: int
    why: str


def explain_missing(text: str, old: str, new: str) -> str:
    """Sentences for the model: the likely cause, the nearest lines with numbers, what to do.

    Looks at the first 20,000 lines only.
    """
    lines = lines_of(text)[:COMPARED_LINES]
    wanted = lines_of(old)
    near = (
        _in_another_form(lines, wanted) or _up_to_a_line(lines, wanted) or _similar(lines, wanted)
    )
    causes = [_numbers(wanted), _escapes(text, old), _applied(text, new)]
    causes.append(f"{near.why}" if near else "")
    said = [cause for cause in causes if cause]
    if near is None:
        said.append("No line of the file resembles it; Read the file again before the next try.")
        return " ".join(said)
    return f"{' '.join(said)}\nNearest lines of the file:\n{_shown(lines, near)}"


def _in_another_form(lines: list[str], wanted: list[str]) -> _Near | None:
    """Places that are equal once blanks, case or typography are taken as equal."""
    forms: tuple[tuple[Form, Callable[[list[str], list[str]], str]], ...] = (
        (str.rstrip, lambda there, here: "Blanks at line ends differ."),
        (_without_blanks, _blanks_differ),
        (lambda line: _without_blanks(line).casefold(), lambda there, here: "Letter case differs."),
        (_typewriter, lambda there, here: "Quotes, dashes or the Unicode form of letters differ."),
    )
    for form, why in forms:
        first = _window([form(line) for line in lines], [form(line) for line in wanted])
        if first is not None:
            there = lines[first : first + len(wanted)]
            return _Near(first, len(wanted), f"Line {first + 1}: {why(there, wanted)}")
    return None


def _window(lines: list[str], wanted: list[str]) -> int | None:
    if not any(wanted):
        return None
    count = len(wanted)
    starts = (i for i, line in enumerate(lines) if line == wanted[0])
    return next((i for i in starts if lines[i : i + count] == wanted), None)


def _blanks_differ(there: list[str], here: list[str]) -> str:
    tabs = any(_indent(line).count("\t") for line in there)
    spaces = any(" " in _indent(line) for line in there)
    if tabs and any(" " in _indent(line) for line in here):
        return "the file uses tabs where old_string has spaces (tabs vs spaces)."
    if spaces and any("\t" in _indent(line) for line in here):
        return "the file uses spaces where old_string has tabs (tabs vs spaces)."
    return "indentation or other blanks differ."


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _without_blanks(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


def _typewriter(line: str) -> str:
    return unicodedata.normalize("NFKC", _without_blanks(line).translate(QUOTES))


def _up_to_a_line(lines: list[str], wanted: list[str]) -> _Near | None:
    """The place where most of the first lines match, and the first that does not."""
    if len(wanted) < 2 or not wanted[0].strip():
        return None
    best, start = 0, 0
    for first, line in enumerate(lines):
        if line != wanted[0]:
            continue
        same = _same_lines(lines[first : first + len(wanted)], wanted)
        best, start = max((best, start), (same, first), key=lambda pair: pair[0])
    if not best:
        return None
    there = lines[start + best] if start + best < len(lines) else "the end of the file"
    why = (
        f"The first {best} of {len(wanted)} lines match at line {start + 1}; then the file has "
        f"{_cut(there)!r} where old_string has {_cut(wanted[best])!r}."
    )
    return _Near(start, len(wanted), why)


def _same_lines(there: list[str], wanted: list[str]) -> int:
    pairs = zip(there, wanted, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), len(there))


def _similar(lines: list[str], wanted: list[str]) -> _Near | None:
    """The line most like the longest of the wanted ones, if any is at all like it."""
    longest = max(range(len(wanted)), key=lambda i: len(wanted[i].strip()), default=0)
    if not wanted or not wanted[longest].strip():
        return None
    matcher = difflib.SequenceMatcher(None, "", wanted[longest].strip()[:LINE_CUT], autojunk=False)
    best, at = 0.5, -1
    for number, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:LINE_CUT])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        if (ratio := matcher.ratio()) > best:
            best, at = ratio, number
    if at < 0:
        return None
    return _Near(max(at - longest, 0), len(wanted), f"Line {at + 1} is similar, not equal.")


def _numbers(wanted: list[str]) -> str:
    with_number = [line for line in wanted if (m := NUMBER.match(line)) and m.end() > len(m[1])]
    if not with_number or len(with_number) * 2 < len(wanted):
        return ""
    return "old_string seems to carry line numbers of the Read view; leave them out."


def _escapes(text: str, old: str) -> str:
    plain = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if plain == old or plain not in text:
        return ""
    return 'old_string has backslash escapes (\\n, \\t or \\") where the file has the characters.'


def _applied(text: str, new: str) -> str:
    if not new.strip() or text.count(new) != 1:
        return ""
    line = text.count("\n", 0, text.index(new)) + 1
    return f"new_string stands in the file already, at line {line}: the edit may have been made."


def _shown(lines: list[str], near: _Near) -> str:
    last = min(near.first + max(near.count, 1), len(lines), near.first + SHOWN_LINES)
    rows = range(near.first, last)
    return "\n".join(numbered(row + 1, _cut(lines[row])) for row in rows)


def _cut(line: str) -> str:
    return line if len(line) <= LINE_CUT else f"{line[:LINE_CUT]}… ({len(line)} characters)"
