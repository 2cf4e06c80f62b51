"""A small budget of failing allocations; `python tests/fuzz/allocations.py` is the large one."""

from pathlib import Path

import pytest

from tests.module_loading import load_module

allocations = load_module(Path(__file__).with_name("allocations.py"), "allocations")

pytestmark = pytest.mark.skipif(allocations._testcapi is None, reason="this Python has no _testcapi")


@pytest.mark.parametrize(
    "name", ["complex", "several arms", "arrays", "tuples", "strings and arrays"]
)
def test_a_failing_allocation_of_a_warm_call_is_a_memory_error(name):
    outcomes = [outcome for _, outcome in allocations.check_program(name, "warm", 6)]
    assert set(outcomes) <= set(allocations._ACCEPTED)
    assert "MemoryError" in outcomes


@pytest.mark.parametrize("name", ["branches"])
def test_a_failing_allocation_of_a_first_call_is_right_or_a_memory_error(name):
    assert {outcome for _, outcome in allocations.check_program(name, "first", 3)} <= set(allocations._ACCEPTED)
