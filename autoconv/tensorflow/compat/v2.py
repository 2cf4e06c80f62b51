"""`tensorflow.compat.v2`: TensorFlow's namespace itself."""


from autoconv import tensorflow


def __getattr__(name: str) -> object:
    return getattr(tensorflow, name)
