"""Snippets on devices, graph definitions and variables, with nothing but the import line changed."""

import autoconv as tf


def test_virtual_devices_can_be_asked_for():
    player_names = ["one", "two"]
    tf.config.set_soft_device_placement(False)
    try:
        virtual_devices = [tf.config.experimental.VirtualDeviceConfiguration() for _ in player_names]
        tf.config.experimental.set_virtual_device_configuration(
            tf.config.experimental.list_physical_devices("CPU")[0], virtual_devices
        )
    except RuntimeError as error:
        assert "Virtual devices cannot be modified after being initialized" in str(error)
    finally:
        tf.config.set_soft_device_placement(True)
    assert repr(tf.config.list_physical_devices("CPU")) == (
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    )


def test_graph_def_of_a_function_without_arguments():
    v = tf.Variable(1.0)

    @tf.function
    def f(x=1.0):
        return v.assign_add(x)

    graph_def = f.get_concrete_function().graph.as_graph_def()
    assert [node.op for node in graph_def.node] == ["Placeholder", "Const", "AssignAddVariableOp", "Identity"]
    assert "node {" in str(graph_def)


def test_effects_are_ordered_by_control_inputs():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x)
        tf.print(v)
        v.assign_add(1.0)
        return v.read_value()

    nodes = {node.name: node for node in f.get_concrete_function(tf.constant(2.0)).graph.as_graph_def().node}
    assigns = [name for name, node in nodes.items() if node.op.startswith("Assign")]
    printed = next(name for name, node in nodes.items() if node.op == "PrintV2")
    assert any(i.startswith("^") for i in nodes[printed].input)
    assert f"^{printed}" in nodes[assigns[-1]].input
    assert f(tf.constant(5.0)).numpy() == 6.0
