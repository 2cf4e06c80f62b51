"""Products of matrices and tensors.

Matrices are the last two dimensions; the others are a batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import Dimension, Shape, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import conjugate, shape_of, unbroadcast
from autoconv.ops.record import Builder, define, sample
from autoconv.ops.rules import broadcast_shapes, normalised_axes

# Samples.
WIDE = np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]])
TALL = np.array([[1.5, -0.5], [0.25, 2.0], [-1.0, 0.75]])


def check_dtypes(op: str, *inputs: TensorType) -> None:
    """Raise TypeError unless all operands are numbers of one dtype."""
    for x in inputs:
        if x.dtype is not inputs[0].dtype:
            raise TypeError(f"{op}: the tensors have types {inputs[0].dtype.name} and {x.dtype.name}")
        if not x.dtype.is_numeric:
            raise TypeError(f"{op} takes tensors of numbers, found {x.dtype.name}")


# ---- matmul


def _matmul_type(
    x: TensorType, y: TensorType, *, transpose_a: bool = False, transpose_b: bool = False
) -> TensorType:
    """Return the type of the product; raise if inner sizes are known to differ. It is weak if both operands are."""
    check_dtypes("matmul", x, y)
    weak = x.weak and y.weak
    for operand in (x, y):
        if operand.shape is not None and len(operand.shape) < 2:
            raise ValueError(
                f"matmul takes tensors of 2 or more dimensions, found the shape [{shape_text(operand.shape)}]"
            )
    if x.shape is None or y.shape is None:
        return TensorType(x.dtype, None, weak)
    rows, x_inner = _matrix_shape(x.shape, transpose_a)
    y_inner, columns = _matrix_shape(y.shape, transpose_b)
    if isinstance(x_inner, int) and isinstance(y_inner, int) and x_inner != y_inner:
        raise ValueError(
            f"matmul: the inner dimensions {x_inner} and {y_inner} differ "
            f"(shapes [{shape_text(x.shape)}] and [{shape_text(y.shape)}])"
        )
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2]) or ()
    return TensorType(x.dtype, (*batch, rows, columns), weak)


def _matrix_shape(shape: tuple[Dimension, ...], is_transposed: bool) -> tuple[Dimension, Dimension]:
    """Return the numbers of rows and columns of matrices of this shape, after transposition if `is_transposed`."""
    return (shape[-1], shape[-2]) if is_transposed else (shape[-2], shape[-1])


def _matmul(x: Any, y: Any, *, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Multiply in the dtype of `x`; shapes that do not match raise TensorFlow's error."""
    if np.ndim(x) < 2 or np.ndim(y) < 2:
        raise InvalidArgumentError(
            f"matmul takes tensors of 2 or more dimensions, found the shapes {list(np.shape(x))} and "
            f"{list(np.shape(y))}"
        )
    left = np.swapaxes(x, -1, -2) if transpose_a else x
    right = np.swapaxes(y, -1, -2) if transpose_b else y
    try:
        return np.matmul(left, right).astype(np.asarray(x).dtype, copy=False)  # NumPy returns float32 for bfloat16
    except ValueError as error:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {list(np.shape(x))}, In[1]: {list(np.shape(y))}"
        ).with_plain_error(error) from None


def _matmul_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Return the cotangents of both operands: products of the result's cotangent and the conjugate of one operand.

    For a batch of matrices times one matrix, the cotangent of the matrix is a single product of flattened operands.
    """
    (cotangent,), (x, y) = cotangents, inputs
    transposes_x, transposes_y = attributes.get("transpose_a", False), attributes.get("transpose_b", False)
    conjugate_x, conjugate_y = conjugate(b, x), conjugate(b, y)
    if not transposes_x and not transposes_y and _is_batch_times_matrix(x, y):
        inner, columns = shape_of(y) or ()
        flat_operands = b.reshape(conjugate_x, shape=(-1, inner)), b.reshape(cotangent, shape=(-1, columns))
        return b.matmul(cotangent, conjugate_y, transpose_b=True), b.matmul(*flat_operands, transpose_a=True)

    def product(left: Any, right: Any, transposes_left: bool, transposes_right: bool) -> Any:
        return b.matmul(left, right, transpose_a=transposes_left, transpose_b=transposes_right)

    if transposes_x:
        x_cotangent = product(conjugate_y, cotangent, transposes_y, transposes_right=True)
    else:
        x_cotangent = product(cotangent, conjugate_y, transposes_left=False, transposes_right=not transposes_y)
    if transposes_y:
        y_cotangent = product(cotangent, conjugate_x, transposes_left=True, transposes_right=transposes_x)
    else:
        y_cotangent = product(conjugate_x, cotangent, transposes_left=not transposes_x, transposes_right=False)
    return unbroadcast(b, x_cotangent, x), unbroadcast(b, y_cotangent, y)


def _is_batch_times_matrix(x: Any, y: Any) -> bool:
    """Return whether x is a batch of matrices and y a single one, so that x can be reshaped to one matrix."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    if x_shape is None or y_shape is None or len(x_shape) < 3 or len(y_shape) != 2:
        return False
    return all(isinstance(size, int) for size in y_shape) and 0 not in (*x_shape, *y_shape)


