"""XLA's client, of the package jaxlib: compiles text, and runs it on arrays.

Nothing of jaxlib's modules is a stable interface: all that is used of them is in this file. Where jax is installed, its
default backend is taken, which may be a GPU; else jaxlib's own client for the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.backends.protocol import Unsupported


class Executable:
    """A compiled module: a function of arrays."""

    def __init__(self, text: str) -> None:
        self._client, self._device = _client()
        xla = import_module("jaxlib.xla_client")
        devices = xla.DeviceList((self._device,))
        self._run = self._client.compile_and_load(text, devices, xla.CompileOptions())

    def __call__(self, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Run on arrays of the parameters' dtypes and shapes. The results are new arrays."""
        return [np.array(found) for found in self._run.execute([self._buffer(x) for x in arguments])]

    def _buffer(self, array: np.ndarray) -> Any:
        """Copy an array to the device: where XLA reads memory in place, later writes would be seen."""
        own = np.array(array, order="C")
        return import_module("jaxlib._jax").dlpack_managed_tensor_to_buffer(
            own.__dlpack__(), self._device, None, None
        )


@cache
def _client() -> tuple[Any, Any]:
    """Return the client and its first device; raises Unsupported where jaxlib is missing or another one."""
    try:
        client = import_module("jax.extend.backend").get_backend()
    except ImportError:
        try:
            client = import_module("jaxlib.xla_client").make_cpu_client(asynchronous=False)
        except (ImportError, AttributeError, TypeError) as error:
            raise Unsupported(f"the backend xla needs jaxlib: {error}; pip install 'autoconv[xla]'") from None
    return client, client.devices()[0]
