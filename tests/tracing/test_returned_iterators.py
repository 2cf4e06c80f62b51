"""Ranges, generators and iterators of the builtins that leave a compiled function, on some paths or on all."""

import autoconv as ac


def test_ranges_are_returned_as_ranges():
    def chosen(a):
        return range(a, 10, 2) if a > 0 else None

    def each(a):
        found = []
        while a > 0:
            found.append(range(a))
            a -= 1
        return found

    for f in (chosen, each):
        compiled = ac.compile(f)
        assert [compiled(a) for a in (3, -2, 11)] == [f(a) for a in (3, -2, 11)]
        assert compiled.experimental_get_tracing_count() == 1
        assert "plain Python" not in compiled.explain()


def test_returned_iterators_are_pythons():
    class Box:
        pass

    def generator(a):
        return (i * i for i in range(a)) if a > 0 else (1, 2)

    def numbered(a):
        return enumerate(range(a)) if a > 0 else (1, 2)

    def mapped(a):
        return map(abs, range(-a, 0)) if a > 0 else (1, 2)

    def filtered(a):
        return filter(None, range(a))

    def in_an_object(a):
        box = Box()
        box.items = enumerate(range(a))
        return box

    for f in (generator, numbered, mapped, filtered):
        compiled = ac.compile(f)
        for a in (3, -2):
            assert type(compiled(a)) is type(f(a))
            assert list(compiled(a)) == list(f(a))
    assert list(ac.compile(in_an_object)(3).items) == [(0, 0), (1, 1), (2, 2)]


def test_structures_from_loops_or_nothing():
    def always_the_same(a, b):
        for _ in range(a):
            if a == b:
                return [1, 1, 1]
        return None

    def of_numbers_of_the_graph(a, b):
        for i in range(a):
            if i * i > b:
                return [i, a - b]
            if i == b:
                return [b, i + 1]
        return None

    def nested(a, b):
        for i in range(a):
            for j in range(b):
                if i * j == 6:
                    return {"i": i, "j": [j, (a, b)]}
                if i + j == 9:
                    return {"i": j, "j": [i, (b, a)]}
        return None

    def of_patterns(a, b):
        for i in range(a):
            match (i, b):
                case [1, w]:
                    return (w, i)
                case [w, 2]:
                    return (i, w)
        return None

    pairs = [(0, 0), (1, 1), (3, 3), (4, 2), (5, 1), (7, 7), (4, 4), (2, 9), (-1, 2)]
    for f in (always_the_same, of_numbers_of_the_graph, nested, of_patterns):
        compiled = ac.compile(f)
        assert [compiled(*pair) for pair in pairs] == [f(*pair) for pair in pairs]
        assert compiled.experimental_get_tracing_count() == 1
        assert "plain Python" not in compiled.explain()
