"""Bodies of a try, and functions, that raise on every path."""


from tests.tracing.test_objects import check_calls


def test_changes_before_a_body_that_always_raises():
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

    check_calls(f, (2, 1), (1, 2), (9, 3))


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
        check_calls(f, (1, []), (2, [5]))


def test_statements_after_a_body_that_always_raises_are_not_reached():
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

    check_calls(f, (1,), (0,), (2,))

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

    check_calls(g, (1,), (0,), (2,))


def test_a_body_that_raises_while_traced_reaches_every_clause():
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

    check_calls(f, (1,), (2,))


def test_both_arms_raise_after_one_has_written():
    def f(a):
        seen = {1, 2}
        if a:
            for k in range(-1, 2):
                def numbers():
                    seen.add(a)
                    yield 4 // k  # noqa: B023

                next(numbers(), 0)
        else:
            raise KeyError(a)

    check_calls(f, (5,), (0,))
