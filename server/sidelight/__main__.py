"""`python -m sidelight`: hands over to the command line."""

import sys

from sidelight.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
