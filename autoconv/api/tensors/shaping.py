"""Queries and changes of shapes, joins and splits. A shape is a tensor, or a list of ints and scalar tensors."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import as_indices, check_dtype
from autoconv.api.tensors.arguments import shape_argument, static_axes, static_int
from autoconv.api.tensors.axis_choice import accepts_run_time_axes
from autoconv.graph.dtype_sets import FLOATING, LARGE_INTEGERS, REAL
from autoconv.graph.dtypes import as_dtype, bool_, int32, uint8
from autoconv.runtime.annotations import AxisLike, DTypeLike, ShapeLike, TensorLike
from autoconv.runtime.objects.containers import items_of
from autoconv.runtime.support.shape import as_shape
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def result_list(output: Any) -> list[Tensor]:
    """Return the results of an op with any number of them as a list."""
    return list(output) if isinstance(output, (tuple, list)) else [output]


# ---- reading shapes


def shape(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The shape at run time, as an integer vector.

    >>> autoconv.shape([[1, 2, 3], [4, 5, 6]]).numpy()
    array([2, 3], dtype=int32)
    """
    return apply("shape", input, dtype=as_dtype(int32 if out_type is None else out_type), name=name)


def shape_n(input: Sequence[Any], out_type: DTypeLike = int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors.

    >>> [shape.numpy().tolist() for shape in autoconv.shape_n([[1, 2], [[3]]])]
    [[2], [1, 1]]
    """
    return [shape(x, out_type, name) for x in input]


def size(input: TensorLike, out_type: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The number of elements, as an integer scalar.

    >>> autoconv.size([[1, 2, 3], [4, 5, 6]]).numpy()
    np.int32(6)
    """
    return apply("size", input, dtype=as_dtype(int32 if out_type is None else out_type), name=name)


def rank(input: TensorLike, name: str | None = None) -> Tensor:
    """The number of dimensions, as an int32 scalar.

    >>> autoconv.rank([[1, 2, 3], [4, 5, 6]]).numpy()
    np.int32(2)
    """
    return apply("rank", input, dtype=int32, name=name)


def ensure_shape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`x`, checked at run time to have the shape `shape`, in which None matches any size.

    Raises InvalidArgumentError at run time, or ValueError while tracing if the shapes are known to be incompatible.

    >>> autoconv.ensure_shape([1, 2], [None]).shape
    TensorShape([2])
    """
    return apply("ensure_shape", x, shape=as_shape(shape), name=name)


# ---- reshaping


def reshape(tensor: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same elements in another shape; one size may be -1 and is then inferred.

    Raises ValueError or InvalidArgumentError when the number of elements differs.

    >>> autoconv.reshape(autoconv.range(6), [2, -1]).numpy()
    array([[0, 1, 2],
           [3, 4, 5]], dtype=int32)
    """
    shape = as_indices("reshape", shape)
    operands, static_shape = shape_argument(shape)
    # TensorFlow infers a size beside a size 0, which NumPy refuses.
    may_infer_beside_zero = static_shape is not None and -1 in static_shape and not {0, None}.isdisjoint(static_shape)
    options = {"infers_without_zeros": True} if may_infer_beside_zero else {}
    return apply("reshape", tensor, *operands, shape=static_shape, **options, name=name)


@accepts_run_time_axes(ordered=True)
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Tensor:
    """`a` with dimension perm[i] as dimension i; without `perm` the order of the dimensions is reversed.

    >>> autoconv.transpose([[1, 2, 3], [4, 5, 6]]).numpy()
    array([[1, 4],
           [2, 5],
           [3, 6]], dtype=int32)
    """
    result = apply("transpose", a, perm=static_axes(perm), name=name)
    return apply("conjugate", result) if conjugate and result.dtype.is_complex else result


@accepts_run_time_axes(new_axes=1)
def expand_dims(input: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """`input` with a dimension of 1 inserted at `axis`.

    >>> autoconv.expand_dims([1, 2], axis=0).shape
    TensorShape([1, 2])
    """
    axis = as_indices("expand_dims", axis)
    only_axis: Any = axis[0] if isinstance(axis, (list, tuple)) and len(axis) == 1 else axis
    return apply("expand_dims", input, axis=static_int(only_axis, "axis"), name=name)


@accepts_run_time_axes()
def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """`input` without the dimensions of 1: those in `axis`, or all.

    >>> autoconv.squeeze([[1], [2]], axis=1).numpy()
    array([1, 2], dtype=int32)
    """
    axes = static_axes(axis)
    return apply("squeeze", input, axis=axes or None, name=name)


@accepts_run_time_axes()
def reverse(tensor: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """The elements in reverse order along each axis in `axis`.

    >>> autoconv.reverse([1, 2, 3], axis=[0]).numpy()
    array([3, 2, 1], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    return x if x.shape.rank == 0 else apply("reverse", x, axis=static_axes(axis), name=name)


@accepts_run_time_axes(ordered=True)
def roll(input: TensorLike, shift: TensorLike, axis: AxisLike, name: str | None = None) -> Tensor:
    """Elements shifted by `shift` positions along `axis`, cyclically.

    >>> autoconv.roll([1, 2, 3], shift=1, axis=0).numpy()
    array([3, 1, 2], dtype=int32)
    """
    axes = static_axes(axis)
    known_shift = static_value(shift)
    if known_shift is None:
        return apply("roll", input, convert_to_tensor(shift), shift=None, axis=axes, name=name)
    shifts = tuple(int(number) for number in np.ravel(known_shift))
    return apply("roll", input, shift=shifts, axis=axes, name=name)


# ---- repeating


def broadcast_to(input: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """`input` repeated to `shape` by NumPy's rules of broadcasting.

    >>> autoconv.broadcast_to([1, 2], [2, 2]).numpy()
    array([[1, 2],
           [1, 2]], dtype=int32)
    """
    shape = as_indices("broadcast_to", shape)
    operands, static_shape = shape_argument(shape)
    return apply("broadcast_to", input, *operands, shape=static_shape, name=name)


def tile(input: TensorLike, multiples: TensorLike, name: str | None = None) -> Tensor:
    """`input` repeated multiples[i] times along dimension i.

    >>> autoconv.tile([1, 2], [2]).numpy()
    array([1, 2, 1, 2], dtype=int32)
    """
    multiples = as_indices("tile", multiples)
    operands, static_multiples = shape_argument(multiples)
    return apply("tile", input, *operands, multiples=static_multiples, name=name)


@accepts_run_time_axes()
def repeat(input: TensorLike, repeats: TensorLike, axis: AxisLike | None = None, name: str | None = None) -> Tensor:
    """Each slice along `axis` repeated; without an axis, each element. `repeats` is one number, or one for each slice.

    >>> autoconv.repeat([1, 2], 2).numpy()
    array([1, 1, 2, 2], dtype=int32)
    """
    x = input
    if axis is None:
        x, axis = apply("reshape", input, shape=(-1,)), 0
    static_axis = static_int(axis, "axis")
    known_repeats = static_value(repeats)
    if known_repeats is not None and np.size(known_repeats) == 1:
        return apply("repeat", x, repeats=int(np.asarray(known_repeats).item()), axis=static_axis, name=name)
    repeats_by_slice = convert_to_tensor(repeats) if known_repeats is None else np.asarray(known_repeats, np.int64)
    return apply("repeat", x, repeats_by_slice, repeats=None, axis=static_axis, name=name)


def pad(
    tensor: TensorLike, paddings: TensorLike, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Tensor:
    """`tensor` with paddings[i] = (before, after) additional elements along dimension i.

    These are `constant_values` (CONSTANT), or mirror the tensor without its border (REFLECT) or with it (SYMMETRIC).

    >>> autoconv.pad([1, 2], [[1, 2]]).numpy()
    array([0, 1, 2, 0, 0], dtype=int32)
    """
    known_paddings = static_value(paddings)
    pairs = None if known_paddings is None else np.reshape(known_paddings, (-1, 2))
    static_paddings = None if pairs is None else tuple((int(before), int(after)) for before, after in pairs)
    # The op takes one known value of the additional elements. Else they are selected from the padding by a mask.
    operands = () if known_paddings is not None else (convert_to_tensor(_flatten_pairs(paddings)),)
    constant = static_value(constant_values if mode.upper() == "CONSTANT" else 0)
    if constant is not None and np.any(constant):  # as in TensorFlow, a zero may be of any dtype
        convert_to_tensor(constant_values, convert_to_tensor(tensor).dtype)
    if constant is not None:
        options = {"constant_values": np.asarray(constant).item(), "paddings": static_paddings, "mode": mode.upper()}
        return apply("pad", tensor, *operands, **options, name=name)
    padded_tensor = apply("pad", tensor, *operands, paddings=static_paddings, mode="CONSTANT", constant_values=0)
    is_inside = apply("ones_like", tensor, dtype=bool_)
    mask = apply("pad", is_inside, *operands, paddings=static_paddings, mode="CONSTANT", constant_values=False)
    return apply("select", mask, padded_tensor, constant_values, name=name)


def _flatten_pairs(paddings: Any) -> Any:
    """Return a list of pairs as a flat list of numbers, which may be tensors; paddings of another form unchanged."""
    is_nested = isinstance(paddings, (list, tuple)) and all(isinstance(pair, (list, tuple)) for pair in paddings)
    has_pairs = is_nested and set(map(len, paddings)) == {2}
    return [amount for pair in paddings for amount in pair] if has_pairs else paddings


# ---- joining and taking apart


@accepts_run_time_axes()
def concat(values: Any, axis: Any, name: str | None = "concat") -> Tensor:
    """The tensors concatenated along `axis`; the other dimensions must agree.

    >>> autoconv.concat([[1, 2], [3]], axis=0).numpy()
    array([1, 2, 3], dtype=int32)
    """
    static_axis = static_int(axis, "axis")
    if as_tensor(values) is not None or isinstance(values, np.ndarray):  # one tensor, not a list of them
        return apply("identity", values, name=name)
    items = items_of(values)
    if items is not None:
        return items.concatenate(static_axis)
    return apply("concat", *_convert_lists(values), axis=static_axis, name=name)


@accepts_run_time_axes(new_axes=1)
def stack(values: Any, axis: Any = 0, name: str | None = "stack") -> Tensor:
    """Tensors of one shape stacked along a new dimension `axis`.

    >>> autoconv.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    static_axis = static_int(axis, "axis")
    items = items_of(values)
    if items is not None:
        return items.stack(static_axis)
    is_tensor = as_tensor(values) is not None
    if static_axis == 0 and (is_tensor or isinstance(values, (np.ndarray, bool, int, float, complex))):
        return convert_to_tensor(values)
    values = unstack(values) if is_tensor else values
    is_plain = all(isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)) for value in values)
    if static_axis == 0 and is_plain and len(set(map(np.shape, values))) <= 1:  # one array: faster than single nodes
        return convert_to_tensor(list(values))
    return apply("stack", *_convert_lists(values), axis=static_axis, name=name)


def _convert_lists(values: Sequence[Any]) -> list[Any]:
    """Return the values, with lists converted to the dtype of the tensors among them.

    Without tensors, lists without elements get the dtype of the first value.
    """
    tensors = [as_tensor(value) for value in values]
    tensor_dtype = next((tensor.dtype for tensor in tensors if tensor is not None and not tensor.weak), None)
    if tensor_dtype is None:
        are_empty = [isinstance(value, (list, tuple)) and not value for value in values]
        if any(are_empty) and not are_empty[0]:
            dtype = convert_to_tensor(values[0]).dtype
            pairs = zip(values, are_empty, strict=True)
            values = [convert_to_tensor(value, dtype) if is_empty else value for value, is_empty in pairs]
            tensors = [as_tensor(value) for value in values]
        return [value if tensor is None else tensor for value, tensor in zip(values, tensors, strict=True)]
    return [
        tensor if tensor is not None
        else convert_to_tensor(value, tensor_dtype) if isinstance(value, (list, tuple)) else value
        for value, tensor in zip(values, tensors, strict=True)
    ]


@accepts_run_time_axes()
def unstack(
    value: TensorLike, num: int | None = None, axis: AxisLike = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """The rows along `axis`, as a list of tensors.

    Raises ValueError if the number of rows is not known while tracing, and `num` is None.

    >>> [row.numpy().tolist() for row in autoconv.unstack([[1, 2], [3, 4]])]
    [[1, 2], [3, 4]]
    """
    tensor = convert_to_tensor(value)
    static_axis = static_int(axis, "axis")
    if num is None:
        shape_ = tensor.shape
        if shape_.rank is not None and not -shape_.rank <= static_axis < shape_.rank:
            raise ValueError(f"axis = {static_axis} not in [{-shape_.rank}, {shape_.rank})")
        num = shape_[static_axis] if shape_.rank is not None else None
    if num is None:
        raise ValueError(f"Cannot infer argument `num` from shape {tensor.shape}")
    return result_list(apply("unstack", tensor, num=int(num), axis=static_axis, name=name))


@accepts_run_time_axes()
def split(
    value: TensorLike, num_or_size_splits: Any, axis: AxisLike = 0, num: int | None = None, name: str | None = "split"
) -> list[Tensor]:
    """`value` split along `axis`: into a number of equal parts, or into parts of given sizes (-1: what remains).

    >>> [part.numpy().tolist() for part in autoconv.split(autoconv.range(6), 3)]
    [[0, 1], [2, 3], [4, 5]]
    """
    tensor = convert_to_tensor(value)
    static_axis = static_int(axis, "axis")
    known_splits = static_value(num_or_size_splits)
    if known_splits is not None and np.ndim(known_splits) == 0:
        return result_list(apply("split", tensor, sizes=(None,) * int(known_splits), axis=static_axis, name=name))
    operands, sizes = shape_argument(num_or_size_splits)
    if sizes is None:
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from {num_or_size_splits!r}; give num=")
        sizes = (None,) * num
    if not operands and -1 in sizes:
        operands = (np.array(sizes, np.int32),)
        axis_size = tensor.shape[static_axis] if tensor.shape.rank is not None else None
        known_sizes = [part_size for part_size in sizes if part_size is not None and part_size != -1]
        remaining_size = None if axis_size is None else axis_size - sum(known_sizes)
        sizes = tuple(remaining_size if part_size == -1 else part_size for part_size in sizes)
    return result_list(apply("split", tensor, *operands, sizes=sizes, axis=static_axis, name=name))


# ---- compositions


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """Each vector broadcast over a grid, which has one dimension for each vector.

    With indexing "xy", the first vector runs along the second dimension, as in images; "ij" keeps the order.

    >>> [grid.numpy().tolist() for grid in autoconv.meshgrid([1, 2], [3, 4])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    count = len(args)
    vectors = [apply("reshape", vector, shape=(-1,)) for vector in args]
    grid_axes = list(builtins.range(count))
    if indexing == "xy" and count > 1:
        grid_axes[:2] = [1, 0]
    sizes: list[Any] = [None] * count
    for vector, grid_axis in zip(vectors, grid_axes, strict=True):
        sizes[grid_axis] = vector.shape[0] if vector.shape[0] is not None else size(vector)
    lines = [
        apply("reshape", vector, shape=tuple(-1 if i == grid_axis else 1 for i in builtins.range(count)))
        for vector, grid_axis in zip(vectors, grid_axes, strict=True)
    ]
    return [broadcast_to(line, sizes) for line in lines]


def sequence_mask(lengths: TensorLike, maxlen: Any = None, dtype: DTypeLike = bool_, name: str | None = None) -> Tensor:
    """Return for each length a row of `maxlen` (by default the greatest length) with that many leading True elements.

    >>> autoconv.sequence_mask([1, 3], maxlen=3).numpy()
    array([[ True, False, False],
           [ True,  True,  True]])
    """
    row_lengths = convert_to_tensor(lengths)
    if maxlen is None:
        check_dtype("sequence_mask", REAL - {uint8}, row_lengths, kernel_dtypes=FLOATING | LARGE_INTEGERS)
        maxlen = apply("maximum", apply("reduce_max", row_lengths, axis=None, keepdims=False), 0)
    stop = convert_to_tensor(maxlen)
    if stop.dtype is not row_lengths.dtype:
        row_lengths = apply("cast", row_lengths, dtype=stop.dtype)
    zero, one = (np.array(number, row_lengths.dtype.numpy) for number in (0, 1))
    known_stop = static_value(stop)
    columns = apply("range", zero, stop, one, length=None if known_stop is None else int(known_stop))
    mask = apply("less", columns, apply("expand_dims", row_lengths, axis=-1), name=name)
    return mask if as_dtype(dtype).is_bool else apply("cast", mask, dtype=as_dtype(dtype))
