"""Other compilers of the same program: how long it takes by each, over our time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from measured import c_loops
from measured.cases import Case, alike, in_turns, made

_ROUNDS = 30  # of calls in C
EVERY = {"numba": 4, "jax": 4, "clang": 4, "torch": 20}  # by peer: one program in so many is run by it
_KINDS = {"numba": ("arrays", "loops"), "jax": ("arrays",), "clang": ("loops",), "torch": ("arrays",)}


def ratios(case: Case, compiled: Callable[..., Any], expected: Any) -> dict[str, float]:
    """Return the time of each peer over ours; peers that are not installed, or refuse the program, are left out.

    `expected` is NumPy's result with the arguments as the call left them.
    """
    found = {}
    for peer, every in EVERY.items():
        if case.number % every == 0 and case.kind in _KINDS[peer]:
            try:
                ratio = _RATIOS[peer](case, compiled, expected)
            except Exception:  # each refuses in its own words
                continue
            if ratio is not None:
                found[peer] = ratio
    return found


def _numba(case: Case, compiled: Callable[..., Any], expected: Any) -> float | None:
    import numba

    jitted = numba.njit(made(case.source, f"<numba {case.number}>"))
    given = case.arguments()
    if not alike(expected, (jitted(*given), given)):
        return None
    return _over(jitted, compiled, case)


def _jax(case: Case, compiled: Callable[..., Any], expected: Any) -> float | None:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    jitted = jax.jit(made(case.source, f"<jax {case.number}>", jnp), static_argnums=len(case.shapes))
    given = [jnp.asarray(array) for array in case.arguments()[:-1]]
    found = jax.block_until_ready(jitted(*given, 2))
    if not _is_close(expected[0], found):
        return None
    return _over(lambda *_: jax.block_until_ready(jitted(*given, 2)), compiled, case)


def _torch(case: Case, compiled: Callable[..., Any], expected: Any) -> float | None:
    import torch

    torch.set_num_threads(1)
    jitted = torch.compile(made(case.source, f"<torch {case.number}>"), fullgraph=True)
    given = case.arguments()
    return _over(jitted, compiled, case) if _is_close(expected[0], jitted(*given)) else None


def _clang(case: Case, compiled: Callable[..., Any], expected: Any) -> float | None:
    measured = c_loops.measured(case.source, case.dtype, case.arguments(), _ROUNDS)
    if measured is None or not _is_close(expected[0], measured[1][0]):
        return None
    return measured[0] / in_turns([compiled], case)[0]


_RATIOS: dict[str, Callable[[Case, Callable[..., Any], Any], float | None]] = {
    "numba": _numba, "jax": _jax, "clang": _clang, "torch": _torch,
}  # fmt: skip


def _over(theirs: Callable[..., Any], ours: Callable[..., Any], case: Case) -> float:
    first, second = in_turns([theirs, ours], case)
    return first / second


def _is_close(expected: Any, found: Any) -> bool:
    parts = zip(*(value if isinstance(value, tuple) else (value,) for value in (expected, found)), strict=True)
    return all(np.allclose(np.asarray(b), np.asarray(a), rtol=1e-3, atol=1e-3, equal_nan=True) for a, b in parts)
