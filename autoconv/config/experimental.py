"""Older names."""

from autoconv.config.devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from autoconv.config.devices import get_logical_device_configuration as get_virtual_device_configuration
from autoconv.config.devices import list_logical_devices, list_physical_devices
from autoconv.config.devices import set_logical_device_configuration as set_virtual_device_configuration

__all__ = [
    "VirtualDeviceConfiguration", "get_virtual_device_configuration", "list_logical_devices", "list_physical_devices",
    "set_virtual_device_configuration",
]  # fmt: skip
