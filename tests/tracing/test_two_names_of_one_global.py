"""A list, dict or set that several global names reach: what is written by one is read by another."""

from __future__ import annotations

import pytest

import autoconv


class Box:
    pass


NAMES = {"grown": "xs.append(i)", "bound": "xs += [i]"}
PROGRAM = """
xs = [1]
ys = xs
box = Box()
box.xs = xs
table = {{"xs": xs}}


def program(n):
    global xs
    for i in range(n):
        {change}
    return len(ys), ys[-1], len(box.xs), len(table["xs"]), ys is xs, sum(ys)
"""


@pytest.mark.parametrize("how", NAMES)
def test_the_change_shows_under_every_name(how, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(change=NAMES[how]))
    plain, compiled = ({"Box": Box, "__name__": f"program_{kind}"} for kind in ("plain", "compiled"))
    for names in (plain, compiled):
        exec(compile(path.read_text(), str(path), "exec"), names)
    function = autoconv.compile(compiled["program"])
    for n in (1, 3, 0, 2):
        assert function(n) == plain["program"](n)
    assert function.experimental_get_tracing_count() == 1
    assert "plain Python" not in function.explain()


def test_keys_of_a_display_are_not_compared():
    class Key:
        def __eq__(self, other):
            raise AssertionError("keys that differ in their hashes are not compared")

        def __hash__(self):
            return id(self)

    def program(n):
        table = {Key(): n, n: 1}
        return len(table)

    assert autoconv.autograph.to_graph(program)(3) == 2
