"""Arrays made of lists from pairs, objects, while loops, recursion and generators, and joined lists."""

from __future__ import annotations

import numpy as np

from tests.tracing.list_arrays import INTS, A, check, check_staged


def test_joined_lists():
    def chunks(a):
        out = []
        for i in range(len(a)):
            a[i] += 1
            out.append(a[i : i + 3])
        return np.concatenate(out), np.concatenate(out, axis=0), np.hstack(out)

    def rows(a):
        out = []
        for i in range(len(a)):
            out.append(a[i] + 1)
        return np.stack(out), np.stack(out, 1), np.stack(out, axis=-1), np.vstack(out), np.column_stack(out)

    def lists(n):
        out = []
        for i in range(n):
            row = []
            for j in range(i + 1):
                row.append(j)
            out.append(row)
        return np.concatenate(out), np.hstack(out)

    def two(a):
        xs, ys = [], []
        for x in a:
            xs.append(x)
            ys.append(x * 3)
        return np.vstack([xs, ys]), np.stack((xs, a)), np.column_stack((xs, ys)), np.concatenate([a, ys])

    check_staged(chunks, (A,))
    check_staged(rows, (A.reshape(35, 2),))
    check_staged(lists, (50,), (0,))
    check_staged(two, (A,), (INTS,), traces=2)


def test_pairs():
    def zipped(a):
        xs, ys = [], []
        for x in a:
            xs.append(x)
            ys.append(int(x * 3))
        p, q = [], []
        for x, y in zip(xs, ys):  # noqa: B905
            p.append(x)
            q.append(y)
        return np.array(list(zip(xs, ys))), np.array(p), np.array(q)  # noqa: B905

    def numbered(a):
        xs = [x * 2 for x in a]
        p, q = [], []
        for i, x in enumerate(xs):
            p.append(i)
            q.append(x)
        return np.array(p), np.array(q)

    def unpacked(n):
        out = []
        for i in range(n):
            out.append((i, i * 0.5))
        p, q = [], []
        for i, x in out:
            p.append(i)
            q.append(x)
        return np.array(p), np.array(q)

    check_staged(zipped, (A,))
    check_staged(numbered, (A,))
    check_staged(unpacked, (50,))


class Record:
    def __init__(self):
        self.items = []

    def add(self, x):
        self.items.append(x)


def test_lists_held_elsewhere():
    def attribute(a):
        record = Record()
        for x in a:
            record.add(x)
        return np.array(record.items)

    def groups(a):
        found = {}
        for x in a:
            found.setdefault(int(x * 2), []).append(x)
        return [np.max(found[k]) for k in sorted(found)], [np.array(group) for group in found.values()]

    check_staged(attribute, (A,))
    check(groups, (A,))


def test_lists_of_while_loops_recursion_and_generators():
    def history(x):
        out = []
        while abs(x) > 1e-6:
            out.append(x)
            x = x * 0.5
        return np.array(out)

    def filled(n, out):
        if n > 0:
            out.append(n)
            filled(n - 1, out)

    def recursive(n):
        out = []
        filled(n, out)
        return np.array(out)

    def thirds(n):
        for i in range(n):
            if i % 3:
                yield i * 0.5

    def generated(n):
        return np.array(list(thirds(n))), np.max([x + 1 for x in thirds(n)])

    def caught(n):
        out = []
        try:
            for i in range(n):
                out.append(10 / (i - 20))
        except ZeroDivisionError:
            pass
        return np.array(out)

    check_staged(history, (3.0,), (0.0,))
    check_staged(recursive, (40,))
    check_staged(generated, (50,))
    check_staged(caught, (50,), (5,))


def test_returned_arrays_are_new_in_each_call():
    """An array that is returned twice is one object, and every call makes a new one."""

    def twice(a):
        out = [x for x in a if x > 0]
        found = np.array(out)
        return found, found, found[1:]

    compiled = check_staged(twice, (A,))
    first, second = compiled(A), compiled(A)
    assert first[0] is first[1]
    assert np.shares_memory(first[0], first[2])
    assert not np.shares_memory(first[0], second[0])
    assert first[0].flags.writeable


def test_lists_that_gather_arrays_computed_from_their_items():
    def path(n, start):
        points = [start]
        for i in range(n):
            points.append(points[-1] * 0.5 - np.array([1.0, i]) / 2)
        return np.array(points), len(points)

    def turned(n, start):
        points = [start]
        for _ in range(n):
            points.append(-points[-1])
            points[-1] += points[0]
        return np.stack(points), points[0]

    def of_two_shapes(n, start):
        points = [start]
        for i in range(n):
            points.append(points[-1] + (np.ones((2, 2)) if i == 3 else 1))
        return np.array(points[-1:])

    check_staged(path, (3, np.ones(2)), (70, np.array([0.5, -1.0])), (0, np.ones(2)))
    check_staged(turned, (3, np.ones(2)), (70, np.array([2, -1])), traces=2)
    check(of_two_shapes, (2, np.ones(2)), (70, np.ones(2)))
