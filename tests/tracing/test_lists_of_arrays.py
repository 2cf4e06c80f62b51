"""Lists that `tolist` makes of arrays in graphs: items, rows, changes and errors are those of plain Python."""

import numpy as np
import pytest

from tests.tracing.plain_comparison import check_against_plain

RANDOM = np.random.default_rng(3)
FLOATS, INTS = RANDOM.random(90).round(3), RANDOM.integers(-40, 40, 90)


def added(x):
    total = 0.0
    for value in x.tolist():
        total += value * value if value > 0.5 else -value
    return total, sum(x.tolist()), max(x.tolist()), len(x.tolist())


def sorted_pairs(x):
    items = x.tolist()
    for i in range(len(items) - 1):
        if items[i] > items[i + 1]:
            items[i], items[i + 1] = items[i + 1], items[i]
    items.append(items.pop(3))
    return items, items[::2], x.tolist() == items


def mixed(x):
    items = x.tolist()
    items.append("end")
    return items, x[:70].tolist()


def out_of_range(x):
    items = x[:80].tolist()
    return items[85]


@pytest.mark.parametrize("program", [added, sorted_pairs, mixed, out_of_range])
@pytest.mark.parametrize("x", [
    FLOATS, INTS, FLOATS > 0.5, FLOATS.astype(np.float32), INTS.astype(np.int16), INTS.astype(np.uint64), FLOATS[:3],
])  # fmt: skip
def test_vectors(program, x):
    check_against_plain(program, (x,), (x + x.dtype.type(1),), (x[::-1],))


def rows_added(x):
    rows = x.tolist()
    rows[1][2] = rows[0][0]
    rows.append([1, 2])
    return [sum(row) for row in rows], rows[-2], sum(value for row in x.tolist() for value in row)


def a_row_twice(x):
    rows = x.tolist()
    rows[0] = rows[1]
    rows[0][0] = rows[2][2] + 1
    return rows[1][0], rows


@pytest.mark.parametrize("program", [rows_added, a_row_twice])
@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
def test_matrices(program, dtype):
    x = (RANDOM.random((9, 10)) * 10).astype(dtype)
    check_against_plain(program, (x,), (x * 2,), (x[:, ::-1],))
