"""Compare a function that changes arrays in place with the same function compiled."""

import copy

import numpy as np

import autoconv


def check_in_place(function, *arguments, is_in_place=True):
    """Compare results, errors and changed arguments with NumPy's; return the compiled function.

    `is_in_place`: whether the arrays have to be changed in place, by a graph alone.
    """
    compiled = autoconv.compile(function)
    outcomes = []
    for run in (function, compiled):
        call_arguments = copy.deepcopy(arguments)
        try:
            with np.errstate(all="ignore"):
                result = run(*call_arguments)
        except Exception as error:
            result = type(error), str(error)
        outcomes.append((result, call_arguments))
    (expected, expected_arguments), (found, found_arguments) = outcomes
    assert repr(found) == repr(expected)
    for found_array, expected_array in zip(found_arguments, expected_arguments, strict=True):
        if isinstance(expected_array, np.ndarray):
            assert found_array.dtype == expected_array.dtype
            np.testing.assert_array_equal(found_array, expected_array)
    report = compiled.explain()
    is_native = "plain Python" not in report and "as Python objects" not in report
    assert ("in place" in report and is_native) == is_in_place, report
    return compiled


A = np.arange(20.0).reshape(5, 4)


B = np.linspace(0.5, 3, 20).reshape(5, 4)
