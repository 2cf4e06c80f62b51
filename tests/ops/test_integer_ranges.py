"""Ranges of integers in loops and conditions, which contain the values of every run."""

from __future__ import annotations

import random

import numpy as np
import pytest

import autoconv
from autoconv.ops.analysis.integer_ranges import integer_ranges
from autoconv.ops.analysis.value_range import comparison_range, implied_ranges, result_range


def ranges_of(function, *arguments):
    """Return the ranges of the values that the function returns."""
    graph = autoconv.compile(function).get_concrete_function(*arguments).optimised
    found = integer_ranges(graph)
    return [found.get(value) for value in graph.outputs]


def test_a_state_that_a_modulo_bounds():
    def generator(n):
        seed = 12345
        for _ in range(n):
            seed = (1664525 * seed + 1013904223) % 4294967296
        return seed

    assert ranges_of(generator, 5) == [(0, 4294967295)]


def test_bits_of_a_checksum():
    def shifted(n):
        value = 255
        for _ in range(n):
            if value & 1:
                value = (value >> 1) ^ 0xEDB88320
            else:
                value >>= 1
        return value

    assert ranges_of(shifted, 5) == [(0, 0xFFFFFFFF)]


def test_a_counter_that_ends_at_zero():
    def down(n):
        place = n & 63
        turns = 0
        while place > 0 and turns < 9:
            place -= 1
            turns += 1
        return place, turns

    assert ranges_of(down, 5) == [(0, 63), (0, 9)]


def test_a_condition_restricts_its_operands():
    def clipped(n):
        if n > 100:
            n = 100
        if n < -5:
            n = -5
        return n

    assert ranges_of(clipped, 5) == [(-5, 100)]


def test_a_state_that_grows_is_unknown():
    def doubled(n):
        total = 1
        for _ in range(n):
            total *= 2
        return total

    assert ranges_of(doubled, 5) in ([None], [(1, 2**63 - 1)])


@pytest.mark.parametrize("n", [0, 1, 5, 62, 63, 64, 70])
def test_numbers_that_outgrow_64_bits_after_all(n):
    def grown(n):
        total, low = 1, 0
        for i in range(n):
            total = total * 2 + (i & 1)
            low = (low ^ total) & 0xFFFF
        return total, low

    assert autoconv.compile(grown)(n) == grown(n)


_BINARY = {
    "python_add": lambda x, y: x + y, "python_subtract": lambda x, y: x - y, "python_multiply": lambda x, y: x * y,
    "python_floor_divide": lambda x, y: x // y, "python_modulo": lambda x, y: x % y, "python_and": lambda x, y: x & y,
    "python_or": lambda x, y: x | y, "python_xor": lambda x, y: x ^ y, "python_left_shift": lambda x, y: x << y,
    "python_right_shift": lambda x, y: x >> y,
}  # fmt: skip


@pytest.mark.parametrize("name", _BINARY)
def test_results_of_all_operands_are_inside(name):
    draw = random.Random(5)
    for _ in range(300):
        x, y = (tuple(sorted((draw.randint(-9, 9), draw.randint(-9, 9)))) for _ in range(2))
        found = result_range(name, (x, y))
        if found is None:
            continue
        for a in range(x[0], x[1] + 1):
            for b in range(y[0], y[1] + 1):
                if name.endswith("shift") and b < 0:
                    continue
                assert found[0] <= _BINARY[name](a, b) <= found[1], (name, x, y, a, b)


_COMPARISONS = {
    "less": np.less, "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal,
    "equal": np.equal, "not_equal": np.not_equal,
}  # fmt: skip


@pytest.mark.parametrize("name", _COMPARISONS)
def test_ranges_implied_by_a_comparison(name):
    draw = random.Random(7)
    for _ in range(300):
        x, y = (tuple(sorted((draw.randint(-5, 5), draw.randint(-5, 5)))) for _ in range(2))
        outcome, then, otherwise = comparison_range(name, (x, y)), implied_ranges(name, (x, y), True), implied_ranges(
            name, (x, y), False
        )
        for a in range(x[0], x[1] + 1):
            for b in range(y[0], y[1] + 1):
                holds = bool(_COMPARISONS[name](a, b))
                assert outcome[0] <= holds <= outcome[1]
                for number, (low, high) in zip((a, b), then if holds else otherwise, strict=True):
                    assert low <= number <= high, (name, x, y, a, b)


_SIZES = [1, 7, 255, 2**31]


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_with_ranges(seed):
    """Loops over bits, shifts, remainders and guarded indices have Python's results, up to the limits of 64 bits."""
    draw = random.Random(seed)
    steps = [
        "a = (a * {k} + b) % {m}", "b = (b >> {s}) ^ (a & {k})", "a = a << {s}", "b = b | {k}", "b = ~b",
        "a = abs(a - b)", "a, b = b, a", "b += t[a % 4]", "a = a // {m}", "b = b - {k} if b > {m} else b + 1",
    ]  # fmt: skip
    for _ in range(4):
        chosen = [draw.choice(steps) for _ in range(5)]
        filled = [step.format(k=draw.randint(0, 300), m=draw.choice(_SIZES), s=draw.randint(0, 9)) for step in chosen]
        body = "".join(f"        {step}\n" for step in filled)
        guard = draw.choice(["True", "a < 2**40", "a > -5 and b < 2**50", "b != 3"])
        text = (
            f"def f(n, a, b, t):\n    i = 0\n    while i < n and {guard}:\n        i += 1\n{body}    return i, a, b\n"
        )
        names: dict = {}
        exec(text, names)
        compiled = autoconv.compile(names["f"])
        for arguments in ((0, 1, 2), (3, 5, -7), (40, 1, 1), (9, 2**62, 3), (5, -(2**63), 2**31)):
            program_arguments = (*arguments, [1, -2, 3, 2**20])
            expected = outcome_of(names["f"], program_arguments)
            assert outcome_of(compiled, program_arguments) == expected, (text, arguments)


def outcome_of(function, arguments):
    try:
        return function(*arguments)
    except (OverflowError, ValueError, MemoryError) as error:
        return type(error), str(error)
