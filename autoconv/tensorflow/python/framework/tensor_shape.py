"""`tensorflow.python.framework.tensor_shape`: static shapes."""

from __future__ import annotations

from autoconv.compat.v1 import Dimension as Dimension
from autoconv.compat.v1 import dimension_value as dimension_value
from autoconv.runtime.annotations import ShapeLike
from autoconv.runtime.support.shape import TensorShape as TensorShape


def as_shape(shape: ShapeLike) -> TensorShape:
    """Return a shape as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank: int | None = None) -> TensorShape:
    """Return a shape of unknown sizes; without `rank`, the rank is unknown, too."""
    return TensorShape(None if rank is None else [None] * rank)


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """Return a size of a shape as a Dimension, whose value is None if the size or the rank is unknown."""
    return Dimension(None if shape.rank is None else shape.as_list()[index])
