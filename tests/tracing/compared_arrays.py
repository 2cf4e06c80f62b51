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


def described(value):
    """The value with all that tells it from others: types, dtypes, shapes and bits."""
    if isinstance(value, (tuple, list)):
        return type(value), [described(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, np.asarray(value).tobytes()
    return type(value), repr(value)


def outcome(function, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return described(function(*arguments))
        except Exception as error:
            return type(error), error.args


def agrees(function, *calls, traces=None):
    """The same as plain Python, one trace a signature and none of the calls plain."""
    compiled = ac.compile(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments), arguments
    assert "plain Python" not in compiled.explain(), compiled.explain()
    if traces is not None:
        assert compiled.experimental_get_tracing_count() == traces, compiled.explain()


def agrees_but_for_rounding(function, *calls):
    """The same types, dtypes and shapes; sums of floats may be added up in another order."""
    compiled = ac.compile(function)
    for arguments in calls:
        found, expected = compiled(*arguments), function(*arguments)
        assert kinds(found) == kinds(expected)
        for one, other in zip(found, expected, strict=True):
            if np.asarray(other).dtype.kind == "f":
                eps = np.finfo(np.asarray(other).dtype).eps
                largest = np.max(np.abs(other), initial=1.0)
                np.testing.assert_allclose(one, other, rtol=0, atol=300 * eps * largest)
            else:
                np.testing.assert_array_equal(one, other)
    assert "plain Python" not in compiled.explain(), compiled.explain()


def kinds(values):
    return [(type(value), value.dtype, value.shape) for value in values]


def goes_plain(function, *arguments, because):
    compiled = ac.compile(function)
    assert outcome(compiled, arguments) == outcome(function, arguments)
    assert because in compiled.explain(), compiled.explain()
