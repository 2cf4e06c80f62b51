"""Functions whose arguments have other names, another order or another meaning in version 1."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from autoconv import debugging, math, random, sparse, strings
from autoconv.api.control import flow
from autoconv.api.gradients.callbacks import numpy_function, py_function
from autoconv.api.nn import space_batches
from autoconv.api.tensors import casts, gather, reductions, shaping
from autoconv.api.tensors.reductions import argmax as _argmax
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, bfloat16, complex64, complex128, float32, float64, int32, int64
from autoconv.ragged import boolean_mask
from autoconv.runtime.annotations import AxisLike, DTypeLike, TensorLike
from autoconv.runtime.support.made_functions import give_name
from autoconv.runtime.tensors.conversion import convert_to_tensor


def resolve_alias(name: str, value: object, old_name: str, old_value: object) -> Any:
    """Return the argument of a parameter with two names, None if it is not given; raises ValueError if both are."""
    if old_value is not None and value is not None:
        raise ValueError(f"Cannot specify both {name!r} and {old_name!r}")
    return value if old_value is None else old_value


def squeeze_to_rank(tensor: Any, rank: int | None) -> Any:
    """Drop the last axis if its size is 1 or unknown and `rank` axes remain; otherwise return the tensor unchanged."""
    is_longer = rank is not None and tensor.shape.rank == rank + 1 and tensor.shape[-1] in (1, None)
    return shaping.squeeze(tensor, -1) if is_longer else tensor


def check_weights(weights: Any, values: Any) -> None:
    """Raise ValueError unless the weights are a scalar, or have along each axis the size of the values, or 1."""
    if weights.shape.rank in (0, None) or values.shape.rank is None:
        return
    has_same_rank = weights.shape.rank == values.shape.rank
    if not has_same_rank or any(
        size not in (1, None, value_size) and value_size is not None
        for size, value_size in zip(weights.shape.as_list(), values.shape.as_list(), strict=True)
    ):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={values.shape.rank}. "
            f"weights.rank={weights.shape.rank}. values.shape={values.shape}. weights.shape={weights.shape}."
        )


def _with_old_arguments(function: Callable[..., Any], example: str = "1.0, 2.0") -> Callable[..., Any]:
    """Return a reduction with `reduction_indices` and `keep_dims` as further parameters.

    `example` has the elements of the input in the docstring's example.
    """

    def reduction(
        input_tensor: Any, axis: AxisLike | None = None, keepdims: bool | None = None, name: str | None = None,
        reduction_indices: AxisLike | None = None, keep_dims: bool | None = None,
    ) -> Any:  # fmt: skip
        axes = resolve_alias("axis", axis, "reduction_indices", reduction_indices)
        return function(input_tensor, axes, bool(resolve_alias("keepdims", keepdims, "keep_dims", keep_dims)), name)

    summary = (function.__doc__ or "").strip().splitlines()[0]
    return give_name(reduction, function.__name__, (
        f"{summary}\n\n`reduction_indices` and `keep_dims` are earlier names of `axis` and `keepdims`.\n\n"
        f">>> autoconv.compat.v1.{function.__name__}([{example}], reduction_indices=0).shape\nTensorShape([])\n"
    ))  # fmt: skip


reduce_sum = _with_old_arguments(reductions.reduce_sum)
reduce_mean = _with_old_arguments(reductions.reduce_mean)
reduce_max = _with_old_arguments(reductions.reduce_max)
reduce_min = _with_old_arguments(reductions.reduce_min)
reduce_prod = _with_old_arguments(reductions.reduce_prod)
reduce_all = _with_old_arguments(reductions.reduce_all, "True, False")
reduce_any = _with_old_arguments(reductions.reduce_any, "True, False")
reduce_logsumexp = _with_old_arguments(reductions.reduce_logsumexp)


def space_to_batch(
    input: TensorLike, paddings: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """Pad the spatial axes with zeros, divide them into blocks, and move positions within a block to the batch axis.

    >>> autoconv.compat.v1.space_to_batch(autoconv.ones([1, 2, 2, 1]), [[0, 0], [0, 0]], 2).shape
    TensorShape([4, 1, 1, 1])
    """
    blocks = resolve_alias("block_shape", block_shape, "block_size", block_size)
    return space_batches.space_to_batch(input, blocks, paddings, name)


def batch_to_space(
    input: TensorLike, crops: Any, block_size: Any = None, name: str | None = None, block_shape: Any = None
) -> Any:
    """The inverse of `space_to_batch`: move positions from the batch axis into blocks of the spatial axes; crop these.

    >>> autoconv.compat.v1.batch_to_space(autoconv.ones([4, 1, 1, 1]), [[0, 0], [0, 0]], 2).shape
    TensorShape([1, 2, 2, 1])
    """
    blocks = resolve_alias("block_shape", block_shape, "block_size", block_size)
    return space_batches.batch_to_space(input, blocks, crops, name)


def _with_dimension(function: Callable[..., Any], extreme: str, example_result: str) -> Callable[..., Any]:
    """Return `argmax` or `argmin` with `dimension`, an earlier name of `axis`; the default is the first axis."""

    def position(
        input: Any, axis: AxisLike | None = None, name: str | None = None, dimension: AxisLike | None = None,
        output_type: DTypeLike = int64,
    ) -> Any:  # fmt: skip
        chosen_axis = resolve_alias("axis", axis, "dimension", dimension)
        return function(input, 0 if chosen_axis is None else chosen_axis, output_type, name)

    return give_name(position, function.__name__, (
        f"Return the indices of the {extreme} elements along an axis, by default the first axis.\n\n"
        f">>> autoconv.compat.v1.{function.__name__}([[1, 3], [5, 2]], 1).numpy()\narray({example_result})\n"
    ))  # fmt: skip


argmax = _with_dimension(_argmax, "largest", "[1, 0]")
argmin = _with_dimension(math.argmin, "smallest", "[0, 1]")
arg_max, arg_min = argmax, argmin


def expand_dims(
    input: Any, axis: AxisLike | None = None, name: str | None = None, dim: AxisLike | None = None
) -> Any:
    """Insert a dimension of size 1 at an axis; raises ValueError without one.

    >>> autoconv.compat.v1.expand_dims([1, 2], dim=0).shape
    TensorShape([1, 2])
    """
    chosen_axis = resolve_alias("axis", axis, "dim", dim)
    if chosen_axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return shaping.expand_dims(input, chosen_axis, name)


def squeeze(
    input: TensorLike, axis: AxisLike | None = None, name: str | None = None, squeeze_dims: AxisLike | None = None
) -> Any:
    """Remove dimensions of size 1: all of them, or those at the axes.

    >>> autoconv.compat.v1.squeeze([[1, 2]], squeeze_dims=[0]).numpy()
    array([1, 2], dtype=int32)
    """
    return shaping.squeeze(input, resolve_alias("axis", axis, "squeeze_dims", squeeze_dims), name)


def where(
    condition: TensorLike, x: Any = None, y: Any = None, name: str | None = None
) -> Any:
    """Select elements of x where the condition is true, else of y; all three have the same shape.

    A condition that is a vector selects rows. Without x and y, return the coordinates of true elements.

    >>> autoconv.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy()
    array([[1, 2],
           [7, 8]], dtype=int32)
    """
    if x is None and y is None:
        return gather.where(condition, name=name)
    mask, values = convert_to_tensor(condition), convert_to_tensor(x)
    if mask.shape.rank == 1 and values.shape.rank is not None and values.shape.rank > 1:
        mask = shaping.reshape(mask, [-1] + [1] * (values.shape.rank - 1))
    return gather.where(mask, values, y, name)


def cond(
    pred: TensorLike, true_fn: Any = None, false_fn: Any = None, strict: bool = False, name: str | None = None,
    fn1: Any = None, fn2: Any = None,
) -> Any:  # fmt: skip
    """Call one of two functions, selected by a bool that may be known only at run time.

    >>> autoconv.compat.v1.cond(autoconv.constant(1) > 2, lambda: "yes", lambda: "no")
    'no'
    """
    on_true, on_false = resolve_alias("true_fn", true_fn, "fn1", fn1), resolve_alias("false_fn", false_fn, "fn2", fn2)
    for argument, function in (("true_fn", on_true), ("false_fn", on_false)):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable")
    return flow.cond(pred, on_true, on_false, name=name)


def while_loop(
    cond: Any, body: Any, loop_vars: Any, shape_invariants: Any = None, parallel_iterations: int = 10,
    back_prop: bool = True, swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """Repeat `body` while `cond` holds. A single loop variable is returned alone, unless `return_same_structure`.

    >>> autoconv.compat.v1.while_loop(lambda i: i < 5, lambda i: [i + 1], [autoconv.constant(0)]).numpy()
    np.int32(5)
    """
    results = flow.while_loop(
        cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name
    )
    is_single = not return_same_structure and isinstance(results, (list, tuple)) and len(results) == 1
    return results[0] if is_single and not hasattr(results, "_fields") else results


def _make_cast(function_name: str, dtype: DType, example_result: str) -> Callable[..., Any]:
    """Return the function that casts to a dtype; `example_result` is the result for 3 in the docstring's example."""
    default_name = "".join(part[0].upper() + part[1:] for part in function_name.split("_")).replace("Bf", "BF")

    def cast_to(x: TensorLike, name: str = default_name) -> Any:
        return casts.cast(x, dtype, name)

    return give_name(cast_to, function_name, (
        f"Return x as {dtype.name}.\n\n>>> autoconv.compat.v1.{function_name}(3).numpy()\n{example_result}\n"
    ))  # fmt: skip


