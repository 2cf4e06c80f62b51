"""TensorFlow's wrappers of containers in attributes: autoconv leaves containers as they are."""


class ListWrapper(list):
    """A list that TensorFlow wrapped; there are none here."""


class _DictWrapper(dict):
    """A dict that TensorFlow wrapped; there are none here."""
