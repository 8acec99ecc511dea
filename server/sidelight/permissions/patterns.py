"""Path patterns of rules: gitignore's wildcards, with the anchors that rules add."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Anchor = Literal["disk", "home", "source", "folder"]
LOCAL_SET = re.compile(
    r"\[[!^]?\]?(?:[^\[\]]|\[(?![:.=]))*"
    r"(?:\[[:.=][^\]]*[:.=]\]|[A-Za-z]-[A-Za-z])(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]"
)
WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class PathPattern:
    """`text` below an anchor; `anywhere` at any depth there; `negated` takes matches back.

    A `wide` pattern also covers the folder itself and all below a match: deny and ask rules.
    """

    anchor: Anchor
    text: str
    anywhere: bool
    negated: bool
    wide: bool

    def matches(self, relative: str) -> bool:
        """Whether a path, relative to the anchor and without `.` or `..`, is covered."""
        return _compiled(self.text, self.anywhere, self.wide).fullmatch(relative) is not None

    @property
    def prefix(self) -> str:
        """The segments before the first wildcard, joined."""
        if self.anywhere:
            return ""
        plain: list[str] = []
        for segment in self.text.split("/"):
            if WILD.search(segment):
                break
            plain.append(re.sub(r"\\(.)", r"\1", segment))
        return "/".join(plain)

    @property
    def literal(self) -> bool:
        """Whether it names one path, perhaps with all below it."""
        return not self.anywhere and not WILD.search(self.text.removesuffix("/**"))


@lru_cache(maxsize=2_000)
def path_pattern(content: str, wide: bool) -> PathPattern:
    """Read a rule's content; `wide` for rules that deny or ask."""
    negated = content.startswith("!")
    text = content[1:] if negated else content
    anchor: Anchor = "folder"
    anchored = True
    if text.startswith("//"):
        anchor, text = "disk", text[2:]
    elif text.startswith("~/") or text == "~":
        anchor, text = "home", text[2:]
    elif text.startswith("/"):
        anchor, text = "source", text[1:]
    elif text.startswith("./"):
        text = text[2:]
    else:
        anchored = "/" in text.rstrip("/") and not (wide and text.endswith("/**"))
    text = text.rstrip("/") or "**"
    return PathPattern(anchor, text, not anchored, negated, wide)


@lru_cache(maxsize=2_000)
def _compiled(text: str, anywhere: bool, wide: bool) -> re.Pattern[str]:
    segments = text.split("/")
    folder_only = segments[-1] == "**" and len(segments) > 1
    if folder_only and wide:
        segments = segments[:-1]
    body = _segments(segments)
    if wide or not (WILD.search(segments[-1]) or segments[-1] == "**"):
        body += "(?:/.*)?"
    start = "(?:.*/)?" if anywhere else ""
    return re.compile(start + body, re.DOTALL)


def _segments(segments: list[str]) -> str:
    parts: list[str] = []
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "**":
            parts.append(".*" if last else "(?:[^/]+/)*")
        else:
            parts.append(_segment(segment) + ("" if last else "/"))
    return "".join(parts)


def _segment(text: str) -> str:
    out: list[str] = []
    index = 0
    while index < len(text):
        character = text[index]
        index += 1
        if character == "*":
            out.append("[^/]*")
        elif character == "?":
            out.append("[^/]")
        elif character == "\\" and index < len(text):
            out.append(re.escape(text[index]))
            index += 1
        elif character == "[" and "]" in text[index + 1 :]:
            end = text.index("]", index + 1)
            out.append(_set(text[index:end]))
            index = end + 1
        else:
            out.append(re.escape(character))
    return "".join(out)


def _set(inner: str) -> str:
    negated = inner[:1] in {"!", "^"}
    body = inner[1:] if negated else inner
    quoted = re.sub(r"([\\\[\]^&~|])", r"\\\1", body)
    try:
        re.compile(f"[{quoted}]")
    except re.error:
        return re.escape(f"[{inner}]")
    return f"(?!/)[{'^' if negated else ''}{quoted}]"


def escape(path: str) -> str:
    """A path as a pattern that matches only itself."""
    return re.sub(r"([*?\[\\!])", r"\\\1", path)


@lru_cache(maxsize=2_000)
def shell_glob(segment: str) -> re.Pattern[str]:
    """One segment of a shell glob; a leading dot has to be written.

    Named classes and ranges of letters depend on the locale: any character stands for them.
    """
    hidden = "" if segment.startswith((".", "[.")) else r"(?!\.)"
    plain = LOCAL_SET.sub("?", re.sub(r"\*+", "*", segment))
    return re.compile(hidden + _segment(plain), re.DOTALL)
