"""Access to the elements of tensors for other libraries: NumPy, buffers, DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.runtime.recording import tape_recorders


class Interchange:
    """Array protocols for a class whose elements are in `_array`. The exported arrays are read-only."""

    __slots__ = ()
    _array: Any

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Return a read-only view of the elements, or a new array where another dtype or a copy is requested."""
        array = self._read_only_view()
        return np.array(array, dtype) if copy else np.asarray(array, dtype)

    def _read_only_view(self) -> np.ndarray:
        """Return a read-only view of the elements."""
        tape_recorders.record_export(self)
        view = self._array.view()
        view.flags.writeable = False
        return view

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._array.dtype.kind in "OV":  # NumPy cannot read elements of these kinds from the interface
            raise AttributeError("__array_interface__")
        interface: dict[str, Any] = self._read_only_view().__array_interface__
        return interface

    def __buffer__(self, flags: int) -> memoryview:
        return memoryview(self._read_only_view())  # type: ignore[arg-type]

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """Export the elements: shared where the consumer supports read-only memory (DLPack 1), else a copy.

        Raises BufferError for a device that is not the CPU, and where `copy` is False and a copy is needed.
        """
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a tensor in CPU memory cannot be exported to the device {dl_device}")
        needs_copy = max_version is None or max_version[0] < 1  # older consumers might write to the memory
        if copy is False and needs_copy:
            raise BufferError("a tensor is read-only: without a copy it needs a consumer of DLPack 1.0 or later")
        view = self._read_only_view()
        if copy or needs_copy:
            return view.copy().__dlpack__()
        return view.__dlpack__(max_version=max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # (kDLCPU, number of the device)
