"""Names and attributes in a try that are unbound on some paths."""

import autoconv as ac
from tests.tracing.test_early_exit_from_finally import Swallowing
from tests.tracing.test_objects import check_calls


def test_names_of_handlers_in_a_region_that_is_recorded_again():
    def f(a, b):
        k, items, rest_items = b, [3, a], [0, 5, b]
        with Swallowing():
            fuel = abs(b) % 5
            while fuel > 0:
                fuel = fuel - 1
                try:
                    if a * fuel < 2:
                        k = fuel
                        raise IndexError("bad", fuel)
                finally:
                    items = rest_items
            try:
                k = 1 // a
            except ZeroDivisionError:
                if b > 2:
                    rest_items = [*rest_items, k]
        try:
            raise ExceptionGroup("several", [ValueError(1), KeyError(2)])
        except* ValueError:
            try:
                if b < a:
                    raise KeyError("bad")
                k = a % 6
            except KeyError:
                if a != 4:
                    rest_items = [*rest_items, a]
        except* KeyError as group:
            k += len(group.exceptions)
        return k, items, rest_items

    check_calls(f, (1, 2), (0, 0), (7, 3), (0, 4), (4, 9))


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

    check_calls(f, (3,), (0,), (4,))
    check_calls(g, (3,), (0,), (4,))


def test_attributes_that_are_missing_when_the_body_raises():
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

    check_calls(f, (1, 2), (0, 2), (1, 0), (0, 0))


counter = 1


def test_a_global_name_that_may_be_missing():
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
            expected = f(*call), globals()["counter"]
            globals()["counter"] = 1
            assert (compiled(*call), globals()["counter"]) == expected
    assert "plain Python" not in compiled.explain()
