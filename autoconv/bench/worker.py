"""Process of one peer: it reads requests from standard input and writes one line of JSON for each.

    {"do": "load", "file": …, "peer": …, "tiny": …}   import the peer and make the function; returns its version
    {"do": "first", "seed": …}                          make the first call; returns its seconds, and bytes of memory
    {"do": "round", "seed": …, "seconds": …}            repeat calls for so many seconds; returns the best time of one
        "clock": "processor", "check": false            … in processor time; without a look at the results

The results of the last two are compared with NumPy's, outside of the measured time. The module runs as a script under
the peer's own Python, where autoconv need not be installed, so it does not import autoconv by name.
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

_BATCH = 0.02  # minimum duration of one measured batch of calls, in seconds


class Mismatch(Exception):
    """A result differs from NumPy's."""


class Bench:
    """One workload as run by one peer."""

    def __init__(self, file: str, peer: str, tiny: bool) -> None:
        self.workload = _module("workload", file)
        self.tiny = tiny
        begin = time.perf_counter()
        self.library: Any = importlib.import_module(_LIBRARIES[peer])
        self.import_seconds = time.perf_counter() - begin
        self.wait: Callable[[Any], Any] | None = None
        self.give: Callable[[Any], Any] = lambda array: array
        self.function: Callable[..., Any] = getattr(self, f"_{peer.replace('-', '_')}")()

    def inputs(self, seed: int) -> tuple[Any, ...]:
        """Return the workload's arguments: NumPy arrays, and numbers for a program that is compiled unchanged."""
        if not self._is_program:
            return tuple(self.workload.inputs(np.random.default_rng(seed), self.tiny))
        sized = "large" in inspect.signature(self.workload.make).parameters
        return tuple(self.workload.make(seed, large=not self.tiny) if sized else self.workload.make(seed))

    @property
    def _is_program(self) -> bool:
        """True if this is NumPy code, `program(*make(seed))`, that compilers get unchanged."""
        return hasattr(self.workload, "program")

    def first(self, seed: int) -> dict[str, Any]:
        """Measure the first call: its time, and the peak of memory over it and a few more.

        `risen` is that peak relative to the state with the library imported and the inputs created.
        """
        arrays = self.inputs(seed)
        arguments = tuple(map(self.give, arrays))
        _forget_peak()
        before = _memory("VmRSS")
        begin = time.perf_counter()
        results = self._once(arguments)
        seconds = time.perf_counter() - begin
        for _ in range(3):
            self._once(arguments)
        peak = _memory("VmHWM")
        self._check(seed, arrays, results)
        return {"seconds": seconds, "memory": peak, "risen": max(peak - before, 0), "kernels": self._kernels()}

    def round(self, seed: int, seconds: float, clock: str = "", check: bool = True) -> dict[str, Any]:
        """Measure the best time of a call, over batches of calls."""
        arrays = self.inputs(seed)
        arguments = tuple(map(self.give, arrays))
        names = {f"a{i}": argument for i, argument in enumerate(arguments)}
        call = f"f({', '.join(names)})"
        clocks = {"processor": time.process_time}
        timer = timeit.Timer(
            call if self.wait is None else f"wait({call})",
            timer=clocks.get(clock, time.perf_counter),
            globals={**names, **self._called()},
        )
        timer.timeit(1)  # a call with a new shape may compile
        gc.collect()  # garbage of that call, possibly a whole trace, must not count
        end = time.perf_counter() + seconds
        number, best = 1, float("inf")
        while True:
            seconds_taken = timer.timeit(number)
            best = min(best, seconds_taken / number)
            if (
                seconds_taken >= min(_BATCH, seconds) and time.perf_counter() >= end
            ):  # a single call would be a cold one
                break
            if seconds_taken < _BATCH:
                number = max(number * 2, int(number * _BATCH / max(seconds_taken, 1e-7)))
        if check:
            self._check(seed, arrays, None if self._is_program else self._once(arguments))
        return {"seconds": best}

    def _called(self) -> dict[str, Any]:
        return {"f": self.function, "wait": self.wait}

    def _once(self, arguments: tuple[Any, ...]) -> Any:
        result = self.function(*arguments)
        if self.wait is not None:
            self.wait(result)
        return result

    def _kernels(self) -> list[str]:
        traces = getattr(self.function, "concrete_functions", ())
        return [name for trace in traces for name in getattr(trace, "kernels", ())]

    def _check(self, seed: int, arrays: tuple[Any, ...], results: Any) -> None:
        """Compare with NumPy's result; a program is run again, since it may have changed its arguments."""
        if not self._is_program:
            self._compare(self.workload.with_numpy(*arrays), results)
            return
        mine, its = self.inputs(seed), self.inputs(seed)
        results, expected = self._once(mine), self.workload.program(*its)
        self._compare(_values(expected, its), _values(results, mine))

    def _compare(self, expected: Any, results: Any) -> None:
        close = getattr(self.workload, "CLOSE", max(getattr(self.workload, "TOLERANCE", 0.0), 1e-5))
        apart = getattr(self.workload, "APART", 0.0)
        ours = results if isinstance(results, (tuple, list)) else (results,)
        theirs = expected if isinstance(expected, tuple) else (expected,)
        for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            a, b = np.asarray(one), np.asarray(other)
            if a.shape != b.shape:
                raise Mismatch(f"result {i} has shape {a.shape}, NumPy's {b.shape}")
            scale = np.abs(b).max(initial=0.0) if b.dtype.kind == "f" else 1.0
            far = ~np.isclose(a, b, rtol=close, atol=close * scale, equal_nan=True)
            if far.mean() > apart:
                worst = np.abs(a.astype(float) - b.astype(float)).max()
                raise Mismatch(
                    f"{far.sum()} of {far.size} elements of result {i} are not NumPy's, by up to {worst:.2g}"
                )

    # ---- peers: each sets how arguments are converted and how to wait for a result, and returns the function

    def _made(self, name: str, *arguments: Any) -> Any:
        if self._is_program:
            raise NotImplementedError
        make = getattr(self.workload, name, None)
        if make is None:
            raise NotImplementedError
        return make(*arguments)

    def _numpy(self) -> Any:
        return self.workload.program if self._is_program else self.workload.with_numpy

    def _autoconv(self) -> Any:
        if self._is_program:
            return self.library.compile(self.workload.program)
        self.give = self.library.constant
        return self.library.function(self._made("with_graph", self.library))

    def _tensorflow(self, **settings: Any) -> Any:
        self.give = self.library.constant
        return self.library.function(self._made("with_graph", self.library), **settings)

    def _tensorflow_xla(self) -> Any:
        return self._tensorflow(jit_compile=True)

    def _jax(self) -> Any:
        if any(array.dtype.itemsize == 8 for array in self.inputs(0)):
            self.library.config.update("jax_enable_x64", True)
        self.give = self.library.numpy.asarray
        self.wait = self.library.block_until_ready
        return self._made("with_jax", self.library)

    def _numba(self) -> Any:
        if self._is_program:
            return _with_its_functions(self.library, self.workload)
        return self._made("with_numba", self.library)

    def _torch(self) -> Any:
        self.give = self.library.from_numpy
        return self._made("with_torch", self.library)


