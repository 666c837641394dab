"""`python -m engy_mock` is the same as `engy-mock`."""

import sys

from engy_mock.cli import main

if __name__ == "__main__":
    sys.exit(main())
