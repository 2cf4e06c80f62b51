"""`python -m autoconv`: the same as the command `autoconv`."""

from __future__ import annotations

from autoconv.cli import main

if __name__ == "__main__":
    main()
