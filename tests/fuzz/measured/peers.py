"""The time of a program with other compilers, over the time of the function that autoconv compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from measured import c_loops
from measured.cases import Case, best_times, load_function, results_agree

_C_ROUNDS = 30  # number of calls in C
# By peer: it runs one program in this number.
PERIODS = {"numba": 4, "jax": 4, "clang": 4, "torch": 20}
_PROGRAM_KINDS = {"numba": ("arrays", "loops"), "jax": ("arrays",), "clang": ("loops",), "torch": ("arrays",)}
BARE_CALLS = ("clang in C",)  # peers whose calls cost nothing: a program cannot be as fast if it is called from Python


def peer_ratios(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    """Return, by peer, its time over that of `compiled`, without peers that are not installed or fail.

    `expected` is NumPy's result with the arguments after the call.
    """
    ratios = {}
    for peer, period in PERIODS.items():
        if case.number % period == 0 and case.kind in _PROGRAM_KINDS[peer]:
            try:
                ratios |= _RATIOS[peer](case, compiled, expected)
            except Exception:  # peers raise many kinds of errors
                continue
    return ratios


def _numba(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    import numba

    jitted = numba.njit(load_function(case.source, f"<numba {case.number}>"))
    arguments = case.arguments()
    if not results_agree(expected, (jitted(*arguments), arguments)):
        return {}
    return {"numba": _time_ratio(jitted, compiled, case)}


def _jax(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(load_function(case.source, f"<jax {case.number}>", jnp), static_argnums=len(case.shapes))
    device_arrays = [jnp.asarray(array) for array in case.arguments()[:-1]]
    result = jax.block_until_ready(jitted(*device_arrays, 2))
    if not _is_close(expected[0], result):
        return {}
    return {"jax": _time_ratio(lambda *_: jax.block_until_ready(jitted(*device_arrays, 2)), compiled, case)}


def _torch(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    import torch

    torch.set_num_threads(1)
    jitted = torch.compile(load_function(case.source, f"<torch {case.number}>"), fullgraph=True)
    arguments = case.arguments()
    return {"torch": _time_ratio(jitted, compiled, case)} if _is_close(expected[0], jitted(*arguments)) else {}


def _clang(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    measurement = c_loops.measure_c(case.source, case.dtype, case.arguments(), _C_ROUNDS)
    if measurement is None or not _is_close(expected[0], measurement.results[0]):
        return {}
    python_seconds, compiled_seconds = best_times([measurement.function, compiled], case)
    return {"clang": python_seconds / compiled_seconds, "clang in C": measurement.seconds / compiled_seconds}


_RATIOS: dict[str, Callable[[Case, Callable[..., Any], Any], dict[str, float]]] = {
    "numba": _numba, "jax": _jax, "clang": _clang, "torch": _torch,
}  # fmt: skip


def _time_ratio(peer: Callable[..., Any], compiled: Callable[..., Any], case: Case) -> float:
    peer_seconds, compiled_seconds = best_times([peer, compiled], case)
    return peer_seconds / compiled_seconds


def _is_close(expected: Any, actual: Any) -> bool:
    parts = zip(*(value if isinstance(value, tuple) else (value,) for value in (expected, actual)), strict=True)
    return all(np.allclose(np.asarray(b), np.asarray(a), rtol=1e-3, atol=1e-3, equal_nan=True) for a, b in parts)
