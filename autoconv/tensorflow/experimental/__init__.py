"""`tf.experimental`."""

from autoconv.data.optional import Optional
from autoconv.tensorflow.experimental import dtensor, numpy

__all__ = ["Optional", "dtensor", "numpy"]