matmul = define(
    name="matmul", graphdef="MatMul", result=_matmul_type, kernel=quiet(_matmul), gradient=_matmul_gradient,
    unify="all",
    samples=(
        sample(WIDE, TALL), sample(WIDE, TALL.T.copy(), transpose_b=True), sample(WIDE, WIDE * 2, transpose_a=True),
        sample(WIDE, TALL, transpose_a=True, transpose_b=True),
        sample(np.stack([WIDE, WIDE * 2])[:, None], np.stack([TALL, -TALL, TALL * 0.5])),
        sample(np.array([[1, 2]], np.int32), np.array([[3], [4]], np.int32)),
    ),
)  # fmt: skip


# ---- tensordot


def _tensordot_type(
    x: TensorType, y: TensorType, *, axes: tuple[tuple[int, ...], tuple[int, ...]]
) -> TensorType:
    """Return the type of the sums of products; the dimensions are those that are not summed, of `x` before `y`."""
    check_dtypes("tensordot", x, y)
    if x.shape is None or y.shape is None:
        return TensorType(x.dtype, None)
    for shape, shape_axes in ((x.shape, axes[0]), (y.shape, axes[1])):
        if not all(-len(shape) <= axis < len(shape) for axis in shape_axes):
            raise ValueError(f"tensordot: the axes {shape_axes} are not those of the shape [{shape_text(shape)}]")
    x_axes, y_axes = normalised_axes(axes[0], len(x.shape)), normalised_axes(axes[1], len(y.shape))
    if not are_shapes_compatible(tuple(x.shape[i] for i in x_axes), tuple(y.shape[i] for i in y_axes)):
        raise ValueError(
            f"tensordot: the axes {axes} of shapes [{shape_text(x.shape)}] and [{shape_text(y.shape)}] differ"
        )
    free_x_sizes = tuple(size for axis, size in enumerate(x.shape) if axis not in x_axes)
    free_y_sizes = tuple(size for axis, size in enumerate(y.shape) if axis not in y_axes)
    return TensorType(x.dtype, free_x_sizes + free_y_sizes, x.weak and y.weak)


def _tensordot(x: Any, y: Any, *, axes: Any) -> Any:
    """Contract the axes in the dtype of `x`; axes that differ in size raise."""
    try:
        return np.tensordot(x, y, axes).astype(np.asarray(x).dtype, copy=False)
    except (ValueError, IndexError) as error:
        raise InvalidArgumentError(
            f"tensordot: the axes {axes} of the shapes {list(np.shape(x))} and {list(np.shape(y))} differ"
        ).with_plain_error(error) from None


def _tensordot_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    (cotangent,), (x, y) = cotangents, inputs
    equation = tensordot_equation(shape_of(x), shape_of(y), attributes["axes"])
    return _einsum_gradient(b, (x, y), results, (cotangent,), {"equation": equation})


def tensordot_equation(x: Shape, y: Shape, axes: tuple[tuple[int, ...], tuple[int, ...]]) -> str:
    """Return the einsum equation of a tensordot of these shapes; raises ValueError where a rank is unknown."""
    if x is None or y is None:
        raise ValueError("the gradient of tensordot needs tensors of known rank; use set_shape")
    x_axes, y_axes = normalised_axes(axes[0], len(x)), normalised_axes(axes[1], len(y))
    x_labels = [_LETTERS[i] for i in range(len(x))]
    y_labels = [_LETTERS[len(x) + i] for i in range(len(y))]
    for i, j in zip(x_axes, y_axes, strict=True):
        y_labels[j] = x_labels[i]
    free_labels = [label for axis, label in enumerate(x_labels) if axis not in x_axes]
    free_labels += [label for axis, label in enumerate(y_labels) if axis not in y_axes]
    return f"{''.join(x_labels)},{''.join(y_labels)}->{''.join(free_labels)}"


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


# ---- einsum


