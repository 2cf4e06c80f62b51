"""Lists whose length a tensor decides, under `function`: their items are plain Python's, as tensors."""

# ruff: noqa: C416, RUF005 - the programs are meant as they are written

import numpy as np
import pytest

import autoconv as ac


def as_numbers(result):
    return ac.nest.map_structure(lambda leaf: leaf if leaf is None else np.asarray(leaf).tolist(), result)


def check(function, *inputs):
    """Compare one trace for all inputs with the plain function."""
    traced = ac.function(function)
    for n in inputs:
        assert as_numbers(traced(ac.constant(n))) == function(n), n
    assert traced.experimental_get_tracing_count() == 1


def test_appending_in_a_loop():
    def squares(n):
        out = []
        for i in range(n):
            out.append(i * i)
        return out

    check(squares, 4, 1, 0)
    result = ac.function(squares)(ac.constant(3))
    assert type(result) is list
    assert [item.dtype for item in result] == [ac.int32] * 3

    @ac.function
    def stacked(n):
        return ac.stack(squares(n)), ac.convert_to_tensor(squares(n)), ac.reduce_sum(squares(n))

    assert as_numbers(stacked(ac.constant(4))) == ([0, 1, 4, 9], [0, 1, 4, 9], 14)


def test_rows_of_tensors():
    @ac.function
    def f(n):
        rows = []
        for i in range(n):
            rows.append(ac.ones((2, 3)) * ac.cast(i, ac.float32))
        return ac.stack(rows), ac.stack(rows, axis=1), ac.concat(rows, 0), ac.concat(rows, axis=1), rows

    first, second, joined, wide, rows = f(ac.constant(2))
    zeros, ones = np.zeros((2, 3)), np.ones((2, 3))
    assert np.array_equal(first, np.stack([zeros, ones]))
    assert np.array_equal(second, np.stack([zeros, ones], axis=1))
    assert np.array_equal(joined, np.concatenate([zeros, ones]))
    assert np.array_equal(wide, np.concatenate([zeros, ones], axis=1))
    assert [row.shape for row in rows] == [(2, 3), (2, 3)]


def test_in_branches():
    def f(x):
        found = [0]
        if x > 3:
            found.append(x)
        if x > 5:
            found += [x, x]
        return found

    check(f, 4, 6, 1)


def test_kinds_of_items():
    def several(n):
        widened, pairs, gaps, words = [], [], [], []
        for i in range(n):
            widened.append(i)
            widened.append(i + 0.5)
            pairs.append((i, [i + 1]))
            gaps.append(i if i % 2 == 0 else None)
            words.append("even" if i % 2 == 0 else "odd")
        total = 0
        for a, (b,) in pairs:
            total += a * b
        return widened, pairs, gaps, words.count("odd"), len(words), total

    check(several, 4, 0)


def test_methods_and_operators():
    def f(n):
        out = [5, 3]
        alias = out
        for i in range(n):
            out.append(i)
        out.insert(1, 77)
        out.insert(-1, 78)
        out.reverse()
        first = out.pop(0)
        last = out.pop()
        copied = out.copy()
        out.sort()
        out.remove(77)
        del out[0]
        out[0] = 9
        out[-1] += 1
        out.extend([4, 4])
        out.extend(copied)
        copied.clear()
        return alias, first, last, copied, out.index(4), out.count(4), out + [1], [1] + out, out[1:-1], out[:2], out[-1]

    check(f, 3, 5)


def test_index_within_bounds():
    def f(n):
        out = [7, 8]
        for i in range(n):
            out.append(i % 3)
        return out.index(1, 4), out.index(0, 3, -1), out.index(8, -100), out.index(2, n - 3, n + 1)

    check(f, 9, 8)

    def known(x):
        return [x, x + 1, x, x + 1].index(x + 1, 2)

    check(known, 5)


def test_builtins():
    def f(n):
        out = [(i * 7) % 5 for i in range(n)]
        pairs = 0
        for i, x in enumerate(out):
            pairs += i * x
        for a, b in zip(out, reversed(out), strict=True):
            pairs += a * b
        return (
            sum(out), sum(out, 10), sorted(out), list(out), len(out), any(x > 3 for x in out), all(x < 4 for x in out),
            3 in out, 9 not in out, [x + 1 for x in out if x > 1], list(map(abs, out)), pairs,
        )  # fmt: skip

    check(f, 6, 1, 0)

    def extremes(n):
        out = [(i * 7) % 5 for i in range(n)]
        return max(out), min(out), max(out) + 0.5

    check(extremes, 6, 1)


