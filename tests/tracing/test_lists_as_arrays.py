"""Lists that the running graph fills and NumPy makes arrays of: types, dtypes and values are plain Python's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv

A = np.random.default_rng(0).normal(size=70)
INTS = np.arange(40)


def shown(value: Any) -> Any:
    """What tells classes, dtypes and values apart."""
    if isinstance(value, (tuple, list)):
        return type(value), [shown(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, str(value.tolist())
    return type(value), repr(value)


def outcome(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        try:
            found = shown(function(*arguments))
        except Exception as error:
            found = type(error), str(error)
    return found, shown(arguments)


def check(function: Callable[..., Any], *calls: tuple[Any, ...]) -> Any:
    """Each call, made twice, does what plain Python does; the compiled function."""
    compiled = autoconv.compile(function)
    for arguments in calls:
        wanted = outcome(function, copy.deepcopy(arguments))
        for _ in range(2):
            assert outcome(compiled, copy.deepcopy(arguments)) == wanted
    return compiled


def staged(function: Callable[..., Any], *calls: tuple[Any, ...], traces: int = 1) -> Any:
    """The same, all of it as graphs."""
    compiled = check(function, *calls)
    assert "plain Python" not in compiled.explain()
    assert len(compiled.concrete_functions) == traces
    return compiled


def ops_of(compiled: Any) -> set[str]:
    (concrete,) = compiled.concrete_functions
    return {node.op.name for node in concrete.optimised.walk()}


# ---- numbers of one kind


def positive(a):
    out = []
    for x in a:
        if x > 0:
            out.append(x * 2)
    return np.array(out)


def comprehension(a):
    return np.array([x * 2 for x in a])


def squares(n):
    out = []
    for i in range(n):
        out.append(i * i)
    return np.array(out)


def halves(n):
    return np.array([i / 2 for i in range(n)])


def bools(a):
    out = []
    for x in a:
        out.append(x > 0)
    return np.array(out)


def python_bools(n):
    out = []
    for i in range(n):
        out.append(i > 4)
    return np.array(out)


def assigned(n):
    out = [0.0] * n
    for i in range(n):
        out[i] = i * 0.5
    return np.array(out)


def slices(n):
    out = []
    for i in range(n):
        out.append((i * 7) % 11)
    return np.array(out[1:]), np.array(sorted(out)), np.array(out[::-1])


@pytest.mark.parametrize(
    "function, arguments",
    [
        (positive, A), (positive, A.astype(np.float32)), (positive, np.arange(-20, 60)), (comprehension, A), (bools, A),
        (comprehension, np.arange(2000.0)), (squares, 50), (halves, 50), (python_bools, 50), (assigned, 50),
        (slices, 50),
    ],
)  # fmt: skip
def test_numbers_of_one_kind_stay_numbers(function, arguments):
    """The list never is an object of Python's."""
    ops = ops_of(staged(function, (arguments,)))
    assert "typed_list_array" in ops
    assert not {"object_build", "object_method", "list_array"} & ops


def test_many_sizes():
    staged(squares, *((n,) for n in (1, 2, 5, 50, 1000)))
    check(comprehension, *((np.arange(float(n)),) for n in (0, 1, 2, 5, 33, 70)))
    staged(comprehension, (A[:5],))


def test_nothing_in_the_list():
    """An empty list is an array of float64, whatever it was to hold."""
    staged(positive, (A,), (-np.abs(A),))
    compiled = check(squares, (50,), (0,), (-3,))
    assert "where this graph expected int64[?]" in compiled.explain()
    assert len(compiled.concrete_functions) == 1
    check(positive, (-np.abs(A).astype(np.float32),))


def test_ints_beyond_64_bits():
    def powers(n):
        out = []
        x = 1
        for _ in range(n):
            x *= 3
            out.append(x)
        return np.array(out)

    check(powers, (20,), (40,), (41,), (50,))


def test_a_dtype_that_the_program_names():
    def singles(n):
        out = []
        for i in range(n):
            out.append(i * 0.1)
        return np.asarray(out, dtype=np.float32), np.array(out, "f8")

    def bytes_(n):
        out = []
        for i in range(n):
            out.append(i)
        return np.array(out, dtype=np.int8), np.array(out, np.float32)

    def whole(a):
        out = []
        for x in a:
            out.append(x * 3)
        return np.array(out, dtype=int)

    staged(singles, (50,), (0,))
    compiled = staged(bytes_, (50,), (500,))
    assert "OverflowError" in str(outcome(compiled, (500,)))
    staged(whole, (A,))
    check(whole, (np.append(A, np.nan),))


def test_a_dtype_without_tensors():
    def objects(n):
        out = []
        for i in range(n):
            out.append(i)
        return np.array(out, dtype=object)

    check(objects, (40,))


# ---- items of several kinds, and items that hold items


def test_ints_and_floats():
    def mixed(n):
        out = [0]
        for i in range(n):
            out.append(i / 2)
        return np.array(out)

    compiled = check(mixed, (50,), (0,))  # one int is an array of ints
    assert len(compiled.concrete_functions) == 1

    def running(a):
        out = [0.0]
        for x in a:
            out.append(out[-1] + x)
        return np.array(out)

    staged(running, (A,))


