"""Move symbolic slice bounds from operands into the node, where static bounds are.

    before   %half = floor_divide(%n, %2)                 of x: float32[n,3]
             %part = get_item(%x, %half, spec=(Slice(None, 'input', None),)): float32[(n)//2,3]
    after    %part = get_item(%x, spec=(Slice(None, (n)//2, None),)): float32[(n)//2,3]

The last pass before native code is generated: neither kernels nor other passes support such bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoconv.graph.graph import Graph, Node, Value, clone, is_recursive
from autoconv.graph.types import Symbol, TensorType
from autoconv.ops.index_spec import INPUT, At, Entry, NewAxis, Rest, Slice, Spec, align
from autoconv.optimise.symbolic.driver import has_symbols, note_sizes
from autoconv.optimise.symbolic.sizes import Sizes

_OPERANDS = {"get_item": 1, "set_item": 2, "add_at_item": 2}  # operands before the index operands


def with_known_bounds(graph: Graph, is_native: Callable[[Node], bool]) -> Graph | None:
    """Return a copy of a symbolic graph with bounds in the nodes where `is_native` then holds; None if nowhere."""
    copy = clone(graph, lambda *_: None)
    copy.needs = graph.needs
    return copy if _settle(copy, Sizes(), is_native) else None


def _settle(graph: Graph, sizes: Sizes, is_native: Callable[[Node], bool]) -> bool:
    """Move the bounds of one graph, in place; return whether anything changed."""
    changed = False
    for node in graph.nodes:
        spec = _known_spec(node, sizes) if node.op.name in _OPERANDS else None
        if spec is not None:
            before = node.inputs, node.attributes
            node.inputs = node.inputs[: _OPERANDS[node.op.name]]
            node.attributes = {**node.attributes, "spec": spec}
            if is_native(node):
                changed = True
            else:
                node.inputs, node.attributes = before
        if node.regions and not is_recursive(node):
            for region in node.regions:
                captures = _captures(node)
                sizes.share(region.parameters[len(region.parameters) - len(captures) :], captures)
                changed |= _settle(region, sizes, is_native)
        note_sizes(sizes, node)
    return changed


def _captures(node: Node) -> Sequence[Value]:
    """Return the outer values of the regions' last parameters, which are the same in each iteration."""
    first = {"while": node.attributes.get("state", 0), "cond": 1, "call": 0}.get(node.op.name)
    return () if first is None else node.inputs[first:]


def _known_spec(node: Node, sizes: Sizes) -> Spec | None:
    """Return the index spec with dimensions for bounds; None unless all are known, with slices and ints only."""
    count = _OPERANDS[node.op.name]
    shapes = [value.shape if isinstance(value.type, TensorType) else None for value in node.inputs[:count]]
    shape, result = shapes[0], node.results[0].type
    if any(one is None or None in one for one in (*shapes, getattr(result, "shape", None))) or not has_symbols(result):
        return None
    assert shape is not None and isinstance(result, TensorType)
    if result.dtype.is_string or len(node.inputs) == count:
        return None
    spec = node.attributes["spec"]
    if not all(isinstance(entry, (At, Slice, Rest, NewAxis)) for entry in spec):
        return None
    entries_found: list[Entry] = []
    for entry, operands, axis, _ in align(spec, len(shape), node.inputs[count:]):
        if isinstance(entry, Slice):
            bounds = entry.filled(map(sizes.numbers.get, operands))
            unknown = any(bound is None and part == INPUT for bound, part in zip(bounds, entry.parts, strict=True))
            open_ = [isinstance(bound, Symbol) for bound in bounds]
            if unknown or open_[2] or (any(open_) and not isinstance(shape[axis], Symbol)):
                return None
            entry = Slice(*bounds)
        elif entry.takes:
            return None
        entries_found.append(entry)
    return tuple(entries_found[: len(spec)])
