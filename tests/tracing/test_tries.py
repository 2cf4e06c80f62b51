"""try and with whose bodies raise when the graph runs: one graph, each path as in Python."""

import pytest

import autoconv as ac
from tests.tracing.test_objects import agrees


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

    agrees(f, (0, []), (2, []), (3, []))


def test_every_way_out_of_a_loop():
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

    agrees(f, (0,), (4,), (8,), (30,))


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

    agrees(f, (1, []), (0, []), (4, []), (8, []))


def test_attributes_and_lists_as_they_were_when_it_raised():
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

    agrees(f, (3,), (0,))


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

    agrees(f, (3,), (0,))


def test_a_chain_of_exceptions_is_kept():
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


def test_a_branch_that_raises_inside_try_under_the_first_contract():
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


def test_exception_groups():
    class Late(Exception):
        pass

    def f(a, b):
        log = []
        for first in (0, 1):
            try:
                if a > first:
                    raise ExceptionGroup("several", [ValueError(1), KeyError(2), ExceptionGroup("in", [ValueError(3)])])
                if a < -1:
                    raise KeyError(a)
                log.append(b // a)
            except* ValueError as e:
                log.append(len(e.exceptions))
            except* (KeyError, ZeroDivisionError) as g:
                log.append(str(g.exceptions[0]))
                if b > 7:
                    raise Late("again") from g
            except* Late:
                log.append("never")
            else:
                log.append("else")
            finally:
                log.append("end")
        return log

    agrees(f, (2, 7), (1, 7), (0, 7), (-5, 7), (-1, 7), (2, 8), (0, 9))


def test_what_no_clause_of_a_group_takes():
    def f(a):
        found = []
        try:
            try:
                if a > 1:
                    raise ExceptionGroup("several", [ValueError(1), OSError(2)])
                if a > 0:
                    raise OSError(a)
            except* ValueError:
                found.append("value")
                raise
            except* KeyError:
                found.append("key")
        except ExceptionGroup as error:
            found.append([type(e).__name__ for e in error.exceptions])
        except OSError as error:
            found.append(error.args)
        return found

    agrees(f, (2,), (1,), (0,))


def test_what_a_body_that_always_raises_changed_before():
    def f(a, b):
        some, items = 0, [0]
        try:
            if b < a:
                some = b < 7
                items.append(a)
            if a > 100 and b > 3:
                raise ZeroDivisionError("bad")
            raise ValueError(a)
        except ValueError:
            items.append(1)
        return some, items

    agrees(f, (2, 1), (1, 2), (9, 3))


def test_what_no_clause_takes_leaves_the_variables_as_they_are():
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

    agrees(f, (True,), (False,))


def test_arguments_of_exceptions_may_be_of_several_kinds():
    def f(a, c):
        x = 1 if c else 1.5
        if a:
            raise KeyError(x, (x, a), [a, 1])
        return x

    agrees(f, (True, True), (True, False), (False, True))


def test_a_function_that_always_raises_is_a_graph_that_does():
    def gone(n, log):
        log.append(n)
        raise KeyError("gone", n)

    def finally_(n, log):
        print("in", n)
        try:
            raise ValueError(3) from KeyError(n)
        finally:
            log.append("out")

    for f in (gone, finally_):
        agrees(f, (1, []), (2, [5]))


def test_what_follows_a_body_that_always_raises_is_not_reached():
    class Manager:
        def __enter__(self):
            print("enter")

        def __exit__(self, kind, error, trace):
            print("exit", kind.__name__)

    def f(n):
        with Manager():
            m = 4 // n
            raise ValueError("always") from ValueError
            return m

    agrees(f, (1,), (0,), (2,))

    def g(n):
        try:
            try:
                k = 4 // n
                raise ValueError(k)
            finally:
                print("finally")
            return "<"
        except ValueError as error:
            return error.args
        return ">"

    agrees(g, (1,), (0,), (2,))


def test_a_body_that_raises_while_traced_goes_through_every_clause():
    def f(n):
        try:
            if n == 2:
                n = 3
            n = {}["missing"] + n
        except ValueError:
            return "value"
        except TypeError:
            return "type"
        except Exception:
            return n

    agrees(f, (1,), (2,))


def test_a_list_made_in_a_body_that_cannot_raise_stays_one():
    def f(a, b):
        try:
            items = [1, a]
        finally:
            b = b + 1
        other = items if a > 0 else [b]
        third = None
        if b > 2:
            third = items
        items.append(b)
        return other, third, len(items)

    agrees(f, (1, 2), (0, 0), (7, 0), (-1, 3))


def test_variables_of_handlers_inside_what_is_recorded_again():
    def f(a, b):
        k, items, other = b, [3, a], [0, 5, b]
        with Swallowing():
            fuel = abs(b) % 5
            while fuel > 0:
                fuel = fuel - 1
                try:
                    if a * fuel < 2:
                        k = fuel
                        raise IndexError("bad", fuel)
                finally:
                    items = other
            try:
                k = 1 // a
            except ZeroDivisionError:
                if b > 2:
                    other = [*other, k]
        try:
            raise ExceptionGroup("several", [ValueError(a), KeyError(2)])
        except* ValueError:
            try:
                if b < a:
                    raise KeyError("bad")
                k = a % 6
            except KeyError:
                if a != 4:
                    other = [*other, a]
        except* KeyError as group:
            k += len(group.exceptions)
        return k, items, other

    agrees(f, (1, 2), (0, 0), (7, 3), (0, 4), (4, 9))


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return kind is not None


def test_a_finally_that_is_left_early():
    # ruff: noqa: B012 - which is what is tested
    def returns(a, b):
        try:
            b = 10 // a
        finally:
            if b > 3:
                return "early", b
        return "end", b

    def jumps(a, b):
        log = []
        for i in range(b):
            try:
                if i == a:
                    raise ValueError(i)
                if i == 2:
                    return log
                log.append(i)
            except KeyError:
                log.append("k")
            finally:
                log.append("f")
                if i == 3:
                    break
                if i % 2:
                    continue
            log.append("end")
        else:
            log.append("else")
        return log, a

    def from_loops_inside(a, b):
        log = []
        while b > 0:
            b -= 1
            try:
                log.append(10 // (a - b))
            finally:
                for j in range(3):
                    if j == a:
                        return log
                    if j > b:
                        break
                else:
                    continue
                log.append(j)
        return log, "x"

    def raises(a, b):
        try:
            return 1 // a
        finally:
            try:
                if b > 2:
                    raise KeyError(b)
                if b > 1:
                    return "one"
            except KeyError as error:
                return error.args, repr(error.__context__)

    calls = (1, 2), (0, 0), (7, 3), (0, 4), (1, 5), (3, 3), (5, 2), (2, 3), (3, 6), (0, 2), (0, 1)
    for function in (returns, jumps, from_loops_inside, raises):
        agrees(function, *calls)


def test_tries_deeper_than_python_has_room_for():
    def f(a, b):
        try:
            try:
                try:
                    try:
                        try:
                            x = 10 // a
                        except KeyError:
                            x = 3
                        finally:
                            b += 1
                    except IndexError:
                        x = 4
                    finally:
                        b += 1
                    if b > 6:
                        return "return", x
                except OverflowError:
                    x = 5
                finally:
                    b += 1
            except (TypeError, ZeroDivisionError):
                x = 6
            finally:
                b *= 2
        except OSError:
            x = 7
        return x, b

    agrees(f, (1, 2), (0, 0), (7, 3), (0, 4), (1, 5))


def test_a_finally_that_is_left_early_under_the_first_contract():
    @ac.function
    def f(table, i):
        for _ in range(3):
            try:
                found = ac.gather(table, i)
            except ac.errors.NotFoundError:
                found = ac.constant(0)
            finally:
                break
        return found

    table = ac.constant([1, 2])
    assert int(f(table, ac.constant(1))) == 2
    with pytest.raises(UnboundLocalError, match="found"):
        f(table, ac.constant(5))
    assert f.experimental_get_tracing_count() == 1


def test_a_known_cause_beside_a_context_that_only_the_graph_knows():
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


def test_what_a_body_makes_changes_and_leaves_is_not_seen_as_it_is_later():
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


def test_results_of_several_kinds_under_the_first_contract():
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


def test_names_that_no_path_of_an_inner_try_assigns():
    class Manager:
        def __enter__(self):
            return self

        def __exit__(self, kind, error, trace):
            return 1

    def f(b):
        if b:
            with Manager():
                try:
                    if b % 4:
                        return None
                except ValueError:
                    pass
                else:
                    b += 1
        return b

    def g(a):
        try:
            z = 6 // a
        except ZeroDivisionError:
            i = 3
            try:
                if a:
                    i -= 3
            except KeyError:
                pass
            else:
                z = i
        return z

    agrees(f, (3,), (0,), (4,))
    agrees(g, (3,), (0,), (4,))


def test_attributes_that_are_not_there_when_the_body_raises():
    class Box:
        pass

    def f(a, k):
        box = Box()
        try:
            if a > 0:
                box.x = 6 // k
            box.y = a // k
        except ZeroDivisionError:
            box.z = 3
        try:
            r = box.x
        except AttributeError as error:
            r = str(error)
        try:
            return r, box.y
        except AttributeError as error:
            return r, str(error), box.z

    agrees(f, (1, 2), (0, 2), (1, 0), (0, 0))


counter = 1


def test_a_global_name_that_may_not_be_there():
    def deletes(a, k):
        global counter
        try:
            del counter
            counter = a // k
        except ZeroDivisionError:
            pass
        try:
            return counter
        except NameError as error:
            return str(error)
        finally:
            counter = 5

    def chooses(a, k):
        global counter
        if a > 0:
            counter = None
        found = counter
        counter = 5 if k else "x"
        return found

    for f in (deletes, chooses):
        compiled = ac.compile(f)
        for call in ((1, 2), (0, 2), (1, 0), (0, 0)):
            globals()["counter"] = 1
            wanted = f(*call), globals()["counter"]
            globals()["counter"] = 1
            assert (compiled(*call), globals()["counter"]) == wanted
    assert "plain Python" not in compiled.explain()


def test_classes_of_a_clause_that_cannot_be_asked_for():
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

    agrees(f, (3,), (1,), (0,), (20,))
