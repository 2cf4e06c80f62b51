"""Ways in which replicas exchange values, under TensorFlow's names; in the memory of one process they do not differ."""

from __future__ import annotations

from typing import Any


class CrossDeviceOps:
    """The base of the ways in which replicas exchange values.

    >>> isinstance(autoconv.distribute.NcclAllReduce(), autoconv.distribute.CrossDeviceOps)
    True
    """


class ReductionToOneDevice(CrossDeviceOps):
    """Sums on one device, which are copied to the others.

    >>> autoconv.distribute.ReductionToOneDevice(reduce_to_device="CPU:0").reduce_to_device
    'CPU:0'
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


class HierarchicalCopyAllReduce(CrossDeviceOps):
    """Sums in groups of devices, and then between the groups.

    >>> autoconv.distribute.HierarchicalCopyAllReduce(num_packs=2).num_packs
    2
    """

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(f"HierarchicalCopyAllReduce requires {num_packs=} to be at least 0")
        self.num_packs = num_packs


class NcclAllReduce(HierarchicalCopyAllReduce):
    """Sums by NVIDIA's library, for GPUs.

    >>> autoconv.distribute.NcclAllReduce().num_packs
    1
    """


def check_cross_device_ops(value: object) -> None:
    """Raise ValueError for a value that is neither a CrossDeviceOps nor None."""
    if value is not None and not isinstance(value, CrossDeviceOps):
        raise ValueError(f"`cross_device_ops` has to be a CrossDeviceOps or None, found {value!r}")
