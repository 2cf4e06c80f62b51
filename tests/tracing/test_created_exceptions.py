"""Exceptions of classes with an own `__init__`: one graph, with results, attributes and links as in Python."""

from dataclasses import dataclass

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls


class BadInput(ValueError):
    def __init__(self, line, text):
        super().__init__(f"line {line}: {text}")
        self.line = line
        self.text = text


class BadValue(BadInput):
    def __init__(self, line, text, value=0):
        super().__init__(line, text)
        self.value = value


class NamedByClass(RuntimeError):
    def __init__(self, n):
        RuntimeError.__init__(self, "named", n)


class WithText(Exception):
    def __init__(self, code):
        self.code = code

    def __str__(self):
        return f"code {self.code}"


@dataclass
class Fields(Exception):
    code: int
    items: list


def check_line(n):
    if n > 2:
        raise BadInput(n, "too big")
    return n * 2


def describe(error):
    links = [link and describe(link) for link in (error.__cause__, error.__context__)]
    return type(error), error.args, vars(error), str(error), links, error.__suppress_context__


def check_raised(f, *arguments):
    """Compare what each call raises, with attributes and links, and require that one graph serves all calls."""
    compiled = ac.compile(f)
    for n in arguments * 2:
        with pytest.raises(Exception) as expected:
            f(n)
        with pytest.raises(Exception) as found:
            compiled(n)
        assert describe(found.value) == describe(expected.value)
        names = [[entry.name for entry in info.traceback][1:] for info in (found, expected)]
        assert [name for name in names[0] if name == f.__name__] == [name for name in names[1] if name == f.__name__]
    assert "plain Python" not in compiled.explain()


def test_caught_from_a_called_function():
    def f(n):
        total = 0
        for k in range(n):
            try:
                total += check_line(k)
            except BadInput as e:
                total += e.line * 10
        return total

    check_calls(f, (2,), (7,))


def test_attributes_arguments_and_text():
    def f(n):
        try:
            if n > 3:
                raise BadValue(n, "x", value=n + 1)
            raise WithText(n)
        except BadInput as e:
            return e.line, e.text, e.value, e.args, str(e), type(e) is BadValue
        except WithText as e:
            return str(e), e.code, e.args

    check_calls(f, (2,), (4,))


def test_handlers_that_change_and_store_it():
    def f(n):
        errors = []
        for k in range(n):
            try:
                check_line(k)
            except BadInput as e:
                e.line += 100
                errors.append(e)
        return [(e.line, e.args) for e in errors]

    check_calls(f, (2,), (7,))


def test_same_object_at_every_name():
    def f(n):
        error = BadInput(n, "kept")
        try:
            if n > 2:
                raise error
        except BadInput as e:
            e.line = 7
            return e is error, error.line
        return error.line

    check_calls(f, (1,), (4,))


def test_links():
    def from_cause(n):
        try:
            return 10 // (n - n)
        except ZeroDivisionError as e:
            raise BadInput(n, "zero") from e

    def context(n):
        try:
            return 10 // (n - n)
        except ZeroDivisionError:
            raise BadValue(n, f"{n:03d}")  # noqa: B904

    def no_context(n):
        try:
            return 10 // (n - n)
        except ZeroDivisionError:
            raise NamedByClass(n) from None

    def by_name(n):
        try:
            return 10 // (n - n)
        except ZeroDivisionError as e:
            error = WithText(n)
            error.original = e.args
            raise error from e

    for f in (from_cause, context, no_context, by_name):
        check_raised(f, 3, 4)


def test_fields_of_a_dataclass_are_new_in_each_call():
    def f(n):
        raise Fields(n, [n])

    check_raised(f, 3, 4)


def test_cause_of_a_stored_exception():
    def f(n):
        errors = []
        try:
            if n > 1:
                raise ValueError(n)
        except ValueError as e:
            errors.append(e)
        try:
            try:
                {n: 1}[n + 1]
            except KeyError as k:
                raise errors[0] from k
        except ValueError as raised:
            return repr(raised.__cause__), repr(raised.__context__), raised.__suppress_context__
        except IndexError:
            return 0

    check_calls(f, (1,), (2,), (5,))


class WithFieldsOfPython(OSError):
    def __init__(self, n):
        self.n = n


def test_an_exception_with_fields_of_python_in_a_list():
    def f(n):
        errors = []
        for k in range(n):
            errors.append(WithFieldsOfPython(k))
        return [error.n for error in errors]

    compiled = ac.compile(f)
    for n in (3, 5):
        assert compiled(n) == f(n)


def test_context_of_a_raise_in_a_nested_statement():
    def f(n, d):
        d["p"] = n
        try:
            raise ValueError("given", n)
        except ValueError:
            try:
                raise BadInput(n, "inner")
            except ArithmeticError:
                return 0

    def constant(n, d):
        d["p"] = n
        try:
            raise ValueError("given")
        except ValueError:
            raise BadInput(n, "inner")  # noqa: B904

    for program in (f, constant):
        compiled = ac.compile(program)
        for n in (1, 2, 3):
            with pytest.raises(BadInput) as expected:
                program(n, {})
            with pytest.raises(BadInput) as found:
                compiled(n, {})
            assert describe(found.value) == describe(expected.value)
