"""`xs += …` and other in-place operators on a name change the object under its other names too."""

from __future__ import annotations

import pytest

import autoconv

PROGRAM = """
xs = [1]
ys = {1}
table = {1: 1}


class Box:
    pass


box = Box()
box.xs = [0]


def push(items, value):
    items += [value]


def local(n):
    items = xs
    items += [n]
    items *= 2
    return list(xs), items is xs


def attribute(n):
    items = box.xs
    for i in range(n):
        items += [i]
    return list(box.xs), items is box.xs


def sets(n):
    items = ys
    items |= {n, 7}
    items -= {1}
    return sorted(ys), items is ys


def parameter(n):
    push(xs, n)
    return list(xs)


def dicts(n):
    items = table
    items |= {n: n}
    return dict(table), items is table
"""


@pytest.mark.parametrize("name", ["local", "attribute", "sets", "parameter", "dicts"])
def test_the_change_shows_under_all_names(name, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    plain, compiled = ({"__name__": f"program_{kind}"} for kind in ("plain", "compiled"))
    for names in (plain, compiled):
        exec(compile(PROGRAM, str(path), "exec"), names)
    function = autoconv.compile(compiled[name])
    for n in (1, 2, 0):
        assert function(n) == plain[name](n)
    assert "plain Python" not in function.explain()


def test_under_function_the_list_stays_the_same_object():
    held = [1]

    @autoconv.function
    def program(x):
        items = held
        items += [1]
        return x * len(items)

    assert int(program(autoconv.constant(3))) == 6
    assert held == [1, 1]
