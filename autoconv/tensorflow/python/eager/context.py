"""The context of eager execution, which has no settings here."""

from __future__ import annotations

from contextlib import AbstractContextManager

from autoconv.api.scopes import executing_eagerly as executing_eagerly
from autoconv.api.scopes import init_scope as eager_mode  # noqa: F401
from autoconv.compat import v1
from autoconv.config.device_spec import DeviceSpec
from autoconv.config.devices import forget_logical_devices
from autoconv.tensorflow.missing import Missing


class Context:
    """The state of eager execution, which is always the same."""

    device_spec = DeviceSpec()  # without any part, as if no block of `device` were open

    def executing_eagerly(self) -> bool:
        """Return whether ops run eagerly."""
        return executing_eagerly()

    def clear_kernel_cache(self) -> None:
        """Do nothing: compiled code is cached by the text of graphs, and stays valid."""


def context() -> Context:
    """Return the context of this process."""
    return _CONTEXT


def async_wait() -> None:
    """Do nothing: ops have ended when they return."""


def _reset_context() -> None:
    """Reset the logical devices, so that they can be configured again."""
    forget_logical_devices()


def in_eager_mode() -> bool:
    """Return whether ops run eagerly, an earlier name of `executing_eagerly`."""
    return executing_eagerly()


def get_device_name() -> None:
    """Return None, as outside of all `device` blocks: libraries that choose kernels by the device have no choice."""


get_config = Missing("python.eager.context.get_config", "There are no options of sessions here.")
def graph_mode() -> AbstractContextManager[object]:
    """Return a context manager in which ops are recorded in the default graph of version 1."""
    return v1.get_default_graph().as_default()


_CONTEXT = Context()
