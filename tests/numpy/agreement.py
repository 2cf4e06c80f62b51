"""Compare results, types, errors, flags and arguments of a compiled function with plain NumPy."""

import numpy as np

import autoconv as ac


def outcome(function, arguments):
    try:
        found = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return shown(found)


def shown(value):
    if isinstance(value, (tuple, list)):
        return type(value), [shown(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist(), value.flags.writeable
    return type(value), repr(value)


def agrees(function, *makers):
    """The same results, types, errors and flags as plain Python's, in several calls, and the arguments left alike."""
    compiled = ac.compile(function)
    for _ in range(3):
        mine, its = ([make() if callable(make) else make for make in makers] for _ in range(2))
        assert outcome(compiled, mine) == outcome(function, its)
        assert shown(mine) == shown(its)
    return compiled
