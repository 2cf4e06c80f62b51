"""Who may import whom: the layers of autoconv, read from the source."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "autoconv"

# What each part of the package may import from the package, itself aside.
LAYERS = {
    "errors": set(),
    "_start": set(),
    "config": {"errors"},
    # Python in, Python out
    "syntax": {"errors"},
    "analysis": {"errors", "syntax"},
    "passes": {"errors", "syntax", "analysis"},
    "emit": {"errors", "syntax", "analysis", "passes"},
    # graphs in, results out
    "graph": {"errors", "ops"},
    "ops": {"errors", "graph"},
    "autodiff": {"errors", "graph", "ops"},
    "optimise": {"errors", "graph", "ops"},
    "backends": {"errors", "graph", "ops", "config"},
}
