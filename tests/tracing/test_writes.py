"""Writes in a trace happen once, and results are distinct objects where Python's are."""

# ruff: noqa: B016, RUF005 - what people write is what is tested

import collections

import numpy as np

import autoconv as ac
from tests.tracing.test_objects import check_calls


def test_loop_conditions_with_writes():
    class Counter:
        def __init__(self):
            self.n = 0

    def f(a, b):
        log, counter, k = [], Counter(), 0

        def note(value):
            log.append(value)
            return value

        def more():
            nonlocal k
            k += 1
            counter.n += 2
            return k < b

        n = 0
        while n < 3 and b > note(n + a):
            n += 1
        while more():
            n += k * 0.5
            if n > 20:
                break
        else:
            n = -n
        return log, counter.n, k, n

    check_calls(f, (1, 2), (1, 9), (0, 0), (2, 1))


def test_one_list_under_two_names():
    def f(a, n):
        if a > 1:
            p = q = [a]
        else:
            p, q = [1], [2]
        p.append(n)
        r = s = [a]
        for i in range(n):
            r, s = s, r
            r[0] += i
        t = u = [0]
        for i in range(n):
            t = u = [i]
        t[0] += 5
        return p, q, r, s, u

    check_calls(f, (1, 3), (2, 0), (5, 4))


def test_a_list_chosen_by_a_value_is_changed_in_place():
    def f(a, n):
        m = [1] if a > 1 else [1, 2]
        alias = m
        m += [n]
        items = [a]
        late_alias = items if n > 2 else None
        if late_alias is not None:
            late_alias += [n]
        return m, alias, items

    check_calls(f, (1, 3), (2, 0), (5, 4))


def test_one_list_twice_in_a_result():
    def f(a, given):
        items = [a]
        if a > 0:
            return items, items, given
        return given, 1

    compiled = ac.compile(f)
    given = [1, 2]
    first = compiled(1, given)
    assert first == ([1], [1], [1, 2]) and first[0] is first[1] and first[2] is given
    assert compiled(-1, given)[0] is given
    assert "plain Python" not in compiled.explain()


def test_two_arrays_are_two():
    def f(x):
        y = x + 1
        return x + 1, y, y, (x + 1)[::-1]

    arrays = ac.compile(f)(np.zeros(3))
    assert arrays[1] is arrays[2]
    assert not any(np.shares_memory(arrays[0], array) for array in arrays[1:])
    assert not np.shares_memory(arrays[1], arrays[3])
    arrays[0][0] = 7
    assert arrays[1][0] == 1


def test_a_tensor_in_a_list_is_replaced_there():
    class Holder:
        pass

    @ac.function
    def f(i, v):
        rows, deep, holder = [v + 0, v * 2], [[v, v], [v, v]], Holder()
        rows[i][0] += 7
        rows[0][i] -= v[1]
        deep[1][i][0] *= 5
        holder.rows = [v, v + 1]
        holder.rows[i][1] += 1
        return rows, deep, holder.rows

    rows, deep, of_holder = f(ac.constant(1), ac.constant([1, 2]))
    assert [row.numpy().tolist() for row in rows] == [[1, 0], [9, 4]]
    assert [[row.numpy().tolist() for row in pair] for pair in deep] == [[[1, 2], [1, 2]], [[1, 2], [5, 2]]]
    assert [row.numpy().tolist() for row in of_holder] == [[1, 2], [2, 4]]


def test_operands_of_incompatible_types():
    def f(a, missing):
        none = None if missing else a
        found = [0 if none is None else none + a]
        for act in (
            lambda: none + a, lambda: a - none, lambda: none < a, lambda: a <= none, lambda: a @ "x", lambda: a**none,
            lambda: [1] + a, lambda: a % (1,), lambda: a + "s", lambda: {} | a,
        ):  # fmt: skip
            try:
                found.append(act())
            except TypeError as error:
                found.append(str(error))
        return found

    check_calls(f, (3, True), (3, False))


def test_an_int_beyond_64_bits_in_a_call_that_writes_only_new_objects():
    def f(a, n):
        rows = [[1], [2]]
        for _ in range(n):
            a *= a
        rows[n % 2][0] = a
        return rows

    compiled = ac.compile(f)
    for arguments in ((2, 3), (10, 6)):
        assert compiled(*arguments) == f(*arguments)
    assert compiled.experimental_get_tracing_count() == 1


def test_managers_made_inside_managers():
    class Manager:
        def __init__(self, depth):
            self.depth = depth

        def __enter__(self):
            self.depth += 1
            return self

        def __exit__(self, *_):
            self.depth -= 3

    def f(a, b):
        with Manager(a) as outer_manager, Manager(b):
            inside = outer_manager.depth
        inside += outer_manager.depth
        try:
            with Manager(b):
                inside += a // b
        except ZeroDivisionError:
            return inside
        return inside, 1

    check_calls(f, (1, 2), (4, 0))


