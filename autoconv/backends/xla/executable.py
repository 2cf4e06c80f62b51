"""Modules compiled by XLA, and the exchange of arrays with them.

On the processor memory is shared. XLA reads an argument in place if it is contiguous and aligned, and else from a copy
in a staging area that calls share. A large result is an array over XLA's own memory. An array that the module writes is
donated: XLA owns its staging area and writes the new contents there. Accelerators get copies, and results stay there
until they are fetched.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.backends.llvm.target.cpu import instructions
from autoconv.backends.xla.client import ClientDevice
from autoconv.backends.xla.device_array import DeviceArray, LateWord, settle_arguments, unread_words
from autoconv.code_cache import XLA
from autoconv.graph.dtypes import int32
from autoconv.graph.types import TensorType

Rerun = Callable[[Sequence[Any]], list[Any]]
_ALIGNMENT = 64  # bytes: memory that XLA reads in place
_SHARED_BYTES = 1 << 16  # bytes: smaller arrays are copied, which takes less time than sharing their memory
_MAX_KEPT_ADDRESSES = 64  # addresses of results whose arrays are kept
_STAGED_BYTES_LIMIT = 1 << 26  # bytes of a staging area that is kept for later calls


class Executable:
    """A compiled module. With `has_error_word` its last result is an int32, the error word.

    `donated` maps the positions of parameters whose memory XLA owns to the positions of the results in that memory.
    """

    def __init__(
        self, text: str | bytes, client_device: ClientDevice,
        parameters: Sequence[TensorType], results: Sequence[TensorType],
        donated: Mapping[int, int] | None = None, has_error_word: bool = True,
    ) -> None:
        self._client_device = client_device
        word_types = [TensorType(int32, ())] if has_error_word else []
        self._run = _runner(_compile(text, client_device), client_device, [*results, *word_types])
        self._parameters = [_ArrayForm(type_) for type_ in parameters]
        self._types = list(results)
        self._has_error_word = has_error_word
        self._donated = dict(donated or {}) if client_device.is_host else {}
        self._idle_areas: list[_Areas] = []  # staging areas that no running call uses
        self.run_on_host = self._make_host_run([_ArrayForm(type_) for type_ in results])

    def __call__(
        self, arguments: Sequence[Any], keep_on_device: bool = False, rerun: Rerun | None = None
    ) -> tuple[list[Any], int]:
        """Run on arrays of the parameters' dtypes and shapes, or DeviceArrays; return the results and the error word.

        With `keep_on_device`, results of an accelerator are DeviceArrays. With `rerun`, which runs the call natively,
        these hold the unread error word, and 0 is returned in its place. On the processor the new contents of a donated
        array are written into it if the error word is 0, and its result is None.
        """
        if self._client_device.is_host:
            return self.run_on_host(arguments)
        return self._run_on_accelerator(arguments, keep_on_device, rerun)

    def _make_host_run(self, results: Sequence[_ArrayForm]) -> Callable[[Sequence[Any]], tuple[list[Any], int]]:
        """Return the function that runs on the processor, written for speed: XLA runs small arrays in less time."""
        run, idle_areas, has_error_word, donated = self._run, self._idle_areas, self._has_error_word, self._donated
        readers = [_result_reader(form) for form in results]
        (read_single,) = readers if len(readers) == 1 and not donated else (None,)
        read_word = ctypes.c_int32.from_address

        def run_on_host(arguments: Sequence[Any]) -> tuple[list[Any], int]:
            try:
                areas = idle_areas.pop()
            except IndexError:
                areas = _Areas(self._parameters, donated, self._client_device.device)
            outputs = run(areas.fill(arguments))
            error_word = 0
            if has_error_word:
                word_buffer = outputs[-1]  # it has to outlive the read of its memory
                error_word = read_word(word_buffer.unsafe_buffer_pointer()).value
            if read_single is not None:
                arrays: list[Any] = [read_single(outputs[0])]
            else:
                buffers = list(outputs)[: len(readers)]
                if donated:
                    areas.take_donated(donated, arguments, buffers, has_succeeded=not error_word)
                arrays = [
                    None if buffer is None else read(buffer) for read, buffer in zip(readers, buffers, strict=True)
                ]  # fmt: skip
            idle_areas.append(areas)
            return arrays, error_word

        return run_on_host

    def _run_on_accelerator(
        self, arguments: Sequence[Any], keep_on_device: bool, rerun: Rerun | None
    ) -> tuple[list[Any], int]:
        settle_arguments(arguments)
        buffers = [
            x.buffer if isinstance(x, DeviceArray) and x.client_device is self._client_device
            else _send_to_device(np.asarray(x, form.dtype), self._client_device.device)
            for x, form in zip(arguments, self._parameters, strict=True)
        ]  # fmt: skip
        results = list(self._run(buffers))
        word_buffer = results.pop() if self._has_error_word else None
        word, error_word = None, 0
        if rerun is not None and keep_on_device and results:
            if word_buffer is not None or unread_words(arguments):
                sent_arguments = [  # the program may change its own
                    x if isinstance(x, DeviceArray) else DeviceArray(buffer, form.type, self._client_device)
                    for x, buffer, form in zip(arguments, buffers, self._parameters, strict=True)
                ]
                word = LateWord(word_buffer, sent_arguments, rerun)
        elif word_buffer is not None:
            error_word = int(np.asarray(word_buffer))
        arrays = [
            DeviceArray(buffer, type_, self._client_device, word=word, position=i)
            for i, (buffer, type_) in enumerate(zip(results, self._types, strict=True))
        ]
        return (arrays if keep_on_device else [array.fetch() for array in arrays]), error_word


class _ArrayForm:
    """The type, dtype, shape and size in bytes of an array."""

    __slots__ = ("dtype", "shape", "size", "type")

    def __init__(self, type_: TensorType) -> None:
        self.type = type_
        self.dtype = np.dtype(type_.dtype.numpy)
        self.shape = tuple(int(size) for size in type_.shape or ())  # type: ignore[arg-type]
        self.size = self.dtype.itemsize * int(np.prod(self.shape, dtype=np.int64))


class _Areas:
    """Staging areas, memory for copies of all arguments, which one call at a time uses."""

    def __init__(self, parameters: Sequence[_ArrayForm], donated: Container[int], device: Any) -> None:
        self._device = device
        self._areas = [_DonatedArea(form) if i in donated else _Area(form) for i, form in enumerate(parameters)]
        self._copied: list[Any] = []  # the arrays that get copies, if all arguments are small; otherwise none
        self._buffers: list[Any] = []
        if not any(i in donated or form.size >= _SHARED_BYTES for i, form in enumerate(parameters)):
            self._copied = [_aligned_array(form) for form in parameters]
            self._buffers = [_import_array(array, device) for array in self._copied]

    def fill(self, arguments: Sequence[Any]) -> list[Any]:
        """Return XLA's buffers with the elements of the arguments."""
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


