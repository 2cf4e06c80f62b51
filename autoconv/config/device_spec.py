"""Specifications of devices, parsed, merged and printed as TensorFlow's programs do."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from autoconv.lazy_dataclass import dataclass

_TYPES = ("CPU", "GPU", "TPU", "CUSTOM", "EPU")
_NUMBERED_PARTS = ("replica", "task", "device_index")
_PART = re.compile(
    r"(?P<part>job|replica|task):(?P<value>.+)|(?:device:)?(?P<type>\w+)(?::(?P<index>\d+|\*))?", re.IGNORECASE
)


@dataclass(frozen=True)
class DeviceSpec:
    """The parts of a device's name, None for unspecified ones.

    >>> spec = autoconv.DeviceSpec.from_string("/job:worker/task:1/device:CPU:0")
    >>> spec.device_type, spec.task, spec.to_string()
    ('CPU', 1, '/job:worker/task:1/device:CPU:0')
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is not None:
                object.__setattr__(self, field.name, int(value) if field.name in _NUMBERED_PARTS else str(value))
        if self.device_type in ("cpu", "gpu"):
            object.__setattr__(self, "device_type", self.device_type.upper())

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Return the specification with this text; raises ValueError for an unknown part."""
        fields: dict[str, Any] = {}
        for part in filter(None, spec.split("/")):
            match = _PART.fullmatch(part)
            if match is None or not (match["part"] or match["type"].upper() in _TYPES):
                raise ValueError(f"Unknown attribute {part!r} is encountered while parsing the device spec: {spec!r}.")
            if match["part"]:
                fields[match["part"].lower()] = match["value"]
                continue
            if "device_type" in fields:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}.")
            fields["device_type"] = match["type"].upper()
            fields["device_index"] = None if match["index"] == "*" else match["index"]
        return cls(**fields)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Return `from_string(spec)`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """Return the device's name with the specified parts."""
        names = [name for name in ("job", "replica", "task") if getattr(self, name) is not None]
        parts = [f"/{name}:{getattr(self, name)}" for name in names]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Return this specification with the parts that `dev` specifies replaced by those of `dev`."""
        fields = {name: value for name, value in dataclasses.asdict(dev).items() if value is not None}
        return dataclasses.replace(self, **fields)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Return this specification with other parts."""
        return dataclasses.replace(self, **kwargs)
