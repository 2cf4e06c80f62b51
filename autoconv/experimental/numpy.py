"""`autoconv.experimental.numpy`: an import of this module returns `autoconv.tensorflow.experimental.numpy`."""

import importlib
import sys

sys.modules[__name__] = importlib.import_module("autoconv.tensorflow.experimental.numpy")
