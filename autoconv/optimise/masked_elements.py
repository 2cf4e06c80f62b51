"""Compute on whole arrays where a program takes the elements at which a mask holds, computes, and puts them back.

The number of elements under a mask is known only when the graph runs, while whole arrays have static sizes, for which
there is native code. An assignment under the mask becomes a selection between new and old elements; a reduction gets
its neutral element where the mask does not hold. If nothing else uses the elements, their number is a sum of the mask.

    before   graph f(%A: array<float64[4], [8]>, %x: float64[4], %m: bool[4]) {
               %taken = get_item(%x, %m, spec=(Mask(),)): float64[?]
               %sin = sin(%taken): float64[?]
               %set = array_set(%A, %sin, %m, spec=(Mask(),)): ()
               return
             }
    after    graph f(%A: array<float64[4], [8]>, %x: float64[4], %m: bool[4]) {
               %sin = sin(%x): float64[4]
               %array_load = array_load(%A): float64[4]
               %select = select(%m, %sin, %array_load): float64[4]
               %array_store = array_store(%A, %select): ()
               return
             }
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, op_effects
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, TensorType
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.index_spec import Mask
from autoconv.ops.rules import normalised_axes

_MAX_COSTLY_OPS = 2  # elementary functions that are computed in vain where the mask does not hold
_MASK_SPEC = (Mask(),)


def mask_elements(graph: Graph, contract: str = "function") -> Graph:
    """Replace operations on the elements under a mask by operations on whole arrays, in regions too."""
    has_masks = any(_is_masked_load(node) or _is_masked_store(node) for node in graph.walk())
    return _MaskRewriter(graph, shared=None).run() if has_masks else graph


def _is_masked_load(node: Node) -> bool:
    """Return whether the node takes the elements at which a mask of known, fitting shape holds."""
    # A `get_item` whose mask may not fit has the effect RAISE.
    if node.op.name != "get_item" or node.attributes["spec"] != _MASK_SPEC or node.effects is not Effects.PURE:
        return False
    shape = node.inputs[0].shape
    return shape is not None and None not in shape and bool(_rank(node.inputs[1]))


def _is_masked_store(node: Node) -> bool:
    """Return whether the node assigns to the elements at which a mask holds."""
    return node.op.name in ("array_set", "set_item") and node.attributes["spec"] == _MASK_SPEC


class _MaskRewriter(Rewriter[None]):
    """The pass over one graph.

    Masked values are computed elementwise from elements under one mask. `_masks` maps them to the mask and the shape of
    the whole array. `_costs` maps them to the number of elementary functions that compute them. `_whole_values` maps
    replaced values to their values for the whole array; `_values_in_use` are the masked values that stay.
    """

    def __init__(self, graph: Graph, shared: None, copies: dict[Graph, Graph] | None = None) -> None:
        super().__init__(graph, shared, copies)
        self._masks: dict[Value, tuple[Value, tuple[Any, ...]]] = {}
        self._costs: dict[Value, int] = {}
        self._whole_values: dict[Value, Value] = {}
        self._values_in_use: set[Value] = set()
        for node in graph.nodes:
            self._record_mask(node)
        self._replaced_nodes = {node for node in graph.nodes if self._rule(node) is not None}
        self._values_in_use = self._find_values_in_use()  # from here on, their sizes stay

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        if node.results and node.results[0] in self._masks and node.results[0] not in self._values_in_use:
            return inputs[:1]  # a placeholder, which only replaced nodes use; they take the whole value
        rule = self._rule(node)
        return None if rule is None else rule(GraphBuilder(self.copy, node.span), node, inputs)

    # ---- analysis

    def _record_mask(self, node: Node) -> None:
        """Record the mask of the node's result, if it is computed elementwise from elements under one mask."""
        if _is_masked_load(node):
            x, mask = node.inputs
            self._masks[node.results[0]] = mask, tuple(x.shape or ())
            self._costs[node.results[0]] = 0
            return
        if len(node.results) != 1 or not node.op.traits.elementwise or node.regions:
            return
        masks = {self._masks[value] for value in node.inputs if value in self._masks}
        if len(masks) != 1 or op_effects(node.op, node.attributes, node.inputs) is not Effects.PURE:
            return
        ((mask, shape),) = masks
        trailing_rank = len(shape) - _rank(mask)
        if any(value not in self._masks and not _rank_is_at_most(value, trailing_rank) for value in node.inputs):
            return  # an operand that varies along the masked dimensions
        cost = node.op.traits.costly + max(self._costs.get(value, 0) for value in node.inputs)
        if cost <= _MAX_COSTLY_OPS:
            self._masks[node.results[0]] = mask, shape
            self._costs[node.results[0]] = cost

    def _find_values_in_use(self) -> set[Value]:
        """Return the masked values that are outputs or operands of nodes that are not replaced."""
        values_in_use = {value for value in self.graph.outputs if value in self._masks}
        for node in reversed(self.graph.nodes):
            is_dropped = bool(node.results) and node.results[0] in self._masks and node.results[0] not in values_in_use
            if node not in self._replaced_nodes and not is_dropped:
                values_in_use.update(value for value in node.inputs if value in self._masks)
        return values_in_use

    def _rule(self, node: Node) -> Callable[[GraphBuilder, Node, list[Value]], Sequence[Value]] | None:
        """Return the function that replaces a store or reduction of masked values; None for a node that stays."""
        if _is_masked_store(node):
            return self._store if self._can_store(node) else None
        if not node.inputs or node.inputs[0] not in self._masks or len(node.results) != 1:
            return None
        if node.op.name == "dimension":
            is_count = node.attributes["axis"] == 0 and node.inputs[0] not in self._values_in_use
            return self._count if is_count else None
        reduction_rule = _REDUCTIONS.get(node.op.name)
        dtype = node.inputs[0].dtype
        is_half_precision = dtype.is_floating and dtype.size < 4  # NumPy adds 16-bit floats in single precision
        if reduction_rule is None or self.reduced_axes(node) is None or is_half_precision:
            return None
        return lambda b, node, inputs: [reduction_rule(self, b, node)]

    # ---- whole values

    def whole_value(self, value: Value) -> Value:
        """Return a masked value as computed for the whole array, or the copy of another value."""
        if value not in self._masks:
            return self.values[value]
        if value not in self._whole_values:
            node = value.node
            assert node is not None
            if _is_masked_load(node):
                self._whole_values[value] = self.values[node.inputs[0]]
            else:
                operands = [self.whole_value(operand) for operand in node.inputs]
                whole_node = self.copy.add_replacement(node, node.op, operands, node.attributes)
                self._whole_values[value] = whole_node.results[0]
        return self._whole_values[value]

    def mask(self, b: GraphBuilder, value: Value) -> Value:
        """Return the mask of the value, reshaped to the rank of the whole array."""
        mask, shape = self._masks[value]
        return _expand_to_rank(b, self.values[mask], len(shape))

    def reduced_axes(self, node: Node) -> Any:
        """Return the axes of the whole array that a reduction of masked elements covers: a tuple, or "all".

        None if the number of masked elements is a size of the result, or if `keepdims` is set for a mask of several
        dimensions: it would keep all of them, instead of one.
        """
        mask, shape = self._masks[node.inputs[0]]
        mask_rank, axis = _rank(mask), node.attributes.get("axis")
        if node.attributes.get("keepdims") and mask_rank > 1:
            return None
        if axis is None:
            return "all"
        axes = normalised_axes(axis, len(shape) - mask_rank + 1)
        if 0 not in axes:
            return None
        # Axis 0 of the masked elements stands for all axes of the mask.
        return tuple(sorted({*range(mask_rank), *(axis + mask_rank - 1 for axis in axes if axis)}))

    def _count(self, b: GraphBuilder, node: Node, inputs: list[Value]) -> Sequence[Value]:
        """Return the number of elements at which the mask holds."""
        mask, _ = self._masks[node.inputs[0]]
        return [b.cast(b.numpy_sum(self.values[mask], axis=None), dtype=node.results[0].dtype)]

    # ---- assignments

    def _can_store(self, node: Node) -> bool:
        """Return whether an assignment under a mask can select between whole arrays of known shape."""
        target, value, mask = node.inputs
        shape = target.shape
        if shape is None or None in shape or not mask.shape or shape[: len(mask.shape)] != mask.shape:
            return False
        if not isinstance(value.type, TensorType) or value.type.weak:
            return False
        if not np.can_cast(value.dtype.numpy, target.dtype.numpy, "same_kind"):
            return False
        return self._masks.get(value) == (mask, shape) or (value.shape == () and value.dtype is target.dtype)

    def _store(self, b: GraphBuilder, node: Node, inputs: list[Value]) -> Sequence[Value]:
        """Add the selection between new and old elements; return the results, none for a store into memory."""
        value, target = self.whole_value(node.inputs[1]), inputs[0]
        if value.dtype is not target.dtype:
            value = b.cast(value, dtype=target.dtype)
        is_in_memory = isinstance(target.type, ArrayType)
        old_elements = b.array_load(target) if is_in_memory else target
        selected = b.select(_expand_to_rank(b, inputs[2], _rank(target)), value, old_elements)
        if not is_in_memory:
            return [selected]
        b.array_store(target, selected)
        return []


