"""Fake quantization: round to the levels of a quantized integer, with straight-through gradients."""

from __future__ import annotations

from autoconv.api.tensors.accepted_dtypes import check_dtype
from autoconv.api.tensors.casts import cast, stop_gradient
from autoconv.api.tensors.comparison import maximum, minimum
from autoconv.api.tensors.maths import floor
from autoconv.graph.dtypes import float32
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def fake_quant_with_min_max_args(
    inputs: TensorLike, min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Round to the levels of an integer of `num_bits` from `min` to `max`, which are adjusted so that 0 is a level.

    With `narrow_range` there is one level less, so that the lowest integer is 1.

    >>> autoconv.quantization.fake_quant_with_min_max_args([0.1, 9.0], 0.0, 3.0, num_bits=2).numpy()
    array([0., 3.], dtype=float32)
    """
    check_dtype("fake_quant_with_min_max_args", frozenset({float32}), inputs)
    if not float(min) < float(max):
        raise ValueError(f"min has to be smaller than max, was: {min} >= {max}")
    return fake_quant_with_min_max_vars(inputs, float(min), float(max), num_bits, narrow_range)


def fake_quant_with_min_max_vars(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`fake_quant_with_min_max_args` with tensors as bounds, to which the gradients of clipped elements flow.

    >>> autoconv.quantization.fake_quant_with_min_max_vars([0.6, -2.0], 0.0, 3.0, num_bits=2).numpy()
    array([1., 0.], dtype=float32)
    """
    if not 2 <= num_bits <= 16:
        raise ValueError(f"num_bits has to be between 2 and 16, inclusive, found {num_bits}")
    lowest_level, highest_level = float(bool(narrow_range)), 2.0 ** num_bits - 1.0
    check_dtype("fake_quant_with_min_max_vars", frozenset({float32}), inputs, min, max)
    x = cast(convert_to_tensor(inputs), "float32")
    low, high = (cast(convert_to_tensor(bound), "float32") for bound in (min, max))
    scale = (high - low) / (highest_level - lowest_level)
    zero_level = lowest_level - low / scale
    zero_level = floor(minimum(maximum(zero_level, lowest_level), highest_level) + 0.5)
    adjusted_low, adjusted_high = (lowest_level - zero_level) * scale, (highest_level - zero_level) * scale
    # The gradient of an adjusted bound is that of the given one: it does not flow through the adjustment.
    adjusted_low, adjusted_high = low + stop_gradient(adjusted_low - low), high + stop_gradient(adjusted_high - high)
    clipped_x = minimum(maximum(x, adjusted_low), adjusted_high)
    rounded_x = floor((clipped_x - adjusted_low) / scale + 0.5) * scale + adjusted_low
    return clipped_x + stop_gradient(rounded_x - clipped_x)


def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike, min: TensorLike, max: TensorLike, num_bits: int = 8, narrow_range: bool = False,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """`fake_quant_with_min_max_vars` with bounds [channels]: a pair for each channel, an index along the last axis.

    >>> bounds = [0.0, 0.0], [3.0, 6.0]
    >>> autoconv.quantization.fake_quant_with_min_max_vars_per_channel([[0.6, 1.4]], *bounds, num_bits=2).numpy()
    array([[1., 2.]], dtype=float32)
    """
    return fake_quant_with_min_max_vars(inputs, min, max, num_bits, narrow_range)
