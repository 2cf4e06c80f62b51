"""Lists, heaps and deques of tuples of numbers become typed lists: results and errors are plain Python's."""

from __future__ import annotations

import heapq
import math
from collections import deque
from typing import Any

import pytest

import autoconv
from tests.tracing.plain_comparison import case_name, check_case


def halves(n):
    waiting = [(0, n)]
    total = 0
    while waiting:
        low, high = waiting.pop()
        total += high - low
        if high - low > 1:
            middle = (low + high) // 2
            waiting.append((low, middle))
            waiting.append((middle, high))
    return total


def merged(n):
    spans = [((i * 7919) % 100, (i * 7919) % 100 + i % 17) for i in range(n)]
    spans.sort()
    result = [spans[0]]
    for start, end in spans[1:]:
        first, last = result[-1]
        if start <= last:
            result[-1] = (first, max(last, end))
        else:
            result.append((start, end))
    return result


def items_and_slices(n):
    pairs = [(i, i * 0.5, i % 2 == 0) for i in range(n)]
    pairs.insert(1, (9, -0.0, True))
    pairs.reverse()
    del pairs[0]
    copied = pairs[::2] + pairs[1:3]
    copied.extend(pairs)
    copied[0] = (7, 7.0, False)
    total = 0.0
    for i, (a, b, c) in enumerate(copied):
        total += i * a + b + c
    for pair in copied:
        total += pair[0] * len(pair) + pair[-1]
    return total, copied, pairs.pop(1), len(pairs)


def nested(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, ((i * 7919) % 11, (i % 5, i % 3 == 0)))
    result = []
    while heap:
        key, (a, b) = heapq.heappop(heap)
        result.append((key, (a, b)))
    return result, max(result), min(result)


def heap_functions(n):
    heap = [((i * 7919) % 101, i * 0.5) for i in range(n)]
    heapq.heapify(heap)
    out = [heapq.heappushpop(heap, (3, 1.0)), heapq.heapreplace(heap, (50, 2.0))]
    for i in range(n):
        heapq.heappush(heap, (i, -0.5))
    for _ in range(n):
        out.append(heapq.heappop(heap))
    return out, heap


def heap_of_ints(n):
    heap = [(i * 7919) % 101 for i in range(n)]
    heapq.heapify(heap)
    heapq.heappush(heap, 4)
    return heapq.heappop(heap), heapq.heapreplace(heap, 5), heapq.heappushpop(heap, -1), heap


def emptied_heap(n):
    heap = [(1, 2)]
    for _ in range(n):
        heapq.heappop(heap)
    return len(heap)


def searches(n):
    pairs = [(i % 7, i % 3 == 0) for i in range(n)]
    pairs.remove((2, False))
    return (3, True) in pairs, (3, False) in pairs, pairs.index((4, False)), pairs.count((1, False)), pairs


def comparisons(n):
    pairs = [(i % 3, i % 2) for i in range(n)]
    counts = [0, 0, 0, 0, 0, 0]
    for a in pairs:
        for b in pairs:
            counts[0] += a < b
            counts[1] += a <= b
            counts[2] += a > b
            counts[3] += a >= b
            counts[4] += a == b
            counts[5] += a != b
    return counts


def breadth_first(n):
    distance = [-1] * (n * n)
    distance[0] = 0
    waiting = deque([(0, 0)])
    while waiting:
        row, column = waiting.popleft()
        for y, x in ((row + 1, column), (row, column + 1), (row - 1, column)):
            if 0 <= y < n and 0 <= x < n and distance[y * n + x] < 0 and (y * 7 + x * 3) % 5 > 0:
                distance[y * n + x] = distance[row * n + column] + 1
                waiting.append((y, x))
    return distance


def both_ends(n):
    line = deque()
    for i in range(n):
        line.appendleft((i, -i))
        line.appendleft((i, i))
        if i % 3 == 0:
            line.append(line.popleft())
    first, last = line[0], line[-1]
    total = 0
    while len(line) > 1:
        a, b = line.pop()
        c, d = line.popleft()
        total = total * 3 % 1000003 + a - b * c + d
    return total, first, last


def emptied_deque(n):
    line = deque([(1, 2), (3, 4)])
    for _ in range(n):
        line.popleft()
    return line.pop()


