"""Compare results, types, errors, flags and arguments of a compiled function with plain NumPy."""

import numpy as np

import autoconv as ac


def outcome(function, arguments):
    try:
        result = function(*arguments)
    except Exception as error:
        return type(error), str(error)
    return comparable(result)


def comparable(value):
    if isinstance(value, (tuple, list)):
        return type(value), [comparable(part) for part in value]
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist(), value.flags.writeable
    return type(value), repr(value)


def check_agreement(function, *makers):
    """Compare results, types, errors, flags and changed arguments of several calls with those of plain Python."""
    compiled = ac.compile(function)
    for _ in range(3):
        compiled_arguments, plain_arguments = (
            [make() if callable(make) else make for make in makers] for _ in range(2)
        )
        assert outcome(compiled, compiled_arguments) == outcome(function, plain_arguments)
        assert comparable(compiled_arguments) == comparable(plain_arguments)
    return compiled
