"""What is kept of a command's output when the disk refuses it."""

import sys
from pathlib import Path

import pytest

from sidelight.process.environment import Secrets
from sidelight.process.output import Output

FULL = Path("/dev/full")


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("size", [300, 300_000])
def test_on_a_full_disk_what_is_in_memory_is_shown_and_the_loss_is_said(size: int) -> None:
    output = Output(200, FULL, Secrets({}))
    output.feed(b"start\n" + b"x" * size + b"\nend\n")
    output.close()
    shown = output.shown(100)
    assert shown.path is None
    assert shown.text.startswith("start\n")
    assert shown.text.endswith("\nend\n")
    assert "they could not be kept: [Errno 28] No space left on device" in shown.text
