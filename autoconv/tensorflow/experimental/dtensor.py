"""Tensors divided among devices, which autoconv does not have."""

from autoconv.tensorflow.missing import Missing

create_distributed_mesh = Missing("experimental.dtensor.create_distributed_mesh")
Layout = Missing("experimental.dtensor.Layout")
UNSHARDED = "unsharded"


def __getattr__(name: str) -> Missing:
    if name.startswith("_"):
        raise AttributeError(name)
    return Missing(f"experimental.dtensor.{name}")
