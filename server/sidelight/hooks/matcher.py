"""Whether a hook's matcher fits a subject: exact names, or a pattern as JavaScript reads it."""

import re
from functools import lru_cache

_EXACT = re.compile(r"[A-Za-z0-9_ ,|\-]*")
_EXACT_NARROW = re.compile(r"[A-Za-z0-9_|]*")
NARROW_EVENTS = frozenset({"FileChanged", "StopFailure"})


class MatcherError(ValueError):
    """The matcher is no pattern; the text says why."""


def matches(matcher: str | None, subject: str, event: str) -> bool:
    """Whether the matcher fits; absent, empty and `*` fit everything. Raises MatcherError."""
    if matcher in {None, "", "*"}:
        return True
    assert matcher is not None
    narrow = event in NARROW_EVENTS
    if (_EXACT_NARROW if narrow else _EXACT).fullmatch(matcher):
        names = re.split(r"\|" if narrow else r"[|,]", matcher)
        return subject in {name.strip() for name in names}
    return pattern(matcher).search(subject) is not None


@lru_cache(maxsize=256)
def pattern(source: str) -> re.Pattern[str]:
    """A JavaScript pattern as one of ours; raises MatcherError for what cannot be read."""
    ours = re.sub(r"\(\?<(?![=!])", "(?P<", source)
    try:
        return re.compile(ours, re.ASCII)
    except (re.error, RecursionError) as error:
        raise MatcherError(str(error)) from error
