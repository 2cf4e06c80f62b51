"""Move symbolic slice bounds from operands to the attribute `spec`, which has the static bounds.

    before   %half = floor_divide(%n, %2)                 of x: float32[n,3]
             %part = get_item(%x, %half, spec=(Slice(None, 'input', None),)): float32[(n)//2,3]
    after    %part = get_item(%x, spec=(Slice(None, (n)//2, None),)): float32[(n)//2,3]

The last pass before native code is generated: neither kernels nor other passes support such bounds.
"""

from __future__ import annotations

from collections.abc import Callable

from autoconv.graph.graph import Graph, Node, clone, is_recursive
from autoconv.graph.region_flow import captured_operands
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops.index_spec import INPUT, At, Entry, NewAxis, Rest, Slice, Spec, align
from autoconv.optimise.symbolic.driver import derive_numbers, has_symbols
from autoconv.optimise.symbolic.sizes import Sizes

_LEADING_COUNTS = {"get_item": 1, "set_item": 2, "add_at_item": 2}  # number of operands before those of the index


def fold_symbolic_bounds(graph: Graph, is_native: Callable[[Node], bool]) -> Graph | None:
    """Return a copy of a symbolic graph with the bounds moved into nodes; None if no bound moved.

    `is_native` tells whether there is native code for a node; a node changes only if there is with the bounds moved.
    """
    copy = clone(graph, lambda *_: None)
    copy.nonnegative_sizes = graph.nonnegative_sizes
    return copy if _fold_bounds(copy, Sizes(), is_native) else None


def _fold_bounds(graph: Graph, sizes: Sizes, is_native: Callable[[Node], bool]) -> bool:
    """Move the bounds of a graph and its regions, in place; return whether anything changed."""
    has_changed = False
    for node in graph.nodes:
        spec = _spec_with_bounds(node, sizes) if node.op.name in _LEADING_COUNTS else None
        if spec is not None:
            original_inputs_and_attributes = node.inputs, node.attributes
            node.inputs = node.inputs[: _LEADING_COUNTS[node.op.name]]
            node.attributes = {**node.attributes, "spec": spec}
            if is_native(node):
                has_changed = True
            else:
                node.inputs, node.attributes = original_inputs_and_attributes
        if node.regions and not is_recursive(node):
            for region in node.regions:
                captures = captured_operands(node)
                sizes.copy_facts(region.parameters[len(region.parameters) - len(captures) :], captures)
                has_changed |= _fold_bounds(region, sizes, is_native)
        derive_numbers(sizes, node)
    return has_changed


def _spec_with_bounds(node: Node, sizes: Sizes) -> Spec | None:
    """Return the node's index spec with dimensions in place of operands as bounds of slices.

    None if a bound or a size is not known, or if another entry than a slice has an operand.
    """
    leading_count = _LEADING_COUNTS[node.op.name]
    shapes = [value.shape if isinstance(value.type, TensorType) else None for value in node.inputs[:leading_count]]
    shape, result = shapes[0], node.results[0].type
    if any(operand_shape is None or None in operand_shape for operand_shape in shapes) or not has_symbols(result):
        return None
    assert shape is not None and isinstance(result, TensorType) and result.shape is not None
    if None in result.shape:
        return None
    if result.dtype.is_string or len(node.inputs) == leading_count:
        return None
    spec = node.attributes["spec"]
    if not all(isinstance(entry, (At, Slice, Rest, NewAxis)) for entry in spec):
        return None
    entries: list[Entry] = []
    for entry, operands, axis, _ in align(spec, len(shape), node.inputs[leading_count:]):
        if isinstance(entry, Slice):
            bounds = entry.with_operands(map(sizes.numbers.get, operands))
            bounds_and_parts = zip(bounds, entry.parts, strict=True)
            has_unknown_bound = any(bound is None and part == INPUT for bound, part in bounds_and_parts)
            *limits, step = bounds
            has_symbolic_limit = any(isinstance(limit, Symbol) for limit in limits)
            # A step is an int, and a static dimension has no symbolic bounds.
            if has_unknown_bound or isinstance(step, Symbol) or (
                has_symbolic_limit and not isinstance(shape[axis], Symbol)
            ):
                return None
            entry = Slice(*bounds)
        elif entry.operand_count:
            return None
        entries.append(entry)
    return tuple(entries[: len(spec)])  # without a Rest that `align` has added
