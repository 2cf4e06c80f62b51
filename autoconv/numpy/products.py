"""Products of vectors, matrices and arrays."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.numpy.kernels import call_numpy
from autoconv.numpy.operands import (
    axis_of,
    cast,
    check,
    computes,
    has_known_shape,
    integer,
    is_under_compile,
    rank_of,
    refuse,
    refuse_options,
    require_known_shape,
    rerun_plain_unless,
    sizes_of,
    tensor,
    tensors,
)
from autoconv.numpy.shapes import moveaxis, shape_argument
from autoconv.numpy.ufuncs import call_ufunc
from autoconv.numpy.writes import write_into, write_product
from autoconv.ops.index_spec import At, Rest
from autoconv.ops.linalg.products import tensordot_equation
from autoconv.ops.numpy.shapes import DOT, INNER, VECDOT
from autoconv.runtime.annotations import AxisLike, DTypeLike, OutLike, TensorLike
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor

_ASSUMED_SIZE = 64  # assumed value of an open size, for the choice of an order
ConditionRecorder = Callable[[Any], None]  # records a check, or an assumption, that a condition holds


def matrix_product(x: TensorLike, y: TensorLike) -> Any:
    """Return x @ y of two arrays."""
    return call_ufunc(np.matmul, x, y)


@computes("dot")
def dot(a: TensorLike, b: TensorLike, out: OutLike | None = None) -> Any:
    x, y = tensor(a), tensor(b)
    ranks = rank_of(x), rank_of(y)
    if 0 in ranks:
        product = call_ufunc(np.multiply, x, y)  # unlike in `np.multiply(a, b)`, no Python number is weak here
    else:
        apply("numpy_shapes", x, y, rule=DOT)  # raises NumPy's error for shapes that do not match
        product = matrix_product(x, y) if ranks[1] <= 2 else tensordot(x, y, ((ranks[0] - 1,), (ranks[1] - 2,)))
    if out is None:
        return product
    written = write_product(out, product)
    return written if rank_of(product) else product  # NumPy returns a scalar in place of `out` without dimensions


@computes("vdot")
def vdot(a: TensorLike, b: TensorLike, /) -> Any:
    x, y = (apply("reshape", tensor(operand), shape=(-1,)) for operand in (a, b))
    counts = sizes_of(x)[0], sizes_of(y)[0]
    if not all(isinstance(count, int) for count in counts):
        rerun_plain_unless(apply("equal", *map(tensor, counts)), "the operands have different numbers of elements")
    return matrix_product(apply("conjugate", x) if x.dtype.is_complex else x, y)


@computes("inner")
def inner(a: TensorLike, b: TensorLike, /) -> Any:
    x, y = tensor(a), tensor(b)
    if 0 in (rank_of(x), rank_of(y)):
        return call_ufunc(np.multiply, x, y)
    apply("numpy_shapes", x, y, rule=INNER)  # raises NumPy's error for shapes that do not match
    return tensordot(x, y, ((rank_of(x) - 1,), (rank_of(y) - 1,)))


@computes("linalg.outer")
def outer_of_vectors(x1: TensorLike, x2: TensorLike, /) -> Any:
    if rank_of(tensor(x1)) != 1 or rank_of(tensor(x2)) != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are x1.ndim="
            f"{rank_of(tensor(x1))} and x2.ndim={rank_of(tensor(x2))}."
        )
    return outer(x1, x2)


@computes("outer")
def outer(a: TensorLike, b: TensorLike, out: OutLike | None = None) -> Any:
    x, y = (apply("reshape", tensor(operand), shape=(-1,)) for operand in (a, b))
    result = call_ufunc(np.multiply, apply("expand_dims", x, axis=1), apply("expand_dims", y, axis=0))
    return result if out is None else write_into(out, result)


@computes("tensordot", "linalg.tensordot")
def tensordot(a: TensorLike, b: TensorLike, /, axes: AxisLike = 2) -> Any:
    x, y = tensors(tensor(a), tensor(b))
    ranks = rank_of(x), rank_of(y)
    if isinstance(axes, (list, tuple)):
        x_axes, y_axes = (tuple(part) if isinstance(part, (list, tuple)) else (part,) for part in axes)
    else:
        count = integer(axes)
        x_axes, y_axes = tuple(range(ranks[0] - count, ranks[0])), tuple(range(count))
    x_axes, y_axes = tuple(axis_of(i, ranks[0]) for i in x_axes), tuple(axis_of(i, ranks[1]) for i in y_axes)
    x_sizes, y_sizes = sizes_of(x), sizes_of(y)
    size_pairs = [(x_sizes[i], y_sizes[j]) for i, j in zip(x_axes, y_axes, strict=False)]
    known_pairs = [pair for pair in size_pairs if all(isinstance(size, int) for size in pair)]
    if len(x_axes) != len(y_axes) or any(first != second for first, second in known_pairs):
        raise ValueError("shape-mismatch for sum")
    if x.dtype.is_bool:
        numbers = tensordot(cast(x, np.float32), cast(y, np.float32), (x_axes, y_axes))
        return call_ufunc(np.not_equal, numbers, 0)  # a sum of ones is positive, however it is rounded
    if not has_known_shape(x) or not has_known_shape(y):
        equation = tensordot_equation(x.type.shape, y.type.shape, (x_axes, y_axes))
        return _contract_open_sizes(equation, x, y, lambda equal: check(equal, "shape-mismatch for sum"))
    return apply("tensordot", x, y, axes=(x_axes, y_axes))


@computes("vecdot", "linalg.vecdot")
def vecdot(x1: TensorLike, x2: TensorLike, /, *, axis: AxisLike = -1, **kwargs: Any) -> Any:
    refuse_options(**kwargs)
    x, y = tensors(tensor(x1), tensor(x2))
    x, y = moveaxis(x, axis, -1), moveaxis(y, axis, -1)
    apply("numpy_shapes", x, y, rule=VECDOT)  # raises NumPy's error for shapes that do not match
    result = call_ufunc(np.multiply, apply("conjugate", x) if x.dtype.is_complex else x, y)
    if x.dtype.is_bool:
        return apply("numpy_any", result, axis=-1)
    return apply("numpy_sum", result, axis=-1, dtype=x.dtype)


@computes("kron")
def kron(a: TensorLike, b: TensorLike) -> Any:
    x, y = tensor(a), tensor(b)
    rank = max(rank_of(x), rank_of(y))
    for _ in range(rank - rank_of(x)):
        x = apply("expand_dims", x, axis=0)
    for _ in range(rank - rank_of(y)):
        y = apply("expand_dims", y, axis=0)
    shapes = sizes_of(x), sizes_of(y)
    for i in range(rank):
        x, y = apply("expand_dims", x, axis=2 * i + 1), apply("expand_dims", y, axis=2 * i)
    size_operands, known_sizes = shape_argument(tuple(x_size * y_size for x_size, y_size in zip(*shapes, strict=True)))
    return apply("reshape", call_ufunc(np.multiply, x, y), *size_operands, shape=known_sizes)


@computes("linalg.cross")
def cross_of_three(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    if _size_along(tensor(x1), axis) != 3 or _size_along(tensor(x2), axis) != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return cross(x1, x2, axis=axis)


@computes("cross")
def cross(a: object, b: object, axisa: object = -1, axisb: object = -1, axisc: object = -1, axis: object = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if _size_along(x, -1) != 3 or _size_along(y, -1) != 3:
        if is_under_compile():
            refuse("warns that vectors of two dimensions are deprecated")
        return call_numpy("cross", tensor(a), tensor(b), axisa, axisb, axisc)
    components_of_operands = [[apply("get_item", vector, spec=(Rest(), At(i))) for i in range(3)] for vector in (x, y)]
    (a0, a1, a2), (b0, b1, b2) = components_of_operands
    multiply, subtract = np.multiply, np.subtract
    components = [
        call_ufunc(subtract, call_ufunc(multiply, *added), call_ufunc(multiply, *subtracted))
        for added, subtracted in (((a1, b2), (a2, b1)), ((a2, b0), (a0, b2)), ((a0, b1), (a1, b0)))
    ]
    return moveaxis(apply("stack", *components, axis=rank_of(components[0])), -1, axisc)


def _size_along(x: Tensor, axis: int) -> int:
    """Return the size along the axis; refuse one known only at run time."""
    size = (x.type.shape or require_known_shape(x))[axis]
    return size if isinstance(size, int) else require_known_shape(x)[axis]


@computes("einsum")
def einsum(
    *operands: Any, out: OutLike | None = None, optimize: Any = False, dtype: DTypeLike | None = None,
    order: str = "K", casting: str = "safe",
) -> Any:  # fmt: skip
    refuse_options(dtype=dtype, out=out, order=None if order == "K" else order, optimize=optimize or None)
    if not operands or not isinstance(operands[0], str):
        refuse("is given its axes as lists")
    equation = operands[0].replace(" ", "")
    factors = tensors(*map(tensor, operands[1:]))
    if factors[0].dtype.is_bool:
        refuse("is given bools")
    if "->" not in equation:
        letters = equation.replace(",", "").replace(".", "")
        single_letters = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
        equation += "->" + ("..." if "." in equation else "") + single_letters
    have_known_shapes = all(map(has_known_shape, factors))
    result = None
    if have_known_shapes and len(factors) == 2 and "." not in equation:
        result = _as_matrix_product(equation, *factors)
    elif is_under_compile() and not have_known_shapes:
        result = _einsum_of_open_sizes(equation, factors)
    return apply("einsum", *factors, equation=equation) if result is None else result


# ---- contractions: an equation is one of einsum without an ellipsis, such as `ijk,ikl->ijl`


def _as_matrix_product(equation: str, x: Tensor, y: Tensor) -> Any:
    """Rewrite an einsum of two arrays of known shapes as one batched matrix product.

        ijk,ikl->ijl  becomes  matmul over j, k and l in a batch of i

    Letters that both operands and the result have form the batch. Returns None where a letter is repeated in one term
    or has two sizes, or where the letters do not form a matrix product.
    """
    terms, result_letters = _split(equation)
    shapes = require_known_shape(x), require_known_shape(y)
    if not _letters_fit(terms, result_letters, (x, y)):
        return None
    x_letters, y_letters = terms
    sizes = {**dict(zip(x_letters, shapes[0], strict=True)), **dict(zip(y_letters, shapes[1], strict=True))}
    if any(sizes[letter] != size for letter, size in zip(x_letters, shapes[0], strict=True)):
        return None
    batch, left, summed, right = _group(x_letters, y_letters, result_letters)
    if not summed or not set(left + right) <= set(result_letters):
        return None
    rows, columns = _transpose(x, x_letters, batch + left + summed), _transpose(y, y_letters, batch + summed + right)
    batch_shape = tuple(sizes[letter] for letter in batch)
    row_count, column_count, inner_size = (math.prod(map(sizes.__getitem__, group)) for group in (left, right, summed))
    rows, columns = (
        apply("reshape", rows, shape=(*batch_shape, row_count, inner_size)),
        apply("reshape", columns, shape=(*batch_shape, inner_size, column_count)),
    )
    product_letters = batch + left + right
    result = apply("reshape", apply("matmul", rows, columns), shape=tuple(sizes[letter] for letter in product_letters))
    return _transpose(result, product_letters, result_letters)


def _einsum_of_open_sizes(equation: str, factors: Sequence[Tensor]) -> Any:
    """Rewrite an einsum of arrays with sizes known only at run time; return None where the op `einsum` is to run.

    NumPy broadcasts a size of 1 to another size of its letter. The graph assumes that no size is broadcast.
    """
    terms, result_letters = _split(equation)
    if len(terms) != len(factors) or not _letters_fit(terms, result_letters, factors):
        return None
    if len(factors) == 1 and set(result_letters) < set(terms[0]):  # without a sum NumPy returns a view, as the op does
        return _sum_to(factors[0], terms[0], result_letters)
    sizes = _known_sizes(terms, factors)
    if len(factors) == 1 or sizes is None:
        return None
    if len(factors) == 2:
        _check_einsum(equation, terms, *factors)
        return _contract_open_sizes(equation, factors[0], factors[1])
    remaining_terms = list(zip(terms, factors, strict=True))
    for step in _contraction_steps(equation, terms, sizes):
        operands = [remaining_terms.pop(i) for i in sorted(step, reverse=True)]
        while len(operands) > 1:
            (x_letters, x), (y_letters, y) = operands.pop(), operands.pop()
            needed_letters = set(result_letters).union(*(letters for letters, _ in remaining_terms + operands))
            letters = "".join(letter for letter in dict.fromkeys(x_letters + y_letters) if letter in needed_letters)
            if not remaining_terms and not operands:
                letters = result_letters
            pair_equation = f"{x_letters},{y_letters}->{letters}"
            operands.append((letters, _contract_open_sizes(pair_equation, x, y, _assume_no_broadcast)))
        remaining_terms += operands
    return remaining_terms[0][1]


def _check_einsum(equation: str, terms: Sequence[str], x: Tensor, y: Tensor) -> None:
    """Record a check of the sizes, and the assumption that no size of 1 is broadcast."""
    y_sizes = dict(zip(terms[1], sizes_of(y), strict=True))
    for letter, size in zip(terms[0], sizes_of(x), strict=True):
        other_size = y_sizes.get(letter)
        if other_size is not None and not (isinstance(size, int) and isinstance(other_size, int)):
            first, second = tensor(size, np.int64), tensor(other_size, np.int64)
            no_ones = apply("logical_and", *(apply("not_equal", side, tensor(1, np.int64)) for side in (first, second)))
            _assume_no_broadcast(apply("logical_or", apply("equal", first, second), no_ones))
    apply("numpy_shapes", x, y, rule=equation)  # raises NumPy's error for sizes that do not match


def _contraction_steps(equation: str, terms: Sequence[str], sizes: dict[str, int]) -> Any:
    """Return the steps that NumPy would choose, each as positions among the terms that remain before it."""
    placeholders = [
        np.broadcast_to(np.zeros(()), [sizes.get(letter, _ASSUMED_SIZE) for letter in letters]) for letters in terms
    ]
    return np.einsum_path(equation, *placeholders, optimize="greedy")[0][1:]


def _assume_no_broadcast(condition: Any) -> None:
    rerun_plain_unless(condition, "a size of 1 is broadcast")


def _contract_open_sizes(equation: str, x: Tensor, y: Tensor, confirm: ConditionRecorder | None = None) -> Any:
    """Return the result of an einsum of two arrays in which no letter is repeated in one term.

    Known sizes of one letter must be equal. With open sizes, `confirm` (if any) is called with the condition that they
    are equal.
    """
    (x_letters, y_letters), result_letters = _split(equation)
    sizes: dict[str, Any] = dict(zip(x_letters, sizes_of(x), strict=True))
    for letter, size in zip(y_letters, sizes_of(y), strict=True):
        other_size = sizes.get(letter)
        are_known = isinstance(size, int) and isinstance(other_size, int)
        if confirm and other_size is not None and not are_known:
            confirm(apply("equal", tensor(other_size, np.int64), tensor(size, np.int64)))
        if other_size is None or isinstance(size, int):
            sizes[letter] = size
    needed_x_letters = "".join(letter for letter in x_letters if letter in y_letters + result_letters)
    needed_y_letters = "".join(letter for letter in y_letters if letter in x_letters + result_letters)
    x, y = _sum_to(x, x_letters, needed_x_letters), _sum_to(y, y_letters, needed_y_letters)
    x_letters, y_letters = needed_x_letters, needed_y_letters
    batch, left, summed, right = _group(x_letters, y_letters, result_letters)
    if not summed or (batch and not left and not right):  # no product of matrices: elements are multiplied
        letters = batch + left + right + summed
        product = call_ufunc(np.multiply, _expand(x, x_letters, letters), _expand(y, y_letters, letters))
        return _sum_to(product, letters, result_letters)
    rows, columns = _transpose(x, x_letters, batch + left + summed), _transpose(y, y_letters, batch + summed + right)
    has_rows, has_columns = bool(left or batch), bool(right or batch)
    rows = _merge(rows, [*batch, *[left] * has_rows, summed], sizes)
    columns = _merge(columns, [*batch, summed, *[right] * has_columns], sizes)
    result = apply("matmul", rows, columns) if batch else matrix_product(rows, columns)
    product_letters = batch + left + right
    if len(left) != has_rows or len(right) != has_columns:
        result = _reshape(result, [sizes[letter] for letter in product_letters])
    return _transpose(result, product_letters, result_letters)


def _split(equation: str) -> tuple[list[str], str]:
    """Return the letters of each operand of an equation, and those of the result."""
    operand_letters, result_letters = equation.split("->")
    return operand_letters.split(","), result_letters


def _letters_fit(terms: Sequence[str], result_letters: str, factors: Sequence[Tensor]) -> bool:
    """Return whether each factor has a dimension for each letter of its term, and no letter is repeated in a term."""
    return (
        all(len(set(letters)) == len(letters) for letters in (*terms, result_letters))
        and all(len(letters) == x.type.rank for letters, x in zip(terms, factors, strict=True))
        and all(letters.isalpha() and letters.isascii() for letters in terms if letters)
        and set(result_letters) <= set("".join(terms))
    )


def _group(x_letters: str, y_letters: str, result_letters: str) -> tuple[str, str, str, str]:
    """Return four groups of letters: the batch, those of x alone, those that are summed, and those of y alone."""
    shared_letters = [letter for letter in x_letters if letter in y_letters]
    groups = (
        [letter for letter in shared_letters if letter in result_letters],
        [letter for letter in x_letters if letter not in y_letters],
        [letter for letter in shared_letters if letter not in result_letters],
        [letter for letter in y_letters if letter not in x_letters],
    )
    batch, left, summed, right = map("".join, groups)
    return batch, left, summed, right


def _known_sizes(terms: Sequence[str], factors: Sequence[Tensor]) -> dict[str, int] | None:
    """Return the known size of each letter; None where a letter has two different sizes."""
    sizes: dict[str, int] = {}
    for letters, x in zip(terms, factors, strict=True):
        for letter, size in zip(letters, x.type.shape or (), strict=True):
            if isinstance(size, int) and sizes.setdefault(letter, size) != size:
                return None
    return sizes


def _sum_to(x: Any, letters: str, result_letters: str) -> Any:
    """Sum over the letters that the result lacks, and transpose to its order."""
    axes = tuple(i for i, letter in enumerate(letters) if letter not in result_letters)
    total = apply("numpy_sum", x, axis=axes, dtype=x.type.dtype) if axes else x
    return _transpose(total, "".join(letter for letter in letters if letter in result_letters), result_letters)


def _transpose(x: Any, letters: str, order: str) -> Any:
    return x if letters == order else apply("transpose", x, perm=tuple(letters.index(letter) for letter in order))


def _expand(x: Any, x_letters: str, letters: str) -> Any:
    """Return x with a dimension for each of the letters, of size 1 where `x_letters` lacks the letter."""
    x = _transpose(x, x_letters, "".join(letter for letter in letters if letter in x_letters))
    for axis, letter in enumerate(letters):
        if letter not in x_letters:
            x = apply("expand_dims", x, axis=axis)
    return x


def _merge(x: Any, groups: Sequence[str], sizes: dict[str, Any]) -> Any:
    """Make each group of letters one dimension."""
    if all(len(group) == 1 for group in groups):
        return x
    return _reshape(x, [functools.reduce(operator.mul, [sizes[letter] for letter in group] or [1]) for group in groups])


def _reshape(x: Any, sizes: Sequence[Any]) -> Any:
    size_operands, known_sizes = shape_argument(tuple(sizes))
    return apply("reshape", x, *size_operands, shape=known_sizes)
