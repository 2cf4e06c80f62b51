"""Devices under TensorFlow's interface: the processor, the virtual devices on it, and accelerators."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.hooks import Hook
from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PhysicalDevice:
    """A device of this machine.

    >>> autoconv.config.list_physical_devices("CPU")[0].name
    '/physical_device:CPU:0'
    """

    name: str
    device_type: str

    def __repr__(self) -> str:
        return f"PhysicalDevice(name={self.name!r}, device_type={self.device_type!r})"


@dataclass(frozen=True, slots=True)
class LogicalDevice:
    """A device under the name that programs use.

    >>> autoconv.config.list_logical_devices("CPU")[0].device_type
    'CPU'
    """

    name: str
    device_type: str

    def __repr__(self) -> str:
        return f"LogicalDevice(name={self.name!r}, device_type={self.device_type!r})"


@dataclass(frozen=True, slots=True)
class LogicalDeviceConfiguration:
    """A virtual device on a physical one; the options are stored, and have no effect.

    >>> autoconv.config.LogicalDeviceConfiguration(memory_limit=1024).memory_limit
    1024
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


ACCELERATOR_NAMES = Hook("autoconv.backends")  # returns the names of accelerators, such as "GPU:0"
_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_CONFIGURATIONS: dict[PhysicalDevice, tuple[LogicalDeviceConfiguration, ...]] = {}
_LOGICAL_DEVICES: list[LogicalDevice] = []
_HIDDEN_DEVICES: list[PhysicalDevice] = []
_GROWING_DEVICES: set[PhysicalDevice] = set()  # those for which `set_memory_growth` was called with True


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of this machine: of the type ("CPU", "GPU"), or all for None.

    >>> autoconv.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    devices = [_CPU] if device_type in (None, "CPU") else []
    if device_type != "CPU":  # listing accelerators imports jax, so it is done only if they are requested
        devices += [PhysicalDevice(f"/physical_device:{name}", name.partition(":")[0]) for name in ACCELERATOR_NAMES()]
    return [device for device in devices if device_type in (None, device.device_type)]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the devices that programs see: of the type, or all for None. Listed devices cannot be configured any more.

    >>> [device.name for device in autoconv.config.list_logical_devices("CPU")]
    ['/device:CPU:0']
    """
    if not _LOGICAL_DEVICES and _CPU not in _HIDDEN_DEVICES:
        count = len(_CONFIGURATIONS.get(_CPU, ())) or 1
        _LOGICAL_DEVICES.extend(LogicalDevice(f"/device:CPU:{number}", "CPU") for number in range(count))
    result = [device for device in _LOGICAL_DEVICES if device_type in (None, device.device_type)]
    if device_type != "CPU":
        accelerators = [device for device in get_visible_devices(device_type) if device != _CPU]
        result += [LogicalDevice(device.name.replace("physical_", ""), device.device_type) for device in accelerators]
    return result


def add_logical_device(name: str) -> None:
    """Add a logical device, such as that of a task of a cluster."""
    list_logical_devices("CPU")
    _LOGICAL_DEVICES.append(LogicalDevice(name, "CPU"))


def forget_logical_devices() -> None:
    """Discard the logical devices and their configuration, which may then be set again."""
    _LOGICAL_DEVICES.clear()
    _CONFIGURATIONS.clear()


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Configure the logical devices of a physical device, one for each configuration.

    Raises RuntimeError once the logical devices are in use, unless they have these configurations already, and
    ValueError for a limit on the memory of a processor.

    >>> (cpu,) = autoconv.config.list_physical_devices("CPU")
    >>> autoconv.config.list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    >>> autoconv.config.set_logical_device_configuration(cpu, [autoconv.config.LogicalDeviceConfiguration()])
    Traceback (most recent call last):
    RuntimeError: Virtual devices cannot be modified after being initialized
    """
    _check_physical_device(device)
    if any(configuration.memory_limit is not None for configuration in logical_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if _CONFIGURATIONS.get(device) == tuple(logical_devices):
        return
    if _LOGICAL_DEVICES:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _CONFIGURATIONS[device] = tuple(logical_devices)


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Return the configurations of a device's logical devices, or None without any.

    >>> autoconv.config.get_logical_device_configuration(autoconv.config.list_physical_devices("CPU")[0])
    """
    configurations = _CONFIGURATIONS.get(device)
    return None if configurations is None else list(configurations)


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices that programs may use: of the type, or all for None.

    >>> autoconv.config.get_visible_devices("GPU")
    []
    """
    return [device for device in list_physical_devices(device_type) if device not in _HIDDEN_DEVICES]


def set_visible_devices(devices: PhysicalDevice | list[PhysicalDevice], device_type: str | None = None) -> None:
    """Hide the devices of the type, or all for None, except those given.

    Raises ValueError for an unknown device, and RuntimeError once devices are in use.

    >>> autoconv.config.set_visible_devices([], "GPU")
    """
    visible_devices = list(devices) if isinstance(devices, list | tuple) else [devices]
    for device in visible_devices:
        _check_physical_device(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    hidden_devices = [device for device in list_physical_devices(device_type) if device not in visible_devices]
    if device_type is not None:
        hidden_devices += [device for device in _HIDDEN_DEVICES if device.device_type != device_type]
    if set(hidden_devices) == set(_HIDDEN_DEVICES):
        return
    if _LOGICAL_DEVICES:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    _HIDDEN_DEVICES[:] = hidden_devices


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Store whether an accelerator takes memory as it needs it, which has no effect. Raises ValueError for a CPU.

    >>> for device in autoconv.config.list_physical_devices("GPU"):
    ...     autoconv.config.experimental.set_memory_growth(device, True)
    """
    _check_physical_device(device)
    if device.device_type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    (_GROWING_DEVICES.add if enable else _GROWING_DEVICES.discard)(device)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Return what `set_memory_growth` stored for a device, False by default.

    >>> autoconv.config.experimental.get_memory_growth(autoconv.config.list_physical_devices("CPU")[0])
    False
    """
    _check_physical_device(device)
    return device in _GROWING_DEVICES


def get_device_details(device: PhysicalDevice) -> dict[str, str]:
    """Return the known properties of a device: none, for a CPU and for accelerators.

    >>> autoconv.config.experimental.get_device_details(autoconv.config.list_physical_devices("CPU")[0])
    {}
    """
    _check_physical_device(device)
    return {}


def _check_physical_device(device: PhysicalDevice) -> None:
    """Raise ValueError for a device that this machine lacks."""
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
