"""TensorFlow's wrappers of containers in attributes, which autoconv does not create."""


class ListWrapper(list):
    """A list that TensorFlow wrapped; there are none here."""


class _DictWrapper(dict):
    """A dict that TensorFlow wrapped; there are none here."""
