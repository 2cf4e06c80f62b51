"""Objects known only at run time are of other classes than the objects that the trace itself creates."""

from __future__ import annotations

import autoconv as ac


class Box:
    def __init__(self, n):
        self.n = n

    def __setitem__(self, k, value):
        self.n = k + value


BOXES = [Box(1), Box(2)]


def with_a_new_box(q, i, x):
    box = Box(x)
    q[i % 2][0] = x
    return box.n + i


def with_an_outer_box(q, i, x):
    BOXES[i % 2][0] = x
    return BOXES[0].n + x


def test_a_class_whose_objects_the_trace_makes_refuses_nothing():
    compiled = ac.compile(with_a_new_box)
    for i, x in ((0, 1.5), (1, 2.5), (2, 0.5)):
        compiled_items, plain_items = [[1, "a"], {0: None}], [[1, "a"], {0: None}]
        assert compiled(compiled_items, i, x) == with_a_new_box(plain_items, i, x)
        assert compiled_items == plain_items
    assert "may be a Box" not in str(compiled.explain())


def test_items_are_assigned_to_outer_objects_as_in_python():
    compiled = ac.compile(with_an_outer_box)
    for i, x in ((0, 1.5), (1, 2.5), (2, 0.5), (1, 3.5)):
        for box in BOXES:
            box.n = 1
        expected = with_an_outer_box([], i, x), [box.n for box in BOXES]
        for box in BOXES:
            box.n = 1
        assert (compiled([], i, x), [box.n for box in BOXES]) == expected


def test_a_box_in_an_argument_beside_a_new_one():
    compiled = ac.compile(with_a_new_box)
    for i, x in ((0, 1.5), (1, 2.5), (2, 0.5)):
        compiled_boxes, plain_boxes = [Box(1), Box(2)], [Box(1), Box(2)]
        assert compiled(compiled_boxes, i, x) == with_a_new_box(plain_boxes, i, x)
        assert [box.n for box in compiled_boxes] == [box.n for box in plain_boxes]
