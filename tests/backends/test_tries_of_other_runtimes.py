"""Tries in StableHLO and ONNX: handlers catch errors of their classes; other errors set the error word."""

import numpy as np
import pytest

import autoconv as ac
from autoconv.backends.portable import GraphUnfit
from tests.backends.portable_samples import run_module
from tests.clibrary.test_tries import counted, filled, largest, of_maths, quotients, short, too_large, uncaught


class ModelError(Exception):
    """An error word, by the place that it stands for."""


def by_xla(function, *specs):
    pytest.importorskip("jaxlib")
    module = ac.stablehlo.export(function, *specs, contract="compile")

    def run(*arguments):
        results, word = run_module(module, [np.asarray(x) for x in arguments])
        if word:
            raise ModelError(module.places[word - 1])
        return results[0]

    return run


def by_onnx(function, *specs):
    pytest.importorskip("onnxruntime")
    call = ac.onnx.load(ac.onnx.export(function, *specs, contract="compile"))

    def run(*arguments):
        try:
            results = call(*arguments)
        except ac.errors.InvalidArgumentError as error:
            raise ModelError(str(error)) from None
        return results[0] if isinstance(results, tuple) else results

    return run


RUNTIMES = pytest.mark.parametrize("load", [by_xla, by_onnx])


def mean_of_inverses(numbers):
    total, skipped = 0.0, 0
    for x in numbers:
        try:
            total += 1.0 / int(x)
        except ZeroDivisionError:
            skipped += 1
    if skipped == len(numbers):
        raise ValueError("zeros only")
    return total / (len(numbers) - skipped)


def stores(x, i):
    y = x.copy()
    try:
        y[0] = 5.0
        v = x[i]
        y[1] = v
        if v > 3:
            raise ValueError("large")
    except IndexError:
        y[2] = -1.0
    except ValueError:
        y[2] = -2.0
    finally:
        y[0] += 1
    return y


def of_a_loop(x, limit):
    total = 0.0
    try:
        for i in range(len(x)):
            total += x[i]
            assert total < limit
        total = -total
    except AssertionError:
        pass
    return total


def of_an_array(x, i):
    y = x
    try:
        y = x * 2.0
        return y[i]
    except IndexError:
        return y[0]


CASES = [
    (of_an_array, ["float64[3]", "int64[]"], [(np.arange(1.0, 4.0), i) for i in (2, -1, 5)]),
    (mean_of_inverses, ["float64[4]"], [(np.array([1.0, 0.0, 2.0, 4.0]),), (np.ones(4),)]),
    (stores, ["float64[4]", "int64[]"], [(np.arange(4.0) * 2, i) for i in (0, 1, 2, 4, -5)]),
    (of_a_loop, ["float64[4]", "float64[]"], [(np.arange(4.0), limit) for limit in (0.0, 3.0, 6.0, 7.0)]),
    (quotients, ["int64[] int64[]"], [(0, 0), (3, 1), (5, 9), (40, 7), (60, 59)]),
    (of_maths, ["float64[] int64[]"], [(4.0, 1), (-1.0, 1), (1000.0, 2), (4.0, -1)]),
]  # fmt: skip


@RUNTIMES
@pytest.mark.parametrize("function, specs, cases", CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_handlers(load, function, specs, cases):
    call = load(function, *specs)
    for arguments in cases:
        np.testing.assert_allclose(call(*arguments), function(*arguments), rtol=1e-15)


@RUNTIMES
def test_errors_without_a_handler_have_their_line(load):
    call = load(uncaught, "int64[] int64[]")
    assert call(7, 2) == 3
    with pytest.raises(ModelError, match=rf"test_tries\.py:{uncaught.__code__.co_firstlineno + 2}"):
        call(7, 0)


@RUNTIMES
def test_numbers_beyond_64_bits_are_no_errors_of_the_program(load):
    call = load(too_large, "int64[] int64[]")
    assert call(2**31, 2**31) == 2**62
    with pytest.raises(ModelError, match="multiply"):
        call(2**32, 2**32)


def test_positions_in_arrays_of_any_size():
    call = by_onnx(short, "float64[n]")
    for size in (4, 7):
        assert call(np.arange(float(size))) == short(np.arange(float(size)))


def test_sizes_that_the_program_computes():
    for function, specs, calls in (
        (filled, "int64[]", [(3,), (0,), (-1,)]),
        (counted, "int64[] int64[]", [(7, 2), (7, 0), (7, -1)]),
        (largest, "int64[]", [(3,), (0,), (-1,)]),
    ):
        call = by_onnx(function, specs)
        for arguments in calls:
            assert call(*arguments) == function(*arguments), (function, arguments)


def of_a_list(x, i):
    taken = []
    try:
        taken.append(x)
        return taken[i]
    except IndexError:
        return taken[0] * 2.0


def test_what_has_no_form_is_refused_with_its_line():
    with pytest.raises((GraphUnfit, ac.errors.AutoconvError)) as caught:
        ac.stablehlo.export(of_a_list, "float64[3] int64[]", contract="compile")
    assert "test_tries_of_other_runtimes.py" in str(caught.value)
