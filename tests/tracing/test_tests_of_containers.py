"""The length, class and truth of lists and tuples of arrays need no Python objects in the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

X, Y = np.arange(12.0).reshape(4, 3), np.arange(15.0).reshape(5, 3)


def by_class(a, b):
    found = a.T, b * 2
    total = 0.0
    for part in found if isinstance(found, tuple) else (found,):
        total += np.abs(part).sum()
    return total


def by_length(a, b):
    found = [a * 2, b * 3]
    found.append(a + 1)
    return found[-1] if len(found) > 2 else found[0], len([*found, b])


def by_truth(a, b):
    found = [part for part in (a, b) if part.shape[0] > 4]
    return (found[0] if found else a).sum(), not bool(found), hasattr(found, "append")


def nested(a, b):
    layers = {"weights": [a, b], "names": ("a", "b")}
    return [len(layers), len(layers["weights"]), isinstance(layers["weights"][0], np.ndarray)], layers["weights"][1] + 1


@pytest.mark.parametrize("function", [by_class, by_length, by_truth, nested], ids=lambda function: function.__name__)
def test_one_graph_of_values(function: Callable[..., Any]):
    compiled = autoconv.compile(function)
    np.testing.assert_equal(compiled(X, Y), function(X, Y))
    assert compiled.explain().startswith(f"{function.__name__}: 1 trace") and "object" not in compiled.explain()
