"""Facts that an arm may assume because a test selects it: classes of objects, alternatives of variants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.region_flow import captured_operands
from autoconv.graph.types import ObjectType
from autoconv.runtime.recording.regions import Region
from autoconv.runtime.tensors.static_values import constant_of


def record_implications(region: Region, test: Any, holds: bool) -> None:
    """Register in an arm's region what its test implies there; `holds`: the test is true in the arm, else false.

    An `isinstance` test implies the class of an object; a test of a variant's tag, such as `x is None`, implies its
    alternative.
    """
    _record_implications(region, test.value_in_graph, holds)


def _record_implications(region: Region, test: Value, holds: bool) -> None:
    """Register what the test of an arm, or an operand of it, implies if its truth is `holds`."""
    test = _without_casts(test)
    node = test.node
    if node is None:
        return
    name = node.op.name
    if name == "logical_not":
        _record_implications(region, node.inputs[0], not holds)
    elif name == "object_isinstance":
        region.known_classes.append((origin(node.inputs[0], region), node.attributes["kinds"], holds))
    elif name == "python_equal":
        number = constant_of(node.inputs[1])
        if number is not None and number.dtype.kind in "iu":
            region.known_tags.append((origin(node.inputs[0], region), int(number), holds))
    elif name == ("logical_and" if holds else "logical_or"):
        for operand in node.inputs:
            _record_implications(region, operand, holds)
    elif node.op.traits.selects and len(node.regions) == 2:
        _record_implications_of_arms(region, node, node.results.index(test), holds)


def _record_implications_of_arms(region: Region, node: Node, position: int, holds: bool) -> None:
    """Register what `a and b`, or `a or b`, implies about `a`.

    `node` is the `cond` on `a`, and its result at `position` has the truth `holds`. An arm whose output has the other
    truth is therefore not selected.
    """
    for is_first, arm in zip((True, False), node.regions, strict=True):
        truth = _known_truth(node, arm, _without_casts(arm.outputs[position]), is_first)
        if truth is not None and truth is not holds:
            _record_implications(region, node.inputs[0], not is_first)


def _known_truth(node: Node, arm: Graph, output: Value, is_first: bool) -> bool | None:
    """Return the truth of an arm's output that is a constant, or that is the test of the `cond`; else None.

    `is_first`: the arm is that of a true test.
    """
    constant = constant_of(output)
    if constant is not None:
        return bool(constant)
    captures = zip(arm.parameters, captured_operands(node), strict=True)
    is_test = any(parameter is output and operand is node.inputs[0] for parameter, operand in captures)
    return is_first if is_test else None


def _without_casts(value: Value) -> Value:
    """Return the number whose truth a value has, before conversions."""
    while value.node is not None and value.node.op.name in ("python_cast", "python_bool", "identity"):
        value = value.node.inputs[0]
    return value


def excluded_alternatives(tag: Value, count: int, region: Region | None) -> set[int]:
    """Return the numbers of those of `count` alternatives that a variant with this tag does not have in a region."""
    result: set[int] = set()
    enclosing_region, tag = region, tag if region is None else origin(tag, region)
    while enclosing_region is not None:
        for tested_tag, number, holds in enclosing_region.known_tags:
            if tested_tag is tag:
                result |= set(range(count)) - {number} if holds else {number}
        enclosing_region = enclosing_region.parent
    return result


def install_class_lookup(lookup: Callable[[Value, Region], Sequence[type]]) -> None:
    """Install `lookup(value, region)`, which returns the user-defined classes that an arm's result may have."""
    global _find_possible_classes
    _find_possible_classes = lookup


_find_possible_classes: Callable[[Value, Region], Sequence[type]] = lambda value, region: ()


def record_result_classes(node: Node, arms: Sequence[Region]) -> None:
    """Register the possible classes of the results of a `cond` node; more is known about them inside of its arms."""
    trace = arms[0].trace
    if not trace.created_classes:
        return
    for position, result in enumerate(node.results):
        if isinstance(result.type, ObjectType):
            kinds = [kind for arm in arms for kind in _find_possible_classes(arm.graph.outputs[position], arm)]
            trace.classes_of_results[result] = frozenset(trace.created_classes), frozenset(kinds)


def origin(value: Value, region: Region) -> Value:
    """Return the value of the outermost region that a value captures; the value itself if it captures none."""
    enclosing_region: Region | None = region
    while enclosing_region is not None and enclosing_region.parent is not None:
        if value.graph is enclosing_region.graph:
            outer_values = (outer for outer, inner in enclosing_region.captures.items() if inner is value)
            value = next((outer for outer in outer_values if outer.graph is enclosing_region.parent.graph), value)
        enclosing_region = enclosing_region.parent
    return value
