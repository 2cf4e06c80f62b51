"""`tensorflow.saved_model.experimental`."""

from __future__ import annotations

from autoconv.saved_model.experimental import TrackableResource

__all__ = ["TrackableResource"]
