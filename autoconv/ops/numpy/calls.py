"""Calls of NumPy functions without a native form: one op, whose kernel is the function.

The arguments are nested tuples. ("input", i) is the i-th operand, and ("number", i) is the i-th operand as a Python
number. ("value", v) is a plain value, ("scalar", dtype, v) a scalar of NumPy, ("dtype", name) a dtype. ("list", …) and
("tuple", …) hold arguments of these forms.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects, may_fail_to_broadcast
from autoconv.graph.types import Dimension, TensorType, Type
from autoconv.ops.elementwise.arithmetic import note_error, quiet
from autoconv.ops.record import Builder, define, no_gradient, sample
from autoconv.process_state import recorded_warnings

Argument = tuple[Any, ...]  # (kind, …), where the further items depend on the kind: see `resolve`

# Example sizes that replace unknown ones. A size of a result that is the same for all of them is taken as static.
_EXAMPLE_SIZES = (2, 5, 11)


class _Trial(NamedTuple):
    """Parameters of the example arrays of one call: the size and rank that replace unknown ones, and an increment.

    The increment is added to integer scalars, and shows which of them are sizes of results.
    """

    size: int
    rank: int = 0
    increment: int = 0


def _result_types(
    *inputs: TensorType, function: str, arguments: tuple[Argument, ...], keywords: tuple[Any, ...] = (),
    by_values: bool = False,
) -> tuple[TensorType, ...]:  # fmt: skip
    """Return the types of the results; with `by_values`, their sizes depend on the values of the operands."""
    return _infer_types(inputs, function, arguments, keywords, by_values)


@functools.lru_cache(maxsize=512)
def _infer_types(inputs: Any, function: str, arguments: Any, keywords: Any, by_values: bool) -> tuple[TensorType, ...]:
    """Return the types of the results: the dtypes, and the sizes that are the same for all example arrays."""
    have_known_ranks = all(x.shape is not None for x in inputs)
    is_static = have_known_ranks and all(_has_known_sizes(x) for x in inputs)
    integer_positions = [i for i, x in enumerate(inputs) if x.shape == () and x.dtype.is_integer]
    trials = [_Trial(size) for size in _EXAMPLE_SIZES[: 1 if is_static or by_values else None]]
    trials += [_Trial(_EXAMPLE_SIZES[0], increment=2)] if integer_positions and not by_values else []
    results_by_trial: list[tuple[np.ndarray, ...]] = []
    for trial in trials if have_known_ranks else [_Trial(2, rank) for rank in range(4)]:
        try:
            example_arrays = _examples(inputs, trial, integer_positions)
            results = _call_with_examples(example_arrays, function, arguments, keywords)
            results_by_trial.append(results if isinstance(results, tuple) else (results,))
        except Exception:
            if is_static and not trial.increment:
                raise
    if not results_by_trial:
        raise TypeError(f"numpy.{function} takes no such arrays: {', '.join(map(str, inputs))}")
    has_unknown_sizes = by_values or len(results_by_trial) < len(trials)  # some trials failed
    shapes = [
        _common_shape([x.shape for x in arrays], has_unknown_sizes) for arrays in zip(*results_by_trial, strict=True)
    ]
    return tuple(
        TensorType(as_dtype(x.dtype), shape if have_known_ranks else None)
        for x, shape in zip(results_by_trial[0], shapes, strict=True)
    )


def _examples(inputs: Any, trial: _Trial, integer_positions: list[int]) -> list[np.ndarray]:
    """Return an example array for each input; the trial's increment is added to those at `integer_positions`."""
    example_shape = (trial.size,) * trial.rank
    arrays = [example(x if x.shape is not None else x.with_shape(example_shape), trial.size) for x in inputs]
    return [x + x.dtype.type(trial.increment) if i in integer_positions else x for i, x in enumerate(arrays)]


def _call_with_examples(example_arrays: Sequence[np.ndarray], function: str, arguments: Any, keywords: Any) -> Any:
    """Call the function with examples.

    On an IndexError, call it again with 0 in place of all integers, which may be positions.
    """
    try:
        return _call(*example_arrays, function=function, arguments=arguments, keywords=keywords)
    except IndexError:
        example_arrays = [np.zeros_like(x) if x.dtype.kind in "iu" else x for x in example_arrays]
        return _call(*example_arrays, function=function, arguments=arguments, keywords=keywords)


def _common_shape(shapes: Sequence[tuple[int, ...]], has_unknown_sizes: bool) -> tuple[Dimension, ...] | None:
    """Return the sizes that are the same in all shapes, None for others; None if ranks differ.

    If `has_unknown_sizes`, all sizes are None.
    """
    if len({len(shape) for shape in shapes}) != 1:
        return None
    return tuple(
        sizes[0] if len(set(sizes)) == 1 and not has_unknown_sizes else None for sizes in zip(*shapes, strict=True)
    )


def example(x: TensorType, size: int) -> np.ndarray:
    """Return an example array that most functions accept: small, positive, and invertible if it is a square matrix.

    Unknown dimensions get the size `size`.
    """
    shape = tuple(dimension if isinstance(dimension, int) else size for dimension in x.shape or ())
    dtype = x.dtype.numpy
    if dtype.kind in "iu":
        return np.ones(shape, dtype)
    if dtype.kind == "b":
        return np.arange(int(np.prod(shape))).reshape(shape) % 2 == 0
    array = np.linspace(0.5, 1.0, int(np.prod(shape))).reshape(shape)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        array = array + np.swapaxes(array, -1, -2) + 2 * shape[-1] * np.eye(shape[-1])
    return array.astype(dtype)


