"""Functions and classes that a program creates have plain Python's names, throughout a trace."""

import functools

import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)

    return wrapper


def maker(k):
    def inner():
        return k

    return inner


class Owner:
    def makes(self, k):
        return (lambda: k).__qualname__


def a_lambda(k):
    function = lambda: k
    return function.__qualname__, function.__name__, k + 1


def classes(k):
    class Made:
        def method(self):
            return k

        class Inner:
            pass

    names = Made.__qualname__, Made.method.__qualname__, Made.Inner.__qualname__
    return names, str(Made), repr(Made()).split(" at ")[0]


def decorated(k):
    @wrapped
    def made():
        return k

    return made.__qualname__, k


def of_another_function(k):
    function = maker(k)
    return function.__qualname__, function.__code__.co_qualname, repr(function).split(" at ")[0], k


def of_a_method(k):
    return Owner().makes(k), k


def in_a_loop(k):
    found = []
    for _ in range(k):

        def made():
            class Deep:
                pass

            return Deep.__qualname__

        if k > 1:
            found.append((made.__qualname__, made(), (lambda: 1).__qualname__))
    return found


def declared_global(k):
    global made_here

    def made_here():
        pass

    return made_here.__qualname__, k


def in_a_message(k):
    def made(a):
        return a

    return made(), k


PROGRAMS = [
    a_lambda, classes, decorated, of_another_function, of_a_method, in_a_loop, declared_global, in_a_message,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_names_are_those_of_plain_python(program):
    compiled = autoconv.compile(program)
    for k in (2, 0, 3):
        assert repr(result_or_error(compiled, k)) == repr(result_or_error(program, k))


class Registry:
    def __init__(self):
        self.known = {}

    def add(self, name, function):
        self.known[name] = lambda *arguments: function(self, *arguments)

    def method(self):
        return self


def a_function_in_a_dict(k):
    registry = Registry()
    registry.add("a", lambda it, *_: it)
    return registry


def a_method_in_a_list(k):
    registry = Registry()
    registry.known["a"] = [registry.method]
    return registry


def a_function_as_a_key(k):
    return {lambda: k}, {(lambda: k): [functools.partial(maker, k)]}


@pytest.mark.parametrize("program", [a_function_in_a_dict, a_method_in_a_list])
def test_functions_stored_in_an_object(program):
    compiled = autoconv.compile(program)
    for k in (1, 2, 1):
        found = compiled(k)
        stored = found.known["a"]
        assert (stored() if callable(stored) else stored[0]()) is found


def test_functions_in_sets_and_keys_are_new_ones_in_each_call():
    compiled = autoconv.compile(a_function_as_a_key)
    found = [compiled(k) for k in (1, 2)]
    assert [next(iter(functions))() for functions, _ in found] == [1, 2]
    assert [next(iter(functions))() for _, functions in found] == [1, 2]


def test_a_tuple_of_functions_that_is_stored_is_of_its_call():
    @autoconv.compile
    def keep(holder, k):
        holder.known = (lambda: k, (lambda: k,))

    holders = [Registry() for _ in range(3)]
    for k, holder in enumerate(holders):
        keep(holder, k)
    assert [(holder.known[0](), holder.known[1][0]()) for holder in holders] == [(0, 0), (1, 1), (2, 2)]
