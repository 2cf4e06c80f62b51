"""RuntimeWarnings of NumPy: a compiled function warns where plain NumPy does, with its text, file and line."""

import contextlib
import itertools
import sys
import warnings

import numpy as np
import pytest

import autoconv
from autoconv.config import SETTINGS


@pytest.fixture(autouse=True)
def graphs(monkeypatch):
    monkeypatch.setattr(SETTINGS, "tiers", "native")


def results_and_warnings(function, *arguments, action="always"):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        value = function(*arguments)
    return value, {(str(item.message), item.category, item.filename, item.lineno) for item in found}


def quotient(x):
    return 1 / x + 1


def logarithm(x):
    return np.log(x) + 1


def exponential(x):
    return np.exp(x) * 2


def difference(x):
    return x - x


def power(x):
    return x**1000.0


def accumulated(x):
    total = 0.0
    for i in range(len(x)):
        total += 1 / x[i]
    return total


def filled(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] / 0.0
    return y


def text(x):
    return f"{1 / x}", str(np.sqrt(x))


def percentile(x):
    return np.percentile(np.log(x), 30), np.nanvar(x / x), np.average(1 / x)


PROGRAMS = [quotient, logarithm, exponential, difference, power, np.sqrt, accumulated, filled, text, percentile]
ROWS = [[1.0, 2, 3], [1, 0, 2], [-1, 1, 2], [800, 1e200, np.inf], [1, 2, 3], [0, 0, 0], [np.nan, 1, 2], [1, 0, 2]]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize(("size", "backend"), [(3, "llvm"), (300, "llvm"), (3, "reference")])
def test_warnings_are_those_of_numpy(program, size, backend, monkeypatch):
    monkeypatch.setattr(SETTINGS, "backend", backend)

    def plain(x):
        return program(x)

    compiled = autoconv.compile(plain)
    expected_texts = set()
    for row in ROWS:
        x = np.resize(np.array(row, float), size)
        expected, found = results_and_warnings(plain, x), results_and_warnings(compiled, x)
        if program is text:
            assert found[0] == expected[0]
        else:
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        assert found[1] == expected[1]
        expected_texts |= expected[1]
    assert expected_texts and "1 trace" in compiled.explain()


def test_threads_of_a_loop_raise_flags_too():
    x = np.ones(2_000_000)
    compiled = autoconv.compile(quotient)
    assert not results_and_warnings(compiled, x)[1]
    x[-1] = 0
    assert results_and_warnings(compiled, x)[1] == results_and_warnings(quotient, x)[1] != set()


def test_filters_of_errors_make_exceptions():
    compiled = autoconv.compile(quotient)
    compiled(np.array([1.0, 2]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="divide by zero encountered in divide"):
            compiled(np.array([1.0, 0]))
        assert compiled(np.array([1.0, 0.5])).tolist() == [2, 3]
        with np.errstate(divide="ignore"):
            assert compiled(np.array([1.0, 0])).tolist() == [2, np.inf]


def test_errstate_in_the_function_ignores():
    @autoconv.compile
    def guarded(x):
        with np.errstate(divide="ignore"):
            return 1 / x

    assert not results_and_warnings(guarded, np.array([1.0, 0]))[1]
    assert not results_and_warnings(guarded, np.array([1.0, 0]))[1]


def test_calls_without_warnings_run_no_python_code():
    compiled = autoconv.compile(quotient)
    x, frames = np.array([1.0, 0]), []
    with np.errstate(divide="ignore"):
        for _ in range(8):
            compiled(x)
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, _: frames.append(frame.f_code.co_name) if event == "call" else None)
        try:
            compiled(x)
        finally:
            sys.setprofile(before)
    assert not frames
    for program in (quotient, difference):
        compiled, changed = autoconv.compile(program), np.array([np.inf, 0])
        with np.errstate(divide="ignore"):
            for _ in range(8):
                assert results_and_warnings(compiled, changed)[1] == results_and_warnings(program, changed)[1]
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in subtract"):
        compiled(changed)


def test_flags_of_the_program_before_the_call_do_not_count():
    compiled = autoconv.compile(quotient)
    x, zeros = np.array([1.0, 2]), np.zeros(2)
    for _ in range(3):
        with np.errstate(all="ignore"):
            zeros / zeros
        assert not results_and_warnings(compiled, x)[1]