def test_a_stack_and_a_queue():
    def halves(n):
        stack, count = [n], 0
        while stack:
            k = stack.pop()
            count += 1
            if k > 1:
                stack.append(k // 2)
                stack.append(k - k // 2)
        return count

    check(halves, 7, 1)

    def depths(n):
        queue, seen = [(0, n)], 0
        while len(queue) > 0:
            depth, k = queue.pop(0)
            seen += depth
            if k > 1:
                queue.append((depth + 1, k // 2))
                queue.append((depth + 1, k // 2))
        return seen

    check(depths, 8, 1)


def test_algorithms():
    def primes(n):
        found = []
        for k in range(2, n):
            if all(k % p != 0 for p in found):
                found.append(k)
        return found

    check(primes, 30, 2)

    def collatz(n):
        seen = [n]
        while seen[-1] != 1:
            seen.append(seen[-1] // 2 if seen[-1] % 2 == 0 else 3 * seen[-1] + 1)
        return seen, max(seen)

    check(collatz, 6, 1)

    def bubble(n):
        xs = [(i * 7) % 5 for i in range(n)]
        for i in range(len(xs)):
            for j in range(len(xs) - 1 - i):
                if xs[j] > xs[j + 1]:
                    xs[j], xs[j + 1] = xs[j + 1], xs[j]
        return xs

    check(bubble, 5, 0)


def test_lists_held_elsewhere():
    class Log:
        def __init__(self):
            self.lines = []

        def write(self, x):
            if x % 2 == 0:
                self.lines.append(x)

    def f(n):
        log, named, out = Log(), {"a": []}, []

        def add(x):
            out.append(x)

        while n > 0:
            log.write(n)
            named["a"].append(n)
            add(n)
            n -= 1
        return log.lines, named, out

    check(f, 4, 1)


def test_loops_with_break_and_return():
    def f(n):
        out = []
        for i in range(10):
            if i > n:
                return out
            try:
                if i == 2:
                    raise ValueError("two")
                out.append(i)
            except ValueError:
                out.append(-1)
        return out

    check(f, 3, 1, 20)


def test_rebinding_and_slices_of_known_lists():
    def f(n):
        out = [1]
        for i in range(n):
            out = out + [i]
        known = [1, 2, 3, 4]
        return out, known[:n], known[n:], known.pop(n), known

    check(f, 2, 0)


def test_missing_items():
    @ac.function
    def pops(n):
        return [i for i in range(n)].pop()

    assert pops(ac.constant(2)).numpy() == 1
    with pytest.raises(IndexError, match="pop from empty list"):
        pops(ac.constant(0))

    @ac.function
    def picks(n):
        return [i for i in range(n)][5]

    assert picks(ac.constant(6)).numpy() == 5
    with pytest.raises(IndexError, match="element 5 in a list with 2 elements"):
        picks(ac.constant(2))

    @ac.function
    def finds(n):
        return [i for i in range(n)].index(3)

    assert finds(ac.constant(6)).numpy() == 3
    with pytest.raises(ValueError, match="not in list"):
        finds(ac.constant(2))


def test_a_function_called_by_another():
    @ac.function
    def inner(n):
        return [i * 2 for i in range(n)]

    @ac.function
    def outer(n):
        found = inner(n)
        found.append(100)
        return found, len(found)

    assert as_numbers(outer(ac.constant(3))) == ([0, 2, 4, 100], 4)


def test_lists_that_change_while_a_loop_iterates_over_them():
    def doubled(n):
        out = [i for i in range(n)]
        for i, x in enumerate(out):
            out[i] = x * 2
            if i + 1 < len(out):
                out[i + 1] += 100
        return out

    check(doubled, 4, 0)

    def grows(n):
        out = [i for i in range(n)]
        for x in out:
            if x < 10:
                out.append(x + 5)
        return out

    check(grows, 3, 0)

    def known_at_first(n):
        out = [1, 2, 3]
        seen = 0
        for x in out:
            seen = seen * 10 + x
            if x == n:
                out.append(x + 5)
        return out, seen

    check(known_at_first, 1, 3, 9)


def test_a_list_times_a_tensor():
    def repeated(n):
        zeros, pairs, threes = [0] * n, [(1, 2)] * n, [3]
        zeros.append(5)
        threes *= n
        return zeros, len(pairs), threes

    check(repeated, 0, 1, 4)

    def ways(n):
        found = [1] + [0] * n
        for coin in (1, 2, 5):
            for i in range(coin, n + 1):
                found[i] += found[i - coin]
        return found

    check(ways, 0, 7, 11)

    def primes(n):
        is_prime = [True] * (n + 1)
        for i in range(2, n + 1):
            if is_prime[i]:
                for j in range(i * i, n + 1, i):
                    is_prime[j] = False
        return [i for i in range(2, n + 1) if is_prime[i]]

    check(primes, 2, 30)


def test_a_list_of_known_length_is_sorted_and_searched_by_symbolic_keys():
    def f(n):
        items = [n, 2, n + 1, 3]
        alias = items
        items.sort()
        first = alias[0]
        items.sort(key=lambda x: -x)
        return first, items, max(items, key=lambda x: (x - 3) ** 2), min(*items, n, key=lambda x: -x % 4)

    check(f, 3, 1, 7)
