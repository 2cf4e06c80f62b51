"""Run-time checks of symbolic shapes, with NumPy's errors for incompatible ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.types import Type
from autoconv.ops.record import define, no_gradient, sample
from autoconv.ops.rules import is_known_to_broadcast

UPDATE, MATMUL, DOT, INNER, VECDOT, SOLVE, SQUARE = "update", "matmul", "dot", "inner", "vecdot", "solve", "square"
_NUMPY_FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    MATMUL: np.matmul, DOT: np.dot, INNER: np.inner, VECDOT: lambda x, y: np.vecdot(x, y),
    SOLVE: np.linalg.solve, SQUARE: lambda x, _: np.linalg.inv(x),
}  # fmt: skip


def core_dimensions(x_shape: Sequence[Any], y_shape: Sequence[Any], rule: str = MATMUL) -> tuple[Any, Any]:
    """Return the sizes of the two dimensions over which a product of matrices or vectors sums."""
    return x_shape[-1], y_shape[-2 if len(y_shape) > 1 and rule not in (INNER, VECDOT) else -1]


def compared_dimensions(x_shape: Sequence[Any], y_shape: Sequence[Any], rule: str) -> list[tuple[Any, Any]]:
    """Return the pairs of dimensions that have to be equal, for all rules but UPDATE (see `_check`)."""
    if "->" not in rule:  # not an equation of einsum
        return [core_dimensions(x_shape, y_shape, rule)]
    x_labels, y_labels = rule.split("->")[0].split(",")
    return [(size, y_shape[y_labels.index(label)]) for label, size in zip(x_labels, x_shape, strict=True)
            if label in y_labels]  # fmt: skip


def _effects(types: Sequence[Type], attributes: Mapping[str, Any]) -> Effects:
    """Return RAISE, or PURE if the shapes are known to be compatible."""
    x, y = (type_.shape for type_ in types)  # type: ignore[union-attr]
    if x is None or y is None:
        return Effects.RAISE
    if attributes["rule"] == UPDATE:
        return Effects.PURE if is_known_to_broadcast(x, y) else Effects.RAISE
    pairs = compared_dimensions(x, y, attributes["rule"])
    return Effects.PURE if all(size is not None and size == other for size, other in pairs) else Effects.RAISE


def _check(x: Any, y: Any, *, rule: str) -> tuple[()]:
    """Raise NumPy's ValueError for incompatible shapes.

    `rule` is UPDATE for `x += y`, MATMUL for `x @ y`, DOT for `x.dot(y)`, INNER and VECDOT for those functions,
    SOLVE for `np.linalg.solve(x, y)` with a vector. With SQUARE, y is x, and LinAlgError is raised unless x is square.
    A rule with "->" is an equation of `np.einsum` without an ellipsis.
    """
    x_shape, y_shape = np.shape(x), np.shape(y)
    if rule != UPDATE:
        if any(size != other for size, other in compared_dimensions(x_shape, y_shape, rule)):
            function = functools.partial(np.einsum, rule) if "->" in rule else _NUMPY_FUNCTIONS[rule]
            function(np.broadcast_to(0.0, x_shape), np.broadcast_to(0.0, y_shape))
    elif len(y_shape) > len(x_shape) or any(
        size not in (1, target_size) for size, target_size in zip(y_shape[::-1], x_shape[::-1], strict=False)
    ):
        np.add(np.broadcast_to(0, x_shape), np.broadcast_to(0, y_shape), out=np.empty(x_shape, int))
    return ()


def not_square_error(shape: Sequence[int]) -> Exception:
    """Return NumPy's error for matrices of the shape where square ones are required."""
    try:
        np.linalg.inv(np.broadcast_to(0.0, shape))
    except np.linalg.LinAlgError as error:
        return error.with_traceback(None)
    raise AssertionError(f"{shape} is the shape of square matrices")


define(
    name="numpy_shapes", graphdef="NumpyShapes", result=lambda *_, rule: (), kernel=_check, effects=_effects,
    gradient=no_gradient("it only checks shapes"), shape_only=(0, 1),
    samples=(sample(np.ones(3), np.ones(1), rule=UPDATE), sample(np.ones((2, 3)), np.ones(3), rule=MATMUL)),
)  # fmt: skip
