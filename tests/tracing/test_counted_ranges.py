"""Loops over `autoconv.range` whose length is known only at run time: the numbers are counted, not stored."""

import autoconv as ac


@ac.function
def up_and_down(first, last):
    total, seen = ac.constant(0), 0
    for i in ac.range(first, last, 3):
        if i == 7:
            continue
        if seen > 4:
            break
        total = total * 3 + i
        seen += 1
    for position, i in enumerate(ac.range(last, first, -2)):
        total += i * ac.cast(position, ac.int32)
    return total


def test_the_numbers_are_python_s():
    def plain(first, last):
        counted = [i for i in range(first, last, 3) if i != 7][:5]
        total = 0
        for i in counted:
            total = total * 3 + i
        return total + sum(i * position for position, i in enumerate(range(last, first, -2)))

    for first in range(-5, 12, 2):
        for last in range(-6, 26, 3):
            assert int(up_and_down(ac.constant(first), ac.constant(last))) == plain(first, last), (first, last)
    assert up_and_down.experimental_get_tracing_count() == 1
    assert not up_and_down.get_concrete_function(ac.constant(1), ac.constant(2)).kernels


@ac.function
def counted(n):
    total = 0.0
    for i in ac.range(n):
        total += ac.cast(i % 3, ac.float64)
    return total


def test_many_iterations_need_no_memory_for_the_numbers():
    assert not counted.get_concrete_function(ac.constant(2)).kernels  # that of `range` makes an array
    assert float(counted(ac.constant(10_000_000))) == 9_999_999.0


@ac.function
def power(x, n):
    for i in ac.range(1, n):
        x *= ac.cast(i, ac.float64)
    return x


def test_gradients_through_casts_of_the_numbers():
    x = ac.constant(2.0, ac.float64)
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = power(x, ac.constant(5))
    assert float(y) == 48.0
    assert float(tape.gradient(y, x)) == 24.0
