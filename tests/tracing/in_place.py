"""Compare a function that changes arrays in place with the same function compiled."""

import copy

import numpy as np

import autoconv


def both(function, *arguments, memory=True):
    """What NumPy and the compiled function give, and leave in their arguments; all compared."""
    compiled = autoconv.compile(function)
    outcomes = []
    for run in (function, compiled):
        given = copy.deepcopy(arguments)
        try:
            with np.errstate(all="ignore"):
                result = run(*given)
        except Exception as error:
            result = type(error), str(error)
        outcomes.append((result, given))
    (expected, its), (found, mine) = outcomes
    assert repr(found) == repr(expected)
    for left, right in zip(mine, its, strict=True):
        if isinstance(right, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
    told = compiled.explain()
    assert ("in place" in told and "plain Python" not in told and "as Python objects" not in told) == memory, told
    return compiled


A = np.arange(20.0).reshape(5, 4)


B = np.linspace(0.5, 3, 20).reshape(5, 4)
