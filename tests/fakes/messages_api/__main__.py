"""Runs the double as a process: prints its address as one line and serves until told to stop."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.fakes.messages_api.double import API_KEY, Double
from tests.fakes.messages_api.script_json import load_script


def main() -> int:
    """Serve until SIGTERM or SIGINT; the exit code is 1 when the script failed."""
    parser = argparse.ArgumentParser(prog="messages_api", description=__doc__)
    parser.add_argument("--script", type=Path, help="JSON file with the replies")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--api-key", default=API_KEY, help="the credential that is accepted")
    parser.add_argument("--lenient", action="store_true", help="do not enforce the API's rules")
    options = parser.parse_args()
    try:
        script = load_script(options.script) if options.script else []
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    double = Double(script, strict=not options.lenient, api_key=options.api_key)
    double.start(options.port)
    print(double.base_url, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    double.close()
    for failure in double.failures:
        print(failure, file=sys.stderr)
    return 1 if double.failures else 0


if __name__ == "__main__":
    sys.exit(main())
