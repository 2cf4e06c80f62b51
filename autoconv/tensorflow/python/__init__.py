"""Private paths of TensorFlow."""

from autoconv.tensorflow.python import private_modules

private_modules.install()
