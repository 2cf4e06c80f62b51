"""try and with whose bodies raise when the graph runs: one graph, each path as in Python."""

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls


def test_handlers_in_order_with_else_and_finally():
    def f(n, log):
        x = 0
        try:
            log.append("in")
            x = 10 // n
            x = x + 1
            if n == 3:
                raise ValueError(f"three {n}")
        except ZeroDivisionError as e:
            log.append(str(e))
            x = -1
        except (KeyError, ValueError) as e:
            log.append(e.args)
            x = x * 100
        else:
            log.append("else")
        finally:
            log.append("fin")
        return x

    check_calls(f, (0, []), (2, []), (3, []))


def test_every_exit_of_a_loop():
    def f(n):
        for i in range(10):
            try:
                if i == n:
                    return "ret", i
                if i > 5:
                    raise KeyError(i)
                if i == 2:
                    continue
            except KeyError as e:
                if n > 20:
                    break
                raise ValueError("bad", n) from e
            finally:
                print("finally", i)
        return "end"

    check_calls(f, (0,), (4,), (8,), (30,))


def test_with_sees_and_swallows_exceptions():
    class Manager:
        def __init__(self, log, swallows):
            self.log = log
            self.swallows = swallows

        def __enter__(self):
            self.log.append("enter")
            return 5

        def __exit__(self, kind, error, trace):
            self.log.append("exit" if kind is None else str(error))
            return self.swallows

    def f(n, log):
        y = 0
        with Manager(log, n > 5) as g:
            y = g + n
            if n > 3:
                raise ValueError(y)
            y += 1
        with Manager(log, True):
            y = 7 // n
        return y + 1

    check_calls(f, (1, []), (0, []), (4, []), (8, []))


