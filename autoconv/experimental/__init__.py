"""Names that TensorFlow keeps under `experimental`."""

from autoconv.data.optional import Optional

__all__ = ["Optional"]
