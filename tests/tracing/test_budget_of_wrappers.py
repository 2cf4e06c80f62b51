"""Functions that one wrapper wraps have budgets of their own: traces of one do not make another run plain."""

import functools

import numpy as np

import autoconv


def passed_on(f):
    @functools.wraps(f)
    def run(*args):
        return f(*args)

    return run


def test_wrapped_functions_of_one_wrapper_count_their_own_calls():
    compiled = [autoconv.compile(passed_on(f)) for f in (lambda x: x + 1, lambda x: x * 2)]
    for function, expected in zip(compiled, (3.0, 4.0), strict=True):
        assert function(2.0) == expected
        assert function(2.0) == expected
    assert [function._call_counter.calls for function in compiled] == [2, 2]


def test_gradients_of_many_functions_are_traced():
    functions = (
        lambda x: x.sum(), lambda x: (x**2).sum(), lambda x: (x**3).sum(), lambda x: (x**4).sum(),
        lambda x: (x**5).sum(), lambda x: (x**6).sum(), lambda x: (x**7).sum(), lambda x: (x**8).sum(),
    )  # fmt: skip
    x = np.array([1.0, 2.0])
    for n, f in enumerate(functions, 1):
        value_and_gradient = autoconv.value_and_grad(autoconv.compile(f))
        value, gradient = value_and_gradient(x)
        assert value == (x**n).sum()
        np.testing.assert_allclose(gradient, n * x ** (n - 1))
        assert "1 trace" in value_and_gradient.explain()
