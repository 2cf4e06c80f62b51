"""Specifications of devices, parsed, merged and printed as TensorFlow's programs do."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

_TYPES = ("CPU", "GPU", "TPU", "CUSTOM", "EPU")
_PART = re.compile(r"(job|replica|task):(.+)|(?:device:)?(\w+)(?::(\d+|\*))?", re.IGNORECASE)


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
        for name, kind in (("job", str), ("replica", int), ("task", int), ("device_type", str), ("device_index", int)):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else kind(value))
        if self.device_type in ("cpu", "gpu"):
            object.__setattr__(self, "device_type", self.device_type.upper())

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Return the specification that a text names; raises ValueError for an unknown part."""
        fields: dict[str, Any] = {}
        for part in filter(None, spec.split("/")):
            match = _PART.fullmatch(part)
            if match is None or not (match[1] or match[3].upper() in _TYPES):
                raise ValueError(f"Unknown attribute {part!r} is encountered while parsing the device spec: {spec!r}.")
            if match[1]:
                fields[match[1].lower()] = match[2]
                continue
            if "device_type" in fields:
                raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {spec}.")
            fields["device_type"] = match[3].upper()
            fields["device_index"] = None if match[4] in (None, "*") else match[4]
        return cls(**fields)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Return `from_string(spec)`."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """Return the device's name with the specified parts."""
        parts = [f"/{name}:{getattr(self, name)}" for name in ("job", "replica", "task")]
        specified_parts = [part for part in parts if not part.endswith(":None")]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            specified_parts.append(f"/device:{self.device_type}:{index}")
        return "".join(specified_parts)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Return this specification with the parts that `dev` specifies replaced by those of `dev`."""
        fields = {name: value for name, value in dataclasses.asdict(dev).items() if value is not None}
        return dataclasses.replace(self, **fields)

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Return this specification with other parts."""
        return dataclasses.replace(self, **kwargs)