def test_handlers_see_attributes_and_lists_at_the_time_of_the_raise():
    class Box:
        def __init__(self, v):
            self.v = v

    def f(t):
        b, items = Box(1), []
        try:
            b.v = 2
            items.append(t)
            items.append(10 // t)
            b.v = 3
        except ZeroDivisionError:
            items.append("zero")
        return b.v, items

    check_calls(f, (3,), (0,))


def test_raise_again():
    def f(n):
        try:
            try:
                1 // n
            except ZeroDivisionError:
                if n == 0:
                    raise
            v = 4
        except ArithmeticError as e:
            return type(e).__name__
        return v

    check_calls(f, (3,), (0,))


def test_chained_exceptions():
    @ac.compile
    def f(n):
        try:
            return 1 // n
        except ZeroDivisionError as e:
            raise KeyError("k") from e

    try:
        f(0)
    except KeyError as error:
        assert isinstance(error.__cause__, ZeroDivisionError)
    assert f(1) == 1
    assert f.experimental_get_tracing_count() == 1


def test_a_branch_that_raises_inside_try_under_function():
    @ac.function
    def f(t):
        try:
            if t > 0:
                y = t
            else:
                raise ValueError("not positive")
        except ValueError:
            y = -t
        return y

    assert [f(ac.constant(v)).numpy() for v in (3, -2)] == [3, 2]
    assert f.experimental_get_tracing_count() == 1


def test_unmatched_exceptions_leave_variables_unchanged():
    def f(a):
        x = 0
        try:
            try:
                x = 5
                if a:
                    raise KeyError
                x = 6
            except ValueError:
                pass
        except KeyError:
            pass
        return x

    check_calls(f, (True,), (False,))


def test_arguments_of_exceptions_may_be_of_several_kinds():
    def f(a, c):
        x = 1 if c else 1.5
        if a:
            raise KeyError(x, (x, a), [a, 1])
        return x

    check_calls(f, (True, True), (True, False), (False, True))


def test_a_list_made_in_a_body_that_cannot_raise_stays_a_known_list():
    def f(a, b):
        try:
            items = [1, a]
        finally:
            b = b + 1
        chosen = items if a > 0 else [b]
        third = None
        if b > 2:
            third = items
        items.append(b)
        return chosen, third, len(items)

    check_calls(f, (1, 2), (0, 0), (7, 0), (-1, 3))


def test_a_known_cause_beside_a_context_of_the_run():
    def f(n):
        try:
            1 // n
        except ZeroDivisionError:
            if n == 0:
                raise KeyError("k") from ValueError(n)

    compiled = ac.compile(f)
    for function in (f, compiled):
        with pytest.raises(KeyError) as caught:
            function(0)
        cause, context = caught.value.__cause__, caught.value.__context__
        assert (type(cause), cause.args) == (ValueError, (0,))
        assert isinstance(context, ZeroDivisionError)
        assert caught.value.__suppress_context__
    assert compiled(1) is None
    assert compiled.experimental_get_tracing_count() == 1


def test_handlers_do_not_see_later_changes():
    class Box:
        def __init__(self, n):
            self.n = n

    def f(a, b):
        n = 0
        try:
            items, box = [1], Box(1)
            if a > 0 and b == 0:
                raise ValueError
            items.append(3)
            box.n = 5
            if a == 0:
                raise ValueError
        except ValueError:
            n = len(items) + box.n
        return n

    compiled = ac.compile(f)  # which is plain Python, or right
    assert [compiled(*call) for call in ((1, 0), (0, 0), (7, 3))] == [2, 7, 0]


def test_results_of_several_kinds_under_function():
    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            return kind is not None and issubclass(kind, ArithmeticError)

    def f(x, tolerance):
        guess = x
        steps = 0
        try:
            for step in range(20):
                if guess == 0.0:
                    raise ZeroDivisionError("flat")
                better = guess - (guess * guess - x) / (2 * guess)
                if abs(better - guess) < tolerance:
                    return better, step
                guess = better
                with Manager():
                    if guess > 1e8:
                        raise ArithmeticError("far")
                    steps += 1
            raise KeyError("no root")
        except KeyError:
            return -1.0, steps
        except ZeroDivisionError:
            return 0.0, 0

    traced = ac.function(f)
    for x in (2.0, 0.0, 1e12):
        root, steps = f(x, 0.001)
        found = traced(ac.constant(x), ac.constant(0.001))
        assert abs(float(found[0]) - root) < 0.001 and int(found[1]) == steps
    assert f(1e12, 0.001) == (-1.0, 7)
    assert traced.experimental_get_tracing_count() == 1


def test_clauses_that_are_no_exception_classes():
    def f(a):
        try:
            try:
                a = 10 // a
                if a > 3:
                    raise KeyError(a)
            except KeyError:
                a = 1
            except (ValueError, Later):  # noqa: F821
                a = 5
            except ZeroDivisionError:
                a = 7
        finally:
            a += 3
        return a

    check_calls(f, (3,), (1,), (0,), (20,))


def test_exceptions_that_a_generator_catches_while_a_builtin_iterates_over_it():
    def gone_over(n, kind):
        def values():
            try:
                iter(None)
            except TypeError:
                yield n
            yield n + 1

        return kind(values())

    for kind in (list, tuple, set, sorted, sum, max):
        compiled = ac.compile(gone_over)
        assert [compiled(n, kind) for n in (1, 5)] == [gone_over(n, kind) for n in (1, 5)]


def test_contexts_hold_no_values_of_a_trace():
    def f(n):
        try:
            raise ValueError("given", n)
        except ValueError:
            raise KeyError("k") from None

    compiled = ac.compile(f)
    for function in (f, compiled, compiled):
        with pytest.raises(KeyError) as caught:
            function(3)
        assert repr(caught.value.__context__) == "ValueError('given', 3)"
        assert caught.value.__suppress_context__ and caught.value.__cause__ is None


def _wrapped(d, key, explicit, read):
    try:
        try:
            value = d[key]
        finally:
            d["tried"] = key
        value = value / (key - 2)
    except (KeyError, ZeroDivisionError) as error:
        try:
            if explicit:
                raise RuntimeError("wrapped") from error
            raise RuntimeError("within")
        except RuntimeError as last:
            return read(last, error)
    return value


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize(
    "read",
    [
        lambda last, error: last,
        lambda last, error: [last],
        lambda last, error: (type(last.__cause__).__name__, type(last.__context__).__name__, str(last.__context__)),
        lambda last, error: (last.__context__ is error, last.__context__.args, isinstance(last.__cause__, KeyError)),
        lambda last, error: type(getattr(last, "__context__")).__name__,  # noqa: B009
    ],
)
def test_links_of_stored_exceptions(explicit, read):
    def describe(result):
        last = result[0] if isinstance(result, list) else result
        if not isinstance(last, Exception):
            return result
        return repr(last), repr(last.__cause__), repr(last.__context__), last.__suppress_context__

    compiled = ac.compile(_wrapped)
    for key in (0, 1, 2, 3, 2):
        compiled_table, plain_table = {0: 1.0, 2: 4.0}, {0: 1.0, 2: 4.0}
        expected = describe(_wrapped(plain_table, key, explicit, read))
        assert describe(compiled(compiled_table, key, explicit, read)) == expected
        assert compiled_table == plain_table


def test_clauses_catch_what_python_operations_raise_on_tensors_of_a_function():
    """As in TensorFlow: a tensor of the trace outside of it, an attribute that only eager tensors have."""

    @ac.function
    def made_outside(x):
        try:
            with ac.init_scope():
                return ac.zeros([2]) + x
        except Exception:
            return x

    @ac.function
    def value_or_default(x):
        try:
            return x.numpy()
        except AttributeError:
            return ac.constant(-1.0)

    x = ac.constant(1.0)
    assert made_outside(x).numpy() == 1 and value_or_default(x).numpy() == -1
