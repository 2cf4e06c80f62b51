"""Containers and objects that the body of a try creates and changes before it raises, as handlers see them."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import result_or_error


class Box:
    def __init__(self, n):
        self.n = n
        self.parts = [n]


class Manager:
    def __init__(self, depth, swallows):
        self.depth = depth
        self.swallows = swallows

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, kind, error, trace):
        self.depth -= 1
        return self.swallows


def a_dict(a, b):
    try:
        d = {"x": a}
        for i in range(b):
            d["x"] = 7 // (a - i) + d["x"]
            d["y"] = i
    except ZeroDivisionError:
        d["z"] = 4
    return d


def a_set(a, b):
    try:
        s = {1}
        while b > 0:
            b -= 1
            s.add(7 // (a - b))
            if b == 2:
                s.discard(1)
    except ZeroDivisionError:
        s.add(-10)
    return sorted(s)


def an_object_in_two_tries(a, b):
    r = []
    try:
        try:
            box = Box(a)
            box.n += 1
            box.parts.append(7 // a)
            box.parts.append(7 // b)
        except ZeroDivisionError:
            box.parts.append(-1)
            r.append(box.n)
            r.append(7 // (a - 3))
            box.n = 0
        else:
            box.n = 7 // (a - 6)
    except ZeroDivisionError:
        r.append("outer")
    r += box.parts
    r.append(box.n)
    return r


def an_object_of_two_names(a, b):
    try:
        box = alias = Box(a)
        box.parts[0] = 9
        box.n = 7 // a
        alias.n += 7 // b
    except ZeroDivisionError:
        alias.n += 10
    finally:
        box.parts.append(3)
    return box.n, alias.n, box.parts, box is alias


def managers(a, b):
    try:
        with Manager(a, False) as m, Manager(b, True) as m2:
            inner = [m]
            7 // a
            m.depth += 3
            inner.append(m2.depth)
            7 // b
            inner[0].depth += 8
    except ZeroDivisionError:
        m.depth += 1
    return m.depth, m2.depth, inner[1:]


def a_list_in_calls(a, b):
    def f(k):
        try:
            found = [k]
            for i in range(3):
                found.append(7 // (k - i))
            return found
        except ZeroDivisionError:
            found.append("no")
            return found
        finally:
            found.append("end")

    return f(a), f(b)


def lists_in_a_list(a, b):
    try:
        grid = [[a], [b]]
        grid[0].append(7 // a)
        grid[b % 2].append(7 // b)
    except ZeroDivisionError as e:
        grid.append([str(e)])
    return grid


def a_list_in_arms(a, b):
    try:
        found = [a]
        if a > 2:
            found.append(7 // b)
            found.append(3)
        elif 7 // a > 3:
            found[0] = 5
            7 // b
    except ZeroDivisionError:
        found.insert(0, "z")
    return found


def an_object_that_a_loop_changes(a, b):
    try:
        box = Box(a)
        for i in range(b):
            box.n = 7 // (a - i)
    except ZeroDivisionError:
        box.n += 50
    return box.n


def an_object_before_a_finally(a, b):
    try:
        box = Box(a)
        box.n = 7 // a
        7 // b
    except ZeroDivisionError:
        box.n += 10
    finally:
        box.parts.append(0)
    return box.n, box.parts


def a_list_that_a_loop_carries(a, b):
    items = [0, 5, b]
    with Manager(a, False) as manager:
        items = [a // 5, a]
        count = 2
        while count:
            count -= 1
            if (a + manager.depth) not in (1, 2, count):
                raise ValueError(manager.depth)
    return items


def an_object_before_a_finally_that_is_left(a, b):
    box = Box(a)
    if a > 1:
        try:
            box = Box(a - 1)
            items = [b, 5]
        finally:
            if a > b:
                b = max(1, b)
            elif b > 3 and a > 0:
                return 8
        box.n += len(items)
    return box.n, b


def an_object_replaced_in_the_body(a, b):
    box = Box(a)
    try:
        for i in range(b):
            if box.n:
                box = Box(i - 2)
                box.n += 12 // (i - a)
            else:
                box = Box(3)
                box.n = y + 1
    except ZeroDivisionError:
        box.n += 100
    except NameError:
        pass
    return box.n


def an_object_replaced_after_the_try(a, b):
    box, table = Box(a), {"p": a}
    try:
        pass
    except ValueError:
        table["q"] = 2
    else:
        while b:
            b -= 1
            a = table["p"] % 100
            box = Box(5 + b)
    finally:
        alias = box
    return alias.n, a, box is alias


PROGRAMS = [
    a_dict, a_set, an_object_in_two_tries, an_object_of_two_names, managers, a_list_in_calls, lists_in_a_list,
    a_list_in_arms, an_object_that_a_loop_changes, an_object_before_a_finally,
    an_object_before_a_finally_that_is_left, a_list_that_a_loop_carries,
    an_object_replaced_in_the_body, an_object_replaced_after_the_try,
]  # fmt: skip
INPUTS = [(1, 2), (5, 1), (0, 3), (0, 0), (3, 0), (6, 6), (-1, 1), (2, 2)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.search
def test_handlers_see_changes_of_the_body(program):
    compiled = autoconv.compile(program)
    for arguments in INPUTS:
        assert result_or_error(compiled, *arguments) == result_or_error(program, *arguments), arguments
    assert compiled.experimental_get_tracing_count() == 1
    assert "plain Python" not in compiled.explain()


def an_array_in_a_manager(n, x):
    found, grid = 1, [[1, n], 2, 0]
    with Manager(n, True):
        for _, _ in [(1, n), n]:
            grid[n - 1][1] += 2
            found = x
    return found


def an_array_that_the_handler_changes(n, x):
    found, grid = 1, [0, [1, 2], [3, 4]]
    try:
        for k in (0, 1, 2):
            found = x
            x[1] = 7
            grid[n + k][1] += 1
    except (IndexError, TypeError):
        if n > -9:
            found[0] = 9
    return found, x[0] + x[1]


def views_in_turn(n, x):
    found, grid, view = 1, [0, [1, 2], [3, 4]], x
    try:
        for k in (0, 1, 2):
            found, view = view, x[::-1]
            view[2] += k
            grid[n + k][1] += 1
    except TypeError:
        view = found
        view[1] = 99
        x[0] += 1
    except IndexError:
        pass
    return found, view


@pytest.mark.parametrize("program", [an_array_in_a_manager, an_array_that_the_handler_changes, views_in_turn])
def test_handlers_see_the_array_itself(program):
    compiled = autoconv.compile(program)

    def seen(function, n):
        x = np.arange(3)
        result = result_or_error(function, n, x)
        parts = result if type(result) is tuple else (result,)
        sharing = [(part is x, isinstance(part, np.ndarray) and np.shares_memory(part, x)) for part in parts]
        return repr(result), sharing, x.tolist()

    for n in (1, 2, 0, -2, 1, -1, -3):
        assert seen(compiled, n) == seen(program, n), n
    assert "plain Python" not in compiled.explain()
