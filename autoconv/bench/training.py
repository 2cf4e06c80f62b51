"""Training of a Keras model as run by one peer, which is the backend of Keras.

A workload has `data(random, tiny)`, the arrays x and y; `model(keras, tiny)`, a compiled model; BATCH, the number of
examples of a step; and LOSSES, a dict from `tiny` to the losses of the first two epochs with TensorFlow as backend. All
peers begin with the same weights. The worker loads this module under the peer's own Python, which may lack autoconv, so
nothing of autoconv is imported at its head.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

_BACKEND_BY_PEER = {
    "autoconv": "autoconv",
    "tensorflow": "tensorflow",
    "tensorflow-xla": "tensorflow",
    "jax": "jax",
    "torch": "torch",
}
_DEFAULT_TOLERANCE = 1e-4


class Training:
    """One workload over one backend; a call is an epoch.

    `seed` and "kernels" have no use here; they belong to the interface of all workloads.
    """

    def __init__(self, workload: Any, peer: str, tiny: bool) -> None:
        if peer not in _BACKEND_BY_PEER:
            raise NotImplementedError
        self.workload = workload
        self.tiny = tiny
        begin = time.perf_counter()
        self.library: Any = _load_keras(_BACKEND_BY_PEER[peer])
        self.import_seconds = time.perf_counter() - begin
        random = np.random.default_rng(0)
        self._data = workload.data(random, tiny)
        self._model = workload.model(self.library, tiny)
        self._model.jit_compile = peer in ("tensorflow-xla", "jax", "torch")
        for variable in self._model.trainable_variables:
            if len(variable.shape) > 1:  # vectors keep their zeros and ones
                scale = float(variable.shape[0]) ** -0.5
                variable.assign(random.standard_normal(tuple(variable.shape), np.float32) * np.float32(scale))

    def first(self, seed: int, measure: Callable[[Callable[[], Any]], dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of `measure` for the first epoch; compare the losses of two epochs with TensorFlow's."""
        losses: list[float] = []
        figures = measure(lambda: losses.append(self._epoch()))
        losses.append(self._epoch())
        expected = self.workload.LOSSES.get(self.tiny)
        if expected is not None:
            tolerance = getattr(self.workload, "RELATIVE_TOLERANCE", _DEFAULT_TOLERANCE)
            np.testing.assert_allclose(losses, expected, rtol=tolerance)
        return {**figures, "kernels": [], "losses": losses}

    def round(self, seed: int, seconds: float) -> dict[str, Any]:
        """Return the best time of an epoch, in seconds; epochs are repeated for `seconds` seconds."""
        end, best = time.perf_counter() + seconds, float("inf")
        while best == float("inf") or time.perf_counter() < end:
            begin = time.perf_counter()
            loss = self._epoch()
            best = min(best, time.perf_counter() - begin)
            assert np.isfinite(loss), loss
        return {"seconds": best}

    def _epoch(self) -> float:
        x, y = self._data
        history = self._model.fit(x, y, batch_size=self.workload.BATCH, epochs=1, shuffle=False, verbose=0)
        return float(history.history["loss"][0])


def _load_keras(backend: str) -> Any:
    """Return Keras over a backend library."""
    library = importlib.import_module(backend)
    if backend == "autoconv":
        return library.keras
    os.environ["KERAS_BACKEND"] = backend
    return importlib.import_module("keras")
