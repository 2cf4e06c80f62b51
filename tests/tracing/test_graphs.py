"""Attributes of graphs: devices, order, names, and the protocol buffer that TensorBoard reads."""

import sys

import pytest

import autoconv as ac
from autoconv.graph.text import to_text
from autoconv.graph.text_parser import from_text
from autoconv.ops import OPS


def graph_of(function, *args):
    return ac.function(function).get_concrete_function(*args).graph


def test_devices_are_recorded():
    seen = []

    def f(x):
        with ac.device("/CPU:0"):
            y = x + 1
            with ac.device("GPU:1"):
                z = y * 2
            with ac.device(None):
                w = y - 1
            seen.append(y.device)
        return z + w

    graph = graph_of(f, ac.constant(1))
    devices = {operation.name: operation.device for operation in graph.get_operations()}
    assert devices["add"] == seen[0] == "/device:CPU:0"
    assert (devices["mul"], devices["sub"], devices["add_1"]) == ("/device:GPU:1", "", "")
    assert {node.name: node.device for node in graph.as_graph_def().node}["mul"] == "/device:GPU:1"
    assert ac.function(f)(ac.constant(1)).numpy() == 5
    text = to_text(graph.recorded)
    assert "on '/device:CPU:0'" in text
    assert to_text(from_text(text, OPS)) == text


def test_control_dependencies_are_shown():
    variable = ac.Variable(0.0)

    def f(x):
        assigned = variable.assign(x)
        with ac.control_dependencies([assigned]):
            y = x + 1
        with ac.control_dependencies([ac.debugging.assert_positive(x)]):
            z = x * 2
        return y + z

    nodes = {node.name: list(node.input) for node in graph_of(f, ac.constant(1.0)).as_graph_def().node}
    assert "^AssignVariableOp" in nodes["add"]
    assert "^assert_positive/assert_less/Assert/Assert" in nodes["mul"]
    assert not any(name.startswith("^") for name in nodes["add_1"])


def test_effects_are_ordered_by_control_inputs():
    variable = ac.Variable(0)

    def f(x):
        variable.assign(x)
        ac.print(variable.read_value())
        return variable.assign_add(x)

    graph = graph_of(f, ac.constant(1))
    operations = [operation for operation in graph.get_operations() if operation.control_inputs]
    assert len(operations) >= 2
    order = [operation.name for operation in graph.get_operations()]
    for operation in operations:
        for before in operation.control_inputs:
            assert order.index(before.name) < order.index(operation.name)


def test_scopes_in_branches_and_loops():
    def f(x):
        with ac.name_scope("outer"):
            if x > 0:
                with ac.name_scope("inner"):
                    x = x + 1
            for _ in ac.range(2):
                x = x * 2
        return x

    graph = graph_of(f, ac.constant(1))
    names = {node.name for node in graph.recorded.walk()}
    assert "outer/cond" in names and "outer/while" in names
    assert any(name.endswith("inner/add") for name in names)


def test_inputs_and_consumers_of_operations():
    def f(x):
        return x * 2.0

    graph = graph_of(f, ac.constant([1.0, 2.0]))
    product = graph.get_operation_by_name("mul")
    assert product.type == "Mul"
    assert [t.name for t in product.inputs] == ["x:0", "mul/y:0"]
    assert product.outputs[0].shape == (2,)
    assert graph.get_tensor_by_name("mul:0").name == "mul:0"
    assert graph.get_operation_by_name("mul/y").get_attr("value") == 2.0
    with pytest.raises(KeyError):
        graph.get_operation_by_name("missing")


def conditional(x):
    if x > 0:
        x = x * 2
    if x > 5:
        x = x - 1
    return x


def test_the_protocol_buffer_of_tensorboard():
    graph_pb2 = pytest.importorskip("tensorboard.compat.proto.graph_pb2")
    message = graph_of(conditional, ac.constant([1.5, 2.0])[0]).as_graph_def()
    assert isinstance(message, graph_pb2.GraphDef)
    again = graph_pb2.GraphDef.FromString(message.SerializeToString())
    assert again == message
    nodes = {node.name: node for node in again.node}
    assert (nodes["x"].op, nodes["x"].attr["dtype"].type) == ("Placeholder", ac.float32.enum)
    bodies = [function.signature.name for function in again.library.function]
    assert len(set(bodies)) == len(bodies) == 4
    assert nodes["cond_1"].attr["then_branch"].func.name in bodies
    for part in ("node {", "library {", "versions {", 'name: "cond"'):
        assert part in str(message)


def test_the_same_attributes_without_tensorboard(monkeypatch):
    graph = graph_of(conditional, ac.constant(3))
    with_it = graph.as_graph_def()
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto", None)
    without = graph.as_graph_def()
    assert type(without).__module__ == "autoconv.graph.graphdef"
    for message, data in zip(with_it.node, without.node, strict=True):
        assert (message.name, message.op, list(message.input), message.device) == (
            data.name, data.op, list(data.input), data.device,
        )  # fmt: skip
    assert [f.signature.name for f in with_it.library.function] == [f.signature.name for f in without.library.function]
    assert [len(f.node_def) for f in with_it.library.function] == [len(f.node_def) for f in without.library.function]
    for part in ("node {", "library {", "versions {", 'name: "cond"'):
        assert part in str(without)
