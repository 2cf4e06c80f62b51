"""Verifier of graphs' invariants. It runs on the results of traces, and in tests after each optimisation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from autoconv.graph.dtypes import bool_
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value, node_effects
from autoconv.graph.types import NoCommonType, ObjectType, TensorType, TupleType, Type, are_shapes_compatible, join


class VerificationError(AssertionError):
    """A violated invariant; the message names the graph, the node, and the violation."""


def verify(graph: Graph) -> None:
    """Check `graph` and its regions; raises VerificationError.

    Every input is a parameter or the result of an earlier node of the same graph; names are unique; result types agree
    with the ops' type rules; the parameters and outputs of regions agree with their node; and `effects` equals the
    effects of the op and the regions.
    """
    _verify_graph(graph, graph.name, set())


def may_agree(first: Type, second: Type) -> bool:
    """Return whether one value may have both types; the dtype of a weak type may be widened to a typed one."""
    if isinstance(first, TensorType) and isinstance(second, TensorType):
        if not are_shapes_compatible(first.shape, second.shape):
            return False
    elif isinstance(first, TupleType) and isinstance(second, TupleType):
        return len(first.items) == len(second.items) and all(map(may_agree, first.items, second.items))
    try:
        join(first, second)
    except NoCommonType:
        return False
    return True


def _verify_graph(graph: Graph, path: str, verified_graphs: set[Graph]) -> None:
    """Check one graph, which errors name by `path`, and its regions; graphs verified before are skipped."""
    if graph in verified_graphs:  # shared by several calls, or recursive
        return
    verified_graphs.add(graph)
    defined_values: set[Value] = set()
    names: set[str] = set()
    for position, parameter in enumerate(graph.parameters):
        location = f"{path}: parameter {position} (%{parameter.name})"
        if parameter.graph is not graph:
            raise VerificationError(f"{location} belongs to the graph {parameter.graph.name!r}")
        if parameter.node is not None:
            raise VerificationError(f"{location} is recorded as a result of the node %{parameter.node.name}")
        _check_name(location, parameter.name, names)
        defined_values.add(parameter)
    for node in graph.nodes:
        location = f"{path}: node %{node.name} ({node.op.name})"
        _check_name(location, node.name, names)
        for position, value in enumerate(node.inputs):
            _check_definition(f"{location}: input {position}", value, graph, defined_values)
        _check_results(location, node, graph)
        _check_regions(location, node)
        for position, region in enumerate(node.regions):
            _verify_graph(region, f"{path} / %{node.name}[{position}] {region.name}", verified_graphs)
        _check_type_rule(location, node)
        _check_effects(location, node)
        defined_values.update(node.results)
    for position, value in enumerate(graph.outputs):
        _check_definition(f"{path}: output {position}", value, graph, defined_values)


def _check_name(location: str, name: str, names: set[str]) -> None:
    """Add a name to `names`, the names of the graph; raise VerificationError if the name is taken."""
    if name in names:
        raise VerificationError(f"{location} has a name that another node or parameter of the graph has too")
    names.add(name)


def _check_definition(location: str, value: Value, graph: Graph, defined_values: set[Value]) -> None:
    """Raise VerificationError unless the value is defined before the place where it is used."""
    if value in defined_values:
        return
    if value.graph is not graph:
        raise VerificationError(
            f"{location} is %{value.name}, which belongs to the graph {value.graph.name!r}; a region reads what "
            "is around it through captures"
        )
    raise VerificationError(f"{location} is %{value.name}, which is not made before it")


def _check_results(location: str, node: Node, graph: Graph) -> None:
    """Check that the node's results refer to the node."""
    for position, value in enumerate(node.results):
        if value.graph is not graph:
            raise VerificationError(f"{location}: result {position} belongs to the graph {value.graph.name!r}")
        if value.node is not node or value.index != position or value.name != node.name:
            raise VerificationError(
                f"{location}: result {position} is recorded as result {value.index} of "
                f"%{value.name if value.node is None else value.node.name}"
            )


def _check_regions(location: str, node: Node) -> None:
    """Check the regions against the node's inputs and results."""
    check = _REGION_CHECKS.get(node.op.name)
    if check is not None:
        check(location, node)


def _check_cond(location: str, node: Node) -> None:
    """Check arms: their parameters are the captures, their outputs the results."""
    if not node.inputs:
        raise VerificationError(f"{location} has no inputs, its first has to be the index of the arm")
    index_type, *capture_types = (value.type for value in node.inputs)
    if not node.regions:
        raise VerificationError(f"{location} has no arms")
    if isinstance(index_type, TensorType) and index_type.dtype.is_bool and len(node.regions) != 2:
        raise VerificationError(f"{location} has {len(node.regions)} arms for a bool")
    for arm in node.regions:
        _check_parameters(location, arm, capture_types, "capture")
        _check_outputs(location, arm, [value.type for value in node.results], "result")