class _Area:
    """Aligned memory for copies of one argument, and XLA's buffer over it."""

    __slots__ = ("_buffer", "_form", "array")

    def __init__(self, form: _ArrayForm) -> None:
        self._form = form
        self.array: np.ndarray | None = None
        self._buffer: Any = None

    def buffer(self, argument: Any, device: Any) -> Any:
        """Return XLA's buffer with an argument's elements: over the argument's memory, or over a copy."""
        form = self._form
        if self.array is not None and form.size < _SHARED_BYTES:
            self.array[...] = argument
            return self._buffer
        array = argument if isinstance(argument, np.ndarray) else np.asarray(argument, form.dtype)
        if form.size >= _SHARED_BYTES and _can_share(array, form):
            return _import_array(array, device)
        return self._copy(array, device)

    def _copy(self, array: np.ndarray, device: Any) -> Any:
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

    def __init__(self, form: _ArrayForm) -> None:
        super().__init__(form)
        self._address = 0

    def buffer(self, argument: Any, device: Any) -> Any:
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
            self.array = _array_over(buffer, address, self._form)
        self._address, self._buffer = address, buffer


def _can_share(array: np.ndarray, form: _ArrayForm) -> bool:
    flags = array.flags
    return (
        array.dtype == form.dtype and flags.c_contiguous and flags.writeable and array.ctypes.data % _ALIGNMENT == 0
    )


def _aligned_array(form: _ArrayForm) -> np.ndarray:
    bytes_ = np.empty(form.size + _ALIGNMENT, np.uint8)
    start = -bytes_.ctypes.data % _ALIGNMENT
    return bytes_[start : start + form.size].view(form.dtype).reshape(form.shape)


