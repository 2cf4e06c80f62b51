"""Examples of docstrings run, and new public items have one."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest
from site_generator.reference import items

ITEMS = items()
WITH_EXAMPLES = [item for item in ITEMS if item.example]


@pytest.mark.parametrize("item", WITH_EXAMPLES, ids=lambda item: f"{item.namespace}.{item.name}")
def test_the_example_runs(item):
    names = {"autoconv": importlib.import_module("autoconv"), "np": importlib.import_module("numpy")}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(item.value), names, item.name, None, 0)
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_every_item_but_errors_has_an_example():
    assert [f"{item.namespace}.{item.name}" for item in ITEMS if not item.example and not item.is_error] == []


def test_every_item_has_a_docstring():
    assert [f"{item.namespace}.{item.name}" for item in ITEMS if not inspect.getdoc(item.value)] == []
