"""Join outputs that are one of several alternatives into one output, if all are numbers or tensors of one type.

    before   return %tag, %x                       Arms(Leaf(float64[]), Static(0.0))
    after    %is_first = equal(%tag, 0)            Leaf(float64[])
             %joined = select(%is_first, %x, 0.0)
             return %joined

Python distinguishes `0.0` and `np.float64(0.0)`; other languages have one type for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.graph import Graph, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import TensorType
from autoconv.operators.regions.layout import Arms, Instance, Layout, Leaf, Parts, Static, scalar_dtype
from autoconv.ops import OPS

_WIDENING_ORDER = ("int64", "float64", "complex128")  # dtypes of Python's numbers; each includes those before it


def join_variants(graph: Graph, layout: Layout) -> tuple[Graph, Layout]:
    """Return the graph with one output for each joined result, and the layout of the outputs."""
    if not _has_arms(layout):
        return graph, layout
    result = Rewriter(graph, shared=None).run()
    outputs: list[Value] = []
    joined_layout = _join_layout(result, layout, iter(result.outputs), outputs)
    result.outputs = outputs
    return result, joined_layout


def _has_arms(layout: Layout) -> bool:
    """Return whether a layout is, or contains, that of a variant."""
    return isinstance(layout, Arms) or any(map(_has_arms, layout.children))


def _join_layout(graph: Graph, layout: Layout, remaining_values: Iterator[Value], outputs: list[Value]) -> Layout:
    """Join the arms in a layout; return the joined layout, and append its values to `outputs`.

    The layout's own values are taken from `remaining_values`.
    """
    if isinstance(layout, (Parts, Instance)):
        parts = tuple(_join_layout(graph, part, remaining_values, outputs) for part in layout.parts)
        return replace(layout, parts=parts)
    values = [next(remaining_values) for _ in layout.types()]
    type_ = _common_type(layout.arms) if isinstance(layout, Arms) else None
    if type_ is None or not isinstance(layout, Arms):
        outputs += values
        return layout
    tag, *payload_values = values  # the number of the arm, and the values of the arms
    payloads = iter(payload_values)
    shared_numbers = [] if layout.number_type is None else [next(payloads)]  # one value for all arms that are numbers
    if shared_numbers and all(scalar_dtype(arm) is not None for arm in layout.arms):
        outputs += shared_numbers
        return Leaf(shared_numbers[0].type)
    arms = []
    for arm in layout.arms:
        if isinstance(arm, Leaf):
            payload = shared_numbers[0] if shared_numbers and scalar_dtype(arm) is not None else next(payloads)
            arms.append(_cast(graph, payload, type_.dtype))
        else:
            arms.append(_constant(graph, arm, type_))
    *other_arms, joined = arms
    for index, arm_value in reversed(list(enumerate(other_arms))):
        number_constant = graph.add(OPS["constant"], (), {"value": np.array(index, tag.dtype.numpy), "weak": False})
        is_chosen = graph.add(OPS["equal"], (_cast(graph, tag, tag.dtype), number_constant.results[0])).results[0]
        joined = graph.add(OPS["select"], (is_chosen, arm_value, joined)).results[0]
    outputs.append(joined)
    return Leaf(joined.type)


def _common_type(arms: Sequence[Layout]) -> TensorType | None:
    """Return the tensor type that represents the values of all arms exactly, or None."""
    types = [arm.type for arm in arms if isinstance(arm, Leaf)]
    numbers = [arm.value for arm in arms if isinstance(arm, Static)]
    if len(types) + len(numbers) < len(arms) or not all(isinstance(type_, TensorType) for type_ in types):
        return None
    if any(type(value) not in (bool, int, float, complex) for value in numbers):
        return None
    shapes = {type_.shape for type_ in types} | ({()} if numbers else set())  # type: ignore[union-attr]
    dtypes = [type_.dtype for type_ in types] or [as_dtype(np.asarray(value).dtype) for value in numbers]  # type: ignore[union-attr]
    dtype = _common_dtype(dtypes)
    if len(shapes) != 1 or dtype is None or not all(_is_exact(value, dtype) for value in numbers):
        return None
    return TensorType(dtype, shapes.pop())


def _common_dtype(dtypes: Sequence[DType]) -> DType | None:
    """Return the dtype that represents the numbers of all dtypes; None if there is none."""
    names = {dtype.name for dtype in dtypes}
    if len(names) == 1:
        return dtypes[0]
    return as_dtype(max(names, key=_WIDENING_ORDER.index)) if names <= set(_WIDENING_ORDER) else None


def _is_exact(value: complex, dtype: DType) -> bool:
    """Return whether an element of the dtype can equal the Python number `value`; bools need a dtype of bools."""
    if isinstance(value, bool) != dtype.is_bool:
        return False
    try:
        with np.errstate(all="ignore"):
            element = np.array(value, dtype.numpy)[()]
    except (OverflowError, TypeError, ValueError):
        return False
    are_nan = element != element and value != value
    return bool(element == value or are_nan)


def _constant(graph: Graph, arm: Layout, type_: TensorType) -> Value:
    """Record the static value of an arm as a constant of the joined type."""
    assert isinstance(arm, Static)
    array = np.array(arm.value, type_.dtype.numpy)
    return graph.add(OPS["constant"], (), {"value": array, "weak": False}).results[0]


def _cast(graph: Graph, value: Value, dtype: DType) -> Value:
    """Record the conversion of a value to a dtype."""
    return graph.add(OPS["cast"], (value,), {"dtype": dtype}).results[0]
