"""Powers of Python's ints in native code, which are exact or raise."""

from __future__ import annotations

import autoconv


def test_powers_of_ints_in_a_loop():
    def powers(base, exponent):
        result = 0
        for _ in range(2):
            result = base**exponent
        return result

    compiled = autoconv.compile(powers)
    for base in (-3, -1, 0, 1, 2, 7, 2**31, -(2**62)):
        for exponent in (0, 1, 2, 3, 62, 63, 64, 65, 101):
            assert compiled(base, exponent) == powers(base, exponent)
    for exponent in (2**40, 2**40 + 1):
        assert [compiled(base, exponent) for base in (-1, 0, 1)] == [(-1) ** exponent, 0, 1]
    assert compiled(2, -1) == 0.5
