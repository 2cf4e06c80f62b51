"""`tf.raw_ops`: the few that libraries call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autoconv.api.image_transforms import projective_transform
from autoconv.api.tensors.casts import cast
from autoconv.api.tensors.shaping import reshape, shape
from autoconv.api.tensors.sorting import searchsorted
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def Bucketize(*, input: TensorLike, boundaries: Sequence[float], name: str | None = None) -> Tensor:
    """Return for each number how many of the sorted boundaries are not above it."""
    values = convert_to_tensor(input)
    edges = convert_to_tensor(np.asarray(boundaries, np.float32))
    found = searchsorted(edges, reshape(cast(values, edges.dtype), [-1]), side="right")
    return reshape(found, shape(values))


def ImageProjectiveTransformV3(
    *, images: TensorLike, transforms: TensorLike, output_shape: TensorLike, fill_value: float, interpolation: str,
    fill_mode: str = "CONSTANT", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Return projected images; see `projective_transform`."""
    return projective_transform(images, transforms, output_shape, fill_value, interpolation, fill_mode)

