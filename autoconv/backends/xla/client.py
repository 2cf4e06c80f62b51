"""XLA's clients, from the package jaxlib: of the processor, and of the accelerators for which jax has a plug-in.

The modules of jaxlib are no stable interface, so only this folder uses them. The processor has a client of its own,
which works without jax and finishes each call before it returns.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

from autoconv.backends.protocol import Unsupported
from autoconv.lazy_dataclass import dataclass

ACCELERATOR_KINDS = ("GPU", "TPU")


@dataclass(frozen=True, slots=True)
class ClientDevice:
    """A device of a client. `is_host`: the device is the processor, which computes in the memory of this process."""

    client: Any
    device: Any
    is_host: bool


def find_device(name: str = "") -> ClientDevice:
    """Return the device that is named, such as `GPU:0`, with its client.

    Without a name, it is the first accelerator, or the processor if there is none. Raises Unsupported if jaxlib is
    missing or has another interface, and in a child that was forked after the clients were created. A fork does not
    copy their threads.
    """
    result = _find_device_of_process(name, os.getpid())
    if result is None:
        raise Unsupported("XLA was started before this process was forked")
    return result


_CLIENT_PROCESS: list[int] = []  # [id of the process that created the clients], or [] before


@cache
def _find_device_of_process(name: str, process: int) -> ClientDevice | None:
    """Return the device for the process with this id; None if another process has created the clients."""
    if _CLIENT_PROCESS and _CLIENT_PROCESS[0] != process:
        return None
    _CLIENT_PROCESS[:] = [process]
    names = accelerators()
    if not name and not names:
        return _processor()
    kind, _, number = (name or names[0]).partition(":")
    return devices(kind)[int(number)]


def _processor() -> ClientDevice:
    """Return the processor, with a client of its own."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # as jax does: XLA prints what it starts otherwise
    try:
        client = import_module("jaxlib.xla_client").make_cpu_client(asynchronous=False)
    except (ImportError, AttributeError, TypeError) as error:
        raise Unsupported(f"the backend xla needs jaxlib: {error}; pip install 'autoconv[xla]'") from None
    return ClientDevice(client, client.devices()[0], is_host=True)


@cache
def accelerators() -> tuple[str, ...]:
    """Return the names of the accelerators, `GPU:0` and so on; jax is imported only if it has a plug-in."""
    if find_spec("jax") is None or not (find_spec("jax_plugins") or find_spec("libtpu") or _has_entry_points()):
        return ()
    return tuple(f"{kind}:{number}" for kind in ACCELERATOR_KINDS for number, _ in enumerate(devices(kind)))


def _has_entry_points() -> bool:
    """Return whether a package registers a plug-in of jax."""
    return bool(entry_points(group="jax_plugins"))


def devices(kind: str) -> Sequence[ClientDevice]:
    """Return the accelerators of a kind.

    The clients are jax's own, so that a program with jax and this backend allocate from one pool of device memory.
    """
    try:
        client = import_module("jax.extend.backend").get_backend(kind.lower())
    except (ImportError, RuntimeError):
        return ()
    return [ClientDevice(client, device, is_host=False) for device in client.devices()]


def is_installed() -> bool:
    """Return whether there is a package jaxlib."""
    return find_spec("jaxlib") is not None