def parse_equation(equation: str, count: int) -> tuple[list[str], str]:
    """Return the labels of each operand and of the result, with `...` as written.

    Without `->` the result has the labels that appear once, in alphabetical order. `count` is the number of operands.
    Raises ValueError for an invalid equation.
    """
    operand_text, arrow, result = equation.replace(" ", "").partition("->")
    operand_labels = operand_text.split(",")
    if len(operand_labels) != count:
        raise ValueError(f"einsum: the equation {equation!r} is for {len(operand_labels)} tensors, found {count}")
    if not arrow:
        labels = operand_text.replace("...", "").replace(",", "")
        result = ("..." if "..." in operand_text else "") + "".join(
            sorted(label for label in set(labels) if labels.count(label) == 1)
        )
    for labels_of_tensor in (*operand_labels, result):
        letters = labels_of_tensor.replace("...", "", 1)
        if letters and not (letters.isalpha() and letters.isascii()):
            raise ValueError(f"einsum: {labels_of_tensor!r} in {equation!r} has to be letters, and `...` once at most")
    unknown_labels = set(result.replace("...", "")) - set(operand_text)
    if "..." in operand_text and "..." not in result:
        raise ValueError(
            f"einsum: the result {result!r} of {equation!r} has to have the `...` of the operands"
        )
    if unknown_labels or ("..." in result and "..." not in operand_text):
        raise ValueError(f"einsum: the result {result!r} of {equation!r} has labels that no operand has")
    if len(set(result.replace("...", ""))) != len(result.replace("...", "")):
        raise ValueError(f"einsum: the result {result!r} of {equation!r} has a label twice")
    return operand_labels, result


def keeps_labels(equation: str) -> bool:
    """Return whether an einsum of one operand sums over no label: NumPy then returns a view of the operand."""
    (labels,), result = parse_equation(equation, 1)
    return set(labels) == set(result)


def _einsum_type(*inputs: TensorType, equation: str) -> TensorType:
    """Return the type of the result, whose sizes are those of the labels in the equation."""
    check_dtypes("einsum", *inputs)
    operand_labels, result = parse_equation(equation, len(inputs))
    sizes: dict[str, Dimension] = {}
    ellipses: list[Shape] = []
    for x, labels in zip(inputs, operand_labels, strict=True):
        letters = labels.replace("...", "")
        if x.shape is None:
            if "..." in labels:
                ellipses.append(None)
            continue
        if len(x.shape) < len(letters) or ("..." not in labels and len(x.shape) != len(letters)):
            raise ValueError(
                f"einsum: {labels!r} of {equation!r} does not fit the shape [{shape_text(x.shape)}]"
            )
        start = labels.index("...") if "..." in labels else len(letters)
        ellipsis_rank = len(x.shape) - len(letters)
        if "..." in labels:
            ellipses.append(x.shape[start : start + ellipsis_rank])
        for label, size in zip(letters, x.shape[:start] + x.shape[start + ellipsis_rank :], strict=True):
            sizes[label] = _unify_sizes(label, sizes[label], size, equation) if label in sizes else size
    weak = all(x.weak for x in inputs)
    labelled_sizes = tuple(sizes.get(label) for label in result.replace("...", ""))
    shape: Shape = labelled_sizes
    if "..." in result:
        common_shape = broadcast_shapes(*ellipses)
        start = result.index("...")
        shape = None if common_shape is None else (*labelled_sizes[:start], *common_shape, *labelled_sizes[start:])
    return TensorType(inputs[0].dtype, shape, weak)


def _unify_sizes(label: str, first: Dimension, second: Dimension, equation: str) -> Dimension:
    """Return the common size of a label's dimensions; raises ValueError where they differ."""
    if isinstance(first, int) and isinstance(second, int) and first != second:
        raise ValueError(
            f"einsum: the label {label!r} of {equation!r} stands for dimensions of {first} and {second}"
        )
    if 1 in (first, second):  # NumPy broadcasts the size 1 to the other size
        return second if first == 1 else first
    return first if isinstance(first, int) or second is None else second


