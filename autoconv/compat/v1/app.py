"""`app.run`: start a program of version 1 with its command-line flags."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoconv.compat.v1 import flags


def run(main: Callable[[Sequence[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Parse the defined flags of the command line, call `main` with the other arguments, and exit with its result.

    `main` is by default the function `main` of the program's file. Raises ImportError without the package absl-py.

    >>> try:
    ...     autoconv.compat.v1.app.run(lambda argv: print("started"), ["program"])
    ... except SystemExit as end:
    ...     print(end.code)
    started
    None
    """
    flags.import_absl_flags()
    from absl import app

    app.run(main or sys.modules["__main__"].main, None if argv is None else list(argv))
    raise SystemExit(0)
