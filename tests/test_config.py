"""Settings that programs change."""

from __future__ import annotations

from typing import Any

import pytest

import autoconv as tf


@tf.function
def increment(x: tf.Tensor) -> tf.Tensor:
    print("eager" if tf.executing_eagerly() else "traced")
    return x + 1


def test_functions_run_eagerly_while_the_setting_is_on(capsys: pytest.CaptureFixture[str]) -> None:
    increment(tf.constant(1))
    tf.config.run_functions_eagerly(True)
    try:
        assert tf.config.functions_run_eagerly()
        assert [int(increment(tf.constant(1))) for _ in range(2)] == [2, 2]
    finally:
        tf.config.run_functions_eagerly(False)
    assert int(increment(tf.constant(1))) == 2
    assert capsys.readouterr().out.split() == ["traced", "eager", "eager"]
    assert increment.experimental_get_tracing_count() == 1


def test_the_old_name_warns() -> None:
    with pytest.warns(DeprecationWarning, match="run_functions_eagerly"):
        tf.config.experimental_run_functions_eagerly(False)


def test_devices() -> None:
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_physical_devices("GPU") == []
    tf.config.set_soft_device_placement(False)
    assert tf.config.get_soft_device_placement() is False
    tf.config.set_soft_device_placement(True)


def test_logical_devices_are_fixed_once_they_are_used(forker: Any) -> None:
    program = """
import autoconv as tf
cpu = tf.config.list_physical_devices("CPU")[0]
part = tf.config.experimental.VirtualDeviceConfiguration()
tf.config.experimental.set_virtual_device_configuration(cpu, [part, part])
print([device.name for device in tf.config.list_logical_devices()])
try:
    tf.config.experimental.set_virtual_device_configuration(cpu, [part])
except RuntimeError as error:
    print(error)
"""
    run = forker.run(["-c", program], check=True)
    assert run.stdout == (
        "['/device:CPU:0', '/device:CPU:1']\nVirtual devices cannot be modified after being initialized\n"
    )
