"""`tensorflow.summary`, as a module of its own for imports from it."""

from __future__ import annotations

from autoconv.summary import *  # noqa: F403
from autoconv.summary import __all__ as __all__
