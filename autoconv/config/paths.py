"""Location of this package in the file system."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # a prefix of the paths of its files
_WORKLOADS = PACKAGE + "fixtures" + os.sep  # programs for `autoconv bench`, in an installed package


def is_own_file(filename: str) -> bool:
    """Return whether a file belongs to this package, and not to the programs that are installed with it."""
    return filename.startswith(PACKAGE) and not filename.startswith(_WORKLOADS)
