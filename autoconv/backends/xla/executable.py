"""Modules compiled by XLA, and their calls.

On the processor memory is shared (see `staging`). Small results are copied, and large ones are arrays over XLA's own
memory. Accelerators get copies, and results stay there until they are fetched.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from autoconv.backends.llvm.target.cpu import instructions
from autoconv.backends.xla.client import ClientDevice
from autoconv.backends.xla.device_array import DeviceArray, LateWord, settle_arguments, unread_words
from autoconv.backends.xla.staging import SHARED_BYTES, Areas, ArrayForm, Leads, array_over
from autoconv.code_cache import XLA
from autoconv.graph.dtypes import int32
from autoconv.graph.types import TensorType

Rerun = Callable[[Sequence[Any]], list[Any]]

_MAX_KEPT_ADDRESSES = 64  # addresses of results whose arrays are kept


class Executable:
    """A compiled module. With `has_error_word` its last result is an int32, the error word.

    `donated` maps the positions of parameters whose memory XLA owns to the positions of the results in that memory.
    """

    def __init__(
        self, text: str | bytes, client_device: ClientDevice,
        parameters: Sequence[TensorType], results: Sequence[TensorType],
        donated: Mapping[int, int] | None = None, has_error_word: bool = True,
        text_with_leads: Callable[[Sequence[int]], str] | None = None,
    ) -> None:
        """`text_with_leads` returns the module's text for parameters that begin with elements before the array's."""
        self._client_device = client_device
        self._result_types = [*results, *([TensorType(int32, ())] if has_error_word else [])]
        start = time.perf_counter()
        self._run = self._compile_run(text)
        self._parameters = [ArrayForm(type_) for type_ in parameters]
        self._leads = Leads(self._parameters, donated or (), text_with_leads, time.perf_counter() - start)
        self._types = list(results)
        self._has_error_word = has_error_word
        self._donated = dict(donated or {}) if client_device.is_host else {}
        self._idle_areas: list[Areas] = []  # staging areas that no running call uses
        self.run_on_host = self._make_host_run([ArrayForm(type_) for type_ in results])

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

    def _compile_run(self, text: str | bytes) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Compile a module, and return the function that runs it on buffers."""
        return _runner(_compile(text, self._client_device), self._client_device, self._result_types)

    def _make_host_run(self, results: Sequence[ArrayForm]) -> Callable[[Sequence[Any]], tuple[list[Any], int]]:
        """Return the function that runs on the processor, written for speed: XLA runs small arrays in less time."""
        idle_areas, has_error_word, donated = self._idle_areas, self._has_error_word, self._donated
        run_without_leads, leads_of, find_run = self._run, self._leads, self._leads.find_run
        readers = [_result_reader(form) for form in results]
        (read_single,) = readers if len(readers) == 1 and not donated else (None,)
        read_word = ctypes.c_int32.from_address

        def run_on_host(arguments: Sequence[Any]) -> tuple[list[Any], int]:
            """Return the results and the error word; calls at the same time use areas of their own."""
            try:
                areas = idle_areas.pop()
            except IndexError:
                areas = Areas(self._parameters, donated, self._client_device.device)
            run, leads = run_without_leads, leads_of.of(arguments) if leads_of.positions else ()
            if leads and (run_with_leads := find_run(leads, self._compile_run)) is not None:
                run = run_with_leads
            else:
                leads = ()
            outputs = run(areas.fill(arguments, leads))
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
        """Return the results, on the device or fetched, and the error word: 0 if it is read later."""
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


def _send_to_device(array: np.ndarray, device: Any) -> Any:
    """Copy an array to an accelerator, with numbers of 64 bits, which jax otherwise converts to 32."""
    jax = import_module("jax")
    enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else import_module("jax.experimental").enable_x64
    with enable_x64(True):
        return jax.device_put(array, device)


def _result_reader(form: ArrayForm) -> Callable[[Any], np.ndarray]:
    """Return a function from a result's buffer to an array: a copy if it is small, else an array over XLA's memory."""
    if form.size == 0:
        return lambda buffer: np.empty(form.shape, form.dtype)
    if form.size >= SHARED_BYTES:
        return lambda buffer: array_over(buffer, buffer.unsafe_buffer_pointer(), form)
    arrays: dict[int, np.ndarray] = {}  # address of memory that XLA reuses -> array over it
    bytes_from_address: Callable[[int], Any] = (ctypes.c_char * form.size).from_address

    def copy(buffer: Any) -> np.ndarray:
        """Return a copy of the memory of a buffer; arrays that view it are kept by address."""
        address = buffer.unsafe_buffer_pointer()
        array = arrays.get(address)
        if array is None:
            array = np.ndarray(form.shape, form.dtype, bytes_from_address(address))
            if len(arrays) < _MAX_KEPT_ADDRESSES:
                arrays[address] = array
        return array.copy()

    return copy


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
