"""Powers of Python's ints in native code, which are exact or raise, and of its floats, which are the C library's."""

from __future__ import annotations

import linecache
import struct
from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("exponent", [3, 4, 5, 7, 8, 9])
def test_powers_of_floats_with_a_constant_exponent_are_the_librarys_to_the_last_bit(exponent):
    """Most of them are computed by products, and those whose last bit is in doubt by the library."""
    variables: dict[str, Any] = {}
    source = f"def powers(numbers):\n    return [float(number) ** {exponent} for number in numbers]\n"
    path = f"<powers {exponent}>"
    linecache.cache[path] = len(source), None, source.splitlines(keepends=True), path
    exec(compile(source, path, "exec"), variables)
    draw = np.random.default_rng(exponent)
    numbers = np.concatenate([
        draw.normal(size=5000), draw.integers(-9000, 9000, 3000) / 1024, 2.0 ** draw.uniform(-120, 100, 2000),
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -1e-110, 2.0**-225, 1e30],
    ])  # fmt: skip
    found, expected = autoconv.compile(variables["powers"])(numbers), variables["powers"](numbers)
    assert list(map(struct.Struct("d").pack, found)) == list(map(struct.Struct("d").pack, expected))
    with pytest.raises(OverflowError):
        autoconv.compile(variables["powers"])(np.full(40, 1e200))
