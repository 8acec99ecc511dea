"""Whether a program's last words are a question that waits for somebody to answer."""

import re

_FORMS = (
    # [y/N], (yes/no), (Y)es/(N)o and the like, at the end or before a colon or question mark
    r"[\[(]\s*\(?y\)?(?:es)?\s*/\s*\(?n\)?o?(?:\s*/[^\])]*)?[\])]\s*[:?]?",
    r"\by(?:es)?\s*/\s*n(?:o)?\s*[:?]",
    r"\b(?:password|passphrase|passcode|username|login|otp|pin)\b[^\n]{0,120}:",
    r"\b(?:press|hit)\b.{0,40}\b(?:key|enter|return)\b.{0,40}",
    r"\b(?:are you sure|do you want|would you like|continue|proceed|overwrite|replace|remove)\b"
    r"[^\n]{0,200}\?",
    r"\b(?:enter|type|choose|select|pick)\b[^:\n]{0,120}[:>]",
    # what libraries for such questions put in front
    r"\?\s.{1,200}(?:\u203a|\u00bb|\?|:).{0,80}",
)
_ASKS = re.compile(rf"(?:.*?(?:{'|'.join(_FORMS[:-1])})|{_FORMS[-1]})\s*", re.IGNORECASE)
_STARVED = re.compile(
    r"EOFError: EOF when reading a line|the input device is not a TTY"
    r"|stdin is not a (?:tty|terminal)"
    r"|a terminal is required|no tty present|could not read (?:Username|Password) for"
    r"|Inappropriate ioctl for device|not a terminal|must be run in (?:a|an interactive) terminal"
    r"|\[y/n\]:? *abort",
    re.IGNORECASE,
)
LONGEST = 400


def question_in(last_line: str) -> str:
    """The last line if it is a question that waits; empty if not. Lines with an end wait less."""
    line = last_line.strip()
    return line if line and len(line) <= LONGEST and _ASKS.fullmatch(line) else ""


def starved_in(text: str) -> str:
    """The line in which a program complains that nobody types; empty if there is none."""
    return next((line.strip() for line in text.splitlines() if _STARVED.search(line)), "")
