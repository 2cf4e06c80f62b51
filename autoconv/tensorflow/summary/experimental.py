"""`tensorflow.summary.experimental`, as a module of its own for imports from it."""

from __future__ import annotations

from autoconv.summary.experimental import *  # noqa: F403
from autoconv.summary.experimental import __all__ as __all__
