"""What children see of our environment, and which of its values are secret."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

OUR_CREDENTIALS = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_*_API_KEY",
    "ANTHROPIC_IDENTITY_TOKEN",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "SIDELIGHT_*KEY",
    "SIDELIGHT_*TOKEN",
)
"""Names that only our own requests need; children never get them."""

SHORTEST_SECRET = 8
"""Shorter values are no secrets, and hiding them would spoil ordinary text."""

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|ACCESS_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PAT)"
    r"(?:_\d+)?$",
    re.IGNORECASE,
)


def is_our_credential(name: str) -> bool:
    """Whether a variable of this name is a credential for the model's provider."""
    return any(fnmatchcase(name, pattern) for pattern in OUR_CREDENTIALS)


def child_environment(
    base: Mapping[str, str], *additions: Mapping[str, str], drop: Iterable[str] = ()
) -> dict[str, str]:
    """The environment of a child: ours and the additions, without our credentials.

    Later additions win; `drop` are further patterns of names to leave out, as `OTEL_*`.
    """
    merged = dict(base)
    for addition in additions:
        merged.update(addition)
    patterns = tuple(drop)
    return {
        name: value
        for name, value in merged.items()
        if not is_our_credential(name)
        and not any(fnmatchcase(name, pattern) for pattern in patterns)
    }


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secret values by name; hides them in text and in streams. Its own text shows none."""

    values: Mapping[str, str]

    @staticmethod
    def of(environment: Mapping[str, str]) -> "Secrets":
        """The values of an environment whose names say that they are keys."""
        return Secrets(
            {
                name: value
                for name, value in environment.items()
                if len(value) >= SHORTEST_SECRET
                and (is_our_credential(name) or _SECRET_NAME.search(name))
            }
        )

    def mask(self, text: str) -> str:
        """The text with each secret value replaced by its variable's name."""
        # The longest first: one secret may contain another.
        for name, value in sorted(self.values.items(), key=lambda item: -len(item[1])):
            if value in text:
                text = text.replace(value, f"[{name} hidden]")
        return text

    def __repr__(self) -> str:
        return f"Secrets({', '.join(sorted(self.values))})"


class MaskedStream:
    """Hides secrets in a text that comes in pieces, also where a piece's border cuts one."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown now; the start of what could become a secret is held back."""
        text = self._secrets.mask(self._held + piece)
        cut = len(text) - self._unsure(text)
        self._held = text[cut:]
        return text[:cut]

    def rest(self) -> str:
        """What is still held back, when no more will come."""
        held, self._held = self._held, ""
        return held

    def _unsure(self, text: str) -> int:
        """Length of the longest end of the text that begins a secret."""
        longest = 0
        for value in self._secrets.values.values():
            for size in range(min(len(value) - 1, len(text)), longest, -1):
                if text.endswith(value[:size]):
                    longest = size
                    break
        return longest


def sourcing(files: Iterable[str]) -> str:
    """Shell lines that read each file if it is there; `CLAUDE_ENV_FILE` files are meant.

    A failing file does not stop what follows, and its output is dropped.
    """
    return "".join(
        f"[ -f {_quoted(file)} ] && . {_quoted(file)} >/dev/null 2>&1 </dev/null\n"
        for file in files
    )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
