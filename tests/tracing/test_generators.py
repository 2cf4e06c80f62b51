"""Generator functions in a trace: loops and builtins that iterate over them, and their effects."""

# ruff: noqa: B007, C416, C417 - the programs are written as users write them

import pytest

import autoconv as ac
from tests.tracing.test_objects import check_calls

CALLS = (0, 2), (1, 5), (3, 1), (6, -2)


def numbers(n, step=1):
    """Yield under every kind of statement whose path a tensor may decide."""
    for i in range(n):
        if i % 3 == 2:
            continue
        yield i * step
    if n > 2:
        yield 100
    again = (yield step) or 7
    yield from (again, n)
    while n > 0:
        n -= 2
        yield from range(n)
        if n == 1:
            return


def test_loops():
    def f(n, m):
        total, seen = 0, []
        for i in numbers(n, m):
            total += i
            seen.append(i)
        return total, seen

    check_calls(f, *CALLS)


def test_loops_that_end_early():
    def f(n, m):
        total = 0
        for i in numbers(n, m):
            if i > m + 2:
                break
            if i == 0:
                continue
            total = total + i * 0.5
        else:
            total = -total
        for i in numbers(n, m):
            for j in numbers(i, 2):
                if j > 4:
                    return total, i, j
        return total

    check_calls(f, *CALLS)


def test_consumers_of_iterables():
    def f(n, m):
        return (
            list(numbers(n)), sum(numbers(n, m)), max(numbers(n, m), default=1), sorted(numbers(n, m)),
            [*numbers(n), m], [i * 2 for i in numbers(n) if i > m], any(i > m for i in numbers(n)),
            tuple(numbers(2, m)), m in numbers(n),
            min(numbers(n), key=lambda t: -t), set(numbers(n, m)), ",".join(str(i) for i in numbers(n)),
            list(map(lambda t: t + m, numbers(n))), isinstance(numbers(n), list),
        )  # fmt: skip

    check_calls(f, *CALLS)


def test_the_largest_of_known_values_or_none():
    def f(n, m):
        def fixed(p):
            yield 3
            yield from (n, p)

        return max(fixed(m), default=1), min((i for i in ()), default=m), max([n, m], default=None)

    check_calls(f, *CALLS)


def test_values_one_by_one():
    def f(n, m):
        def fixed(p):
            yield p
            yield p + n

        generator = fixed(m)
        first = next(generator), next(generator), next(generator, None)
        p, *rest = numbers(n, m)
        return first, list(generator), p, rest, next(numbers(n), 9), next(i for i in numbers(n, 3) if i > 2)

    check_calls(f, *CALLS)


def test_effects_stay_in_order():
    log = []

    def f(n, m):
        log.clear()

        def noisy(p):
            log.append(("begins", p))
            for i in range(p):
                log.append(("gives", i))
                yield i
            log.append("ends")

        total = 0
        unused = noisy(5)
        for i in noisy(n):
            log.append(("takes", i))
            total += i
            if total > m:
                break
        return total, list(log), unused is None

    check_calls(f, (0, 3), (2, 3), (5, 3))


def test_outer_names():
    def f(n, m):
        count = 0

        def counted(p):
            nonlocal count
            for i in range(p):
                count += 1
                yield i + count

        found = [i for i in counted(n)]
        return found, count, sum(counted(m)), count

    check_calls(f, (0, 2), (3, 1), (4, 0))


def test_methods_and_delegation():
    class Tree:
        def __init__(self, value, *parts):
            self.value = value
            self.parts = parts

        def walk(self):
            yield self.value
            for part in self.parts:
                yield from part.walk()

    def f(n, m):
        return sum(Tree(n, Tree(m), Tree(n + m, Tree(3))).walk())

    check_calls(f, *CALLS)


def test_generators_that_raise():
    def f(n, m):
        def failing(p):
            yield p
            if p > 2:
                raise ValueError(p)
            yield 10 // m

        found = []
        try:
            for i in failing(n):
                found.append(i)
        except (ValueError, ZeroDivisionError) as error:
            found.append(str(error))
        return found

    check_calls(f, (1, 2), (5, 2), (1, 0))


def test_arguments_are_checked_when_the_generator_is_made():
    def f(n):
        return numbers()

    with pytest.raises(TypeError, match=r"numbers\(\) missing 1 required positional argument: 'n'"):
        ac.compile(f)(1)


def test_a_try_around_a_yield():
    def guarded(n):
        try:
            yield n
            if n > 2:
                yield 1 // (n - 5)
        except ZeroDivisionError:
            yield -1

    check_calls(lambda n: list(guarded(n)), (1,), (3,), (5,))


def test_generators_that_cannot_be_analysed_run_as_plain_python():
    def resumes_after_break(n):
        generator = numbers(n)
        for i in generator:
            if i > 2:
                break
        return list(generator)

    compiled = ac.compile(resumes_after_break)
    for n in (1, 3, 5):
        assert compiled(n) == resumes_after_break(n)
    assert "plain Python" in compiled.explain()


def test_outer_names_that_are_not_assigned():
    def program(n, way):
        for last in range(n):
            pass

        def values(count=2):
            nonlocal last
            if way == 1:
                yield from (last, n)
            elif way == 2:
                last += 1
                yield last
            elif way == 3:
                yield sum(last for _ in range(count))
            elif way == 4:
                yield (lambda: last)()
            else:
                last = 5
                yield last

        found = 0
        try:
            for value in values():
                found += value
        except NameError as error:
            return type(error).__name__, str(error)
        return found, sum(values())

    check_calls(program, *((n, way) for n in (-3, 3) for way in range(6)))


def test_unread_values_are_computed():
    def program(n):
        for last in range(n):
            pass

        def values():
            yield from (last, n)

        list(values())

    compiled = ac.compile(program)
    assert compiled(2) is None
    with pytest.raises(NameError, match="cannot access free variable 'last'"):
        compiled(0)
    assert "plain Python" not in compiled.explain()


def test_an_overriding_generator_method():
    def program(n):
        class Counter:
            def __init__(self):
                self.__count = n

            def values(self, *args, k=3, **kwargs):
                for i in range(self.__count):
                    yield i + k + len(args) + sum(kwargs.values())

        class Longer(Counter):
            def values(self):
                yield -1
                yield from super().values(1, 2, k=4, z=5)

        return list(Longer().values()), sum(Counter().values()), max(Counter().values(), default=0)

    check_calls(program, (1,), (-1,), (3,))


def test_outer_names_that_are_deleted():
    def program(n):
        x = n

        def values():
            nonlocal x
            yield n
            if n > 0:
                del x
            yield 1
            if n > 2:
                x = 7
            yield x

        taken = 0
        try:
            for value in values():
                taken += value
        except NameError as error:
            return taken, str(error)
        try:
            return taken, x
        except NameError as error:
            return taken, str(error)

    check_calls(program, (1,), (-1,), (3,))


def test_a_name_that_an_inner_function_deletes():
    def program(n):
        x, y = n, 1

        def take():
            nonlocal x
            if n > 0:
                del x

        def take_and_read():
            nonlocal y
            if n > 2:
                del y
            return y

        take()
        try:
            first = x
        except NameError as error:
            first = str(error)
        try:
            return first, take_and_read(), y
        except NameError as error:
            return first, str(error)

    check_calls(program, (1,), (-1,), (3,))
