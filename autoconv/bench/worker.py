"""Process of one peer: it reads requests from standard input and writes one line of JSON for each.

    {"do": "load", "file": …, "peer": …, "tiny": …}   import the peer and make the function; returns its version
    {"do": "first", "seed": …}                          make the first call; returns its seconds, and bytes of memory
    {"do": "round", "seed": …, "seconds": …}            repeat calls for so many seconds; returns the best time of a
    call
        "clock": "processor"                            optional: measures processor time
        "check": false                                  optional: results are not compared

The results of "first" and "round" are compared with NumPy's, outside of the measured time. The module runs as a script
under the peer's own Python, where autoconv need not be installed, so it does not import autoconv by name.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import inspect
import json
import os
import sys
import time
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

_MIN_BATCH_SECONDS = 0.02  # minimum duration of one measured batch of calls, in seconds


class Mismatch(Exception):
    """A result differs from NumPy's."""


class Bench:
    """One workload as run by one peer.

    A call of the peer is `wait_for_result(function(*map(convert_argument, inputs)))`.
    """

    def __init__(self, file: str, peer: str, tiny: bool) -> None:
        self.workload = _load_module("workload", file)
        self.tiny = tiny
        begin = time.perf_counter()
        self.library: Any = importlib.import_module(_LIBRARY_BY_PEER[peer])
        self.import_seconds = time.perf_counter() - begin
        self.wait_for_result: Callable[[Any], Any] | None = None  # None if a result is ready at once
        self.convert_argument: Callable[[Any], Any] = lambda array: array
        self.function: Callable[..., Any] = getattr(self, f"_{peer.replace('-', '_')}")()

    def inputs(self, seed: int) -> tuple[Any, ...]:
        """Return the workload's arguments: NumPy arrays, and numbers for a program that is compiled unchanged."""
        if not self._is_program:
            return tuple(self.workload.inputs(np.random.default_rng(seed), self.tiny))
        takes_size = "large" in inspect.signature(self.workload.make).parameters
        return tuple(self.workload.make(seed, large=not self.tiny) if takes_size else self.workload.make(seed))

    @property
    def _is_program(self) -> bool:
        """True if this is NumPy code, `program(*make(seed))`, that compilers get unchanged."""
        return hasattr(self.workload, "program")

    def first(self, seed: int) -> dict[str, Any]:
        """Measure the first call: its time, and the peak of memory over this and three more calls.

        `memory_growth` is that peak relative to the state with the library imported and the inputs created.
        """
        arrays = self.inputs(seed)
        arguments = tuple(map(self.convert_argument, arrays))
        _reset_peak_memory()
        memory_before = _resident_memory("VmRSS")
        begin = time.perf_counter()
        results = self._call_once(arguments)
        seconds = time.perf_counter() - begin
        for _ in range(3):
            self._call_once(arguments)
        peak = _resident_memory("VmHWM")
        self._check(seed, arrays, results)
        growth = max(peak - memory_before, 0)
        return {"seconds": seconds, "memory": peak, "memory_growth": growth, "kernels": self._kernels()}

    def round(self, seed: int, seconds: float, clock: str = "", check: bool = True) -> dict[str, Any]:
        """Measure the best time of a call, over batches of calls."""
        arrays = self.inputs(seed)
        arguments = tuple(map(self.convert_argument, arrays))
        names = {f"a{i}": argument for i, argument in enumerate(arguments)}
        call = f"f({', '.join(names)})"
        clocks = {"processor": time.process_time}
        timer = timeit.Timer(
            call if self.wait_for_result is None else f"wait({call})",
            timer=clocks.get(clock, time.perf_counter),
            globals={**names, "f": self.function, "wait": self.wait_for_result},
        )
        timer.timeit(1)  # not counted: a call with a new shape may compile
        gc.collect()  # garbage of that call, possibly a whole trace, must not count
        end = time.perf_counter() + seconds
        call_count, best = 1, float("inf")
        while True:
            seconds_taken = timer.timeit(call_count)
            best = min(best, seconds_taken / call_count)
            # A batch of a single quick call is not enough: that call would be a cold one.
            if seconds_taken >= min(_MIN_BATCH_SECONDS, seconds) and time.perf_counter() >= end:
                break
            if seconds_taken < _MIN_BATCH_SECONDS:
                call_count = max(call_count * 2, int(call_count * _MIN_BATCH_SECONDS / max(seconds_taken, 1e-7)))
        if check:
            self._check(seed, arrays, None if self._is_program else self._call_once(arguments))
        return {"seconds": best}

    def _call_once(self, arguments: tuple[Any, ...]) -> Any:
        """Return the result of a call, after waiting for it."""
        result = self.function(*arguments)
        if self.wait_for_result is not None:
            self.wait_for_result(result)
        return result

    def _kernels(self) -> list[str]:
        """Return the ops that autoconv ran by their kernels."""
        traces = getattr(self.function, "concrete_functions", ())
        return [name for trace in traces for name in getattr(trace, "kernels", ())]

    def _check(self, seed: int, arrays: tuple[Any, ...], results: Any) -> None:
        """Compare with NumPy's result; a program is run again, since it may have changed its arguments."""
        if not self._is_program:
            self._compare(self.workload.with_numpy(*arrays), results)
            return
        compiled_arguments, reference_arguments = self.inputs(seed), self.inputs(seed)
        results, expected = self._call_once(compiled_arguments), self.workload.program(*reference_arguments)
        expected_values = _observable_values(expected, reference_arguments)
        self._compare(expected_values, _observable_values(results, compiled_arguments))

    def _compare(self, expected: Any, results: Any) -> None:
        """Raise Mismatch if results differ from NumPy's by more than the workload allows."""
        tolerance = getattr(self.workload, "RELATIVE_TOLERANCE", max(getattr(self.workload, "TOLERANCE", 0.0), 1e-5))
        allowed_fraction = getattr(self.workload, "OUTLIER_FRACTION", 0.0)
        actual_results = results if isinstance(results, (tuple, list)) else (results,)
        expected_results = expected if isinstance(expected, tuple) else (expected,)
        for i, (actual_result, expected_result) in enumerate(zip(actual_results, expected_results, strict=True)):
            actual, reference = np.asarray(actual_result), np.asarray(expected_result)
            if actual.shape != reference.shape:
                raise Mismatch(f"result {i} has shape {actual.shape}, NumPy's {reference.shape}")
            scale = np.abs(reference).max(initial=0.0) if reference.dtype.kind == "f" else 1.0
            mismatches = ~np.isclose(actual, reference, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
            if mismatches.mean() > allowed_fraction:
                max_error = np.abs(actual.astype(float) - reference.astype(float)).max()
                counts = f"{mismatches.sum()} of {mismatches.size}"
                raise Mismatch(f"{counts} elements of result {i} are not NumPy's, by up to {max_error:.2g}")

    # ---- peers: each sets how arguments are converted and how to wait for a result, and returns the function

    def _make_function(self, name: str, *arguments: Any) -> Any:
        """Return the workload's function for a peer, made by its function `name`; NotImplementedError without one."""
        make = getattr(self.workload, name, None)
        if make is None:
            raise NotImplementedError
        return make(*arguments)

    def _numpy(self) -> Any:
        return self.workload.program if self._is_program else self.workload.with_numpy

    def _autoconv(self) -> Any:
        if self._is_program:
            return self.library.compile(self.workload.program)
        self.convert_argument = self.library.constant
        return self.library.function(self._make_function("with_graph", self.library))

    def _tensorflow(self, **settings: Any) -> Any:
        self.convert_argument = self.library.constant
        return self.library.function(self._make_function("with_graph", self.library), **settings)

    def _tensorflow_xla(self) -> Any:
        return self._tensorflow(jit_compile=True)

    def _jax(self) -> Any:
        """Return the function for JAX, which gets arrays on its device, and numbers as they are."""
        if any(np.asarray(value).dtype.itemsize == 8 for value in self.inputs(0)):
            self.library.config.update("jax_enable_x64", True)
        to_device = self.library.numpy.asarray
        self.convert_argument = lambda value: to_device(value) if isinstance(value, np.ndarray) else value
        self.wait_for_result = self.library.block_until_ready
        return self._make_function("with_jax", self.library)

    def _numba(self) -> Any:
        if self._is_program:
            return _compile_with_numba(self.library, self.workload)
        return self._make_function("with_numba", self.library)

    def _torch(self) -> Any:
        self.convert_argument = self.library.from_numpy
        return self._make_function("with_torch", self.library)


def _load_module(name: str, file: str) -> Any:
    """Return a file as a module."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    result = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(result)
    return result


class _Training:
    """A workload that trains a Keras model, with the methods of a `Bench`."""

    def __init__(self, workload: Any, peer: str, tiny: bool) -> None:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.py")
        self._training = _load_module("training", path).Training(workload, peer, tiny)
        self.library, self.import_seconds = self._training.library, self._training.import_seconds

    def first(self, seed: int) -> dict[str, Any]:
        """Return the figures of the first epoch: seconds, and peak and growth of the memory in bytes."""
        def measure(epoch: Callable[[], Any]) -> dict[str, Any]:
            """Run an epoch; return its seconds, and the peak and growth of the process's memory in bytes."""
            _reset_peak_memory()
            memory_before = _resident_memory("VmRSS")
            begin = time.perf_counter()
            epoch()
            seconds, peak = time.perf_counter() - begin, _resident_memory("VmHWM")
            return {"seconds": seconds, "memory": peak, "memory_growth": max(peak - memory_before, 0)}

        result: dict[str, Any] = self._training.first(seed, measure)
        return result

    def round(self, seed: int, seconds: float) -> dict[str, Any]:
        result: dict[str, Any] = self._training.round(seed, seconds)
        return result


def load_workload(file: str, peer: str, tiny: bool) -> Any:
    """Return a workload as run by one peer: a function that is called, or a Keras model that is trained."""
    workload = _load_module("workload", file)
    return _Training(workload, peer, tiny) if hasattr(workload, "model") else Bench(file, peer, tiny)


def _observable_values(result: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results of a program, and its array arguments in their state after the call."""
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return (*results, *(argument for argument in arguments if isinstance(argument, np.ndarray)))


def _compile_with_numba(numba: Any, workload: Any) -> Any:
    """Return the program compiled by Numba, together with the functions of its module."""
    for name, value in list(vars(workload).items()):
        if inspect.isfunction(value) and name not in ("make", "program"):
            setattr(workload, name, numba.njit(value))
    return numba.njit(workload.program)


_LIBRARY_BY_PEER = {
    "numpy": "numpy",
    "autoconv": "autoconv",
    "tensorflow": "tensorflow",
    "tensorflow-xla": "tensorflow",
    "jax": "jax",
    "numba": "numba",
    "torch": "torch",
}


def main() -> None:
    """Answer requests until there are no more. Output of libraries goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    bench: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        request_name = request.pop("do")
        try:
            if request_name == "load":
                bench = load_workload(**request)
                version = getattr(bench.library, "__version__", "")
                answer: dict[str, Any] = {"version": str(version), "import": bench.import_seconds}
            else:
                answer = getattr(bench, request_name)(**request)
        except NotImplementedError as error:
            answer = {"left_out": str(error)}
        except Exception as error:  # a missing module counts as an absent peer only where the peer itself is loaded
            answer = {"failed": f"{type(error).__name__}: {str(error).strip()[:500]}"}
            if request_name == "load" and isinstance(error, ImportError):
                answer = {"absent": str(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _reset_peak_memory() -> None:
    """Reset the peak of this process's memory to the current value, where Linux supports it."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return


def _resident_memory(field: str) -> int:
    """Return resident memory in bytes, at present (VmRSS) or at its peak (VmHWM); 0 if unavailable."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return 0


if __name__ == "__main__":
    main()
