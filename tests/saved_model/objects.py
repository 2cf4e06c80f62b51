"""A small object with most kinds of values of saved objects, which fixtures and tests of damage save."""

from __future__ import annotations

import sys

import numpy as np

import autoconv as ac

X = np.ones((4, 2), np.float32)


class Sample(ac.Module):
    """Variables in containers, a large constant, text, bfloat16, complex numbers, a loop and a custom gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.w = ac.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
        self.parts = [ac.Variable(1.0), {"bias": ac.Variable(2.0, trainable=False)}, (ac.Variable(3 + 4j),)]
        self.half = ac.Variable([1.0, 2.5], dtype=ac.bfloat16)
        self.words = ac.Variable(["a", "bc"])
        self.table = np.arange(100, dtype=np.float64).reshape(20, 5).T

    @ac.function(input_signature=[ac.TensorSpec([None, 2], ac.float32)])
    def __call__(self, x):
        y = ac.matmul(x, self.w)
        while ac.reduce_sum(y) < 100.0:
            y = y * 2.0 + self.parts[0]
        return {"y": y, "table": ac.reduce_sum(ac.constant(self.table), axis=0), "words": self.words + "!"}

    @ac.function(input_signature=[])
    def count(self):
        return self.parts[0].assign_add(1.0)


def values_of(loaded: object) -> list[np.ndarray]:
    """Return what a loaded sample holds and computes, as arrays."""
    held = [loaded.w, loaded.parts[0], loaded.parts[1]["bias"], loaded.parts[2][0], loaded.half, loaded.words]  # type: ignore[attr-defined]
    return [*results_of(loaded), *(np.asarray(v.numpy()) for v in held)]


def results_of(loaded: object) -> list[np.ndarray]:
    """Return what a loaded sample, or its function by itself, computes."""
    result = loaded(X)  # type: ignore[operator]
    return [np.asarray(result[name].numpy()) for name in sorted(result)]


if __name__ == "__main__":  # from a copy in another folder, as the graphs hold the file's name
    ac.saved_model.save(Sample(), sys.argv[1])
