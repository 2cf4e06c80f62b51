"""Transfer functions of the points-to analysis in points_to.py, by op."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autoconv.errors import AutoconvError
from autoconv.graph.graph import Node
from autoconv.graph.python_operators import ARITHMETIC
from autoconv.operators.inference.points_to import TRANSFER_FUNCTION_BY_OP, Contents, Flow, root
from autoconv.ops.python.objects import FUNCTIONS
from autoconv.process_state import without_warnings

_EXAMPLE_LIMIT = 64  # combinations of example operands to which a function is applied
_ELEMENT_LIMIT = 4096  # elements of an array that is an example
_ARITHMETIC = frozenset({"neg", *(name for operator in ARITHMETIC for name in (operator.name, operator.in_place))})
# Functions that return a sequence or iterator of the operands' items, which the analysis treats as a list.
_LIST_FUNCTIONS = frozenset({"list", "tuple", "sorted", "reversed", "add", "mul"})
# Methods that store an item, with the position of the item among the arguments.
_STORING_METHODS = {"append": 0, "insert": 1}


def _box(flow: Flow, node: Node) -> None:
    flow.add_type(flow.contents_of(node.results[0]), node.inputs[0].type)


def _build(flow: Flow, node: Node) -> None:
    """Transfer function of the op `object_build`, which makes a container of its operands."""
    class_name, contents = node.attributes["class_name"], flow.contents_of(node.results[0])
    if class_name not in ("list", "tuple"):
        flow.add_unknown(contents)
        return
    if class_name == "tuple":
        flow.add_tuple(contents, [flow.contents_of(value) for value in node.inputs])
        return
    flow.add_list(contents)  # it may be empty
    for value in node.inputs:
        flow.store_item(contents, flow.contents_of(value))


def _pass_on_assigned(flow: Flow, node: Node) -> None:
    """Transfer function of the op `object_check_assigned`, whose result is its operand."""
    flow.join(flow.contents_of(node.results[0]), flow.contents_of(node.inputs[0]))


def _iterate(flow: Flow, node: Node) -> None:
    flow.alias_items(flow.contents_of(node.results[0]), flow.contents_of(node.inputs[0]))


def _current(flow: Flow, node: Node) -> None:
    flow.add_item_of(flow.contents_of(node.results[0]), flow.contents_of(node.inputs[0]))


def _unpack(flow: Flow, node: Node) -> None:
    """Transfer function of the op `object_unpack`, whose results are the items of its operand, or lists of them."""
    source, star_position = flow.contents_of(node.inputs[0]), node.attributes.get("star")
    for position, value in enumerate(node.results):
        if position in source.parts and star_position in (None, -1):
            flow.join(flow.contents_of(value), flow.part_of(source, position))
            continue
        add_contents = flow.add_list_of if position == star_position else flow.add_item_of
        add_contents(flow.contents_of(value), source)


def _method(flow: Flow, node: Node) -> None:
    """Transfer function of the op `object_method`, a call of a method of its first operand."""
    name, (owner, *operands) = node.attributes["name"], [flow.contents_of(value) for value in node.inputs]
    result = flow.contents_of(node.results[0])
    if name in _STORING_METHODS and len(operands) == _STORING_METHODS[name] + 1:
        flow.store_item(owner, operands[-1])
    elif name == "extend" and len(operands) == 1:
        flow.add_list_of(owner, operands[0])
    elif name == "pop":
        flow.add_item_of(result, owner)
    elif name == "copy":
        flow.add_list_of(result, owner)
    elif name in ("index", "count"):
        flow.add_example(result, 1)
    elif name not in ("append", "insert"):
        flow.add_unknown(result, may_be_list_in_object=True)


def _apply(flow: Flow, node: Node) -> None:
    """Transfer function of the op `object_apply`, a builtin function or operator on graph objects."""
    function, operands = node.attributes["function"], [flow.contents_of(value) for value in node.inputs]
    result, first_operand = flow.contents_of(node.results[0]), operands[0] if operands else None
    if first_operand is None or (node.attributes["keywords"] and function != "sorted"):
        flow.add_unknown(result)
    elif function == "getitem" and first_operand.items is not None:
        if operands[1].may_be_unknown:  # perhaps a slice, which the analysis does not model
            flow.add_list_of(result, first_operand)
        elif operands[1].numbers:
            flow.add_item_of(result, first_operand)
    elif function == "getitem" and first_operand.may_be_unknown:
        flow.add_unknown(result, may_be_list_in_object=True)
    elif function == "setitem" and operands[1].numbers:
        flow.store_item(first_operand, operands[2])
    elif function == "iadd" and first_operand.items is not None:
        flow.alias_items(result, first_operand)
        flow.add_list_of(first_operand, operands[1])
    elif function in ("zip", "enumerate") and all(operand.items is not None for operand in operands):
        _add_tuples(flow, result, operands, is_enumerate=function == "enumerate")
    elif function in _LIST_FUNCTIONS and any(operand.items is not None for operand in operands):
        for operand in operands:
            flow.add_list_of(result, operand)
    else:
        _apply_to_examples(flow, result, function, operands)


def _add_tuples(flow: Flow, result: Contents, operands: Sequence[Contents], is_enumerate: bool) -> None:
    """Add the tuples that `zip` of the lists yields; with `is_enumerate`, those that `enumerate` yields."""
    item = flow.add_list(result)
    parts = [root(operand.items) for operand in operands if operand.items is not None]
    if is_enumerate:
        parts.insert(0, flow.part_of(item, 0))
        flow.add_example(parts[0], 1)
    flow.add_tuple(item, parts)


def _apply_to_examples(flow: Flow, result: Contents, name: str, operands: Sequence[Contents]) -> None:
    """Add to `result` the values of the function on all combinations of examples of its operands, up to a limit."""
    function, examples_of_operands = FUNCTIONS[name], list[list[Any]]()
    for operand in operands:
        items = None if operand.items is None else root(operand.items)
        arrays = _array_examples(operand) if name in _ARITHMETIC else []
        is_unknown = any(x is not None and (x.may_be_unknown or x.arrays) for x in (operand, items))
        if (is_unknown and not arrays) or (items and items.items):
            flow.add_unknown(result)
            return
        item_examples = () if items is None else items.numbers.values()
        examples_of_operands.append([*operand.numbers.values(), *arrays, *([example] for example in item_examples)])
    example_count = 0
    for arguments in itertools.islice(itertools.product(*examples_of_operands), _EXAMPLE_LIMIT):
        try:
            with np.errstate(all="ignore"), without_warnings():
                example = function(*arguments)
        except (ArithmeticError, LookupError, TypeError, ValueError, AutoconvError):
            continue
        flow.add_example(result, example)
        example_count += 1
    if not example_count and all(examples_of_operands):
        flow.add_unknown(result)


def _array_examples(contents: Contents) -> list[np.ndarray]:
    """Return an example of each array that the object may be.

    The list is empty if the object may be anything but an array, if a size is unknown, or if an array is too large.
    """
    examples: list[np.ndarray] = []
    for dtype, shape in () if contents.may_be_unknown or contents.items is not None else contents.arrays:
        sizes = [size for size in shape if isinstance(size, int)]
        if len(sizes) < len(shape) or math.prod(sizes) > _ELEMENT_LIMIT:
            return []
        examples.append(np.ones(sizes, dtype))
    return examples


TRANSFER_FUNCTION_BY_OP.update({
    "array_object": _box, "object_apply": _apply, "object_box": _box, "object_build": _build,
    "object_current": _current, "object_check_assigned": _pass_on_assigned, "object_iterate": _iterate,
    "object_method": _method, "object_unpack": _unpack,
})  # fmt: skip
