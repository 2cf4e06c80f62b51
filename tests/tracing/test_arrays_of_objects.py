"""Under `compile`, arrays that attributes and outer names hold are changed in place, as Python and NumPy change them,
and so are arrays that share memory with them."""

import numpy as np
import pytest

import autoconv

SHARED = np.zeros(4)
HELD = [np.ones(2)]
BY_NAME = {"a": np.ones(2)}


class State:
    """`v` is a view of `w`."""

    def __init__(self):
        self.w = np.arange(4.0)[::-1].copy()
        self.v = self.w[:2]
        self.m = np.ones((2, 2))
        self.n = 0


class StateWithContainers(State):
    """A state whose arrays are in containers as well."""

    def __init__(self):
        super().__init__()
        self.all = [self.w, np.ones(4)]
        self.named = {"w": self.w}


def increase(w):
    w += 1


def lower_and_double(w):
    w -= 1
    w *= 2


def is_decreased(s, x):
    s.w -= x


def adds_a_constant_to_a_slice(s, x):
    s.w[1:] += 1


def has_another_name(s, x):
    w = s.w
    w += 1


def is_a_view_by_a_name(s, x):
    part = s.w[1:]
    part *= 2


def is_the_same_array(s, x):
    array = np.asarray(s.w)
    array -= 2


def is_flattened(s, x):
    flat = np.ravel(s.m)
    flat -= x[1]


def chosen_while_it_runs(s, x):
    chosen = s.w if x[0] > 1 else s.m[0]
    chosen += 1


def given_to_functions(s, x):
    increase(s.w)
    lower_and_double(s.v)


def is_iterated(s, x):
    for row in s.m:
        row += 1


def is_iterated_in_a_comprehension(s, x):
    [increase(w) for w in (s.w, s.v)]


def through_a_view(s, x):
    s.v += x[:2]


def changed_by_elements(s, x):
    for i in range(len(x)):
        if x[i] > 1:
            s.w[i] += x[i]
        else:
            s.w[i] = 0


def changed_in_an_arm(s, x):
    if x[0] > 1:
        s.w += x
    else:
        s.w[0] = 3


def swapped(s, x):
    s.w, s.v = s.v.copy(), s.w
    s.v[0] = x[0]


def replaced_while_it_has_another_name(s, x):
    before = s.w
    s.w = before * 2
    before += 1


def becomes_the_argument(s, x):
    s.w = x
    s.w += 1


def is_added_to_the_argument(s, x):
    x += s.w


def is_changed_beside_a_counter(s, x):
    s.w[:] = 0
    s.w += x
    s.n += 1


def by_positions(s, x):
    s.w[np.array([0, 1])] += 1
    s.w[x > 1] = 2


def two_dimensions(s, x):
    s.m[0, :] = s.m[1, :] + x[0]
    s.m[0][0] += 7
    s.m.T[0] = x[1]


def methods_with_out(s, x):
    s.w.cumsum(out=s.w)


def functions_with_out(s, x):
    np.add(s.w, 1, out=s.w)
    np.maximum(s.m, x[0], out=s.m)


def functions_that_write(s, x):
    np.fill_diagonal(s.m, 5)
    np.put(s.w, [0], [5])
    np.copyto(s.v, 0.5)


def of_a_global(s, x):
    SHARED[0] += x[0]
    SHARED[1:] -= 1


def of_a_global_by_another_name(s, x):
    shared = SHARED
    shared += 1


def in_a_list(s, x):
    HELD[0][1] = 2
    HELD[0] += x[0]


def in_a_dict(s, x):
    array = BY_NAME["a"]
    array += 1
    BY_NAME["a"] *= 2


def by_an_inner_function(s, x):
    def change():
        s.w[0] = x[0]

    change()


CHANGES = [
    is_decreased, adds_a_constant_to_a_slice, has_another_name, is_a_view_by_a_name, is_the_same_array, is_flattened,
    chosen_while_it_runs, given_to_functions, is_iterated, is_iterated_in_a_comprehension, through_a_view,
    changed_by_elements, changed_in_an_arm, swapped, replaced_while_it_has_another_name, becomes_the_argument,
    is_added_to_the_argument, is_changed_beside_a_counter, by_positions, two_dimensions, methods_with_out,
    functions_with_out, functions_that_write, of_a_global, of_a_global_by_another_name, in_a_list, in_a_dict,
    by_an_inner_function,
]  # fmt: skip
STAGED = [
    is_decreased, adds_a_constant_to_a_slice, has_another_name, is_a_view_by_a_name, is_the_same_array,
    given_to_functions, through_a_view, changed_by_elements, changed_in_an_arm, is_changed_beside_a_counter,
    two_dimensions, of_a_global, of_a_global_by_another_name,
]  # fmt: skip


