"""The names of TensorFlow's `saved_model.experimental`."""

from __future__ import annotations

from autoconv.runtime.objects.resource import TrackableResource

__all__ = ["TrackableResource"]
