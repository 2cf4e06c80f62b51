"""Examples of docstrings run, and their number does not fall."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest
from site_generator.reference import items

ITEMS = items()
WITH = [item for item in ITEMS if item.example]
LEAST = 308  # items with an example; a new item comes with one


@pytest.mark.parametrize("item", WITH, ids=lambda item: f"{item.namespace}.{item.name}")
def test_the_example_runs(item):
    names = {"autoconv": importlib.import_module("autoconv"), "np": importlib.import_module("numpy")}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(item.value), names, item.name, None, 0)
    seen: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=seen.append)
    assert not seen, "".join(seen)


def test_the_number_of_examples_does_not_fall():
    assert len(WITH) >= LEAST


def test_every_item_has_a_docstring():
    assert [f"{item.namespace}.{item.name}" for item in ITEMS if not inspect.getdoc(item.value)] == []
