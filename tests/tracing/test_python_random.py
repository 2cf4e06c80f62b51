"""Draws from Python's own random generators in graphs: numbers, states and errors are those of plain Python."""

import random

import pytest

import autoconv

OUTER = random.Random(5)


def estimate_pi(n):
    random.seed(n)
    inside = 0
    for _ in range(100 * n):
        x, y = random.random(), random.random()
        if x * x + y * y < 1:
            inside += 1
    return 4 * inside / n


def roll(n):
    total = 0
    for _ in range(n):
        total += random.randint(1, 6) + random.randrange(10) + random.randrange(3, 9)
    return total, random.uniform(1, 2), random.gauss(0, 1), random.expovariate(2.0), random.randint(0, 10**12)


def walk(generator, n):
    x = y = 0
    for _ in range(n):
        dx, dy = generator.choice([(1, 0), (-1, 0), (0, 1), (0, -1)])
        x, y = x + dx, y + dy
    return x, y, generator.random()


def draw_from_an_outer_name(n):
    total = 0.0
    for _ in range(n):
        total += OUTER.uniform(-1, 1)
    return total


def serve(generator, n):
    clock = total = 0.0
    for _ in range(n):
        clock += generator.expovariate(2.0) + random.expovariate(lambd=3.0)
        total = total * 0.5 + generator.normalvariate(clock, 0.5) + random.normalvariate(sigma=2.0)
    return clock, total


def draw_triangles(generator, mode, step):
    return generator.triangular(0, 2, mode), generator.randrange(1, 50, step), random.triangular(-1.0, mode, 0.25)


def shuffle_numbers(n):
    numbers = list(range(n))
    random.shuffle(numbers)
    return numbers, random.choice("abc")


def draw_from_new_generators(n):
    first, second, third = random.Random(n), random.Random(0.5 * n), random.Random(n > 3)
    items = list(range(10))
    first.shuffle(items)
    return items, first.choice(items), second.randint(1, n + 1), second.gauss(0, 1), third.random()


def choose_several(generator, n):
    numbers = generator.choices([1, 2.5, 3], k=n), random.choices((1, 2, 3, 4), [5, 1, 1, 2], k=n)
    texts = generator.choices("abc", cum_weights=[1, 2, 3.5]), random.choices(["a", "b"], weights=(0, 1), k=3)
    return numbers, texts, sum(random.choices(range(100))[0] for _ in range(n)), random.choices([], k=0)


def draw_samples(generator, n):
    total = 0
    for _ in range(n):
        first, second = random.sample(range(10), 2)
        total += first * second
    return total, generator.sample(range(1000), n), random.sample([3.5, 1.5, 2.5] * 3, 4), generator.sample("abcd", k=0)


PROGRAMS = {
    choose_several: lambda call: (random.Random(call), 5 + call),
    draw_samples: lambda call: (random.Random(call), 3 + 20 * call),
    estimate_pi: lambda call: (1 + call % 2,), roll: lambda call: (30 + call,),
    walk: lambda call: (random.Random(call), 40), draw_from_an_outer_name: lambda call: (5 + call,),
    shuffle_numbers: lambda call: (10 + call,), serve: lambda call: (random.Random(call), 20 + call),
    draw_from_new_generators: lambda call: (call,),
    draw_triangles: lambda call: (random.Random(call), 0.3 * call, call + 1),
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_numbers_and_states(program):
    compiled = autoconv.compile(program)
    for call in range(5):
        outcomes = []
        for function in (program, compiled):
            random.seed(call)
            OUTER.seed(call)
            outcomes.append((repr(function(*PROGRAMS[program](call))), random.getstate(), OUTER.getstate()))
        assert outcomes[0] == outcomes[1]
    assert "plain Python" not in compiled.explain(), compiled.explain()


def test_integers_of_all_widths_and_a_whole_period_of_the_state():
    def draw(generator, n, low, stop):
        total = 0
        for _ in range(n):
            total ^= generator.randrange(low, stop)
        return total, generator.random()

    compiled = autoconv.compile(draw)
    for bits in (0, 1, 5, 31, 32, 33, 61):
        for low, stop in ((0, 2**bits), (-3, 2**bits - 1), (1, 2**bits + 1)):
            if low < stop:
                assert compiled(random.Random(bits), 700, low, stop) == draw(random.Random(bits), 700, low, stop)


def draw_then_fail(generator, items, stop):
    first = generator.random()
    return first, generator.choice(items), generator.randrange(stop)


def test_errors_leave_the_state_that_plain_python_leaves():
    compiled = autoconv.compile(draw_then_fail)
    for items, stop in (([1, 2], 3), ([], 3), ([1, 2], 0), ([4], -2), ([1, 2], 5)):
        outcomes = []
        for function in (draw_then_fail, compiled):
            generator = random.Random(1)
            try:
                outcome = repr(function(generator, items, stop))
            except (IndexError, ValueError) as error:
                outcome = repr(error)
            outcomes.append((outcome, generator.getstate()))
        assert outcomes[0] == outcomes[1]


def draw_from_unfit_arguments(generator, form, n):
    first = generator.random()
    if form == 0:
        return first, generator.sample([1, 2], n)
    if form == 1:
        return first, generator.choices([1, 2], [0.0, 0.0], k=n)
    if form == 2:
        return first, generator.choices([1, 2], [1.0], k=n)
    if form == 3:
        return first, generator.choices([1], [1.0], cum_weights=[1.0], k=n)
    if form == 4:
        return first, generator.choices([1], [float("inf")], k=n)
    if form == 5:
        return first, generator.choices([], k=n)
    return first, generator.choices([1, 2], 3)


@pytest.mark.parametrize("form", range(7))
def test_errors_of_several_draws(form):
    compiled = autoconv.compile(draw_from_unfit_arguments)
    for n in (1, 5, 0, 2):
        outcomes = []
        for function in (draw_from_unfit_arguments, compiled):
            generator = random.Random(1)
            try:
                outcome = repr(function(generator, form, n))
            except (IndexError, TypeError, ValueError) as error:
                outcome = repr(error)
            outcomes.append((outcome, generator.getstate()))
        assert outcomes[0] == outcomes[1]
