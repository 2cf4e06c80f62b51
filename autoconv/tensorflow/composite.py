"""Base class of values that consist of several tensors."""


class CompositeTensor:
    """A value that consists of several tensors, such as a sparse or a ragged tensor."""