def rows(n):
    neighbours = [[] for _ in range(n)]
    for i in range(n):
        neighbours[i].append(((i * 7 + 1) % n, i))
        neighbours[(i * 3) % n].append((i, i + 1))
    total = 0
    for u in range(n):
        for v, weight in neighbours[u]:
            total += v * weight + u
    return total


def ints_beyond(n):
    pairs = [(1, 1)]
    for _ in range(n):
        a, b = pairs[-1]
        pairs.append((b, a * 3 + b))
    return pairs[-1]


def mixed(n):
    pairs = [(0, 1)]
    for i in range(n):
        pairs.append((i * 0.5, i))
    return sorted(pairs)


def unequal_lengths(n):
    pairs = [(0, 1)]
    for i in range(n):
        pairs.append((i, i, i))
    return pairs


def sorted_many(n):
    pairs = [((i * 7919) % 11, (i * 0.5) % 3, i % 2 == 0) for i in range(n)]
    return sorted(pairs)


def nan_in_heap(n):
    nan = math.inf - math.inf
    heap = []
    for i in range(n):
        heapq.heappush(heap, (nan, n - i))
        heapq.heappush(heap, (i * 1.0, i))
    return [heapq.heappop(heap)[1] for _ in range(n)]


def nan_in_a_sort(n):
    nan = math.inf - math.inf
    pairs = [(nan, n - i) for i in range(n)]
    pairs.sort()
    return [b for a, b in pairs], min(pairs)[1], max(pairs)[1]


def spanning_tree(edges, n):
    parent = list(range(n))
    total = 0
    for weight, u, v in sorted(edges):
        while parent[u] != u:
            u = parent[u]
        while parent[v] != v:
            v = parent[v]
        if u != v:
            parent[u] = v
            total += weight
    return total


def shortest_paths(neighbours):
    distance = [1 << 60] * len(neighbours)
    distance[0] = 0
    heap = [(0, 0)]
    while heap and heap[0][0] >= 0:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, weight in neighbours[u]:
            if d + weight < distance[v]:
                distance[v] = d + weight
                heapq.heappush(heap, (d + weight, v))
    return distance


def sorted_argument(pairs):
    pairs.sort()
    return pairs[0]


def last_of(pairs):
    total = 0
    for (a, b), c in pairs:
        total += a * c + b
    return total, pairs[-1], max(pairs)


def first_above(pairs, limit):
    for a, b in pairs:
        if a > limit:
            return b
    return None


def descending(n):
    pairs = [((i * 7919) % 11, i % 3 * 0.5) for i in range(n)]
    numbers = [(i * 7919) % 101 - 0.5 for i in range(n)]
    numbers.sort(reverse=True)
    result = sorted(pairs, reverse=True)
    pairs.sort(reverse=False)
    return result[:9], pairs[:9], numbers, sorted([-0.0, 0.0, -0.0], reverse=True)


def sorted_by_keys(n):
    pairs = [((i * 7919) % 11, i) for i in range(n)]
    floats = [(i * 0.37 % 5, i % 3) for i in range(n)]
    numbers = [(i * 7919) % 13 for i in range(n)]
    pairs.sort(key=lambda pair: pair[0])
    floats.sort(key=lambda pair: pair[1], reverse=True)
    numbers.sort(key=lambda number: -number % 5)
    by_both = sorted(floats, key=lambda pair: (pair[1], -pair[0]))
    return pairs, floats, numbers, by_both, max(pairs, key=lambda pair: pair[0]), min(floats, key=lambda x: x[1])


