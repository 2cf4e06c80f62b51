"""Keras 3, the package from the registry, over autoconv.

Importing this module imports Keras, whose TensorFlow backend then sees `autoconv.tensorflow` where it imports
TensorFlow; nothing of Keras is changed. The module has the names of `tf.keras` afterwards, all of them Keras' own.
"""

import sys

from autoconv.tensorflow.keras_package import load

sys.modules[__name__] = load()
