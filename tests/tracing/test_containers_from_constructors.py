"""Lists and dicts from constructors and libraries, rather than displays, changed in branches that a tensor decides."""

# ruff: noqa: C406, C408, C410, C417

from __future__ import annotations

import json
from collections import OrderedDict

import pytest

import autoconv as tf


class Table(dict):
    """A subclass of dict without methods."""


class Row(list):
    """A subclass of list without methods."""


DICTS = {
    "dict": lambda x: dict(z=x, a=x),
    "pairs": lambda x: dict([("z", x), ("a", x)]),
    "zip": lambda x: dict(zip("za", (x, x), strict=True)),
    "fromkeys": lambda x: dict.fromkeys("za", x),
    "ordered": lambda x: OrderedDict(z=x, a=x),
    "subclass": lambda x: Table(z=x, a=x),
}
LISTS = {
    "list": lambda x: list((x, x)),
    "map": lambda x: list(map(lambda item: item, (x, x))),
    "subclass": lambda x: Row((x, x)),
    "library": lambda x: [x, *json.loads("[1]")],
}


@pytest.mark.parametrize("decorate", [tf.function, tf.compile])
@pytest.mark.parametrize("make", DICTS.values(), ids=DICTS)
def test_dicts_in_a_branch(make, decorate):
    @decorate
    def changed(x, n):
        d = make(x)
        if n > 1:
            d["z"] = d["z"] + 7
        return d, d["z"]

    for n, expected in ((4, 12), (0, 5)):
        found, item = changed(tf.constant(5), tf.constant(n))
        assert (int(found["z"]), int(found["a"]), int(item)) == (expected, 5, expected)
        assert list(found) == ["z", "a"]


@pytest.mark.parametrize("decorate", [tf.function, tf.compile])
@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_lists_in_a_branch(make, decorate):
    @decorate
    def changed(x, n):
        values = make(x)
        if n > 1:
            values[0] = values[0] + 7
        return values, values[0]

    for n, expected in ((4, 12), (0, 5)):
        found, item = changed(tf.constant(5), tf.constant(n))
        assert (int(found[0]), int(item)) == (expected, expected)
