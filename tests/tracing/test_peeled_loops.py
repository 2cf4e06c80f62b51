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
