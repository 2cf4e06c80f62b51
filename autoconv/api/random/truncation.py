"""Normal distributions that are truncated at bounds, which may differ from element to element."""

from __future__ import annotations

import math
from typing import Any

from autoconv.api.random.stateless import stateless_uniform
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.maths import erfc
from autoconv.api.tensors.special import ndtri
from autoconv.runtime.annotations import ShapeLike, TensorLike
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def stateless_parameterized_truncated_normal(
    shape: ShapeLike, seed: TensorLike, means: TensorLike = 0.0, stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0, maxvals: TensorLike = 2.0, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers between `minvals` and `maxvals`, determined by `seed`; the parameters are broadcast to `shape`.

    A uniform number between the probabilities of both bounds is mapped by the inverse of the distribution function. If
    both bounds are above the mean, they are mirrored first: small probabilities have smaller rounding errors.

    >>> autoconv.random.stateless_parameterized_truncated_normal([2, 3], seed=[1, 2], minvals=0.0).shape
    TensorShape([2, 3])
    """
    parameters = (means, stddevs, minvals, maxvals)
    dtype = next((value.dtype for value in map(as_tensor, parameters) if value is not None), None)
    mean, deviation, lowest, highest = (convert_to_tensor(value, dtype or "float32") for value in parameters)
    low: Any = (lowest - mean) / deviation
    high: Any = (highest - mean) / deviation
    is_mirrored = low > 0
    low, high = where(is_mirrored, -high, low), where(is_mirrored, -low, high)
    low_probability, high_probability = (0.5 * erfc(-bound * math.sqrt(0.5)) for bound in (low, high))
    fraction = stateless_uniform(shape, seed, dtype=mean.dtype)
    standard_draws: Any = ndtri(low_probability + fraction * (high_probability - low_probability))
    standard_draws = where(is_mirrored, -standard_draws, standard_draws)
    return clip_by_value(mean + deviation * standard_draws, lowest, highest, name=name)