# ---- reductions


def _reduction_rule(neutral_element: Any) -> Callable[[_MaskRewriter, GraphBuilder, Node], Value]:
    """Return the rule that reduces the whole array, with the neutral element where the mask does not hold."""

    def rule(rewriter: _MaskRewriter, b: GraphBuilder, node: Node) -> Value:
        x = rewriter.whole_value(node.inputs[0])
        neutral_value = b.constant(value=np.asarray(neutral_element, x.dtype.numpy))
        selected = b.select(rewriter.mask(b, node.inputs[0]), x, neutral_value)
        return _reduce(b, node.op.name, selected, rewriter.reduced_axes(node), node)

    return rule


def _reduce(b: GraphBuilder, name: str, x: Value, axes: Any, node: Node) -> Value:
    """Add the reduction of `x` over `axes` (see `reduced_axes`), with the other attributes of `node`; return it."""
    attributes = {**node.attributes, "axis": None if axes == "all" else axes}
    return getattr(b, name)(x, **attributes)  # type: ignore[no-any-return]


def _mean(rewriter: _MaskRewriter, b: GraphBuilder, node: Node) -> Value:
    """Divide the sum by the number of elements, in the dtype of the result."""
    x, dtype, axes = rewriter.whole_value(node.inputs[0]), node.results[0].dtype, rewriter.reduced_axes(node)
    mask = rewriter.mask(b, node.inputs[0])
    x = x if x.dtype is dtype else b.cast(x, dtype=dtype)
    keepdims = {"keepdims": True} if node.attributes.get("keepdims") else {}
    axis_options = {"axis": None if axes == "all" else axes, **keepdims}
    total = b.numpy_sum(b.select(mask, x, b.constant(value=np.zeros((), dtype.numpy))), **axis_options)
    shape = x.shape or ()
    ones = mask if mask.shape == shape else b.broadcast_to(mask, shape=shape)
    return b.divide(total, b.cast(b.numpy_sum(ones, **axis_options), dtype=dtype))  # type: ignore[no-any-return]


_REDUCTIONS: dict[str, Callable[[_MaskRewriter, GraphBuilder, Node], Value]] = {
    "numpy_sum": _reduction_rule(neutral_element=0), "numpy_prod": _reduction_rule(neutral_element=1),
    "numpy_any": _reduction_rule(neutral_element=False), "numpy_all": _reduction_rule(neutral_element=True),
    "numpy_mean": _mean,
}  # fmt: skip


# ---- shapes


def _expand_to_rank(b: GraphBuilder, mask: Value, rank: int) -> Value:
    """Return the mask with dimensions of size 1 appended up to the rank."""
    for axis in range(_rank(mask), rank):
        mask = b.expand_dims(mask, axis=axis)  # a shape of `reshape` cannot hold an open size
    return mask


def _rank(value: Value) -> int:
    """Return the rank, 0 if it is not known."""
    return len(value.shape or ())


def _rank_is_at_most(value: Value, rank: int) -> bool:
    """Return whether the value is a tensor whose rank is known and no greater than `rank`."""
    return isinstance(value.type, TensorType) and value.shape is not None and len(value.shape) <= rank
