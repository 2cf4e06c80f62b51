"""`tensorflow.keras` is Keras over autoconv."""

import sys

from autoconv.tensorflow.keras_package import load

sys.modules[__name__] = load()
