"""Finds the command and loads only that: the editor's server must not pay for the others."""

import errno
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import cast

COMMANDS = {
    "lsp": "sidelight.cli.lsp",
    "run": "sidelight.cli.run",
    "demo": "sidelight.cli.demo",
    "models": "sidelight.cli.models",
    "trust": "sidelight.cli.trust",
    "local": "sidelight.cli.local",
}
USAGE = """\
usage: sidelight -p "TASK" [options]      run one task without an editor (see sidelight run --help)
       sidelight lsp                      language server on standard input and output
       sidelight demo                     watch the agent mend a sample project
       sidelight models                   who answers, and what may be asked of each model
       sidelight trust [FOLDER]           let a folder's own hooks and allow rules count
       sidelight local install|status|remove   a small model on this computer
       sidelight --version
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the result is the process's exit code."""
    code = 0
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OSError as error:
        if error.errno not in {errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EFBIG}:
            raise
        # What is still in the buffer must not fail once more when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            print(f"sidelight: the output cannot be written: {error.strerror}", file=sys.stderr)
        return code or 1
    return code


def _run(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-v"]):
        version = importlib.import_module("importlib.metadata").version("sidelight")
        print(version)
        return 0
    if not given or given in (["--help"], ["-h"]):
        print(USAGE, end="")
        return 0 if given else 2
    if given[0] in COMMANDS:
        name, rest = given[0], given[1:]
    elif given[0].startswith("-"):
        name, rest = "run", given
    else:
        print(f"sidelight: there is no command {given[0]!r}.\n{USAGE}", end="", file=sys.stderr)
        return 2
    module = importlib.import_module(COMMANDS[name])
    return cast("Callable[[Sequence[str]], int]", module.main)(rest)
