"""Concatenation and stacking of tensors, and their inverses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, Shape, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import normalised_axis

_X = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
_Y = np.array([[1.0, 0.25, -3.0]])


# ---- concat


def _concat_type(*inputs: TensorType, axis: int) -> TensorType:
    """Return the type of the joined tensors, whose sizes along the axis are added."""
    if not inputs:
        raise ValueError("concat takes at least one tensor")
    dtype = _common_dtype("concat", inputs)
    shapes = [x.shape for x in inputs if x.shape is not None]
    if not shapes:
        return TensorType(dtype, None)
    rank = len(shapes[0])
    for shape in shapes:
        if len(shape) != rank:
            raise ValueError(f"concat: the tensors have {rank} and {len(shape)} dimensions")
    if not rank:
        raise ValueError("concat takes tensors of one or more dimensions, found scalars; use stack")
    resolved_axis = normalised_axis(axis, rank)
    _check_other_axes(shapes, resolved_axis)
    result = [_merge_sizes([shape[i] for shape in shapes]) for i in range(rank)]
    sizes = [None if x.shape is None else x.shape[resolved_axis] for x in inputs]
    result[resolved_axis] = _sum_sizes(sizes)
    return TensorType(dtype, tuple(result), all(x.weak for x in inputs))


def _check_other_axes(shapes: list[tuple[Dimension, ...]], resolved_axis: int) -> None:
    """Raise ValueError for sizes that differ along an axis other than `resolved_axis`, which is joined."""
    for shape in shapes[1:]:
        for axis, sizes in enumerate(zip(shapes[0], shape, strict=True)):
            are_known = all(isinstance(size, int) for size in sizes)
            if axis != resolved_axis and are_known and len(set(sizes)) > 1:
                raise ValueError(
                    f"concat: axis {axis} of shapes [{shape_text(shapes[0])}] and [{shape_text(shape)}] differs"
                )


def _merge_sizes(sizes: list[Dimension]) -> Dimension:
    """Return the common size of one dimension of several tensors; None if it is unknown."""
    known_sizes = [size for size in sizes if isinstance(size, int)]
    if known_sizes:
        return known_sizes[0]
    return sizes[0] if all(size == sizes[0] for size in sizes) else None


def _sum_sizes(sizes: list[Dimension]) -> Dimension:
    """Return the sum of sizes; None if one of them is unknown."""
    if len(sizes) == 1:
        return sizes[0]
    known_sizes = [size for size in sizes if isinstance(size, int)]
    return sum(known_sizes) if len(known_sizes) == len(sizes) else None


def _common_dtype(op: str, inputs: tuple[TensorType, ...]) -> Any:
    """Return the dtype of all tensors; raises TypeError if they differ."""
    for x in inputs:
        if x.dtype is not inputs[0].dtype:
            raise TypeError(f"{op}: the tensors have types {inputs[0].dtype.name} and {x.dtype.name}")
    return inputs[0].dtype


def _concat(*inputs: Any, axis: int) -> Any:
    """Concatenate; shapes that differ along other axes raise TensorFlow's error."""
    try:
        return np.concatenate(inputs, axis)
    except ValueError as error:
        shapes = " and ".join(str(list(np.shape(x))) for x in inputs)
        raise InvalidArgumentError(
            f"concat: the shapes {shapes} do not go together along axis {axis}"
        ).with_plain_error(error) from None


def _concat_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    parts = b.split_like(cotangents[0], *inputs, axis=attributes["axis"])
    return parts if isinstance(parts, (tuple, list)) else (parts,)


def _split_like_type(x: TensorType, *likes: TensorType, axis: int) -> tuple[TensorType, ...]:
    return tuple(x.with_shape(like.shape) for like in likes)


def _split_like(x: Any, *likes: Any, axis: int) -> Any:
    """Split x along the axis into parts of the sizes that `likes` have: the adjoint of `concat`."""
    end_positions = np.cumsum([np.shape(like)[axis] for like in likes])
    return tuple(np.split(x, end_positions[:-1], axis))


