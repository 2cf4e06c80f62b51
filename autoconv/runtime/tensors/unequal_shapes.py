"""`==` and `!=` of tensors whose shapes do not broadcast: one bool, as in TensorFlow."""

from __future__ import annotations

from autoconv.ops.rules import broadcast_shapes
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor import ArrayTensor, Tensor
from autoconv.runtime.tensors.tensor_methods import COMPARE_UNEQUAL_SHAPES


def compare_unequal_shapes(op_name: str, x: object, other: object) -> Tensor | None:
    """Return the result of "equal" or "not_equal" for operands of shapes that do not broadcast; None for other ones.

    Under `compile`, where NumPy refuses such operands, the result is None as well.
    """
    if current_contract().numpy_arrays or isinstance(x, ArrayTensor):
        return None
    try:
        broadcast_shapes(convert_to_tensor(x).type.shape, convert_to_tensor(other).type.shape)
    except ValueError:
        return constant(op_name == "not_equal")
    return None


COMPARE_UNEQUAL_SHAPES.set(compare_unequal_shapes)