def _einsum_effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE unless the dimensions of each label are known to be equal."""
    operand_labels, _ = parse_equation(attributes["equation"], len(types))
    dimensions: dict[str, list[Dimension]] = {}
    for type_, labels in zip(types, operand_labels, strict=True):
        shape = getattr(type_, "shape", None)
        if shape is None:
            return Effects.RAISE
        before, dots, after = labels.partition("...")
        batch = [f"...{i}" for i in range(len(shape) - len(before) - len(after))] if dots else []
        # Dimensions of `...` are numbered from the last, as they broadcast and their count may differ among operands.
        for label, size in zip((*before, *reversed(batch), *after), shape, strict=True):
            if size != 1 or label not in batch:
                dimensions.setdefault(label, []).append(size)
    is_certain = all(
        len(sizes) == 1 or (None not in sizes and sizes.count(sizes[0]) == len(sizes)) for sizes in dimensions.values()
    )
    return Effects.PURE if is_certain else Effects.RAISE


def _einsum(*inputs: Any, equation: str) -> Any:
    """Return the sums of products, in the dtype of the first operand."""
    parse_equation(equation, len(inputs))
    dtype = np.asarray(inputs[0]).dtype
    # NumPy's einsum rejects bfloat16.
    operands = [np.asarray(x, np.float32) for x in inputs] if dtype.kind == "V" else inputs
    try:
        return np.einsum(equation, *operands, optimize=len(inputs) > 2).astype(dtype, copy=False)
    except ValueError as error:
        shapes = " and ".join(str(list(np.shape(x))) for x in inputs)
        raise InvalidArgumentError(
            f"einsum: {equation!r} does not fit the shapes {shapes}: {error}"
        ).with_plain_error(error) from None


def _einsum_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    operand_labels, result = parse_equation(attributes["equation"], len(inputs))
    return tuple(
        unbroadcast(b, _einsum_cotangent(b, i, inputs, operand_labels, result, cotangents[0]), inputs[i])
        for i in range(len(inputs))
    )


def _einsum_cotangent(
    b: Builder, position: int, inputs: Any, all_labels: list[str], result: str, cotangent: Any
) -> Any:
    """Return the cotangent of the operand at `position`, an einsum of `cotangent` and the other operands."""
    other_positions = [j for j in range(len(inputs)) if j != position]
    # Pairs of a value and its labels.
    factors = [(cotangent, result), *((conjugate(b, inputs[j]), all_labels[j]) for j in other_positions)]
    operand_labels = distinct_labels = all_labels[position]
    batch = "..." if "..." in operand_labels else ""
    unused_letters = iter(letter for letter in _LETTERS if letter not in "".join(all_labels))
    for label in sorted(set(operand_labels.replace("...", ""))):
        while distinct_labels.count(label) > 1:
            # A repeated label of the operand reads a diagonal, and the cotangent is zero elsewhere: multiply it by an
            # identity matrix. `counts` are not 0, so that their quotients are ones, one for each row of the matrix.
            new_label = next(unused_letters)
            distinct_labels = new_label.join(distinct_labels.rsplit(label, 1))
            counts = b.einsum(b.ones_like(inputs[position]), equation=f"{operand_labels}->{batch}{label}")
            identity = b.diag(b.divide(counts, counts), offset=0)
            factors.append((identity, batch + label + new_label))
    covered_labels = "".join(labels for _, labels in factors)
    if set(distinct_labels) - set(covered_labels):
        # These labels are summed over in this operand alone: every element gets the same cotangent.
        factors.append((b.ones_like(inputs[position]), operand_labels))
    if "..." in covered_labels and not batch:
        distinct_labels = "..." + distinct_labels  # dimensions of other operands' `...`, over which the caller sums
    factor_labels = ",".join(labels for _, labels in factors)
    return b.einsum(*(x for x, _ in factors), equation=f"{factor_labels}->{distinct_labels}")


tensordot = define(
    name="tensordot", graphdef="TensorDot", result=_tensordot_type, kernel=quiet(_tensordot),
    gradient=_tensordot_gradient, unify="all",
    samples=(
        sample(WIDE, TALL, axes=((1,), (0,))),
        sample(np.stack([WIDE, -WIDE]), TALL, axes=((-1, 0), (0, 1))),
        sample(WIDE[0], TALL, axes=((), ())),
    ),
)  # fmt: skip
einsum = define(
    name="einsum", graphdef="Einsum", result=_einsum_type, kernel=quiet(_einsum), gradient=_einsum_gradient,
    unify="all", effects=_einsum_effects,
    samples=(
        sample(WIDE, TALL, equation="ij,jk->ik"),
        sample(WIDE, TALL, WIDE * 2, equation="ij,jk,mn->nik"),
        sample(np.stack([WIDE, -WIDE]), TALL, equation="...ij,jk->...k"),
        sample(np.stack([WIDE, -WIDE])[..., :2], equation="...ii->..."),
        sample(WIDE[:, :2], equation="ii->"),
        sample(WIDE[:, :2], equation="ii->i"),
        sample(WIDE, equation="ij->j"),
        sample(WIDE, TALL, equation="ij,jk"),
    ),
    may_alias=True,
)  # fmt: skip
