"""Older names, and settings of TensorFlow that are stored and have no effect."""

from typing import Any

from autoconv.config.devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from autoconv.config.devices import (
    get_device_details,
    get_memory_growth,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_memory_growth,
    set_visible_devices,
)
from autoconv.config.devices import get_logical_device_configuration as get_virtual_device_configuration
from autoconv.config.devices import set_logical_device_configuration as set_virtual_device_configuration

_OPTIONS: dict[str, Any] = {"device_policy": "silent", "synchronous": True, "tensor_float_32": True}


def set_synchronous_execution(enable: bool) -> None:
    """Store the option of synchronous execution; ops run one after another anyway.

    >>> autoconv.config.experimental.set_synchronous_execution(True)
    """
    _OPTIONS["synchronous"] = bool(enable)


def get_synchronous_execution() -> bool:
    """Return the value set by `set_synchronous_execution`.

    >>> autoconv.config.experimental.get_synchronous_execution()
    True
    """
    return bool(_OPTIONS["synchronous"])


def set_device_policy(device_policy: str | None) -> None:
    """Store the policy for tensors of other devices; it has no effect.

    >>> autoconv.config.experimental.set_device_policy("silent")
    """
    if device_policy not in (None, "silent", "silent_for_int32", "explicit", "warn"):
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _OPTIONS["device_policy"] = device_policy or "silent"


def get_device_policy() -> str:
    """Return the value set by `set_device_policy`.

    >>> autoconv.config.experimental.get_device_policy()
    'silent'
    """
    return str(_OPTIONS["device_policy"])


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Store whether products may round to TensorFloat-32, which only GPUs have.

    >>> autoconv.config.experimental.enable_tensor_float_32_execution(True)
    """
    _OPTIONS["tensor_float_32"] = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Return the value set by `enable_tensor_float_32_execution`.

    >>> autoconv.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return bool(_OPTIONS["tensor_float_32"])


def enable_op_determinism() -> None:
    """Do nothing: ops are deterministic, except for random numbers without a seed.

    >>> autoconv.config.experimental.enable_op_determinism()
    """


def get_memory_info(device: str) -> dict[str, int]:
    """Raise ValueError: the memory of devices is not counted. TensorFlow raises this error for a CPU.

    >>> try:
    ...     autoconv.config.experimental.get_memory_info("CPU:0")
    ... except ValueError as error:
    ...     print(error)
    Allocator stats not available for device 'CPU:0'
    """
    raise ValueError(f"Allocator stats not available for device {device!r}")


def get_memory_usage(device: str) -> int:
    """Raise ValueError for a CPU; see `get_memory_info`.

    >>> try:
    ...     autoconv.config.experimental.get_memory_usage("CPU:0")
    ... except ValueError:
    ...     print("ValueError")
    ValueError
    """
    return get_memory_info(device)["current"]


def reset_memory_stats(device: str) -> None:
    """Raise ValueError for a CPU; see `get_memory_info`.

    >>> try:
    ...     autoconv.config.experimental.reset_memory_stats("CPU:0")
    ... except ValueError:
    ...     print("ValueError")
    ValueError
    """
    get_memory_info(device)


__all__ = [
    "VirtualDeviceConfiguration", "enable_op_determinism", "enable_tensor_float_32_execution", "get_device_details",
    "get_device_policy", "get_memory_growth", "get_memory_info", "get_memory_usage", "get_synchronous_execution",
    "get_virtual_device_configuration", "get_visible_devices", "list_logical_devices", "list_physical_devices",
    "reset_memory_stats", "set_device_policy", "set_memory_growth", "set_synchronous_execution",
    "set_virtual_device_configuration", "set_visible_devices", "tensor_float_32_execution_enabled",
]  # fmt: skip