def _split_like_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    cotangent = b.concat(*_fill_missing_cotangents(b, results, cotangents), axis=attributes["axis"])
    return (cotangent, *(None for _ in inputs[1:]))


def _fill_missing_cotangents(b: Builder, results: Any, cotangents: Any) -> list[Any]:
    """Replace missing cotangents, those of unused results, by zeros."""
    pairs = zip(results, cotangents, strict=True)
    return [b.zeros_like(result) if cotangent is None else cotangent for result, cotangent in pairs]


def _concat_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless the sizes beside the axis are known to agree."""
    shapes = [shape for type_ in types if (shape := getattr(type_, "shape", None)) is not None]
    if len(shapes) < len(types):
        return Effects.RAISE
    resolved_axis = attributes["axis"] % max(len(shapes[0]), 1)  # sizes may differ along this axis
    other_dimensions = {tuple(shape[:resolved_axis]) + tuple(shape[resolved_axis + 1 :]) for shape in shapes}
    may_differ = len(shapes) > 1 and (len(other_dimensions) > 1 or None in other_dimensions.pop())
    return Effects.RAISE if may_differ else Effects.PURE


def _stack_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless all shapes are known to be equal."""
    shapes = {getattr(type_, "shape", None) for type_ in types}
    has_unknown_sizes = len(types) > 1 and any(shape is None or None in shape for shape in shapes)
    return Effects.RAISE if len(shapes) > 1 or has_unknown_sizes else Effects.PURE


concat = define(
    name="concat", graphdef="ConcatV2", result=_concat_type, kernel=_concat, gradient=_concat_gradient,
    effects=_concat_effects, unify="all",
    samples=(sample(_X, _Y, axis=0), sample(_X, _X, _X[:, :1], axis=-1), sample(_X, axis=1)),
)  # fmt: skip
split_like = define(
    name="split_like", graphdef="SplitV", result=_split_like_type, kernel=_split_like,
    gradient=_split_like_gradient,
    samples=(sample(np.vstack([_X, _Y]), _X, _Y, axis=0, differentiable=(0,)),),
    may_alias=True,
)  # fmt: skip


# ---- stack, unstack


def _stack_type(*inputs: TensorType, axis: int = 0) -> TensorType:
    """Return the type with a new axis, whose size is the number of tensors."""
    if not inputs:
        raise ValueError("stack takes at least one tensor")
    dtype = _common_dtype("stack", inputs)
    weak = all(x.weak for x in inputs)
    shapes = [x.shape for x in inputs if x.shape is not None]
    if not shapes:
        return TensorType(dtype, None, weak)
    for shape in shapes[1:]:
        if not are_shapes_compatible(shapes[0], shape):
            raise ValueError(
                f"stack: shapes must be equal, but are [{shape_text(shapes[0])}] and [{shape_text(shape)}]"
            )
    common_shape = [_merge_sizes([shape[i] for shape in shapes]) for i in range(len(shapes[0]))]
    common_shape.insert(normalised_axis(axis, len(common_shape) + 1), len(inputs))
    return TensorType(dtype, tuple(common_shape), weak)


def _stack(*inputs: Any, axis: int = 0) -> Any:
    """Stack; shapes that differ raise TensorFlow's error."""
    try:
        return np.stack(inputs, axis)
    except ValueError as error:
        shapes = ", ".join(str(list(np.shape(x))) for x in inputs)
        public_error = InvalidArgumentError(f"Shapes of all inputs must match: they are {shapes}")
        raise public_error.with_plain_error(error) from None


def _stack_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    parts = b.unstack(cotangents[0], num=len(inputs), axis=attributes.get("axis", 0))
    return parts if isinstance(parts, (tuple, list)) else (parts,)


def _unstack_type(x: TensorType, *, num: int, axis: int = 0) -> tuple[TensorType, ...]:
    """Return the types of `num` rows; raise if the axis is known to have another size."""
    shape: Shape = None
    if x.shape is not None:
        resolved_axis = normalised_axis(axis, len(x.shape))
        if not are_shapes_compatible((x.shape[resolved_axis],), (num,)):
            raise ValueError(f"unstack: axis {axis} of {x} does not have {num} rows")
        shape = (*x.shape[:resolved_axis], *x.shape[resolved_axis + 1 :])
    return (x.with_shape(shape),) * num


