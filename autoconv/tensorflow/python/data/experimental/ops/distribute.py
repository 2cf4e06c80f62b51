"""Batch size of a dataset, for distribution over replicas."""

from autoconv.data.dataset import Dataset
from autoconv.data.elements import spec_leaves
from autoconv.data.nodes import NO_BINDINGS, Node
from autoconv.graph.dtypes import int64
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

_UNKNOWN = -1
_KEEPS_BATCHES = frozenset({"cache", "prefetch", "repeat", "shuffle", "skip", "take"})  # nodes that change no element


def compute_batch_size(dataset: Dataset) -> Tensor:
    """Return the size of the batches, an int64 tensor; -1 if it is unknown. The last batch may be smaller.

    >>> compute_batch_size(Dataset.range(10).batch(4).prefetch(1)).numpy()
    np.int64(4)
    """
    shapes = [getattr(leaf, "shape", None) for leaf in spec_leaves(dataset.element_spec)]
    sizes = {shape[0] for shape in shapes if shape is not None and shape.rank}
    is_static = len(sizes) == 1 and None not in sizes and all(shape is not None and shape.rank for shape in shapes)
    return convert_to_tensor(sizes.pop() if is_static else _size_by_nodes(dataset.node), int64)


def _size_by_nodes(node: Node) -> int:
    """Return the batch size of the last batching node; -1 where it is not known."""
    while node.name in _KEEPS_BATCHES:
        node = node.inputs[0]
    size = getattr(node, "size", None) if node.name in ("batch", "padded_batch") else None
    return _UNKNOWN if size is None else NO_BINDINGS.number(size)  # the int of a constant size
