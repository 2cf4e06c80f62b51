"""`type`, unary plus, `%` of texts and `yield from` under trace, against plain Python."""

# ruff: noqa: E721, F507, UP031 - the programs are meant as they are written

import numpy as np

from tests.tracing.plain_comparison import check_against_plain


def kinds(xs):
    type_texts = {list: "a list", dict: "a dict", set: "a set"}.get(type(xs), "something else")
    return type_texts, type([]) is list, type({}) == type(xs), type(set()) is set, type([xs]) is list


def of_an_array(a):
    return type(a.tolist()) is list, type(a.tolist()).__name__


def test_the_types_of_containers():
    for argument in ([], {}, set(), [1, 2], {"a": 1}, 3):
        check_against_plain(kinds, (argument,))
    check_against_plain(of_an_array, (np.array([]),), (np.ones(3),))


def positive(x):
    return +x, +(x > 1), +-x


def test_a_bool_with_a_sign_is_an_int():
    check_against_plain(positive, (True,), (2,), (0.5,))
    check_against_plain(lambda x: [+(x > 1), +x], (3,), (np.float64(2.0),), (np.array([True]),))


def template(n):
    return "total" % n


def test_a_template_without_placeholders():
    check_against_plain(template, (3,), (2.5,), ((),), ({},))


def delegated(n):
    def inner(k):
        yield k
        return "r" * k

    def outer():
        found = yield from inner(n)
        yield found
        yield from inner(n + 1)

    seen = []
    for x in outer():
        seen.append(x)
    return list(outer()), seen


def test_the_result_of_an_inner_generator():
    check_against_plain(delegated, (1,), (3,))


def endless(n):
    def values():
        numbers = iter([1, 2])
        while True:
            yield next(numbers) * n

    return list(values())


def test_a_generator_that_an_iterator_ends():
    check_against_plain(endless, (1,))