def test_a_warning_that_is_shown_once_costs_few_plain_runs():
    compiled, runs = autoconv.compile(quotient), []
    x = np.array([1.0, 0])
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("default")
        compiled(x)
        compiled.python_function = lambda *given: runs.append(1) or quotient(*given)
        for _ in range(1000):
            compiled(x)
    assert 4 < len(runs) < 16


class Counter:
    def __init__(self):
        self.calls, self.items, self.table, self.array = 0, [], {}, np.zeros(2)


CHANGES = {
    "attribute": lambda counter: setattr(counter, "calls", counter.calls + 1),
    "list": lambda counter: counter.items.append(1),
    "dict": lambda counter: counter.table.update({len(counter.table): 1}),
    "array": lambda counter: np.add(counter.array, 1, out=counter.array),
    "print": lambda counter: print("called"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_side_effects_happen_once(change, capsys):
    """A call that warns is undone and runs again as plain Python."""
    states, warning_texts = [], []
    for decorate in (lambda function: function, autoconv.compile):
        counter, act = Counter(), CHANGES[change]

        def function(x):
            act(counter)  # noqa: B023
            return 1 / x

        called = decorate(function)
        for _ in range(3):
            warning_texts.append({text for text, *_ in results_and_warnings(called, np.array([1.0, 0]))[1]})
        state = {name: np.asarray(value).tolist() for name, value in vars(counter).items()}
        states.append((state, capsys.readouterr().out))
    assert states[0] == states[1]
    assert warning_texts == [{"divide by zero encountered in divide"}] * 6


def test_a_warning_after_many_calls_without_comes_one_call_late():
    @autoconv.compile
    def inverted(x):
        x[:] = 1 / x

    found = [len(results_and_warnings(inverted, np.array([1.0, last]))[1]) for last in [1.0] * 20 + [0.0] * 3]
    assert found == [0] * 21 + [1] * 2


def test_warnings_of_calls_that_end_with_an_error_after_a_change():
    def changed(x, n):
        x[0] += 1
        z = 1 / (x - 1)
        x[1:] = z[1:]
        return x[n]

    def raising(x, n):
        x += 1
        if 1 / (x[1] - 2) > n - 3:
            raise ValueError("large")
        return x

    for function in (changed, raising):
        found = []
        for called in (function, autoconv.compile(function)):
            messages = []
            for last, n in [(2.0, 1)] * 9 + [(1.0, 5)] * 4:
                with warnings.catch_warnings(record=True) as shown, contextlib.suppress(IndexError, ValueError):
                    warnings.simplefilter("always")
                    called(np.array([1.0, last]), n)
                messages.append([str(item.message) for item in shown])
            found.append(messages)
        del found[0][9], found[1][9]  # the first after many without
        assert found[0] == found[1] and found[0][-1]


def test_warnings_of_a_number_stored_into_no_elements():
    def stored(x, n):
        x[n:2] = x[0] / x[1]
        x[5:] = np.sqrt(-x[2])
        return x

    compiled = autoconv.compile(stored)
    for n in (2, 3, 0, 2):
        expected, found = (results_and_warnings(f, np.array([1.0, 0.0, 3.0]), n) for f in (stored, compiled))
        assert found[0].tolist() == expected[0].tolist() and found[1] == expected[1] and found[1]


def last_of_sum(x):
    total = x[0]
    for i in range(1, len(x)):
        total = total + x[i]
    return total


def stored(x):
    found = np.zeros(len(x), int)
    found[:] = x
    return found


INTEGERS = {
    "floor_divide": (lambda x: x // 0, [1, 2], "int64"),
    "remainder": (lambda x: x % x[::-1], [0, 3], "int32"),
    "wraps": (lambda x: x // -1, [-128, 3], "int8"),
    "divmod": (lambda x: divmod(x, x), [0, 3], "uint8"),
    "scalar divide": (lambda x: x[1] // x[0], [0, 3], "int64"),
    "scalar add": (lambda x: x[0] + x[1], [100, 100], "int8"),
    "scalar subtract": (lambda x: x[0] - x[1], [1, 2], "uint8"),
    "scalar multiply": (lambda x: x[0] * x[1], [2**62, 2], "int64"),
    "scalar negative": (lambda x: -x[0], [-128, 2], "int8"),
    "scalar absolute": (lambda x: abs(x[0]), [-128, 2], "int8"),
    "sum": (last_of_sum, [2**62, 2**62, 5], "int64"),
    "short sum": (last_of_sum, [2**30, 2**30, 5], "int32"),
    "cast": (lambda x: x.astype(np.int8), [1e20, 2], "float64"),
    "cast of nan": (lambda x: x.astype(np.int64), [np.nan, 2], "float32"),
    "store": (stored, [1e20, 2], "float64"),
    "maximum of nans": (lambda x: np.nanmax(x), [np.nan, np.nan], "float64"),
}  # fmt: skip


@pytest.mark.parametrize("case", INTEGERS)
def test_errors_of_integers(case):
    function, row, dtype = INTEGERS[case]
    x = np.array(row, dtype)
    compiled = autoconv.compile(function)
    for _ in range(3):
        expected, found = results_and_warnings(function, x), results_and_warnings(compiled, x)
        assert str(found[0]) == str(expected[0]) and found[1] == expected[1] != set()
    harmless = np.array([3, 2, 1][: len(x)], dtype)
    assert results_and_warnings(compiled, harmless)[1] == results_and_warnings(function, harmless)[1]
    assert "1 trace" in compiled.explain()


def sums_with_known_signs(x):
    """Loop counters have known signs, so that each sum has operands of another combination of signs."""
    x, y = x[0], x[1]
    for k in range(2, 5):
        first, second, third = x + k, x - k, k - y
        fourth, fifth, sixth = x - (-k), (-k) - y, -k + x
        last = x + y, x - y, x + 3, x - 3, 3 - y, -3 - y
    return first, second, third, fourth, fifth, sixth, *last


def test_overflow_by_each_combination_of_signs():
    compiled = autoconv.compile(sums_with_known_signs)
    least, most = -(2**63), 2**63 - 1
    for x, y in itertools.product((least, least + 3, -1, 0, 2, most - 3, most), repeat=2):
        expected, found = (results_and_warnings(f, np.array([x, y])) for f in (sums_with_known_signs, compiled))
        assert found[0] == expected[0] and found[1] == expected[1], (x, y)


def test_gradients_are_those_of_the_trace():
    def volume(x):
        return np.sum(1 / x + np.log(x))

    compiled = autoconv.compile(volume)
    for row in ([1.0, 2.0], [0.0, 2.0], [4.0, 5.0]):
        x = np.array(row)
        with np.errstate(all="ignore"):
            expected = 1 / x - 1 / x**2
        np.testing.assert_allclose(np.asarray(autoconv.grad(compiled)(x)), expected, rtol=1e-12)


def test_tracing_gives_no_warnings():
    def f(x):
        return np.median(x[:0]), np.mean(x[:0]), np.std(x, ddof=3), x[:1].var(ddof=1)

    compiled = autoconv.compile(f)
    for _ in range(2):
        found = []
        for function in (f, compiled):
            with warnings.catch_warnings(record=True) as messages:
                warnings.simplefilter("always")
                function(np.ones(3))
            found.append([str(item.message) for item in messages])
        assert found[0] == found[1]


@pytest.mark.parametrize(
    "function", [lambda x: np.nanmedian(x), lambda x: np.nanvar(x, ddof=1), lambda x: np.nanmax(x) + 1.0]
)
def test_warnings_by_python_are_given_once_at_the_line_of_the_program(function):
    compiled = autoconv.compile(function)
    nans = np.full(3, np.nan)
    with warnings.catch_warnings(record=True) as expected:
        warnings.simplefilter("always")
        function(nans)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            compiled(nans)
        assert [(str(item.message), item.filename, item.lineno) for item in found] == [
            (str(item.message), item.filename, item.lineno) for item in expected
        ]


@pytest.mark.optimised
@pytest.mark.parametrize("function", [np.log, np.log2, np.log10])
@pytest.mark.parametrize("operand", [lambda x: x, lambda x: abs(x), lambda x: x > 1, lambda x: np.sqrt(x)])
def test_logarithms_of_zero_where_no_number_is_negative(function, operand):
    def program(x):
        return function(operand(x))

    compiled = autoconv.compile(program)
    for dtype in (np.uint8, np.float64):
        expected, found = (results_and_warnings(f, np.arange(20, dtype=dtype)) for f in (program, compiled))
        assert len(found[1]) == 1 and found[1] == expected[1]
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-3 if found[0].dtype == np.float16 else 1e-12)
