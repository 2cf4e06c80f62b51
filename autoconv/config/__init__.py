"""Settings and the environment variables behind them; devices.

While the C integer `DETOUR` is not 0, calls must not enter native code directly.
"""

from autoconv.config import experimental, optimizer, threading
from autoconv.config.cluster import experimental_connect_to_cluster, experimental_connect_to_host
from autoconv.config.devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)
from autoconv.config.settings import (
    DETOUR,
    SETTINGS,
    Settings,
    cache_folder,
    experimental_run_functions_eagerly,
    functions_run_eagerly,
    get_soft_device_placement,
    run_functions_eagerly,
    set_soft_device_placement,
)

__all__ = [
    "DETOUR", "SETTINGS", "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "Settings", "cache_folder",
    "experimental", "experimental_connect_to_cluster", "experimental_connect_to_host",
    "experimental_run_functions_eagerly", "functions_run_eagerly", "get_logical_device_configuration",
    "get_soft_device_placement", "get_visible_devices", "list_logical_devices", "list_physical_devices", "optimizer",
    "run_functions_eagerly", "set_logical_device_configuration", "set_soft_device_placement", "set_visible_devices",
    "threading",
]  # fmt: skip
