"""While loops whose first iterations run in Python: within one budget of nodes for a whole nest of loops."""

import numpy as np

import autoconv


def sums_of_runs(values):
    source, target, width = values, np.empty_like(values), 1
    while width < len(source):
        start = 0
        while start < len(source):
            total = 0
            for position in range(start, min(start + 2 * width, len(source))):
                total += source[position]
                target[position] = total
            start += 2 * width
        source, target, width = target, source, 2 * width
    return source


def count_nodes(values):
    """Compare a call with NumPy's, and return the number of nodes of its graph."""
    compiled = autoconv.compile(sums_of_runs)
    np.testing.assert_array_equal(compiled(values.copy()), sums_of_runs(values.copy()))
    (trace,) = compiled.concrete_functions
    return sum(1 for _ in trace.optimised.walk())


def test_a_graph_does_not_grow_with_the_iterations():
    assert count_nodes(np.arange(60) % 7) <= count_nodes(np.arange(31) % 7) + 20 < 800


def test_few_iterations_are_all_peeled():
    for size in (1, 2, 3):
        compiled = autoconv.compile(sums_of_runs)
        np.testing.assert_array_equal(compiled(np.arange(size)), sums_of_runs(np.arange(size)))
        (trace,) = compiled.concrete_functions
        assert not any(node.op.name == "while" for node in trace.optimised.walk())


def energy_of_near_pairs(x, first_of_cell, next_of):
    energy = 0.0
    for i in range(len(x)):
        for a in range(-1, 2):
            for b in range(-1, 2):
                j = first_of_cell[(i + 3 * a + b) % len(first_of_cell)]
                while j >= 0:
                    if j > i and x[i] > x[j]:
                        energy += 1 / (1 + x[i] - x[j])
                    j = next_of[j]
    return energy


def test_a_number_that_may_change_its_class_does_not_double_a_nest():
    """A Python float that is one of NumPy's after the iterations that meet a branch: no copy of an iteration helps."""
    x = np.random.default_rng(5).random(12)
    first_of_cell, next_of = np.arange(-1, 11), np.arange(12) - 4
    compiled = autoconv.compile(energy_of_near_pairs)
    for values in (x, x[::-1].copy(), np.zeros(12)):
        expected = energy_of_near_pairs(values, first_of_cell, next_of)
        result = compiled(values, first_of_cell, next_of)
        assert type(result) is type(expected) and abs(result - expected) < 1e-9
    (trace,) = compiled.concrete_functions
    assert sum(1 for _ in trace.optimised.walk()) < 250
