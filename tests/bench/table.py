"""The lines of the table, and the environment in which its figures are taken."""

import os
from pathlib import Path

from tests.e2e.conftest import ROOT


def head() -> None:
    """The table's first lines; Markdown, to be copied as it is."""
    print(f"| {'what':56} | {'figure':26} | {'aim':12} |")
    print(f"|{'-' * 58}|{'-' * 28}|{'-' * 14}|", flush=True)


def row(what: str, figure: str, aim: str) -> None:
    """One line."""
    print(f"| {what:56} | {figure:26} | {aim:12} |", flush=True)


def environment(home: Path, base_url: str, api_key: str) -> dict[str, str]:
    """A clean environment that leads to a double; compiled modules are kept."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "SIDELIGHT_HOME": str(home / "state"),
        "PYTHONPATH": str(ROOT / "server"),
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": api_key,
    }
