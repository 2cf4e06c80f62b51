"""heapq, bisect and collections under `compile`: their lists, queues and counters are part of the graph."""

import bisect
import heapq
from collections import Counter, OrderedDict, defaultdict, deque

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls

CALLS = (0,), (3,), (8,)


def test_a_heap():
    def f(n):
        heap, out = [], []
        for i in range(n):
            heapq.heappush(heap, (i * 7 % 5, i))
        while heap and len(out) < 4:
            out.append(heapq.heappop(heap))
        second_heap = [5, 1, 4]
        heapq.heapify(second_heap)
        return out, heap, heapq.heappop(second_heap) + n, heapq.nsmallest(2, [n, 3, 1])

    check_calls(f, *CALLS)


def test_shortest_paths():
    def f(start, factor):
        edges = {0: [(1, 4), (2, 1)], 1: [(3, 1)], 2: [(1, 2), (3, 5)], 3: []}
        distances = {start: 0}
        queue = [(0, start)]
        while queue:
            distance, node = heapq.heappop(queue)
            if distance > distances.get(node, 99):
                continue
            for to, length in edges[node]:
                found = distance + length * factor
                if found < distances.get(to, 99):
                    distances[to] = found
                    heapq.heappush(queue, (found, to))
        return distances

    check_calls(f, (0, 1), (2, 2), (3, 1))


def test_a_queue():
    def f(n):
        queue = deque()
        for i in range(n):
            queue.append(i)
            if i % 3 == 0:
                queue.appendleft(-i)
            if len(queue) > 4:
                queue.popleft()
        return list(queue), queue, len(queue), 3 in queue, queue[0] if queue else None, deque([1, n], maxlen=1)

    check_calls(f, *CALLS)


def test_counting_and_grouping():
    def f(n):
        kinds, groups, sums = Counter(), defaultdict(list), defaultdict(int)
        for i in range(n):
            kinds["odd" if i % 2 else "even"] += 1
            groups[i % 3].append(i)
            sums[i % 2] += i
        return kinds, kinds.most_common(1), dict(groups), sums, Counter(i % 2 for i in range(n)), OrderedDict([(n, 1)])

    check_calls(f, *CALLS)


def test_sorted_lists():
    def f(n):
        found = [1, 5, 9]
        bisect.insort(found, n)
        return found, bisect.bisect(found, n), bisect.bisect_left(found, 5)

    check_calls(f, *CALLS)


def test_a_queue_that_python_changes_is_refused_under_function():
    def f(n):
        queue = deque()
        for _ in range(n):
            queue.append(1)
        return len(queue)

    with pytest.raises(ac.errors.StagingError, match="a deque is changed in place"):
        ac.function(f)(ac.constant(3))
