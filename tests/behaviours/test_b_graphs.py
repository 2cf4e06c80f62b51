"""Section B: inspection of graphs."""

import autoconv as tf


def _nodes(cf):
    return [f"{node.input} -> {node.name}" for node in cf.graph.as_graph_def().node]


def test_line_053_nodes_and_their_inputs(capsys):
    @tf.function
    def double(a):
        return a + a

    cf = double.get_concrete_function(tf.constant("a"))
    for node in cf.graph.as_graph_def().node:
        print(f"{node.input} -> {node.name}")
    assert capsys.readouterr().out == "[] -> a\n['a', 'a'] -> add\n['add'] -> Identity\n"


def test_line_054_names_of_ops():
    @tf.function
    def double(a):
        return a + a, a

    for value, op in (("a", "Add"), (1, "AddV2"), (1.5, "AddV2")):
        node = double.get_concrete_function(tf.constant(value)).graph.as_graph_def().node
        assert [n.op for n in node] == ["Placeholder", op, "Identity", "Identity"]
        assert [n.name for n in node] == ["a", "add", "Identity", "Identity_1"]


def test_line_055_a_condition_by_shape():
    def my_function(x):
        if tf.reduce_sum(x) <= 1:
            return x * x
        else:
            return x - 1

    cf = tf.function(my_function).get_concrete_function(tf.TensorSpec([2], tf.int32))
    nodes = {node.name: node for node in cf.graph.as_graph_def().node}
    assert list(nodes["x"].input) == []
    assert next(iter(nodes["Sum"].input)) == "x"
    assert next(iter(nodes["LessEqual"].input)) == "Sum"
    assert next(iter(nodes["cond"].input)) == "LessEqual"
    assert "x" in nodes["cond"].input
    assert nodes["Identity"].op == "Identity"
    assert nodes["Identity"].input[0].partition(":")[0] == "cond"


def test_line_056_conditions_and_loops_are_one_node():
    v = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0:
            x = x + 1
        return x

    @tf.function
    def with_effects(x):
        if x > 0:
            v.assign(x)
        while x > 0:
            v.assign_add(x)
            x = x - 1
        return x

    @tf.function
    def loop(x):
        while x > 0:
            x = x - 1
        return x

    def control(function):
        graph = function.get_concrete_function(tf.TensorSpec([], tf.int32)).graph
        return [(n.name, n.op) for n in graph.as_graph_def().node if n.name in ("cond", "while")]

    assert control(f) == [("cond", "StatelessIf")]
    assert control(loop) == [("while", "StatelessWhile")]
    assert control(with_effects) == [("cond", "If"), ("while", "While")]


def test_line_058_a_graph_and_its_text():
    v = tf.Variable(1)
    t = tf.constant(2)

    @tf.function
    def f(x):
        if x > 0:
            x = x + v
        return x * t

    cf = f.get_concrete_function(tf.TensorSpec([], tf.int32))
    graph = cf.graph
    assert type(graph).__name__ == "FuncGraph"
    assert graph.name == "f"
    assert graph.inputs[0].name == "x:0"
    assert [o.name for o in graph.outputs] == ["Identity:0"]
    assert len(graph.captures) == 2
    operations = graph.get_operations()
    assert next(o.name for o in operations) == "x"
    assert {"Placeholder", "Identity"} <= {o.type for o in operations}
    text = str(graph.as_graph_def())
    for part in ("node {", "library", "versions", 'name: "x"', 'op: "Placeholder"'):
        assert part in text


def test_line_059_name_scopes():
    @tf.function
    def f(a):
        with tf.name_scope("scope"):
            b = a + a
        c = a + a
        return b, c, a + a

    names = [node.name for node in f.get_concrete_function(tf.constant(1)).graph.as_graph_def().node]
    assert "scope/add" in names
    assert "add" in names and "add_1" in names
