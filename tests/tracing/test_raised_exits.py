"""Exceptions such as SystemExit that are no errors, and attributes of exceptions besides their arguments."""

import signal
import sys

import pytest

import autoconv
from autoconv.config import SETTINGS


class Stop(BaseException):
    pass


def exits(x):
    if x > 3:
        sys.exit(x * 2)
    if x > 2:
        sys.exit()
    if x > 1:
        raise SystemExit("text")
    return x


def stops_in_loop(x):
    total = 0
    for i in range(10):
        if i * x > 20:
            raise Stop(total, "far")
        total += i
    return total


def catches(x):
    try:
        if x > 3:
            raise Stop("far")
        if x > 2:
            raise KeyboardInterrupt
        if x > 1:
            sys.exit(5)
        y = x * 2
    except KeyboardInterrupt:
        y = -1
    except SystemExit as error:
        y = error.code
    except BaseException as error:
        y = str(error)
    return y


def passes_by(x):
    try:
        if x > 3:
            raise Stop("far")
        y = x * 2
    except Exception:
        y = -1
    finally:
        print("finally", x)
    return y


def lacks(x):
    if x > 3:
        raise ImportError("no module", name="the_module", path="there")
    if x > 2:
        raise StopIteration(12)
    if x > 1:
        raise SyntaxError("bad", ("file.py", 3, 4, "text"))
    if x > 0:
        raise FileNotFoundError(2, "gone", "name")
    raise AttributeError("none", name="one", obj=3)


class Manager:
    def __enter__(self):
        return self

    def __exit__(self, error_class, error, traceback):
        print("leaves by", error_class.__name__)


def always_exits(x):
    sys.exit(x + 3)


def always_caught(x):
    try:
        with Manager():
            raise KeyboardInterrupt(x)
    except BaseException as error:
        return error.args


def exits_by_two_ways(x):
    try:
        sys.exit(x)
    except SystemExit as error:
        try:
            raise KeyboardInterrupt from error
        finally:
            print("finally", x)


ATTRIBUTES = ("args", "msg", "name", "path", "value", "code", "errno", "filename", "lineno", "offset", "text", "obj")


def outcome(function, *args):
    try:
        return "gives", function(*args)
    except BaseException as error:
        attributes = {name: getattr(error, name) for name in ATTRIBUTES if hasattr(error, name)}
        return type(error), str(error), attributes


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize(
    "function", [exits, stops_in_loop, catches, passes_by, lacks, always_exits, always_caught, exits_by_two_ways]
)
def test_raised_exceptions_are_those_of_python(function, backend, monkeypatch, capsys):
    monkeypatch.setattr(SETTINGS, "backend", backend)
    compiled = autoconv.compile(function)
    for x in (0, 1, 2, 3, 4, 5):
        expected = outcome(function, x), capsys.readouterr()
        assert (outcome(compiled, x), capsys.readouterr()) == expected
    assert "plain Python" not in compiled.explain()
    assert compiled.explain().startswith(f"{function.__name__}: 1 trace\n")


def test_an_untaken_exit_under_function():
    @autoconv.function
    def f(x):
        if x > 3:
            sys.exit(x * 2)
        return x

    assert f(autoconv.constant(1)) == 1
    with pytest.raises(SystemExit) as caught:
        f(autoconv.constant(4))
    assert caught.value.code == 8


class Box:
    def __init__(self, n, m=1):
        self.n = n

    def __call__(self, k):
        return self.n - k


def two_kinds_of_boxes(a, b):
    box = Box(a)
    try:
        pass
    except ValueError:
        pass
    else:
        while b > 0:
            b = b - 1
            box = Box(5)
    finally:
        found = box(1)
    return found


def test_refusals_of_staging_are_not_caught_by_the_program():
    compiled = autoconv.compile(two_kinds_of_boxes)
    for a, b in ((4, 2), (7, 0)):
        assert compiled(a, b) == two_kinds_of_boxes(a, b)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_exceptions_of_signal_handlers_are_not_staged():
    class Alarm(BaseException):
        pass

    def ring(*_):
        raise Alarm

    def waits(x):
        if x > 3:
            for _ in range(100_000_000):  # of Python's own, while the arm is traced
                pass
        return x

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm):
            autoconv.function(waits)(autoconv.constant(1))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
