"""`enumerate` and `zip` of generator expressions and generator functions, where a tensor decides how long they are."""

# ruff: noqa: B905, C416 - what people write is what is tested

from tests.tracing.test_objects import check_calls

CALLS = [(a, b) for a in (3, 0, 2, 1) for b in (2, 0, 1)]


def test_enumerate_of_generators():
    def f(a, b):
        total, seen = 0, []
        for k, v in enumerate((x for x in range(a) if x != b), start=b):
            total += k * v
            if total > 3:
                break
        else:
            total -= 100
        for i, x in enumerate(filter(lambda y: y > a, [1, 2, 3, b]), 5):
            if x == 2:
                continue
            seen.append(i * x)
            if i > 6:
                return total, seen, i
        return total, seen

    check_calls(f, *CALLS)


def test_a_loop_that_python_ends_is_gone_on_with():
    def f(a, b):
        pairs, seen = enumerate(x * a for x in [1, 2, 3]), []
        for i, x in pairs:
            seen.append((i, x))
            if i == 1:
                break
        both = zip([1, 2, 3], (x * b for x in [1, 2, 3]))
        for x, y in both:
            seen.append((x, y))
            if x == 2:
                break
        return seen, list(pairs), list(both)

    check_calls(f, *CALLS)


def test_consumers():
    def f(a, b):
        long = [1, a, b]
        i, *j = enumerate(x for x in long)
        return (
            i, j, list(enumerate(x for x in long if x > 1)), dict(enumerate(x for x in long)),
            sum(i * x for i, x in enumerate(x for x in long if x > 1)), max(zip("abc", (x for x in long))),
            [*enumerate(x for x in long)],
        )  # fmt: skip

    check_calls(f, *CALLS)


def test_zip_takes_items_in_order_and_no_more_than_python():
    def f(a, b):
        log = []

        def note(x):
            log.append(x)
            return x > b

        total = 0
        for x, y in zip([a, b], (z for z in [1, 2, 3, 4, 5] if note(z))):
            total += x * y
        for y, x in zip((z for z in [1, 2, 3, 4, 5] if note(z)), (a, b)):
            total += x * y
            if x == 3:
                break
        for _ in zip((z for z in [1, 2, 3, 4, 5] if note(z)), ()):
            total += 1
        for _ in zip([], (z for z in [1, 2, 3, 4, 5] if note(z))):
            total += 1
        return total, log

    check_calls(f, *CALLS)


def test_generator_functions():
    def f(a, b):
        log, seen = [], []

        def numbers(n):
            for i in range(n):
                log.append(i)
                yield i + b
            log.append("end")

        for i, x in enumerate(numbers(a)):
            seen.append((i, x))
            if x == 2:
                break
        for s, x in zip("abc", numbers(a)):
            seen.append((s, x))
        for x, s, k in zip(numbers(a), "ab", range(7, 20)):
            seen.append((s, x, k))
        return seen, log

    check_calls(f, *CALLS)


def test_lists_of_the_graph():
    def f(a, b):
        xs = [1, 2, 3]
        if a > b:
            xs.append(4)
        empty = [7] * 0
        if a > 2:
            empty.append(b)
        seen = [i * x for i, x in zip(xs, (y for y in xs))]
        seen += [p for p in zip((y for y in xs), xs, "abcdef")]
        seen += [p for p in zip(empty, (100 // y for y in [b, 1]))]
        grid = [1, b, [0, 0]]
        grid[2][1] -= a
        return seen, [n for n, _ in enumerate(1 for _ in grid)]

    check_calls(f, *[(a, b) for a in (3, 0, 2, 1) for b in (2, 5, 1)])


def test_zip_with_a_reversed_list():
    def f(a, b):
        xs, items, seen = [1, 2], [5, b, a], []
        if a > b:
            xs.append(4)
        for x, y in zip(xs, reversed(items)):
            seen.append((x, y))
            if y == 2:
                items[0] = 9
            if a > 2:
                items.append(1)
        return seen, items, list(zip(xs, reversed([a, b, 3])))

    check_calls(f, *CALLS)


def test_a_list_of_numbers_beside_a_range():
    def f(a, b):
        total = 0
        for _ in range(a):
            for x, n in zip([a + 1, b + 1, a * b], range(b)):
                total += x * n
                if total > 9:
                    break
        return total

    check_calls(f, *CALLS)