def _module(name: str, file: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    result = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(result)
    return result


class _Training:
    """A workload that trains a Keras model, in the place of a `Bench`."""

    def __init__(self, workload: Any, peer: str, tiny: bool) -> None:
        beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.py")
        self._training = _module("training", beside).Training(workload, peer, tiny)
        self.library, self.import_seconds = self._training.library, self._training.import_seconds

    def first(self, seed: int) -> dict[str, Any]:
        def measured(epoch: Callable[[], Any]) -> dict[str, Any]:
            _forget_peak()
            before = _memory("VmRSS")
            begin = time.perf_counter()
            epoch()
            seconds, peak = time.perf_counter() - begin, _memory("VmHWM")
            return {"seconds": seconds, "memory": peak, "risen": max(peak - before, 0)}

        result: dict[str, Any] = self._training.first(seed, measured)
        return result

    def round(self, seed: int, seconds: float) -> dict[str, Any]:
        result: dict[str, Any] = self._training.round(seed, seconds)
        return result


def load_workload(file: str, peer: str, tiny: bool) -> Any:
    """Return a workload as run by one peer: a function that is called, or a Keras model that is trained."""
    workload = _module("workload", file)
    return _Training(workload, peer, tiny) if hasattr(workload, "model") else Bench(file, peer, tiny)


def _values(result: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results of a program, and its array arguments in their state after the call."""
    results = result if isinstance(result, tuple) else () if result is None else (result,)
    return (*results, *(a for a in arguments if isinstance(a, np.ndarray)))


def _with_its_functions(numba: Any, workload: Any) -> Any:
    """Return the program compiled by Numba, together with the functions of its module."""
    for name, value in list(vars(workload).items()):
        if inspect.isfunction(value) and name not in ("make", "program"):
            setattr(workload, name, numba.njit(value))
    return numba.njit(workload.program)


_LIBRARIES = {
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
        do = request.pop("do")
        try:
            if do == "load":
                bench = load_workload(**request)
                version = getattr(bench.library, "__version__", "")
                answer: dict[str, Any] = {"version": str(version), "import": bench.import_seconds}
            else:
                answer = getattr(bench, do)(**request)
        except NotImplementedError as error:
            answer = {"left_out": str(error)}
        except Exception as error:  # a missing module counts as an absent peer only where the peer itself is loaded
            answer = {"failed": f"{type(error).__name__}: {str(error).strip()[:500]}"}
            if do == "load" and isinstance(error, ImportError):
                answer = {"absent": str(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _forget_peak() -> None:
    """Reset the peak of this process's memory to the present value, where Linux supports it."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        return


def _memory(what: str) -> int:
    """Return resident memory in bytes, at present (VmRSS) or at its peak (VmHWM); 0 if unavailable."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(what))
    except (OSError, StopIteration):
        return 0


if __name__ == "__main__":
    main()