def test_writes_before_an_exception_that_a_manager_swallows():
    class Manager:
        def __init__(self, swallows):
            self.swallows = swallows

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return self.swallows

    def f(a, x):
        y = z = w = x
        with Manager(True):
            y = x / 4
            raise ValueError(a)
        with Manager(a > 1), Manager(False):
            try:
                z = x / 8
                if a > 0:
                    raise ValueError(a)
                z = x / 16
            except KeyError:
                pass
        try:
            w = x / 32
            raise 1
        except TypeError:
            pass
        return y, z, w

    check_calls(f, (2, 4.0), (0, 8.0), (1, 1.0))


def test_properties_that_are_set_on_some_paths():
    class Box:
        def __init__(self, n):
            self.n = n

        @property
        def double(self):
            return self.n * 2

        @double.setter
        def double(self, value):
            self.n = value // 2

    def f(a, b):
        box = Box(a)
        if b > 1:
            box.double = b
        else:
            box.n = -1
        for i in range(b):
            box.double += i
        return box.n, box.double

    check_calls(f, (1, 3), (2, 0), (5, 9))


def test_objects_changed_in_a_try():
    class Box:
        def __init__(self, n):
            self.n = n

        def __setitem__(self, k, value):
            self.n += k * value

    def f(a, b):
        box = Box(a)
        try:
            box[b] = a // b
            box[1] = 7 // (b - 2)
        except ZeroDivisionError:
            box[2] = 5
        return box.n

    check_calls(f, (3, 1), (3, 0), (3, 2))


def names_of_functions_called_in_loops_and_branches(n, b):
    def set_in_a_branch(p):
        q = p + 1

        def read():
            return q

        if p > 1:
            q = 10
        return read()

    def counts(p):
        total = 0

        def more():
            nonlocal total
            total += p
            return total

        for _ in range(2):
            if p > 0:
                more()
        return more()

    def recovers(p):
        q = p
        try:
            q = q // (p - 2)
        except ZeroDivisionError:
            q = 100
        finally:
            q += 1
        return q

    s = 0
    for i in range(n):
        s = s + set_in_a_branch(i) + recovers(i)
        if i > b:
            s = s + counts(i)
    return s


def test_names_of_functions_called_in_loops_and_branches():
    check_calls(names_of_functions_called_in_loops_and_branches, (1, 2), (0, 0), (7, 3))
    traced = ac.function(names_of_functions_called_in_loops_and_branches)
    for n, b in (1, 2), (0, 0), (7, 3):
        found = traced(ac.constant(n), ac.constant(b))
        assert int(found) == names_of_functions_called_in_loops_and_branches(n, b)
    assert traced.experimental_get_tracing_count() == 1


def test_lists_that_a_loop_binds_to_another_name():
    class Box:
        pass

    def f(a, b):
        first, second, box = [3, a], [0, b], Box()
        box.v = first

        def show():
            return first

        for i in range(b):
            if i > a:
                first = box.v = second
            elif i == a:
                first = [3] * i
        first.append(7)
        return show(), second, box.v

    check_calls(f, (1, 2), (0, 0), (1, 3), (7, 3), (2, 6))


class Settings(collections.UserDict):
    """A mapping of the library that is no dict, with methods that write."""


def test_mappings_of_the_library_are_written_once():
    def write(settings, x):
        settings["q"] = x
        if x > 1:
            settings["large"] = x
        settings.setdefault("r", x)
        return len(settings)

    compute = ac.compile(write)
    compiled_settings, plain_settings = Settings(), Settings()
    for x in (1.0, 2.0, 0.5):
        assert compute(compiled_settings, x) == write(plain_settings, x)
        assert compiled_settings.data == plain_settings.data


def _attempt(x):
    _attempt.calls += 1
    if x > 1:
        _attempt.raised += 1
        raise ValueError
    return x * _attempt.calls


_ATTEMPTS = {"attempt": _attempt}


def test_counters_in_attributes_of_functions_need_no_new_trace():
    def tries(x):
        try:
            return _ATTEMPTS["attempt"](x), _attempt.raised
        except ValueError:
            return -x, _attempt.raised

    compiled = ac.compile(tries)
    for i in range(12):
        x = 0.5 * (i % 4)
        _attempt.calls, _attempt.raised = i, 2 * i
        expected = tries(x), _attempt.calls, _attempt.raised
        _attempt.calls, _attempt.raised = i, 2 * i
        assert (compiled(x), _attempt.calls, _attempt.raised) == expected
    assert int(compiled.explain().split(": ")[1].split()[0]) <= 2