def test_kinds_that_one_arm_decides():
    def decided(a, flag):
        out = []
        if flag > 0:
            for x in a:
                out.append(x)
        else:
            for x in a:
                out.append(int(x * 3))
        return np.array(out)

    compiled = check(decided, (A, 1.0), (A, -1.0))
    assert len(compiled.concrete_functions) == 1


def test_tuples_and_lists_as_items():
    def pairs(n):
        out = []
        for i in range(n):
            out.append((i, i * 0.5))
        return np.array(out)

    def table(n):
        rows = []
        for i in range(n):
            row = []
            for j in range(4):
                row.append(i * j)
            rows.append(row)
        return np.array(rows), np.array(rows, dtype=np.float32)

    def ragged(n):
        rows = []
        for i in range(n):
            row = []
            for j in range(i):
                row.append(j)
            rows.append(row)
        return np.array(rows)

    compiled = staged(pairs, (50,))
    (concrete,) = compiled.concrete_functions
    assert concrete.optimised.outputs[0].type.shape == (None, 2)
    check(pairs, (0,))
    assert "list_array" not in ops_of(staged(table, (50,), (1,)))
    check(table, (0,))
    assert "inhomogeneous" in str(outcome(check(ragged, (50,), (1,), (0,)), (50,)))


def test_lists_three_deep():
    def cube(n, m, k):
        out = []
        for i in range(n):
            rows = []
            for j in range(m):
                cells = []
                for p in range(k):
                    cells.append(i * j + p * 0.5)
                rows.append(cells)
            out.append(rows)
        return np.array(out)

    staged(cube, (40, 6, 7), (1, 40, 50), (40, 1, 1), (40, 3, 0))
    check(cube, (40, 0, 3), (0, 3, 3))


def test_rows_of_arrays():
    def rows(a):
        out = []
        for i in range(len(a)):
            out.append(a[i] * 2)
        return np.array(out)

    def changed(a):
        out = []
        for i in range(len(a)):
            a[i] *= 2
            out.append(a[i].copy())
        found = np.array(out)
        found[0, 0] = 9.0
        return found

    staged(rows, (A.reshape(35, 2),))
    staged(changed, (A.reshape(35, 2),))


def test_lists_side_by_side():
    def both(a):
        xs, ys = [], []
        for x in a:
            if x > 0:
                xs.append(x)
                ys.append(x * x)
        return np.array([xs, ys]), np.array((xs, ys)), np.polyfit(xs, ys, 1), np.sqrt(xs), np.dot(xs, ys)

    staged(both, (A,))


# ---- what the array is for


def test_functions_that_take_lists():
    def statistics(a):
        out = []
        for x in a:
            if x > 0:
                out.append(x)
        both = np.max(out), np.min(out), np.argmax(out), np.argmin(out), np.any(out), np.all(out), np.prod(out[:3])
        return both, np.sort(out), np.median(out), np.diff(out), np.unique(out), np.clip(out, None, 1.0), np.cumsum(out)

    def sums(n):
        out = []
        for i in range(n):
            out.append(i * 0.25)
        return np.sum(out), np.mean(out), np.std(out), np.var(out), np.linalg.norm(out), np.where(out, 1, 2)

    staged(statistics, (A,))
    staged(sums, (50,))


def test_functions_of_nothing():
    def most(n):
        out = []
        for i in range(n):
            out.append(i * 0.5)
        return np.max(out)

    compiled = check(most, (50,), (0,))
    assert "zero-size array" in str(outcome(compiled, (0,)))


