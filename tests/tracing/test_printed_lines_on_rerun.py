"""Calls that print and are rerun as plain Python: Python's result, and each line is printed once."""

import contextlib
import io
import sys
import threading

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import NotInGraphError
from autoconv.ops.python.undo_log import log_iteration, with_undo
from autoconv.tracing.outputs.printed_output import drop_output


def factorials(n):
    total = 1
    for i in range(1, n + 1):
        total *= i
        print(i, total)
    return total


def writes_lists(n, seen):
    total = 1
    for i in range(1, n + 1):
        total *= i
        seen.append(total)
        print(seen, f"{i:>4}", end=";")
    return total


def becomes_complex(x, n):
    print("roots of", x)
    for _ in range(n):
        x = x**0.5 - 1
        print(x)
    return x


def becomes_a_float(n, _):
    print(2**n)
    return 2**-n


def calls_itself(n, k):
    print("down", n)
    found = calls_itself(n - 1, k) * k if n > 0 else 1
    print("up", found)
    return found


def catches(n, k):
    try:
        while n > 0:
            n -= 1
            k *= 10**6
            print(k)
        return k
    except OverflowError:
        return "caught"
    finally:
        print("finally")


def draws(n, seed):
    rng, total, product = np.random.default_rng(seed), 0.0, 1
    for _ in range(n):
        total += rng.random()
        product *= 1000
        print(total, product)
    return total, product


def writes_arrays(x, n):
    for i in range(n):
        x[i % 3] += i
        n = n + 10**18 * i
        print(x, n)
        if i > 12:
            break
    return n


def looks_up_nan(x, n):
    print("looks for", n)
    y = x * n
    return y in [y - y, 2.0 * n, y]


CASES = [
    (factorials, [(3,), (25,), (4,), (30,)]),
    (writes_lists, [(3, [1]), (25, [1, 2]), (2, [])]),
    (becomes_complex, [(16.0, 2), (2.0, 5)]),
    (becomes_a_float, [(0, 0), (4, 0), (70, 0)]),
    (calls_itself, [(3, 1000), (12, 1000)]),
    (catches, [(2, 7), (7, 7)]),
    (draws, [(2, 1), (25, 1)]),
    (writes_arrays, [(np.zeros(3), 3), (np.arange(3.0), 20)]),
    (looks_up_nan, [(2.0, 3), (float("nan"), 3)]),
]


def outcome(function, arguments):
    arguments = [x.copy() if isinstance(x, (list, np.ndarray)) else x for x in arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out:
        found = function(*arguments)
    return repr(found), out.getvalue(), repr(arguments)


@pytest.mark.parametrize(("function", "calls"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_every_line_is_printed_once(function, calls):
    compiled = ac.compile(function)
    for arguments in calls:
        assert outcome(compiled, arguments) == outcome(function, arguments)
    assert compiled.experimental_get_tracing_count() and "one call: " in compiled.explain()


def test_a_nested_call_leaves_out_its_own_lines():
    inner = ac.compile(factorials)

    def call_plain(count, function):
        print("begin")
        found = function(count)
        print("found", found)
        return found

    for n in (3, 22, 4):
        assert outcome(call_plain, (n, inner))[:2] == outcome(call_plain, (n, factorials))[:2]


def test_threads_leave_out_their_own_lines():
    compiled = ac.compile(factorials)
    compiled(1)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        threads = [threading.Thread(target=compiled, args=(24,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sys.stdout is out
    assert len(out.getvalue()) == 8 * len(outcome(factorials, (24,))[1])


def test_the_replaced_stream_writes_new_text_and_is_restored():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with drop_output(5):
            print("12", end="")
            with drop_output(2):
                print("ab", end="")
            sys.stdout.writelines(["3456", "7"])
            assert sys.stdout.getvalue() == "67" and sys.stdout is not out
        assert sys.stdout is out
        print("8", end="")
    assert out.getvalue() == "678"


def test_a_run_stops_before_an_effect_that_cannot_be_undone():
    items, numbers = [], iter([1, 2])

    def run():
        log_iteration(numbers)
        items.append(next(numbers))

    with pytest.raises(NotInGraphError) as caught:
        with_undo(run, True)()
    assert caught.value._autoconv_undone and not items and next(numbers) == 1
    with_undo(run)()
    assert items == [2]


def test_after_a_lasting_effect_an_int_that_may_exceed_64_bits_makes_the_call_plain():
    count = ac.Variable(0.0)

    def f(n):
        count.assign_add(1.0)
        return n * 10**9

    compiled = ac.compile(f)
    assert [int(compiled(n)) for n in (2, 10**12)] == [2 * 10**9, 10**21] and count.numpy() == 2.0
    assert "an int may outgrow 64 bits after a change" in compiled.explain()
