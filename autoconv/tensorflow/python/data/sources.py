"""The classes of datasets by their sources, for `isinstance`: a Dataset is an instance if its node is a `node_name`."""

from __future__ import annotations

from autoconv.data import Iterator as OwnedIterator  # noqa: F401


class _Source(type):
    """The metaclass of the classes below: a dataset is an instance if the name of its node is `node_name`."""

    node_name: str

    def __instancecheck__(cls, value: object) -> bool:
        return getattr(getattr(value, "node", None), "name", None) == cls.node_name


class _RangeDataset(metaclass=_Source):
    """Datasets made by `Dataset.range`."""

    node_name = "range"


class _TensorDataset(metaclass=_Source):
    """Datasets made by `Dataset.from_tensors`."""

    node_name = "from_tensors"


class _TensorSliceDataset(metaclass=_Source):
    """Datasets made by `Dataset.from_tensor_slices`."""

    node_name = "from_tensor_slices"


class _SparseTensorSliceDataset(metaclass=_Source):
    """Datasets of the rows of sparse tensors."""

    node_name = "from_sparse_tensor_slices"


class _GeneratorDataset(metaclass=_Source):
    """Datasets made by `Dataset.from_generator`."""

    node_name = "from_generator"
