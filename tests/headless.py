"""`sidelight` as a process of its own, bound to the double."""

import os
import re
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sidelight.core.content import is_list, is_object
from tests.fakes.messages_api.double import Double

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 40


def environment(double: Double | None) -> dict[str, str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "server")}
    if double is not None:
        env |= {"ANTHROPIC_BASE_URL": double.base_url, "ANTHROPIC_API_KEY": double.api_key}
    return env


def sidelight(
    folder: Path, double: Double | None, *arguments: str, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """A run to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(double),
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )


def started(folder: Path, double: Double, *arguments: str) -> subprocess.Popen[bytes]:
    """A run that goes on; whoever starts it ends it."""
    return subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(double),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for_word(pipe: Path, seconds: float = 20) -> str:
    """What somebody writes into a named pipe that is there already."""
    number = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        readable, _, _ = select.select([number], [], [], seconds)
        if not readable:
            raise TimeoutError(f"nothing came through {pipe} within {seconds:g} s")
        return os.read(number, 1000).decode()
    finally:
        os.close(number)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", "sidelight", *arguments]


def masked(value: Any, *, known: Mapping[str, str] | None = None) -> Any:
    """JSON with ids, times and known paths, which differ from run to run, replaced by words."""
    known = known or {}
    if is_object(value):
        return {key: _masked(key, item, known) for key, item in value.items()}
    if is_list(value):
        return [masked(item, known=known) for item in value]
    if isinstance(value, str):
        for text, name in known.items():
            value = value.replace(text, name)
    return value


def _masked(key: str, value: Any, known: Mapping[str, str]) -> Any:
    if key in {"uuid", "session_id"}:
        assert re.fullmatch(r"[0-9a-f-]{36}", value)
        return key
    if key in {"id", "tool_use_id"}:
        return "toolu_" if value.startswith("toolu_") else "message"
    if key in {"duration_ms", "duration_api_ms"}:
        assert isinstance(value, int)
        return 0
    return masked(value, known=known)
