"""Keras 3, the package from the registry, over autoconv.

Importing this module imports Keras, whose TensorFlow backend then sees `autoconv.tensorflow` where it imports
TensorFlow; no file of Keras is changed. The module is Keras itself afterwards: `autoconv.keras is keras`. Its modules
also find the older names that Keras keeps for `tf.keras`.
"""

import sys

from autoconv.tensorflow.keras_package import load

sys.modules[__name__] = load()
