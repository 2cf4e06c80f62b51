"""The names of `autoconv.random` that draw from a global generator.

They draw new numbers on every call and every run of a graph. The functions of `stateless` are pure functions of a
seed, and a `Generator` keeps its state in a variable.
"""

from __future__ import annotations

import functools
import itertools
import weakref
from typing import Any

import numpy as np

from autoconv.api.tensors.accepted_dtypes import check_dtype, check_result_dtype
from autoconv.api.tensors.arguments import shape_argument, vector_argument
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtype_sets import FLOATING, LARGE_INTEGERS
from autoconv.graph.dtypes import DType, as_dtype, bfloat16, float32, float64, int32, int64
from autoconv.graph.graph import Graph
from autoconv.ops.random.global_generator import GLOBAL, seed_pair
from autoconv.runtime.annotations import DTypeLike, IntLike, ShapeLike, TensorLike
from autoconv.runtime.recording.regions import Trace, current_region, program_graph
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.tensor import Tensor


def op_seed(seed: int | None) -> Any:
    """Return the attribute `seed` of a drawing op, for the argument `seed` of its public function.

    While a function under `function` is traced, the attribute is (global seed, op seed, number of the node): each node
    has a stream of numbers of its own. Elsewhere it is `seed` itself, and draws share the streams of `GLOBAL`.
    """
    if seed is not None and (known_seed := static_value(seed)) is not None:
        seed = int(known_seed)
    region = current_region()
    if region is None or region.contract.effects_each_call:
        return seed
    draw_counts = _DRAW_COUNTS.setdefault(region.graph, itertools.count())
    seeds = seed_pair(_seed_of_trace(region.trace), seed, lambda: next(draw_counts))
    return None if seeds is None else (*seeds, next(_NODE_NUMBERS))


_NODE_NUMBERS = itertools.count()  # of all nodes that draw
# The seeds that functions gave to `set_seed` while they were traced, by the graphs of the traces.
_TRACE_SEEDS: weakref.WeakKeyDictionary[Graph, int | None] = weakref.WeakKeyDictionary()
# For each graph being recorded, the number of drawing nodes so far whose function got no seed.
_DRAW_COUNTS: weakref.WeakKeyDictionary[Graph, itertools.count[int]] = weakref.WeakKeyDictionary()


def _seed_of_trace(trace: Trace) -> int | None:
    """Return the global seed of draws in a trace: its own, that of the enclosing graph of version 1, or GLOBAL's."""
    if trace.root.graph in _TRACE_SEEDS:
        return _TRACE_SEEDS[trace.root.graph]
    return (program_graph() or GLOBAL).seed  # type: ignore[no-any-return]


def set_seed(seed: int | None) -> None:
    """Restart the global generator, so that the following numbers are the same in every run.

    In a graph of version 1, and in a function that is traced, the seed is that of the draws that are recorded later.

    >>> autoconv.random.set_seed(1)
    >>> first = autoconv.random.normal([2]).numpy()
    >>> autoconv.random.set_seed(1)
    >>> bool((autoconv.random.normal([2]).numpy() == first).all())
    True
    """
    seed = None if seed is None else int(seed)
    region = current_region()
    if region is None or region.contract.effects_each_call:
        GLOBAL.set_seed(seed)
    elif (graph := region.trace.root.graph).program_graph is not None:
        graph.program_graph.seed = seed
    else:
        _TRACE_SEEDS[graph] = seed


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: object = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform numbers in [minval, maxval); `maxval` is 1 by default, and has to be given for integers.

    >>> autoconv.random.uniform([2, 3], maxval=10, dtype=autoconv.int32).shape
    TensorShape([2, 3])
    """
    out_dtype, (operands, sizes) = check_result_dtype(dtype, FLOATING | LARGE_INTEGERS), vector_argument(shape)
    if out_dtype.is_integer:
        low, high = integer_bounds(minval, maxval, out_dtype)
        return apply("random_uniform_int", low, high, *operands, shape=sizes, seed=op_seed(seed), name=name)
    draws = apply("random_uniform", *operands, shape=sizes, dtype=out_dtype, seed=op_seed(seed), name=name)
    return scale_to_bounds(draws, minval, maxval)


def normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers of the given mean and standard deviation.

    >>> autoconv.random.normal([2, 3]).shape
    TensorShape([2, 3])
    """
    out_dtype, (operands, sizes) = check_result_dtype(dtype, FLOATING), vector_argument(shape)
    draws = apply("random_normal", *operands, shape=sizes, dtype=out_dtype, seed=op_seed(seed), name=name)
    return scale_normal(draws, mean, stddev)