def _check_while(location: str, node: Node) -> None:
    """Check a loop: its first inputs, as many as the attribute `state`, have the types of its results."""
    state_size = node.attributes.get("state")
    if type(state_size) is not int or not 0 <= state_size <= len(node.inputs):
        raise VerificationError(f"{location}: the attribute state is {state_size!r} for {len(node.inputs)} inputs")
    if len(node.regions) != 2:
        raise VerificationError(f"{location} has {len(node.regions)} regions, it needs a test and a body")
    if len(node.results) != state_size:
        raise VerificationError(f"{location} has {len(node.results)} results for {state_size} values of state")
    test, body = node.regions
    for region in node.regions:
        _check_parameters(location, region, [value.type for value in node.inputs], "input")
    for position, value in enumerate(node.results):
        initial_type = node.inputs[position].type
        if not may_agree(initial_type, value.type):
            types = f"{initial_type} before the loop, {value.type} after it"
            raise VerificationError(f"{location}: state {position} is {types}")
    if len(test.outputs) != 1:
        raise VerificationError(f"{location}: the test has {len(test.outputs)} outputs, it needs one")
    condition_type = test.outputs[0].type
    is_bool = isinstance(condition_type, TensorType) and condition_type.dtype.is_bool
    if not is_bool or not may_agree(condition_type, TensorType(bool_, ())):
        raise VerificationError(f"{location}: the test gives {condition_type}, it has to give a bool scalar")
    _check_outputs(location, body, [value.type for value in body.parameters[:state_size]], "value of state")


def _check_call(location: str, node: Node) -> None:
    """Check the graph that is called."""
    if len(node.regions) != 1:
        raise VerificationError(f"{location} has {len(node.regions)} regions, it needs one")
    _check_parameters(location, node.regions[0], [value.type for value in node.inputs], "argument")
    _check_outputs(location, node.regions[0], [value.type for value in node.results], "result")


def _check_try(location: str, node: Node) -> None:
    """Check the body of a try, and its two ends: the one after the body, and the handler."""
    if len(node.regions) != 3:
        raise VerificationError(f"{location} has {len(node.regions)} regions, it needs a body and two ends")
    body, normal, handler = node.regions
    capture_types = [value.type for value in node.inputs]
    _check_parameters(location, body, capture_types, "capture")
    _check_parameters(location, normal, [*(value.type for value in body.outputs), *capture_types], "input")
    _check_parameters(location, handler, [ObjectType(), *capture_types], "input")
    for last_region in (normal, handler):
        _check_outputs(location, last_region, [value.type for value in node.results], "result")


def _check_parameters(location: str, region: Graph, types: Sequence[Type], expected_noun: str) -> None:
    """Check the types of a region's parameters; the expected ones are called by `expected_noun` in errors."""
    types_of_region = [value.type for value in region.parameters]
    _check_pairs(f"{location}: the region {region.name!r}", "parameter", types_of_region, expected_noun, types)


def _check_outputs(location: str, region: Graph, types: Sequence[Type], expected_noun: str) -> None:
    """Check the types of a region's outputs; the expected ones are called by `expected_noun` in errors."""
    types_of_region = [value.type for value in region.outputs]
    _check_pairs(f"{location}: the region {region.name!r}", "output", types_of_region, expected_noun, types)


def _check_pairs(
    location: str, actual_noun: str, actual_types: Sequence[Type], expected_noun: str, expected_types: Sequence[Type]
) -> None:
    """Check the number of types, and each type, against the expected ones."""
    if len(actual_types) != len(expected_types):
        raise VerificationError(
            f"{location} has {_count(len(actual_types), actual_noun)} for {_count(len(expected_types), expected_noun)}"
        )
    for position, (actual, expected) in enumerate(zip(actual_types, expected_types, strict=True)):
        if not may_agree(actual, expected):
            raise VerificationError(
                f"{location} has {actual} as {actual_noun} {position}, its node has {expected} as {expected_noun}"
            )


def _count(number: int, noun: str) -> str:
    """Return a text such as "2 parameters", the noun in the plural if needed."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


_REGION_CHECKS: dict[str, Callable[[str, Node], None]] = {
    "cond": _check_cond,
    "while": _check_while,
    "call": _check_call,
    "try": _check_try,
}


def _check_type_rule(location: str, node: Node) -> None:
    """Check declared types against the type rule: they may be wider or narrower, if one value may have both."""
    input_types = [value.type for value in node.inputs]
    try:
        types_by_rule = node.op.result_types(input_types, node.attributes, node.regions)
    except (TypeError, ValueError) as error:
        raise VerificationError(f"{location}: its rule refuses ({_texts(input_types)}): {error}") from error
    declared_types = [value.type for value in node.results]
    if len(types_by_rule) != len(declared_types) or not all(map(may_agree, types_by_rule, declared_types)):
        raise VerificationError(
            f"{location} is declared to give ({_texts(declared_types)}), but by its rule ({_texts(types_by_rule)})"
        )


def _check_effects(location: str, node: Node) -> None:
    """Check that the node's effects are those of its op and its regions."""
    effects: Effects = node_effects(node, node.regions)
    if node.effects != effects:
        raise VerificationError(f"{location}: its effects are {node.effects.text}, computed are {effects.text}")


def _texts(types: Iterable[Type]) -> str:
    """Return the types as text for errors, separated by commas."""
    return ", ".join(map(str, types))