def test_computing_goes_on():
    def chosen(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        return a[np.array(keep)] * 2 + 1

    staged(chosen, (A,))


def test_the_list_afterwards():
    def both(a):
        out = []
        for x in a:
            if x > 0:
                out.append(x)
        before = np.array(out)
        out.append(x)
        out[0] = x
        return before, out

    staged(both, (A,))


def test_asked_in_a_loop():
    def before(a):
        out = []
        total = 0.0
        for x in a:
            total += np.array(out).sum()
            out.append(x)
        return total

    def windows(a):
        out = []
        total = 0.0
        for x in a:
            out.append(x)
            if len(out) > 3:
                total += np.mean(out)
                out = []
        return total

    staged(before, (INTS * 0.5,))  # sums of so few halves are exact
    staged(windows, (INTS * 0.5,))


def test_functions_of_the_program():
    def add(out, x):
        if x > 0:
            out.append(x)

    def program(a):
        out = []
        for x in a:
            add(out, x)

        def mean(values):
            return np.max(values)

        return mean(out), np.array(out)

    staged(program, (A,))


def test_lists_that_come_in():
    def doubled(xs):
        return np.array(xs) * 2

    staged(doubled, ([*range(40)],))
    staged(doubled, ([0.5] * 40,))
    staged(doubled, ([[1.0, 2.0]] * 40,))
    compiled = staged(doubled, ([[[1, 2, 3], [4, 5, 6]]] * 40,), ([[[1, 2]]] * 40,), ([[[1], [2]], [[3], [4]]] * 20,))
    assert "typed_list_array" in ops_of(compiled)
    check(doubled, ([[[1, 2, 3], [4, 5]]] * 40,), ([[[1, 2, 3], []]] * 40,), ([[[], []]] * 40,))
    check(doubled, ([*range(40)],), ([*range(20), 0.5, *range(20, 40)],))


def test_arrays_that_change():
    def program(a):
        out = []
        for i in range(len(a)):
            a[i] += 1
            if a[i] > 0.5:
                out.append(a[i] * 2)
        found = np.array(out)
        found[0] = 7.0
        a[0] = found[1]
        return found

    staged(program, (A,), (A + 1,))
    with pytest.raises(IndexError):
        program(A - 100)
    check(program, (A - 100,))


def test_a_wrong_guess_leaves_nothing_behind():
    """What the call wrote into an argument is taken back, and written once."""

    def counted(a, n):
        out = []
        for i in range(n):
            out.append(i)
        a += 1
        return np.array(out)

    check(counted, (A.copy(), 50), (A.copy(), 0))


def test_a_wrong_guess_after_iterators_of_its_own():
    """Arrays come in as objects here, and the loop goes over an iterator that the call makes."""

    def program(a, t):
        out = []
        a[0] += 1
        for _i, x in enumerate(a):
            if x > t:
                out.append(x * 2)
            else:
                out.append([x, 1.0])
            if len(out) > 7:
                break
        return np.array([v for v in out])  # noqa: C416

    def zipped(xs, n):
        out = []
        for i in range(n):
            out.append(i)
        total = 0
        for x, y in zip(xs, out):  # noqa: B905
            total += x * y
        xs[0] += 1
        return np.array(out), total

    check(program, (A, -5.0), (A, 5.0), (A, 0.0))
    check(zipped, ([*range(40)], 50), ([*range(40)], 0))


def test_behind_a_print(capsys):
    """Where the call cannot be made again, nothing is guessed that may turn out wrong."""

    def ints(n):
        out = []
        for i in range(n):
            out.append(i)
        print(len(out))
        return np.array(out)

    def floats(n):
        out = []
        for i in range(n):
            out.append(i * 0.5)
        print(len(out))
        return np.array(out)

    compiled = check(ints, (50,), (0,))
    assert "cannot be taken back" in compiled.explain()
    staged(floats, (50,), (0,))
    assert capsys.readouterr().out == ("50\n" * 3 + "0\n" * 3) * 2


def test_texts_stay_plain():
    def texts(n):
        out = []
        for i in range(n):
            out.append(str(i))
        return np.array(out)

    compiled = check(texts, (40,))
    assert "numpy.array is not converted" in compiled.explain()


def test_lists_as_indices():
    def taken(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        return a[keep], a[sorted(keep)], a[keep[1:]]

    def masked(a):
        keep = []
        for x in a:
            keep.append(x > 0)
        return a[keep]

    def written(a):
        keep = []
        for i in range(len(a)):
            if a[i] > 0:
                keep.append(i)
        a[keep] = 0.0
        a[keep] += 2
        return a.min()  # a sum may be added up in another order

    def places(a):
        rows, columns = [], []
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > 0:
                    rows.append(i)
                    columns.append(j)
        return a[rows, columns], a[:, columns[:2]]

    staged(taken, (A,), (-np.abs(A),))
    staged(masked, (A,))
    staged(written, (A,), (-np.abs(A),))
    staged(places, (A.reshape(7, 10),))

    def outside(a):
        keep = []
        for i in range(len(a)):
            keep.append(i * 2)
        return a[keep]

    assert "out of bounds" in str(outcome(check(outside, (A,)), (A,)))


# ---- items joined


def test_items_that_are_joined():
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

    staged(chunks, (A,))
    staged(rows, (A.reshape(35, 2),))
    staged(lists, (50,), (0,))
    staged(two, (A,), (INTS,), traces=2)


# ---- where lists come from


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

    staged(zipped, (A,))
    staged(numbered, (A,))
    staged(unpacked, (50,))


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

    staged(attribute, (A,))
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

    staged(history, (3.0,), (0.0,))
    staged(recursive, (40,))
    staged(generated, (50,))
    staged(caught, (50,), (5,))


def test_what_a_call_gives_out_is_its_own():
    """The same array twice is one, and every call makes another."""

    def twice(a):
        out = [x for x in a if x > 0]
        found = np.array(out)
        return found, found, found[1:]

    compiled = staged(twice, (A,))
    first, second = compiled(A), compiled(A)
    assert first[0] is first[1]
    assert np.shares_memory(first[0], first[2])
    assert not np.shares_memory(first[0], second[0])
    assert first[0].flags.writeable


def test_no_gradient_goes_through():
    compiled = autoconv.compile(positive)
    x = autoconv.constant(A)
    with autoconv.GradientTape() as tape:
        tape.watch(x)
        compiled(x)
    assert tape is not None
    assert "has no gradient: it went through a list" in compiled.explain()
