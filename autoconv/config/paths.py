"""Location of this package in the file system."""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # a prefix of the paths of its files
