"""Lists of NumPy's numbers that grow by whole vectors: unboxed in the graph, with the results of plain Python."""

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain


def reached(near, first):
    """Return the group of each point, by a search that extends its list of positions."""
    labels = -np.ones(len(near), dtype=int)
    group = 0
    for i in range(len(near)):
        if labels[i] != -1:
            continue
        pending = list(np.where(near[i])[0])
        labels[i] = group + first
        k = 0
        while k < len(pending):
            j = pending[k]
            if labels[j] == -1:
                labels[j] = group + first
                pending.extend(np.where(near[j])[0])
            k += 1
        group += 1
    return labels


def extended_in_turns(x, n):
    items = list(x)
    for i in range(n):
        items.extend(x[i:])
        items.extend(x[:0])
    return len(items), items[n], items[-1], items[-n:], sum(items[:3])


def extended_by_rows(x, n):
    items = [x]
    for _ in range(n):
        items.extend(np.stack([x, x + 1]))
    items[0][0] = 9
    return len(items), items


def extended_by_itself(x, n):
    items = [n]
    items.extend(x)
    items.extend(items)
    return items, [type(item).__name__ for item in items]


def positions_of_other_dtypes(x, n):
    found = []
    for dtype in (np.int8, np.uint64, np.float64, bool):
        positions = []
        positions.extend(x.astype(dtype))
        try:
            found.append(x[positions[n]])
        except IndexError as error:
            found.append(str(error))
    return found


NEAR = np.abs(np.subtract.outer(np.arange(40) ** 2 % 97, np.arange(40) ** 2 % 97)) < 3


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (reached, [(NEAR, 0), (NEAR[:30, :30], 2)]),
        *[
            (function, [(np.array([3, 1, 2]), 2), (np.array([1, 1, 1, 2, 3]), 1), (np.array([2, 1, 0]), 0)])
            for function in (extended_in_turns, extended_by_rows, extended_by_itself, positions_of_other_dtypes)
        ],
    ],
)
def test_as_plain_python(function, arguments):
    check_against_plain(function, *arguments)


def test_the_lists_are_part_of_the_graph():
    compiled = autoconv.compile(reached)
    compiled(NEAR, 0)
    assert "kernels" not in compiled.explain()
    graph = compiled.get_concrete_function(NEAR, 0).optimised
    assert "object_box" not in {node.op.name for node in graph.walk()}
