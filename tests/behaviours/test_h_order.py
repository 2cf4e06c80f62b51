"""Section H: devices, checks of numerics, and control dependencies in graphs."""


import pytest

import autoconv as tf
from tests.behaviours.facts import raises


def test_line_135_devices_and_the_two_enums():
    tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement() is True
    assert repr(tf.config.list_physical_devices("CPU")) == (
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    )
    seen = []

    @tf.function
    def f(x):
        with tf.device("/CPU:0"):
            y = x + 1
        seen.append(y.device)
        return y

    operations = f.get_concrete_function(tf.constant(1)).graph.get_operations()
    assert seen == ["/device:CPU:0"]
    assert next(o for o in operations if o.name == "add").device == "/device:CPU:0"
    v = tf.Variable(
        1.0, synchronization=tf.VariableSynchronization.ON_READ, aggregation=tf.VariableAggregation.MEAN
    )
    assert v.synchronization is tf.VariableSynchronization.ON_READ
    assert v.aggregation is tf.VariableAggregation.MEAN
    assert [e.name for e in tf.VariableSynchronization] == ["AUTO", "NONE", "ON_WRITE", "ON_READ"]
    assert [e.name for e in tf.VariableAggregation] == ["NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"]


def test_line_135_virtual_devices_are_fixed_after_start(forker):
    program = """
import autoconv as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.list_logical_devices()
try:
    part = tf.config.experimental.VirtualDeviceConfiguration()
    tf.config.experimental.set_virtual_device_configuration(cpu, [part, part])
except RuntimeError as error:
    print(error)
"""
    completed = forker.run(["-c", program], check=True)
    assert completed.stdout == "Virtual devices cannot be modified after being initialized\n"


def test_line_136_checks_of_numerics():
    @tf.function
    def f(x):
        return tf.math.log(x)

    bad = tf.constant(-1.0)
    tf.debugging.enable_check_numerics()
    try:
        with raises(
            tf.errors.InvalidArgumentError,
            '!!! Detected Infinity or NaN in output 0 of eagerly-executing op "Log" (# of outputs: 1) !!!',
        ):
            tf.math.log(bad)
        with raises(tf.errors.InvalidArgumentError, "!!! Detected Infinity or NaN in output 0 of", 'op "Log"'):
            f(bad)
    finally:
        tf.debugging.disable_check_numerics()
    assert str(tf.math.log(bad).numpy()) == "nan"
    assert str(f(bad).numpy()) == "nan"


@pytest.mark.parametrize("value", [1.0, -1.0])
def test_line_137_control_dependencies_are_control_inputs(value):
    @tf.function
    def f(x):
        assert_op = tf.debugging.assert_positive(x)
        with tf.control_dependencies([assert_op]):
            return x * 2

    nodes = {node.name: node for node in f.get_concrete_function(tf.constant(1.0)).graph.as_graph_def().node}
    assert "^assert_positive/assert_less/Assert/Assert" in nodes["mul"].input
    if value > 0:
        assert f(tf.constant(value)).numpy() == 2.0
    else:
        with raises(tf.errors.InvalidArgumentError, "did not hold"):
            f(tf.constant(value))