def _unstack(x: Any, *, num: int, axis: int = 0) -> Any:
    if np.shape(x)[axis] != num:
        raise InvalidArgumentError(f"unstack: dimension {axis} is {np.shape(x)[axis]}, not {num}")
    return tuple(np.moveaxis(x, axis, 0))


def _unstack_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    if not results:
        return (b.zeros_like(inputs[0]),)
    return (b.stack(*_fill_missing_cotangents(b, results, cotangents), axis=attributes.get("axis", 0)),)


stack = define(
    name="stack", graphdef="Pack", result=_stack_type, kernel=_stack, gradient=_stack_gradient, unify="all",
    effects=_stack_effects,
    samples=(sample(_X, _X * 2, axis=0), sample(_X, _X * 2, _X, axis=-1), sample(_X, axis=1)),
)  # fmt: skip
unstack = define(
    name="unstack", graphdef="Unpack", result=_unstack_type, kernel=_unstack, gradient=_unstack_gradient,
    samples=(sample(_X, num=2, axis=0), sample(_X, num=3, axis=-1)),
    may_alias=True,
)  # fmt: skip


# ---- split


def _split_type(
    x: TensorType, lengths: TensorType | None = None, *, sizes: tuple[int | None, ...], axis: int = 0
) -> tuple[TensorType, ...]:
    """Return the types of the parts.

    `sizes` has None for a size that the operand `lengths` gives; without that operand, the parts are equal.
    """
    if x.shape is None:
        return (x,) * len(sizes)
    resolved_axis = normalised_axis(axis, len(x.shape))
    size = x.shape[resolved_axis]
    part_sizes: list[Dimension] = list(sizes)
    if lengths is None and None in sizes:
        if isinstance(size, int) and size % len(sizes):
            raise ValueError(
                f"split: dimension {axis} of size {size} does not divide into {len(sizes)} equal parts"
            )
        part_sizes = [size // len(sizes) if isinstance(size, int) else None] * len(sizes)
    elif isinstance(size, int) and None not in sizes and sum(part_size or 0 for part_size in sizes) != size:
        raise ValueError(f"split: the sizes {list(sizes)} do not add up to the {size} of dimension {axis}")
    before, after = x.shape[:resolved_axis], x.shape[resolved_axis + 1 :]
    return tuple(x.with_shape((*before, part_size, *after)) for part_size in part_sizes)


def _split(x: Any, lengths: Any = None, *, sizes: Any, axis: int = 0) -> Any:
    """Return the parts, of the sizes `lengths` if they are passed; one -1 in them stands for the remaining elements."""
    size = np.shape(x)[axis]
    if lengths is not None:
        sizes = [int(length) for length in lengths]
        if -1 in sizes:
            sizes[sizes.index(-1)] = size - sum(length for length in sizes if length != -1)
    elif None in sizes:
        if size % len(sizes):
            raise InvalidArgumentError(f"split: {size} rows do not divide into {len(sizes)} equal parts")
        sizes = [size // len(sizes)] * len(sizes)
    if sum(sizes) != size or min(sizes, default=0) < 0:
        raise InvalidArgumentError(
            f"split: the sizes {list(sizes)} do not add up to the {size} of dimension {axis}"
        )
    return tuple(np.split(x, np.cumsum(sizes)[:-1], axis)) if sizes else ()


def _split_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    cotangent = b.concat(*_fill_missing_cotangents(b, results, cotangents), axis=attributes.get("axis", 0))
    return (cotangent, *(None for _ in inputs[1:]))


split = define(
    name="split", graphdef="SplitV", result=_split_type, kernel=_split, gradient=_split_gradient,
    samples=(
        sample(_X, sizes=(1, 2), axis=1),
        sample(_X, sizes=(None, None), axis=0),
        sample(_X, np.array([1, -1]), sizes=(1, None), axis=-1),
    ),
    view=True,
)  # fmt: skip
