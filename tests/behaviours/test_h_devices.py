"""Names of devices, and the two enums of variables."""

from __future__ import annotations

import autoconv as tf


def test_line_135_device_names_and_the_two_enums():
    assert repr(tf.config.list_physical_devices("CPU")) == (
        "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    )
    assert [e.name for e in tf.VariableSynchronization] == ["AUTO", "NONE", "ON_WRITE", "ON_READ"]
    assert [e.name for e in tf.VariableAggregation] == ["NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"]
    v = tf.Variable(
        1.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
        constraint=tf.nn.relu,
    )
    assert v.synchronization is tf.VariableSynchronization.ON_READ
    assert v.aggregation is tf.VariableAggregation.SUM and v.constraint is tf.nn.relu
    tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement() is True