def outcome(call, make):
    """Return the state of the object and of outer names after four calls."""
    SHARED[:] = 0
    HELD[:] = [np.ones(2)]
    BY_NAME["a"] = np.ones(2)
    state, seen = make(), []
    for number in range(4):
        argument = np.full(4, float(number))
        call(state, argument)
        seen.append((argument.tolist(), state.w.sum(), state.v.sum(), state.m.tolist(), state.n))
        seen.append((SHARED.tolist(), HELD[0].tolist(), BY_NAME["a"].tolist(), np.shares_memory(state.w, state.v)))
    return seen, {name: repr(value) for name, value in vars(state).items() if not name.startswith("__")}


@pytest.mark.parametrize("make", [State, StateWithContainers])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.search
def test_arrays_change_as_in_python(change, make):
    assert outcome(autoconv.compile(change), make) == outcome(change, make)


@pytest.mark.parametrize("change", STAGED, ids=lambda change: change.__name__)
def test_changes_are_part_of_the_graph(change):
    compiled = autoconv.compile(change)
    outcome(compiled, State)
    assert "plain Python" not in compiled.explain(), compiled.explain()


class Line:
    def __init__(self, size):
        self.w = np.zeros(size)
        self.b = 0.0

    @autoconv.compile
    def step(self, x, y, rate):
        error = x @ self.w + self.b - y
        self.w -= rate * (x.T @ error) / len(y)
        self.b -= rate * error.mean()
        return (error**2).mean()

    @autoconv.compile
    def fit(self, x, y, rate, steps):
        for _ in range(steps):
            error = x @ self.w + self.b - y
            self.w -= rate * (x.T @ error) / len(y)
            self.b -= rate * error.mean()


def test_a_model_is_trained_in_place():
    x = np.random.default_rng(0).normal(size=(100, 3))
    y = x @ np.array([1.0, -2.0, 0.5]) + 0.25
    compiled_line, plain_line = Line(3), Line(3)
    weights = compiled_line.w
    for _ in range(300):
        compiled_line.step(x, y, 0.1)
    plain_line.fit(x, y, 0.1, 300)
    for line in (compiled_line, plain_line):
        np.testing.assert_allclose(line.w, [1.0, -2.0, 0.5], atol=1e-8)
        assert abs(line.b - 0.25) < 1e-8
    assert compiled_line.w is weights
    assert "plain Python" not in compiled_line.step.explain() + plain_line.fit.explain()
    assert compiled_line.step.experimental_get_tracing_count() <= 2


TABLE = np.zeros(4)


def adds_to_argument_and_reads_table(x):
    x[0] += 5.0
    return TABLE[0] + 1.0


def test_an_argument_may_be_an_array_that_the_function_reads_by_name():
    TABLE[:] = 0
    compiled, argument = autoconv.compile(adds_to_argument_and_reads_table), np.zeros(4)
    found = [compiled(argument), compiled(TABLE), compiled(TABLE), compiled(TABLE[:2]), compiled(argument)]
    assert found == [1.0, 6.0, 11.0, 16.0, 16.0]
    assert "shares memory" in compiled.explain()


class Counting:
    def __init__(self):
        self.count, self.one, self.places = np.zeros(()), np.ones(1), np.array([0, 1])


def counts_up(o, x):
    count = o.count
    while count < 3:
        count += 1
    return count + x[0]


def decides(o, x):
    element = o.one
    if element > 0:
        element -= 2
    return element.sum() + x[0]


def selects_by_positions(o, x):
    places = o.places
    places += 1
    return x[places]


@pytest.mark.parametrize("function", [counts_up, decides, selects_by_positions], ids=lambda function: function.__name__)
def test_arrays_of_one_element_that_decide_branches(function):
    found = []
    for call in (function, autoconv.compile(function)):
        o = Counting()
        results = [repr(call(o, np.arange(6.0) + i)) for i in range(3)]
        found.append((results, {name: repr(value) for name, value in vars(o).items()}))
    assert found[0] == found[1]


def test_attributes_are_read_anew_by_each_call():
    class Held:
        pass

    held = Held()
    held.w = np.zeros(3)

    @autoconv.compile
    def f(x):
        held.w += x
        return held.w.sum()

    assert [f(1.0), f(1.0)] == [3.0, 6.0]
    held.__dict__ = {"w": np.full(3, 10.0)}
    assert f(1.0) == 33.0
    assert held.w.tolist() == [11.0] * 3
