"""`tensorflow.saved_model`, as a module of its own for imports from it."""

from __future__ import annotations

from autoconv.saved_model import *  # noqa: F403
from autoconv.saved_model import __all__ as __all__
