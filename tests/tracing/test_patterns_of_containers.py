"""Patterns over lists and dicts that the program makes are staged, as reads of these have no effects."""

import pytest

import autoconv as ac


def list_display(i, j):
    match [i, j]:
        case [a, b] as whole if a > b:
            return a, whole
        case [a, *rest]:
            rest.append(a)
            return 2 * a, rest


def list_of_either_length(i, j):
    numbers = [i] if i > j else [i, j]
    match numbers:
        case [a, b] if a > b:
            return a
        case [a, *_]:
            return 2 * a


def list_that_a_loop_extends(i, n):
    numbers = []
    for k in range(n):
        numbers.append(i * k)
    total = 0
    for _ in range(2):
        match numbers:
            case []:
                total += 100
            case [a]:
                total += a
            case [a, *_, b]:
                total += a - b
                numbers.pop()
    return total, numbers


def nested_containers(i, j):
    match [i, [j, {"k": i}]]:
        case [a, [b, {"k": c}] as inner] if a > b:
            return a + c, inner
        case [a, [b, _]]:
            return a * b


def dict_of_either_form(i, j):
    table = {"k": i} if i > j else {"z": j, "k": 3}
    match table:
        case {"z": z, **rest}:
            return z, rest
        case {"k": k}:
            return k


PROGRAMS = [list_display, list_of_either_length, list_that_a_loop_extends, nested_containers, dict_of_either_form]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_patterns_of_containers_are_staged(program):
    compiled = ac.compile(program)
    for arguments in ((1, 2), (5, 2), (3, 0), (4, 1), (-2, 5)):
        assert repr(compiled(*arguments)) == repr(program(*arguments)), arguments
    assert "plain Python" not in compiled.explain(), compiled.explain()
