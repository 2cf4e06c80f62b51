"""`tensorflow.python.saved_model.model_utils.mode_keys`: names of the modes of a model."""


class KerasModeKeys:
    """Names of the modes of a Keras model."""

    TRAIN = "train"
    TEST = "test"
    PREDICT = "predict"
