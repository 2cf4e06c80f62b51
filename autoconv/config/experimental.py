"""Older names."""

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

__all__ = [
    "VirtualDeviceConfiguration", "get_device_details", "get_memory_growth", "get_virtual_device_configuration",
    "get_visible_devices", "list_logical_devices", "list_physical_devices", "set_memory_growth",
    "set_virtual_device_configuration", "set_visible_devices",
]  # fmt: skip
