"""Arguments and results of XLA's modules on the processor, whose memory is shared.

XLA reads an argument in place if it is contiguous and aligned, and else from a copy in a staging area that calls share.
NumPy's large arrays are seldom aligned: once copies have taken as long as a compilation, modules are compiled that read
them in place, from the aligned address before them. An array that the module writes is donated: XLA owns its staging
area and writes the new contents there.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Container, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.graph.types import TensorType

_ALIGNMENT = 64  # bytes: memory that XLA reads in place
SHARED_BYTES = 1 << 16  # bytes: smaller arrays are copied, which takes less time than sharing their memory
_MIN_LEAD_BYTES = 1 << 20  # of an array that is read in place at any address: XLA's loops over smaller ones are slower
_COPIED_BYTES_PER_SECOND = 1e10
_MAX_LEADS = 4  # modules for different leads
_STAGED_BYTES_LIMIT = 1 << 26  # bytes of a staging area that is kept for later calls


class ArrayForm:
    """The type, dtype, shape and size in bytes of an array."""

    __slots__ = ("dtype", "shape", "size", "type")

    def __init__(self, type_: TensorType) -> None:
        self.type = type_
        self.dtype = np.dtype(type_.dtype.numpy)
        self.shape = tuple(int(size) for size in type_.shape or ())  # type: ignore[arg-type]
        self.size = self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))


class Areas:
    """Staging areas, memory for copies of all arguments, which one call at a time uses."""

    def __init__(self, parameters: Sequence[ArrayForm], donated: Container[int], device: Any) -> None:
        self._device = device
        self._areas = [_DonatedArea(form) if i in donated else _Area(form) for i, form in enumerate(parameters)]
        self._copied: list[Any] = []  # the arrays that get copies, if all arguments are small; otherwise none
        self._buffers: list[Any] = []
        if not any(i in donated or form.size >= SHARED_BYTES for i, form in enumerate(parameters)):
            self._copied = [_aligned_array(form) for form in parameters]
            self._buffers = [_import_array(array, device) for array in self._copied]

    def fill(self, arguments: Sequence[Any], leads: Sequence[int] = ()) -> list[Any]:
        """Return XLA's buffers with the elements of the arguments, and as many before them as `leads` states."""
        if leads:
            return [
                _import_with_lead(x, lead, self._device) if lead else area.buffer(x, self._device)
                for area, x, lead in zip(self._areas, arguments, leads, strict=True)
            ]
        if not self._buffers:
            return [area.buffer(x, self._device) for area, x in zip(self._areas, arguments, strict=True)]
        for array, argument in zip(self._copied, arguments):  # noqa: B905 - `strict` takes time, and the entry counts
            array[...] = argument
        return self._buffers

    def take_donated(
        self, donated: Mapping[int, int], arguments: Sequence[Any], results: list[Any], has_succeeded: bool
    ) -> None:
        """Keep the buffers of donated arrays for the next call; set their results to None.

        With `has_succeeded`, write the new contents into the arguments.
        """
        for position, result_position in donated.items():
            area = self._areas[position]
            area.take(results[result_position])
            if has_succeeded:
                arguments[position][...] = area.array
            results[result_position] = None


class Leads:
    """Numbers of elements between an aligned address and an argument's memory, and modules that skip as many."""

    def __init__(
        self, parameters: Sequence[ArrayForm], donated: Container[int],
        text_with_leads: Callable[[Sequence[int]], str] | None, compile_seconds: float,
    ) -> None:  # fmt: skip
        self._forms = parameters
        self._text = text_with_leads
        large = [i for i, form in enumerate(parameters) if form.size >= _MIN_LEAD_BYTES and i not in donated]
        self.positions = large if text_with_leads is not None else []
        self._min_bytes = compile_seconds * _COPIED_BYTES_PER_SECOND  # copied until a module is compiled
        self._copied_bytes: dict[Sequence[int], float] = {}
        self._runs: dict[Sequence[int], Callable[[Sequence[Any]], Sequence[Any]]] = {}

    def of(self, arguments: Sequence[Any]) -> Sequence[int]:
        """Return the number for each argument, 0 where it is aligned, small or not contiguous; () if all are 0."""
        result = [0] * len(arguments)
        for i in self.positions:
            x, dtype = arguments[i], self._forms[i].dtype
            if isinstance(x, np.ndarray) and x.dtype == dtype and x.flags.c_contiguous:
                offset = x.__array_interface__["data"][0] % _ALIGNMENT
                result[i] = offset // dtype.itemsize if offset % dtype.itemsize == 0 else 0
        return tuple(result) if any(result) else ()

    def find_run(self, leads: Sequence[int], compile_run: Callable[[str], Any]) -> Any:
        """Return the run of the module for these numbers, which may be compiled now; None if copies cost less."""
        run = self._runs.get(leads)
        if run is None and len(self._runs) < _MAX_LEADS:
            copied = sum(form.size for form, lead in zip(self._forms, leads, strict=True) if lead)
            total = self._copied_bytes[leads] = self._copied_bytes.get(leads, 0.0) + copied
            if total > self._min_bytes and self._text is not None:
                run = self._runs[leads] = compile_run(self._text(leads))
        return run


