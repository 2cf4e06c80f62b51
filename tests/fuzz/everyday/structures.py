"""Trees, graphs, queues, sets, generators."""

from __future__ import annotations

import bisect
import collections
import functools
import heapq
import itertools

from everyday import floats, ints, program, words


class Node:
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right


def tree(keys):
    root = None
    for key in keys:
        if root is None:
            root = Node(key)
            continue
        node = root
        while True:
            side = "left" if key < node.key else "right"
            below = getattr(node, side)
            if below is None:
                setattr(node, side, Node(key))
                break
            node = below
    return root


def graph(draws, count):
    return {i: [draws.randrange(count) for _ in range(3)] for i in range(count)}


@program(lambda r, n: (tree(ints(r, n)),))
def in_order(root):
    out, stack, node = [], [], root
    while stack or node:
        while node:
            stack.append(node)
            node = node.left
        node = stack.pop()
        out.append(node.key)
        node = node.right
    return out


@program(lambda r, n: (tree(ints(r, n)),))
def depth(root):
    def below(node):
        return 0 if node is None else 1 + max(below(node.left), below(node.right))

    return below(root)


@program(lambda r, n: (tree(ints(r, n)), r.randint(0, 1000)))
def search_tree(root, key):
    steps = 0
    while root is not None and root.key != key:
        root = root.left if key < root.key else root.right
        steps += 1
    return root is not None, steps


@program(lambda r, n: (ints(r, n),))
def linked(values):
    head = None
    for value in values:
        head = Node(value, head)
    before = None
    while head:
        head.left, before, head = before, head, head.left
    out = []
    while before:
        out.append(before.key)
        before = before.left
    return out


@program(lambda r, n: (graph(r, n), 0))
def breadth_first(edges, start):
    seen, queue, order = {start}, collections.deque([start]), []
    while queue:
        node = queue.popleft()
        order.append(node)
        for other in edges[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return order


@program(lambda r, n: (graph(r, n),))
def components(edges):
    seen, count = set(), 0

    def visit(node):
        seen.add(node)
        for other in edges[node]:
            if other not in seen:
                visit(other)

    for node in edges:
        if node not in seen:
            visit(node)
            count += 1
    return count


@program(lambda r, n: ({i: {r.randrange(n): r.randint(1, 9) for _ in range(3)} for i in range(n)}, 0))
def dijkstra(edges, start):
    distances, queue = {start: 0}, [(0, start)]
    while queue:
        distance, node = heapq.heappop(queue)
        if distance > distances.get(node, 10**9):
            continue
        for other, length in edges[node].items():
            new = distance + length
            if new < distances.get(other, 10**9):
                distances[other] = new
                heapq.heappush(queue, (new, other))
    return distances


@program(lambda r, n: (n, [(r.randrange(n), r.randrange(n)) for _ in range(n)]))
def union_find(count, pairs):
    parent = list(range(count))

    def find(i):
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    for a, b in pairs:
        parent[find(a)] = find(b)
    return len({find(i) for i in range(count)})


@program(lambda r, n: ({w: set(words(r, 2)) for w in words(r, n)},))
def topological(needs):
    done, order = set(), []
    pending = list(needs)
    while pending:
        ready = [name for name in pending if not (needs[name] & set(pending)) - {name}]
        if not ready:
            break
        order += ready
        done.update(ready)
        pending = [name for name in pending if name not in done]
    return order


@program(lambda r, n: ([r.choice(["push", "pop", "top"]) for _ in range(n)],))
def stack_machine(orders):
    stack, out = [], []
    for i, order in enumerate(orders):
        match order:
            case "push":
                stack.append(i)
            case "pop" if stack:
                out.append(stack.pop())
            case "top":
                out.append(stack[-1] if stack else None)
            case _:
                out.append("empty")
    return out, stack


@program(lambda r, n: (ints(r, n, 30), r.randint(2, 9)))
def least_recently_used(keys, room):
    cache, hits = collections.OrderedDict(), 0
    for key in keys:
        if key in cache:
            hits += 1
            cache.move_to_end(key)
        else:
            cache[key] = True
            if len(cache) > room:
                cache.popitem(last=False)
    return hits


@program(lambda r, n: (ints(r, n), r.randint(2, 9)))
def sliding_maximum(values, width):
    queue, out = collections.deque(), []
    for i, value in enumerate(values):
        while queue and values[queue[-1]] <= value:
            queue.pop()
        queue.append(i)
        if queue[0] <= i - width:
            queue.popleft()
        if i >= width - 1:
            out.append(values[queue[0]])
    return out


@program(lambda r, n: (floats(r, n),))
def running_median(values):
    ordered, out = [], []
    for value in values:
        bisect.insort(ordered, value)
        out.append(ordered[len(ordered) // 2])
    return out


@program(lambda r, n: ([(r.randint(0, 99), r.randint(1, 9), w) for w in words(r, n)],))
def schedule(tasks):
    heap, clock, order = [], 0, []
    for start, length, name in sorted(tasks):
        heapq.heappush(heap, (length, start, name))
    while heap:
        length, start, name = heapq.heappop(heap)
        clock = max(clock, start) + length
        order.append((clock, name))
    return order[-1]


@program(lambda r, n: (n % 40,))
def fibonacci_with_memo(n):
    memo = {}

    def compute(i):
        if i < 2:
            return i
        if i not in memo:
            memo[i] = compute(i - 1) + compute(i - 2)
        return memo[i]

    return compute(n)


@program(lambda r, n: (sorted(set(ints(r, 5, 40))), n))
def coins(values, amount):
    @functools.cache
    def ways(left, kinds):
        if left == 0:
            return 1
        if left < 0 or kinds == 0:
            return 0
        return ways(left - max(values[kinds - 1], 1), kinds) + ways(left, kinds - 1)

    return ways(amount, len(values))


@program(lambda r, n: (n,))
def primes(n):
    def candidates():
        primes_so_far = []
        for i in itertools.count(2):
            if all(i % p for p in primes_so_far):
                primes_so_far.append(i)
                yield i

    return list(itertools.islice(candidates(), n))[-1]


@program(lambda r, n: (ints(r, n),))
def pipeline(values):
    def even(source):
        for value in source:
            if value % 2 == 0:
                yield value

    def pairs(source):
        last = None
        for value in source:
            if last is not None:
                yield last + value
            last = value

    return list(pairs(even(values)))


@program(lambda r, n: (ints(r, n), ints(r, n)))
def set_algebra(a, b):
    first, second = set(a), set(b)
    return len(first & second), len(first | second), sorted(first ^ second)[:3], first <= second


@program(lambda r, n: ([ints(r, r.randint(0, 4)) for _ in range(n)],))
def flat(nested):
    def inner(value):
        if isinstance(value, list):
            return [x for part in value for x in inner(part)]
        return [value]

    return inner(nested)


@program(lambda r, n: (words(r, n), ints(r, n)))
def zipped(names, values):
    return {name: value for name, value in zip(names, values, strict=True) if value % 3}, list(enumerate(names))[:2]


@program(lambda r, n: (ints(r, 1 + n % 7),))
def permutations(values):
    return sum(1 for p in itertools.permutations(values[:5]) if all(a != b for a, b in zip(p, values, strict=False)))


@program(lambda r, n: ([ints(r, 3, 99) for _ in range(n)],))
def sorted_rows(rows):
    rows.sort(key=lambda row: (row[1], -row[0]))
    return rows[0], [row for row in rows if row[2] > 50][:2]