def key_that_raises(n):
    pairs = [(n - i, i) for i in range(n)]
    try:
        pairs.sort(key=lambda pair: 1 // (pair[0] - 2))
    except ZeroDivisionError:
        pairs.append((0, 0))
    return pairs


def mixed_events(heap, n):
    served, now = 0, 0
    while heap and served < n:
        now, kind = heapq.heappop(heap)
        served += 1
        heapq.heappush(heap, (now + 1.5, kind * 5 + 1))
        if served % 3 == 0:
            heapq.heappush(heap, (now + 0.5, 0))
            del heap[-1]
    return served, now


def overflow_after_changes(heap, n):
    total = 1
    for i in range(n):
        heapq.heappush(heap, (i, i))
        heapq.heappush(heap, (i * 0.5, i))
        del heap[0]
        total *= 5
    return total, heapq.heappop(heap)


EDGES = [((i * 7919) % 101, i % 20, (i * 7) % 20) for i in range(60)]
NEIGHBOURS = [[] if i % 5 == 0 and i else [((i * 3 + k) % 20, k + 0) for k in range(1, 4)] for i in range(20)]
NESTED = [((i % 3, i * 0.5), i % 2 == 0) for i in range(30)]
PAIRS = [(i, -i) for i in range(30)]

CASES = [
    (spanning_tree, (EDGES, 20), True), (shortest_paths, (NEIGHBOURS,), True), (sorted_argument, (EDGES,), False),
    (last_of, (NESTED,), False), (first_above, (PAIRS, 12), True), (first_above, (PAIRS, 40), True),
    (sorted_by_keys, (9,), False), (sorted_by_keys, (90,), False), (key_that_raises, (2,), False),
    (key_that_raises, (4,), False), (descending, (12,), True), (descending, (90,), True),
    (halves, (20,), True), (merged, (40,), True), (items_and_slices, (7,), False), (nested, (20,), False),
    (heap_functions, (9,), True), (heap_of_ints, (12,), True), (emptied_heap, (1,), True), (emptied_heap, (2,), True),
    (searches, (9,), True), (searches, (2,), True), (comparisons, (7,), True), (breadth_first, (6,), True),
    (both_ends, (40,), False), (emptied_deque, (1,), False), (emptied_deque, (2,), False), (emptied_deque, (3,), False),
    (rows, (9,), False), (ints_beyond, (5,), False), (ints_beyond, (60,), False), (mixed, (4,), False),
    (unequal_lengths, (3,), False), (sorted_many, (30,), True), (sorted_many, (300,), True), (nan_in_heap, (5,), True),
    (nan_in_a_sort, (4,), True), (nan_in_a_sort, (60,), True), (mixed_events, ([(0, 0)], 20), False),
    (mixed_events, ([(0.5, 0)], 90), False), (overflow_after_changes, ([(1, 1)], 9), False),
    (overflow_after_changes, ([(1, 1)], 40), False),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["llvm", "reference"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case_name(case)[:40])
@pytest.mark.search
def test_as_plain_python(case: Any, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check_case(case, backend, monkeypatch)


@pytest.mark.parametrize("odd", [(1, 2.0, 3), (1, 2), [1, 2, 3], (1, 2, 1 << 70), (True, 2, 3), None])
def test_another_item(odd: Any) -> None:
    """A list with an item of another kind than in the sample runs plain."""
    def program(items):
        total = 0
        for item in items:
            total += item[0] if item is not None else 1000
        return total, items[7]

    edges = [*EDGES]
    edges[7] = odd
    compiled = autoconv.compile(program)
    for items in (EDGES, edges, EDGES):
        assert repr(compiled(items)) == repr(program(items))


def test_nan_after_a_print(capsys: pytest.CaptureFixture[str]) -> None:
    """After a print a call cannot run again as plain Python, so tuples with floats are compared as objects."""
    def program(x, n):
        heap = []
        for i in range(n):
            print(i)
            heapq.heappush(heap, (x - x, n - i))
        return heap[0][1]

    compiled = autoconv.compile(program)
    assert [compiled(x, 4) for x in (1.0, math.inf)] == [program(x, 4) for x in (1.0, math.inf)]
    assert capsys.readouterr().out == "0\n1\n2\n3\n" * 4


def test_explain_names_why_a_list_stays_an_object() -> None:
    def key_of_a_class(n):
        pairs = [(i, -i) for i in range(n)]
        pairs.sort(key=str)
        return pairs[0]

    def identity(n):
        pairs = [(i, -i) for i in range(n)]
        first = pairs[0]
        return first is pairs[-1]

    def another_class(n):
        pairs = [(0, 1)]
        for i in range(n):
            pairs.append((i, "text"))
        return len(pairs)

    def returned(n):
        return deque([(i, i) for i in range(n)])

    reasons = {
        mixed: "items are (int, int) and (float, int)", unequal_lengths: "items are (int, int) and (int, int, int)",
        key_of_a_class: "sort has no native form for these operands", identity: "objects are compared by is",
        another_class: "(int, int) is one item, and another is no number or tuple of numbers",
        returned: "it is returned, or comes from outside",
    }  # fmt: skip
    for function, reason in reasons.items():
        compiled = autoconv.compile(function)
        assert compiled(3) == function(3)
        assert f"a list of tuples stays an object: {reason}" in compiled.explain()
    compiled = autoconv.compile(halves)
    compiled(3)
    assert "stays an object" not in compiled.explain()
