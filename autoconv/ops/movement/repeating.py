"""Ops that repeat a tensor, or its rows, along dimensions, and their adjoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import int64
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, Shape, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.gradients import sum_cotangent
from autoconv.ops.movement.constants import check_shape, static_shape
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import is_known_to_broadcast, normalised_axis
from autoconv.ops.traits import SizeOperand

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])


def _check_broadcasts(x: TensorType, shape: Shape) -> None:
    """Raise ValueError unless a tensor broadcasts to the shape."""
    if x.shape is None or shape is None:
        return
    padded_shape = (1,) * (len(shape) - len(x.shape)) + x.shape
    can_expand = len(x.shape) <= len(shape) and all(
        size in (1, target_size) or not isinstance(size, int) or not isinstance(target_size, int)
        for size, target_size in zip(padded_shape, shape, strict=True)
    )
    if not can_expand:
        raise ValueError(
            f"Incompatible shapes: [{shape_text(x.shape)}] vs. [{shape_text(shape)}] in broadcast_to"
        )


def _broadcast_to_type(
    x: TensorType, shape_vector: TensorType | None = None, *, shape: tuple[int | None, ...] | None
) -> TensorType:
    target_shape = static_shape("broadcast_to", shape, shape_vector)
    _check_broadcasts(x, target_shape)
    return x.with_shape(target_shape)


def _broadcast_to_shape_of_type(x: TensorType, like: TensorType) -> TensorType:
    _check_broadcasts(x, like.shape)
    return x.with_shape(like.shape)


def _broadcast_to(x: Any, shape_vector: Any = None, *, shape: Any) -> Any:
    """Return a broadcast copy; a shape that does not fit raises TensorFlow's error."""
    sizes = shape if shape_vector is None else check_shape("broadcast_to", shape_vector)
    try:
        return np.broadcast_to(x, sizes).copy()
    except ValueError as error:
        raise InvalidArgumentError(
            f"Incompatible shapes: {list(np.shape(x))} vs. {list(sizes)} in broadcast_to"
        ).with_plain_error(error) from None


