"""`python -m tokencountd`."""

import sys

from tokencountd.cli import main

if __name__ == "__main__":
    sys.exit(main())