to_float = _make_cast("to_float", float32, "np.float32(3.0)")
to_double = _make_cast("to_double", float64, "np.float64(3.0)")
to_int32 = _make_cast("to_int32", int32, "np.int32(3)")
to_int64 = _make_cast("to_int64", int64, "np.int64(3)")
to_complex64 = _make_cast("to_complex64", complex64, "np.complex64(3+0j)")
to_complex128 = _make_cast("to_complex128", complex128, "np.complex128(3+0j)")
to_bfloat16 = _make_cast("to_bfloat16", bfloat16, "3")


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """Divide as `/` of Python 2: quotients of integers are rounded down, those of floats are not.

    >>> autoconv.compat.v1.div(7, 2).numpy(), autoconv.compat.v1.div(7.0, 2.0).numpy()
    (np.int32(3), np.float32(3.5))
    """
    dividend = convert_to_tensor(x)
    return dividend // y if dividend.dtype.is_integer else dividend / y


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DTypeLike = float32, seed: int | None = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Draw from a normal distribution, each time the graph runs.

    >>> autoconv.compat.v1.random_normal([2, 3]).shape
    TensorShape([2, 3])
    """
    return random.normal(shape, mean, stddev, dtype, seed, name)


def multinomial(
    logits: TensorLike, num_samples: Any, seed: int | None = None, name: str | None = None,
    output_dtype: DTypeLike | None = None,
) -> Any:  # fmt: skip
    """Draw classes by unnormalised log probabilities, one row of draws for each row.

    >>> autoconv.compat.v1.multinomial([[0.0, -100.0]], 3).numpy()
    array([[0, 0, 0]])
    """
    return random.categorical(logits, num_samples, output_dtype or int64, seed, name)


def py_func(func: Any, inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """func(*arrays), run each time the graph runs.

    >>> autoconv.compat.v1.py_func(np.sinc, [0.0], autoconv.float32).numpy()
    np.float32(1.0)
    """
    return numpy_function(func, inp, Tout, stateful, name)


def setdiff1d(x: TensorLike, y: TensorLike, index_dtype: DTypeLike = int32, name: str | None = None) -> tuple[Any, Any]:
    """Return the elements of the vector x that are not in the vector y, and their positions in x.

    Raises InvalidArgumentError for tensors of other ranks.

    >>> [result.numpy() for result in autoconv.compat.v1.setdiff1d([1, 2, 3, 2], [2])]
    [array([1, 3], dtype=int32), array([0, 2], dtype=int32)]
    """
    vector = convert_to_tensor(x)
    excluded = convert_to_tensor(y, vector.dtype)
    if vector.shape.rank not in (1, None) or excluded.shape.rank not in (1, None):
        raise InvalidArgumentError(f"setdiff1d takes vectors, found the shapes {vector.shape} and {excluded.shape}")
    is_difference = reductions.reduce_all(shaping.expand_dims(vector, 1) != shaping.expand_dims(excluded, 0), 1)
    positions = casts.cast(gather.where(is_difference)[:, 0], index_dtype)
    return gather.gather(vector, positions), positions


def count_nonzero(
    input_tensor: Any = None, axis: AxisLike | None = None, keepdims: bool | None = None,
    dtype: DTypeLike = int64, name: str | None = None, reduction_indices: AxisLike | None = None,
    keep_dims: bool | None = None, input: Any = None,
) -> Any:  # fmt: skip
    """Count the elements that are not zero.

    >>> autoconv.compat.v1.count_nonzero([[0, 1], [2, 3]], 0).numpy()
    array([1, 2])
    """
    axes = resolve_alias("axis", axis, "reduction_indices", reduction_indices)
    keeps_dimensions = bool(resolve_alias("keepdims", keepdims, "keep_dims", keep_dims))
    return math.count_nonzero(input_tensor if input is None else input, axes, keeps_dimensions, dtype, name)


def eager_py_func(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """func(*tensors), run each time the graph runs.

    >>> autoconv.compat.v1.eager_py_func(lambda x: x + 1, [2], autoconv.int32).numpy()
    np.int32(3)
    """
    return py_function(func, inp, Tout, name)


def string_split(
    source: TensorLike, sep: str | None = None, skip_empty: bool = True, delimiter: str | None = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> Any:  # fmt: skip
    """Split each text of a vector at one of the characters of `sep`; an empty `sep` splits into bytes.

    The result is a SparseTensor, or with `result_type="RaggedTensor"` a RaggedTensor. Raises ValueError for any other.

    >>> autoconv.compat.v1.string_split(["a b", "c"]).values.numpy().tolist()
    [b'a', b'b', b'c']
    """
    if result_type not in ("SparseTensor", "RaggedTensor"):
        raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")
    separator = resolve_alias("sep", sep, "delimiter", delimiter)
    separator = " " if separator is None else separator
    texts = convert_to_tensor(source)
    if separator == "":
        parts = strings.bytes_split(texts)
    else:
        rewrite = separator[0].replace("\\", r"\\")  # a backslash is special in a rewrite
        for character in separator[1:]:
            texts = strings.regex_replace(texts, re.escape(character), rewrite)
        parts = strings.split(texts, separator[0])
    if skip_empty:
        parts = boolean_mask(parts, parts.with_values(parts.values != b""))
    return parts if result_type == "RaggedTensor" else parts.to_sparse()


def sparse_to_dense(
    sparse_indices: Any, output_shape: Any, sparse_values: Any, default_value: Any = 0,
    validate_indices: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """Return a dense tensor with `sparse_values` at `sparse_indices`, and `default_value` elsewhere.

    >>> autoconv.compat.v1.sparse_to_dense([1, 2], [4], 5).numpy()
    array([0, 5, 5, 0], dtype=int32)
    """
    indices = convert_to_tensor(sparse_indices, int64)
    values = convert_to_tensor(sparse_values)
    if indices.shape.rank == 0:
        indices = shaping.expand_dims(indices, 0)
    if indices.shape.rank == 1:
        indices = shaping.expand_dims(indices, 1)
    if values.shape.rank == 0:
        values = shaping.broadcast_to(values, [shaping.shape(indices)[0]])
    tensor = sparse.SparseTensor(indices, values, convert_to_tensor(output_shape, int64))
    return sparse.to_dense(tensor, default_value, validate_indices, name)


def verify_tensor_all_finite(
    t: Any = None, msg: str | None = None, name: str | None = None, x: Any = None, message: str | None = None
) -> Any:
    """Return the tensor; raise InvalidArgumentError with the message if one of its elements is not finite.

    >>> autoconv.compat.v1.verify_tensor_all_finite([1.0], "x is not finite").numpy()
    array([1.], dtype=float32)
    """
    return debugging.assert_all_finite(resolve_alias("x", x, "t", t), resolve_alias("message", message, "msg", msg))
