"""The module that `import autoconv.experimental.numpy` gives, which is that of `autoconv.tensorflow`."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("autoconv.tensorflow.experimental.numpy")
