"""Ranges of the sizes of arrays: those of arguments are at least 2, those that a graph computes may be 0 or 1."""

import numpy as np
import pytest

from autoconv.backends.llvm.analysis.representation import size_of
from autoconv.backends.llvm.analysis.symbolic_sizes import size_range
from autoconv.backends.llvm.codegen.memory.array_view import sizes_or_strides
from autoconv.graph.dimensions import ComputedSize, plus
from autoconv.graph.types import Symbol
from tests.tracing.plain_comparison import check_against_plain

ARGUMENT_SIZE, COMPUTED_SIZE = Symbol("n"), ComputedSize("size0")


@pytest.mark.parametrize(
    ("size", "least"),
    [(ARGUMENT_SIZE, 2), (COMPUTED_SIZE, 0), (plus(ARGUMENT_SIZE, COMPUTED_SIZE), 0), (plus(ARGUMENT_SIZE, -1), 2)],
    ids=str,
)
def test_least_values_of_symbols(size, least):
    assert size_range(size_of(size))[0] == least
    (size_in_memory,) = sizes_or_strides(None, "", (size,), 0)  # all are symbols, so that no code is written
    assert size_range(size_in_memory)[0] == least


@pytest.mark.parametrize("size", ["%5", 0, 7])
def test_other_sizes_are_not_negative(size):
    assert size_range(size)[0] == 0


def test_last_position_of_an_array_whose_size_is_computed():
    def program(v, w, count, start):
        table = np.outer(v[:count] * 2.0, w)
        part = table[:, start:] + 1.0
        part[:, 0] = 7.0
        size = part.shape[0]
        return size, size < 2, part[size - 1, 0]

    v, w = np.arange(6.0), np.arange(5.0)
    compiled = check_against_plain(program, *((v, w, count, 1) for count in (4, 2, 1, 5)))
    with pytest.raises(IndexError, match="index -1 is out of bounds for axis 0 with size 0"):
        compiled(v, w, 0, 1)


def test_positions_that_are_sums_with_zero():
    def smooth(x):
        x = sum(x[i : x.shape[0] - 4 + i] for i in range(5))
        return sum(x[:, i : x.shape[1] - 4 + i] for i in range(5))

    check_against_plain(smooth, *((np.arange(float(n * n)).reshape(n, n),) for n in (10, 20, 30)))