class _Area:
    """Aligned memory for copies of one argument, and XLA's buffer over it."""

    __slots__ = ("_buffer", "_form", "array")

    def __init__(self, form: ArrayForm) -> None:
        self._form = form
        self.array: np.ndarray | None = None
        self._buffer: Any = None

    def buffer(self, argument: Any, device: Any) -> Any:
        """Return XLA's buffer with an argument's elements: over the argument's memory, or over a copy."""
        form = self._form
        if self.array is not None and form.size < SHARED_BYTES:
            self.array[...] = argument
            return self._buffer
        array = argument if isinstance(argument, np.ndarray) else np.asarray(argument, form.dtype)
        if form.size >= SHARED_BYTES and _can_share(array, form):
            return _import_array(array, device)
        return self._copy(array, device)

    def _copy(self, array: np.ndarray, device: Any) -> Any:
        """Copy the array to aligned memory and return the buffer of that; small memory is kept for the next call."""
        staged, buffer = self.array, self._buffer
        if staged is None:
            staged = _aligned_array(self._form)
            buffer = _import_array(staged, device)
            if self._form.size <= _STAGED_BYTES_LIMIT:
                self.array, self._buffer = staged, buffer
        staged[...] = array
        return buffer

    def take(self, buffer: Any) -> None:
        """Keep the buffer of the result that is in this memory."""
        raise NotImplementedError


class _DonatedArea(_Area):
    """Memory for copies of a donated argument; the buffer of the result in it takes the copy of the next call."""

    __slots__ = ("_address",)

    def __init__(self, form: ArrayForm) -> None:
        super().__init__(form)
        self._address = 0

    def buffer(self, argument: Any, device: Any) -> Any:
        """Return a buffer of XLA's with the argument's elements, in the staged memory if that is kept."""
        if self.array is not None and self._form.size <= _STAGED_BYTES_LIMIT:
            self.array[...] = argument
            return self._buffer
        staged = _aligned_array(self._form)  # XLA copies these elements once more, as the memory is not its own
        staged[...] = argument
        return _import_array(staged, device)

    def take(self, buffer: Any) -> None:
        """Keep the buffer of a result, and an array over its memory."""
        address = buffer.unsafe_buffer_pointer()
        if self.array is None or address != self._address:
            self.array = array_over(buffer, address, self._form)
        self._address, self._buffer = address, buffer


def _can_share(array: np.ndarray, form: ArrayForm) -> bool:
    """Return whether XLA can read an array of the dtype in place."""
    flags = array.flags
    return (
        array.dtype == form.dtype and flags.c_contiguous and flags.writeable and array.ctypes.data % _ALIGNMENT == 0
    )


def _aligned_array(form: ArrayForm) -> np.ndarray:
    """Return a new array that begins at an aligned address."""
    bytes_ = np.empty(form.size + _ALIGNMENT, np.uint8)
    start = -bytes_.ctypes.data % _ALIGNMENT
    return bytes_[start : start + form.size].view(form.dtype).reshape(form.shape)


def _import_array(array: np.ndarray, device: Any) -> Any:
    """Return XLA's buffer over an array's memory."""
    if array.dtype.isbuiltin != 1:  # XLA takes any buffer of the right size, and DLPack only NumPy's own dtypes
        array = array.view(f"u{array.dtype.itemsize}")
    return import_module("jaxlib._jax").dlpack_managed_tensor_to_buffer(array.__dlpack__(), device, None, None)


def _import_with_lead(array: np.ndarray, lead: int, device: Any) -> Any:
    """Return XLA's buffer over an array's memory and the elements before it, which are in the same page of memory."""
    size, start = lead * array.itemsize, array.__array_interface__["data"][0]
    memory: Any = (ctypes.c_char * (size + array.nbytes)).from_address(start - size)
    return _import_array(np.ndarray(size + array.nbytes, np.uint8, memory).view(array.dtype), device)


class _XlaMemory:
    """XLA's memory as an array: NumPy keeps this object alive, and with it the buffer."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, address: int, size: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def array_over(buffer: Any, address: int, form: ArrayForm) -> np.ndarray:
    """Return the array over a buffer's memory."""
    return np.asarray(_XlaMemory(buffer, address, form.size)).view(form.dtype).reshape(form.shape)
