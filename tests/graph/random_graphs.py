"""Random graphs over the registry that run without errors, with arguments to run them on."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from autoconv.backends.interpreter import compile_graph
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.types import TensorType
from autoconv.ops import OPS

ARRAYS = (np.ndarray, np.generic)
PARAMETERS = (
    np.array([[0.5, -1.25, 2.0], [3.5, -0.75, 1.5]]),
    np.array([1.5, -0.0, np.inf]),
    np.array(2.5),
    np.array([7, -7, 5], np.int64),
    np.array([[1.5, np.nan]], np.float32),
    np.array([True, False, True]),
    np.array(3, np.int32),
    np.array(True),
    np.array([b"a", b"bc"], object),
)
# Ops that only compute, at most raising, with samples made of arrays and attributes that have a text.
APPLICATIONS = [
    (op, sample)
    for op in OPS.values()
    for sample in op.samples
    if isinstance(op.effects, Effects) and not op.effects & ~Effects.RAISE
    and op.kernel is not None and all(isinstance(x, ARRAYS) for x in sample.inputs)
]  # fmt: skip


def random_graph(random: Random, length: int = 12) -> tuple[Graph, list[Any]]:
    """Return a graph of some `length` nodes, with conds and loops, and the arguments for its parameters."""
    graph = Graph("random")
    arguments = random.sample(PARAMETERS, random.randint(1, len(PARAMETERS)))
    known = {graph.add_parameter(type_of(x), "x"): x for x in arguments}
    _extend(graph, known, random, length)
    graph.outputs = [random.choice(list(known)) for _ in range(random.randint(1, 4))]
    return graph, arguments


def type_of(array: Any) -> TensorType:
    return TensorType(as_dtype(array.dtype), np.shape(array))


def _extend(graph: Graph, known: dict[Value, Any], random: Random, length: int) -> None:
    for _ in range(length):
        nodes, values = len(graph.nodes), len(known)
        step = random.choices((_apply, _repeat, _cond, _loop), (8, 3, 1, 1))[0]
        try:
            node = step(graph, known, random)
            if node is not None:
                _run(node, known)
        except Exception:  # a rule or a kernel refuses: then this node is not part of the graph
            graph.truncate(nodes)
            for value in list(known)[values:]:
                del known[value]


def _apply(graph: Graph, known: dict[Value, Any], random: Random) -> Node:
    op, sample = random.choice(APPLICATIONS)
    inputs = [_operand(graph, known, random, x) for x in sample.inputs]
    return graph.add(op, inputs, sample.attributes)


def _operand(graph: Graph, known: dict[Value, Any], random: Random, array: Any) -> Value:
    fitting = [value for value in known if value.type == type_of(array)]
    if fitting and random.random() < 0.7:
        return random.choice(fitting)
    node = graph.add(OPS["constant"], (), {"value": np.asarray(array)})
    _run(node, known)
    return node.results[0]


def _repeat(graph: Graph, known: dict[Value, Any], random: Random) -> Node | None:
    """Repeat an application of an op, with inputs of a commutative op swapped."""
    plain = [node for node in graph.nodes if not node.regions]
    if not plain:
        return None
    node = random.choice(plain)
    inputs = node.inputs[::-1] if node.op.traits.commutative and random.random() < 0.5 else node.inputs
    return graph.add(node.op, inputs, node.attributes)


def _cond(graph: Graph, known: dict[Value, Any], random: Random) -> Node:
    index = _operand(graph, known, random, np.array(random.random() < 0.5))
    captures = random.choices(list(known), k=3)
    arms = [_region(f"arm_{i}", captures, known, random) for i in range(2)]
    return graph.add(OPS["cond"], [index, *captures], regions=arms)


def _loop(graph: Graph, known: dict[Value, Any], random: Random) -> Node:
    """Add a loop of three iterations over some values, with another value captured."""
    counter = _operand(graph, known, random, np.array(0, np.int64))
    inputs = [counter, *random.choices(list(known), k=3)]
    test = Graph("test")
    first, *_ = (test.add_parameter(value.type, "x") for value in inputs)
    limit = test.add(OPS["constant"], (), {"value": known[counter] + 3}).results[0]
    test.outputs = [test.add(OPS["less"], [first, limit]).results[0]]
    body = _region("body", inputs, known, random)
    one = body.add(OPS["constant"], (), {"value": np.array(1, np.int64)}).results[0]
    step = body.add(OPS["add"], [body.parameters[0], one]).results[0]
    body.outputs = [step, *body.outputs[1:3]]
    return graph.add(OPS["while"], inputs, {"state": 3}, regions=[test, body])


def _region(name: str, inputs: list[Value], known: dict[Value, Any], random: Random) -> Graph:
    """Return a region with an output of each input's type."""
    region = Graph(name)
    inner = {region.add_parameter(value.type, "x"): known[value] for value in inputs}
    parameters = list(inner)
    _extend(region, inner, random, 3)
    region.outputs = [
        random.choice([value for value in inner if value.type == parameter.type]) for parameter in parameters
    ]
    return region


def _run(node: Node, known: dict[Value, Any]) -> None:
    """Run a node by its kernel and record its results; errors of the kernel are raised."""
    alone = Graph("alone")
    inputs = [alone.add_parameter(value.type) for value in node.inputs]
    copy = alone.add(
        node.op, inputs, node.attributes, regions=node.regions, types=[value.type for value in node.results]
    )
    alone.outputs = list(copy.results)
    with np.errstate(all="ignore"):
        found = compile_graph(alone)([known[value] for value in node.inputs])
    known.update(zip(node.results, found, strict=True))