def truncated_normal(
    shape: ShapeLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: DTypeLike = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normally distributed numbers within two standard deviations of the mean; others are redrawn.

    >>> autoconv.random.truncated_normal([2, 3]).shape
    TensorShape([2, 3])
    """
    out_dtype, (operands, sizes) = check_result_dtype(dtype, FLOATING), vector_argument(shape)
    draws = apply("random_truncated_normal", *operands, shape=sizes, dtype=out_dtype, seed=op_seed(seed), name=name)
    return scale_normal(draws, mean, stddev)


def shuffle(value: TensorLike, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of `value` (along its first axis) in random order.

    >>> sorted(autoconv.random.shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    return apply("random_shuffle", value, seed=op_seed(seed), name=name)


def categorical(
    logits: TensorLike, num_samples: IntLike, dtype: Any = None, seed: int | None = None, name: str | None = None
) -> Tensor:
    """`num_samples` classes drawn for each row of `logits` [batch, classes], int64 by default.

    >>> autoconv.random.categorical([[0.0, 1.0]], 4).shape
    TensorShape([1, 4])
    """
    scores = convert_to_tensor(logits)
    row_count = apply("dimension", scores, axis=0) if scores.shape[0] is None else scores.shape[0]
    draws = uniform([row_count, num_samples], dtype=float64, seed=seed)
    return draw_classes(scores, draws, dtype, name)


def gamma(
    shape: ShapeLike, alpha: TensorLike, beta: TensorLike | None = None, dtype: DTypeLike = float32,
    seed: int | None = None, name: str | None = None
) -> Tensor:
    """Gamma distributed numbers for each pair of a shape parameter `alpha` and a rate `beta` (1 by default).

    The shape of the result is `shape` followed by that of the parameters.

    >>> autoconv.random.gamma([2], alpha=2.0).shape
    TensorShape([2])
    """
    out_dtype = as_dtype(dtype)
    broadcast_alpha, rate = broadcast_parameters(out_dtype, alpha, 1.0 if beta is None else beta)
    operands, sizes = _append_parameter_shape(shape, broadcast_alpha)
    draws = apply(
        "random_gamma", broadcast_alpha, *operands, shape=sizes, dtype=out_dtype, seed=op_seed(seed), name=name
    )
    return draws if beta is None else apply("divide", draws, rate)


def poisson(
    shape: ShapeLike, lam: TensorLike, dtype: DTypeLike = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Poisson distributed numbers for each mean; the shape of the result is `shape` followed by that of `lam`.

    >>> autoconv.random.poisson([2], lam=3.0).shape
    TensorShape([2])
    """
    check_dtype("poisson", FLOATING - {bfloat16} | LARGE_INTEGERS, lam)
    (mean,) = broadcast_parameters(float64, lam)
    operands, sizes = _append_parameter_shape(shape, mean)
    return apply("random_poisson", mean, *operands, shape=sizes, dtype=as_dtype(dtype), seed=op_seed(seed), name=name)


def broadcast_parameters(dtype: DType, *values: Any) -> list[Tensor]:
    """Return the parameters of a distribution as tensors of the dtype, broadcast against each other."""
    tensors = [apply("cast", convert_to_tensor(x, dtype_hint=dtype), dtype=dtype) for x in values]
    if len(tensors) == 1:
        return tensors
    # Zeros of the common shape broadcast each parameter, also where the shape is known at run time only.
    zeros = apply("multiply", functools.reduce(functools.partial(apply, "add"), tensors), 0)
    return [apply("add", tensor, zeros) for tensor in tensors]


def _append_parameter_shape(shape: ShapeLike, parameter: Tensor) -> tuple[Any, Any]:
    """Return the result of `shape_argument` for `shape` followed by the shape of the parameters."""
    operands, sizes = shape_argument(shape)
    if not operands and parameter.shape.is_fully_defined():
        return (), (*(sizes or ()), *parameter.shape.as_list())
    shapes = [operands[0] if operands else np.array(sizes, np.int32), apply("shape", parameter)]
    full_shape = apply("concat", *[apply("cast", convert_to_tensor(vector), dtype=int32) for vector in shapes], axis=0)
    return shape_argument(full_shape)


def draw_classes(scores: Tensor, draws: Tensor, dtype: DTypeLike, name: str | None) -> Tensor:
    """Return classes [batch, samples], of the probabilities softmax(scores).

    `draws` are uniform float64 numbers, at which the inverse distribution function is evaluated.
    """
    if scores.shape.rank not in (2, None):
        raise InvalidArgumentError(f"logits should be a matrix, [batch, classes]; found the shape {scores.shape}")
    logits = apply("cast", scores, dtype=float64)
    max_logits = apply("reduce_max", logits, axis=(-1,), keepdims=True)
    weights = apply("exp", apply("subtract", logits, max_logits))
    weight_sums = apply("cumsum", weights, axis=-1, exclusive=False, reverse=False)
    total_weight = apply("reduce_max", weight_sums, axis=(-1,), keepdims=True)
    out_dtype = int64 if dtype is None else as_dtype(dtype)
    return apply(
        "searchsorted", weight_sums, apply("multiply", draws, total_weight), side="right", dtype=out_dtype, name=name
    )


def integer_bounds(minval: TensorLike, maxval: TensorLike, dtype: DType) -> tuple[Any, Any]:
    """Return both bounds as tensors of an integer dtype; raises ValueError if `maxval` is None."""
    if maxval is None:
        raise ValueError(f"Must specify maxval for integer dtype {dtype.name}")
    return convert_to_tensor(minval, dtype), convert_to_tensor(maxval, dtype)


def scale_to_bounds(draws: Tensor, minval: TensorLike, maxval: TensorLike) -> Tensor:
    """Return numbers in [0, 1) scaled to the bounds, by default 0 and 1."""
    low = 0 if minval is None else minval
    high = 1 if maxval is None else maxval
    if _is_python_number(low, 0) and _is_python_number(high, 1):
        return draws
    low, high = convert_to_tensor(low, draws.dtype), convert_to_tensor(high, draws.dtype)
    return apply("add", apply("multiply", draws, apply("subtract", high, low)), low)


def scale_normal(draws: Tensor, mean: TensorLike, stddev: TensorLike) -> Tensor:
    """Return standard normal numbers scaled to a mean and a standard deviation."""
    if not _is_python_number(stddev, 1):
        draws = apply("multiply", draws, convert_to_tensor(stddev, draws.dtype))
    return draws if _is_python_number(mean, 0) else apply("add", draws, convert_to_tensor(mean, draws.dtype))


def _is_python_number(value: TensorLike, number: int) -> bool:
    """Return whether the value is this number, as an int or float of Python."""
    return isinstance(value, (int, float)) and value == number