def _import_array(array: np.ndarray, device: Any) -> Any:
    """Return XLA's buffer over an array's memory."""
    if array.dtype.isbuiltin != 1:  # XLA takes any buffer of the right size, and DLPack only NumPy's own dtypes
        array = array.view(f"u{array.dtype.itemsize}")
    return import_module("jaxlib._jax").dlpack_managed_tensor_to_buffer(array.__dlpack__(), device, None, None)


def _send_to_device(array: np.ndarray, device: Any) -> Any:
    """Copy an array to an accelerator, with numbers of 64 bits, which jax otherwise converts to 32."""
    jax = import_module("jax")
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
    with enable_x64(True):
        return jax.device_put(array, device)


class _XlaMemory:
    """XLA's memory as an array: NumPy keeps this object alive, and with it the buffer."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, address: int, size: int) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3}


def _result_reader(form: _ArrayForm) -> Callable[[Any], np.ndarray]:
    """Return a function from a result's buffer to an array: a copy if it is small, else an array over XLA's memory."""
    if form.size == 0:
        return lambda buffer: np.empty(form.shape, form.dtype)
    if form.size >= _SHARED_BYTES:
        return lambda buffer: _array_over(buffer, buffer.unsafe_buffer_pointer(), form)
    arrays: dict[int, np.ndarray] = {}  # address of memory that XLA reuses -> array over it
    bytes_from_address: Callable[[int], Any] = (ctypes.c_char * form.size).from_address

    def copy(buffer: Any) -> np.ndarray:
        address = buffer.unsafe_buffer_pointer()
        array = arrays.get(address)
        if array is None:
            array = np.ndarray(form.shape, form.dtype, bytes_from_address(address))
            if len(arrays) < _MAX_KEPT_ADDRESSES:
                arrays[address] = array
        return array.copy()

    return copy


def _array_over(buffer: Any, address: int, form: _ArrayForm) -> np.ndarray:
    """Return the array over a buffer's memory."""
    return np.asarray(_XlaMemory(buffer, address, form.size)).view(form.dtype).reshape(form.shape)


# ---- compilation


def _runner(
    compiled: Any, client_device: ClientDevice, results: Sequence[TensorType]
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """Return a function that runs an executable on buffers: jax's own if there is jax, as it takes half the time."""
    try:
        core, make_handler = import_module("jax.core"), import_module("jaxlib._jax").array_result_handler
        sharding = import_module("jax.sharding").SingleDeviceSharding(client_device.device)
        types = [(tuple(type_.shape or ()), np.dtype(type_.dtype.numpy)) for type_ in results]
        handlers = [
            make_handler(core.ShapedArray(*type_), sharding, committed=True, _skip_checks=True) for type_ in types
        ]  # fmt: skip
        run = compiled.execute_sharded
        return lambda buffers: run(buffers).consume_with_handlers(handlers)
    except (ImportError, AttributeError, TypeError):  # no jax, or one with another interface
        return compiled.execute  # type: ignore[no-any-return]


def _compile(text: str | bytes, client_device: ClientDevice) -> Any:
    """Return the executable of a module, text or bytecode, from the cache on disk or compiled now.

    Raises RuntimeError if XLA refuses the module.
    """
    xla = import_module("jaxlib.xla_client")
    devices, options = xla.DeviceList((client_device.device,)), xla.CompileOptions()
    options.device_assignment = xla.DeviceAssignment.create(np.array([[client_device.device.id]]))
    digest = hashlib.sha256("\0".join(_versions(client_device)).encode())
    digest.update(b"\0" + (text.encode() if isinstance(text, str) else text))
    key = digest.hexdigest()
    stored_executable = XLA.load(key)
    if stored_executable is not None:
        try:
            return client_device.client.deserialize_executable(stored_executable, devices, options)
        except (RuntimeError, TypeError):
            pass
    result = client_device.client.compile_and_load(text, devices, options)
    try:
        data = result.serialize() if hasattr(result, "serialize") else client_device.client.serialize_executable(result)
    except (RuntimeError, AttributeError):  # a plug-in without this
        return result
    XLA.store(key, data)
    return result


@cache
def _versions(client_device: ClientDevice) -> tuple[str, ...]:
    """Return the versions and settings that an executable depends on, in addition to its module."""
    flags = os.environ.get("XLA_FLAGS", "")
    client, device = client_device.client, client_device.device
    identity = client.platform, client.platform_version, device.device_kind, device.id
    return (*map(str, identity), import_module("jaxlib").__version__, flags, *sorted(instructions()))