def resolve(argument: Argument, inputs: Sequence[Any]) -> Any:
    """Return the value of an argument, given the operands."""
    match argument:
        case "input", position:
            return inputs[position][()] if np.ndim(inputs[position]) == 0 else inputs[position]
        case "number", position:
            return np.asarray(inputs[position]).item()
        case "value", value:
            return value
        case "scalar", dtype_name, number:
            return np.dtype(dtype_name).type(number)
        case "dtype", dtype:
            return as_dtype(dtype).numpy
        case "list", *items:
            return [resolve(item, inputs) for item in items]
        case _, *items:
            return tuple(resolve(item, inputs) for item in items)


# Functions that call `warnings.warn`, besides those for nans. If one warns, the call of the program runs again as plain
# Python, so that the warning has the line of the program.
_WARNING_BY_PYTHON = frozenset({"average", "corrcoef", "cov", "mean", "median", "polyfit", "std", "var"})


def _call(
    *inputs: Any,
    function: str,
    arguments: tuple[Argument, ...],
    keywords: tuple[Any, ...] = (),
    by_values: bool = False,
) -> Any:
    """Call the function, and return its result as an array, or several as a tuple; a warning counts as an error."""
    compute: Any = functools.reduce(getattr, function.split("."), np)
    values = [resolve(argument, inputs) for argument in arguments]
    resolved_keywords = {name: resolve(argument, inputs) for name, argument in keywords}
    if function in _WARNING_BY_PYTHON or function.startswith("nan"):
        with recorded_warnings() as caught_warnings:
            output = compute(*values, **resolved_keywords)
        if caught_warnings:
            note_error()
    else:
        output = compute(*values, **resolved_keywords)
    if isinstance(output, (tuple, list)) and len(output) > 1:
        return tuple(np.asarray(result) for result in output)
    return np.asarray(output[0] if isinstance(output, (tuple, list)) else output)


def _effects(types: Sequence[Type], attributes: Any) -> Effects:
    """Return PURE for functions that never raise for operands of these types, else RAISE.

    Ufuncs raise only for operands that do not broadcast, and `power` for negative powers of integers. Fourier
    transforms raise for arrays without elements, and for invalid numbers of points: a second operand of a transform,
    and the operand of fftfreq and rfftfreq.
    """
    module, _, function = attributes["function"].rpartition(".")
    have_known_sizes = all(isinstance(type_, TensorType) and _has_known_sizes(type_) for type_ in types)
    ufunc = getattr(np, function, None)
    if module:
        never_raises = module == "fft" and have_known_sizes and len(types) == 1 and not function.endswith("freq")
    elif isinstance(ufunc, np.ufunc) and function != "power":
        never_raises = have_known_sizes or (ufunc.signature is None and not may_fail_to_broadcast(types))
    else:
        never_raises = False
    return Effects.PURE if never_raises else Effects.RAISE


def _gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents of a partition: at one position in sorted order, operand and result have one element."""
    arguments = dict(zip(("a", "kth", "axis"), attributes["arguments"], strict=False))
    arguments |= dict(attributes.get("keywords", ()))
    tag, *axes = arguments.get("axis", ("value", -1))
    if attributes["function"] != "partition" or arguments["a"] != ("input", 0) or tag not in ("value", "scalar"):
        return no_gradient("NumPy computes it as a whole")
    x = inputs[0] if axes[-1] is not None else b.reshape(inputs[0], shape=(-1,))
    axis = -1 if axes[-1] is None else axes[-1]
    result_order = b.argsort(results[0], axis=axis)
    sorted_cotangent = b.take_along_axis(cotangents[0], result_order, axis=axis)
    positions = b.argsort(b.argsort(x, axis=axis), axis=axis)  # of the operand's elements in sorted order
    cotangent = b.reshape_like(b.take_along_axis(sorted_cotangent, positions, axis=axis), inputs[0])
    return (cotangent, *(None for _ in inputs[1:]))


def _has_known_sizes(type_: TensorType) -> bool:
    return type_.shape is not None and all(isinstance(size, int) for size in type_.shape)


define(
    name="numpy_call", graphdef="NumpyCall", result=_result_types, kernel=quiet(_call),
    gradient=_gradient, effects=_effects,
    samples=(
        sample(np.array([0.5, -1.5]), differentiable=(), function="modf", arguments=(("input", 0),)),
        sample(
            np.array([[3.0, 1.0, 2.5, 0.5], [5.0, 2.0, 7.0, 3.5]]), function="partition",
            arguments=(("input", 0), ("value", 1)), keywords=(("axis", ("value", -1)),),
        ),
        sample(np.array([3, 1, 3]), function="unique", arguments=(("input", 0),), by_values=True),
        sample(
            np.array([1.0, 2.0]), np.array([0.5]), differentiable=(), function="concatenate",
            arguments=(("list", ("input", 0), ("input", 1)),), keywords=(("dtype", ("dtype", "float32")),),
        ),
    ),
    may_alias=True,
)  # fmt: skip
