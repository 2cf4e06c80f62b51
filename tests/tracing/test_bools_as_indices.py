"""A bool as an index is a mask for NumPy and a position for lists, whatever indices came in the calls before."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain

ROW, MATRIX = np.arange(6.0).reshape(2, 3), np.arange(9).reshape(3, 3)


def parts(x, i):
    return x[i], x[..., i], x[:, i:], x[i:, :i]


@pytest.mark.parametrize("earlier", [
    [(ROW, 5), (ROW, [1, 0]), (MATRIX, slice(0, 2))], [(ROW, 1), (ROW, np.array([0, 1])), (ROW, [1, 0])], [(MATRIX, 1)],
])  # fmt: skip
def test_arrays_after_indices_of_other_kinds(earlier):
    compiled = autoconv.compile(parts)
    for arguments in [*earlier, (MATRIX, True), (MATRIX, 1), (MATRIX, np.True_), (MATRIX, False), (MATRIX, 2)]:
        try:
            expected = parts(*arguments)
        except (IndexError, TypeError) as error:
            with pytest.raises(type(error)):
                compiled(*arguments)
            continue
        for actual, part in zip(compiled(*arguments), expected, strict=True):
            np.testing.assert_array_equal(actual, part, strict=True)


def test_lists():
    check_against_plain(lambda xs, i: xs[i], ([4, 5], 1), ([4, 5], [0]), ([4, 5], True), ([4.5, 5], False), ([4, 5], 0))


def test_stores_after_stores_of_lists():
    def filled(x, i, value):
        x[i] = value
        return x

    compiled = autoconv.compile(filled)
    for index in (1.5, [3]):
        with pytest.raises((IndexError, ValueError)):
            compiled(np.zeros(3), index, [1.0, 2.0])
    for index in (True, False, 1):
        np.testing.assert_array_equal(compiled(np.zeros(4), index, 9), filled(np.zeros(4), index, 9))
