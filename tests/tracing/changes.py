"""Compare a compiled function with plain Python, before and after changes of what it reads."""

import autoconv

WARM = 5


def check_after_changes(function, *changes, x=2.0):
    """Compare calls under `compile` with plain Python, before and after each change."""
    compute = autoconv.compile(function)
    for change in (lambda: None, *changes):
        change()
        for i in range(WARM):
            assert outcome(compute, x + i) == outcome(function, x + i)
    return compute


def outcome(function, x):
    try:
        return repr(function(x))
    except Exception as error:
        return type(error), str(error)
