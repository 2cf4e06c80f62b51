"""Arrays of several dtypes, and functions of arrays compared with plain Python: types, dtypes, shapes and bits."""

import warnings

import numpy as np

import autoconv as ac

ARRAYS = [
    np.array([[0.5, -1.25, 2.5], [3.5, -0.75, 1.5]]),
    np.array([[7, -7, 5], [1, 2, -4]], np.int32),
    np.array([[True, False, True], [False, False, True]]),
    np.array([[200, 100, 255], [1, 2, 3]], np.uint8),
    np.array([[0.1, -1.7, 2.5], [np.nan, 1.5, -0.0]], np.float32),
    np.array([[1, 2, 3]], np.int64),
    np.array([[60000, 1.5, 7]], np.float16),
    np.arange(6000, dtype=np.float64).reshape(3, 2000) / 7,
]


def describe(value):
    """Return the types, dtypes, shapes and bits of a value and of its parts, for comparison."""
    if isinstance(value, (tuple, list)):
        return type(value), [describe(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, np.asarray(value).tobytes()
    return type(value), repr(value)


def outcome(function, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return describe(function(*arguments))
        except Exception as error:
            return type(error), error.args


def check(function, *calls, traces=None):
    """Compare calls with plain Python; none may run plain, and `traces` is the number of traces."""
    compiled = ac.compile(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments), arguments
    assert "plain Python" not in compiled.explain(), compiled.explain()
    if traces is not None:
        assert compiled.experimental_get_tracing_count() == traces, compiled.explain()


def check_up_to_rounding(function, *calls):
    """Compare results with plain Python, floats up to the rounding of sums in another order."""
    compiled = ac.compile(function)
    for arguments in calls:
        found, expected = compiled(*arguments), function(*arguments)
        assert types_of(found) == types_of(expected)
        for found_part, expected_part in zip(found, expected, strict=True):
            if np.asarray(expected_part).dtype.kind == "f":
                rounding_unit = np.finfo(np.asarray(expected_part).dtype).eps
                largest = np.max(np.abs(expected_part), initial=1.0)
                np.testing.assert_allclose(found_part, expected_part, rtol=0, atol=300 * rounding_unit * largest)
            else:
                np.testing.assert_array_equal(found_part, expected_part)
    assert "plain Python" not in compiled.explain(), compiled.explain()


def types_of(values):
    return [(type(value), value.dtype, value.shape) for value in values]


def check_plain_run(function, *arguments, reason):
    """Compare a call that runs as plain Python, with this reason in `explain()`."""
    compiled = ac.compile(function)
    assert outcome(compiled, arguments) == outcome(function, arguments)
    assert reason in compiled.explain(), compiled.explain()
