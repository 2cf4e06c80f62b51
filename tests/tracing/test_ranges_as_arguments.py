"""Ranges as arguments: equal ones share a trace, and ranges with equal numbers but other bounds do not."""

import pytest

import autoconv

RANGES = [range(3), range(0, 3, 2), range(0, 4, 2), range(3), range(0), range(1, 1), range(2, -1, -1)]


@pytest.mark.parametrize("contract", [autoconv.compile, autoconv.function])
def test_bounds_are_those_of_this_call(contract):
    bounds = contract(lambda x, r: (x * len(r), x * r.start, x * r.stop, x * r.step))
    for r in RANGES + RANGES:
        expected = [2.0 * n for n in (len(r), r.start, r.stop, r.step)]
        assert [float(number) for number in bounds(2.0, r)] == expected


def test_an_equal_range_is_no_new_trace():
    compiled = autoconv.compile(lambda x, r: [x * i for i in r])
    for _ in range(4):
        assert compiled(1.5, range(3)) == [0.0, 1.5, 3.0]
    assert "1 trace" in compiled.explain()