def _broadcast_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless the shape is known to broadcast."""
    shape, target = getattr(types[0], "shape", None), attributes["shape"]
    return Effects.PURE if target is not None and is_known_to_broadcast(target, shape) else Effects.RAISE


broadcast_to = define(
    name="broadcast_to", graphdef="BroadcastTo", result=_broadcast_to_type, kernel=_broadcast_to,
    gradient=sum_cotangent, effects=_broadcast_effects,
    samples=(sample(_X[:, :1], shape=(4, 2, 3)), sample(_X, np.array([2, 2, 3]), shape=(None, None, 3))),
    sizes=SizeOperand("shape", 1),
)  # fmt: skip
broadcast_to_shape_of = define(
    name="broadcast_to_shape_of", graphdef="BroadcastTo", result=_broadcast_to_shape_of_type,
    kernel=lambda x, like: _broadcast_to(x, shape=np.shape(like)), gradient=sum_cotangent, shape_only=(1,),
    samples=(sample(_X[:1], np.zeros((4, 2, 3)), differentiable=(0,)),),
)  # fmt: skip


def _tile_type(
    x: TensorType, shape_vector: TensorType | None = None, *, multiples: tuple[int | None, ...] | None
) -> TensorType:
    """Return the type with multiplied sizes; those are open if a size or a count is."""
    counts = static_shape("tile", multiples, shape_vector)
    if x.shape is None or counts is None:
        rank = x.rank if counts is None else len(counts)
        return x.with_shape(None if rank is None else (None,) * rank)
    if len(counts) != len(x.shape):
        raise ValueError(f"tile: there are {len(counts)} multiples for {len(x.shape)} dimensions")
    return x.with_shape(tuple(_scaled_size(size, count) for size, count in zip(x.shape, counts, strict=True)))


def _scaled_size(size: Dimension, count: Dimension) -> Dimension:
    """Return the product of a size and a count, as far as it is known; else None."""
    if isinstance(size, int) and isinstance(count, int):
        return size * count
    return size if count == 1 else 0 if 0 in (size, count) else None


def _tile(x: Any, shape_vector: Any = None, *, multiples: Any) -> Any:
    counts = multiples if shape_vector is None else check_shape("tile", shape_vector)
    if len(counts) != np.ndim(x):
        raise InvalidArgumentError(f"tile: there are {len(counts)} multiples for {np.ndim(x)} dimensions")
    return np.tile(x, counts)


def _tile_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    return (b.sum_tiles(cotangents[0], inputs[0]), *(None for _ in inputs[1:]))


def _sum_tiles_type(x: TensorType, like: TensorType) -> TensorType:
    if x.rank is not None and like.rank is not None and x.rank != like.rank:
        raise ValueError(f"sum_tiles: {x} is not a tiling of {like}")
    return x.with_shape(like.shape)


def _sum_tiles(x: Any, like: Any) -> Any:
    """Return the sum of the tiles of x, which have the shape of `like`: the adjoint of `tile`."""
    sizes: list[int] = []
    for tiled_size, size in zip(np.shape(x), np.shape(like), strict=True):
        sizes += [tiled_size // size if size else 0, size]
    return np.reshape(x, sizes).sum(axis=tuple(range(0, len(sizes), 2)), dtype=np.asarray(x).dtype)


def _sum_tiles_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    x, like = inputs
    multiples = b.floor_divide(b.shape(x), b.maximum(b.shape(like), b.constant(value=np.array(1, np.int32))))
    return b.ensure_same_shape(b.tile(cotangents[0], multiples, multiples=None), x), None


tile = define(
    name="tile", graphdef="Tile", result=_tile_type, kernel=_tile, gradient=_tile_gradient,
    samples=(sample(_X, multiples=(2, 1)), sample(_X, np.array([1, 2]), multiples=(1, None))),
    sizes=SizeOperand("multiples", 1),
)  # fmt: skip
sum_tiles = define(
    name="sum_tiles", graphdef="Sum", result=_sum_tiles_type, kernel=_sum_tiles, gradient=_sum_tiles_gradient,
    samples=(sample(np.tile(_X, (2, 1)), _X, differentiable=(0,)),),
)  # fmt: skip


# ---- repeated rows


def _repeat_type(
    x: TensorType, counts: TensorType | None = None, *, repeats: int | None = None, axis: int
) -> TensorType:
    """Return the type with each element along the axis repeated; `counts` is the operand used if `repeats` is None."""
    if counts is None and (repeats is None or repeats < 0):
        raise ValueError(f"repeat: the number of repeats has to be 0 or more, found {repeats}")
    if x.shape is None:
        return x
    resolved_axis = normalised_axis(axis, len(x.shape))
    size = x.shape[resolved_axis]
    if counts is not None:
        if counts.rank not in (None, 0, 1):
            raise ValueError(f"repeat: the repeats have to be a scalar or a vector, found {counts}")
        if counts.shape and not are_shapes_compatible(counts.shape, (size,)) and counts.shape != (1,):
            raise ValueError(f"repeat: {counts} repeats for a dimension of {size}")
        repeats = None
    return x.with_shape((*x.shape[:resolved_axis], _scaled_size(size, repeats), *x.shape[resolved_axis + 1 :]))


def _repeat(x: Any, counts: Any = None, *, repeats: int | None = None, axis: int) -> Any:
    """Repeat each element along the axis: `repeats` times, or by the counts of the elements in the operand `counts`."""
    repeat_counts: Any = repeats if counts is None else counts
    if np.min(repeat_counts, initial=0) < 0:
        is_scalar = np.size(repeat_counts) == 1  # NumPy multiplies the size by a single number
        text = "negative dimensions are not allowed" if is_scalar else "repeats may not contain negative values."
        error = ValueError(text)
        raise InvalidArgumentError("repeat: the number of repeats must not be negative").with_plain_error(error)
    try:
        return np.repeat(x, repeat_counts, axis)
    except ValueError as error:
        raise InvalidArgumentError(
            f"repeat: {np.size(repeat_counts)} repeats for a dimension of {np.shape(x)[axis]}"
        ).with_plain_error(error) from None


def _repeat_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the sum of the cotangents of each element's copies."""
    x, axis, count = inputs[0], attributes["axis"], attributes.get("repeats")
    shape = x.type.shape
    has_static_shape = len(inputs) == 1 and count is not None and shape is not None and None not in shape
    if has_static_shape:
        position = normalised_axis(axis, len(shape)) + 1
        copies = b.reshape(cotangents[0], shape=(*shape[:position], count, *shape[position:]))
        return (b.reduce_sum(copies, axis=(position,)),)
    zero, one = (b.constant(value=np.array(n, np.int64)) for n in (0, 1))
    rows = b.range(zero, b.dimension(x, axis=axis, dtype=int64), one)
    source_rows = b.repeat(rows, *inputs[1:], repeats=attributes.get("repeats"), axis=0)
    return (b.ungather(cotangents[0], source_rows, x, axis=axis, batch_dims=0), *(None for _ in inputs[1:]))


repeat = define(
    name="repeat", graphdef="Repeat", result=_repeat_type, kernel=_repeat, gradient=_repeat_gradient,
    effects=lambda types, attributes: Effects.PURE if len(types) == 1 else Effects.RAISE,  # counts may be invalid
    samples=(
        sample(_X, repeats=2, axis=1),
        sample(_X, np.array([2, 0, 1]), repeats=None, axis=-1, differentiable=(0,)),
    ),
    element_count_inputs=(1,),
)  # fmt: skip
