"""What the system itself says of a process: CPU seconds so far, and its memory at the most."""

import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its ended threads, to the microsecond; Linux only."""
    # The clock's number is made from the process's, as clock_getcpuclockid(3) makes it.
    return time.clock_gettime((~pid << 3) | 2)


def peak_mb(pid: int) -> float:
    """The largest resident size that a process has had, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1000
    raise ValueError(f"/proc/{pid}/status has no VmHWM")


def cpu_of(code: str, env: Mapping[str, str], cwd: Path) -> float:
    """CPU seconds of a fresh interpreter from its start to the end of some code."""
    asked = f"{code}\nimport time\nprint(time.process_time())"
    command = [sys.executable, "-P", "-c", asked]
    done = subprocess.run(command, env=env, cwd=cwd, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


@dataclass(frozen=True, slots=True)
class Away:
    """A double in a process of its own, so that its work is nobody else's."""

    base_url: str
    api_key: str


@contextmanager
def double_away(command: Sequence[str], api_key: str, cwd: Path) -> Generator[Away]:
    """Run it for the length of a `with` block."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=cwd) as process:
        assert process.stdout is not None
        try:
            yield Away(process.stdout.readline().strip(), api_key)
        finally:
            process.terminate()
