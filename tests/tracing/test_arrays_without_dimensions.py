"""Arrays without dimensions and NumPy's scalars under `compile`: each where NumPy gives it, with its memory and class.

Every program runs as plain Python and compiled, twice, on arguments of its own; results, what they share memory with,
and the arguments afterwards are the same.
"""

import inspect

import numpy as np
import pytest

import autoconv as ac


def made_of_a_number(x):
    return np.array(5.0), np.asarray(x), np.zeros(()), np.ones((), int), np.full((), x), np.float64(x)


def of_a_constant(x):
    return np.median(3.0), np.median(3.0, keepdims=True), np.median(x, keepdims=True)


def like_others(x):
    return np.ones_like(x), np.zeros_like(x), np.full_like(x, 2), np.empty_like(x).shape, np.copy(x)


def the_argument(x):
    return x


def as_array(x):
    return np.asarray(x), np.array(x, copy=True), np.asarray(x, dtype="f4")


def computed(x):
    return x + 1, -x, np.sin(x), x * x, x == 3, np.add(x, 1), abs(x), np.sum(x), x.sum(), x.max(), np.mean(x)


def methods(x):
    return x.copy(), x.astype("i4"), x.T, x.reshape(()), x.squeeze(), x.item(), x.tolist(), x.round(), x.ravel(), x[()]


def attributes(x):
    return x.shape, x.ndim, x.size, x.dtype, type(x), isinstance(x, np.ndarray), isinstance(x, float), np.isscalar(x)


def written(x):
    x[...] = 1
    y = x
    y += 4
    x[()] = x * 2
    return x, y


def counted(x):
    total = np.zeros(())
    for i in range(4):
        total += x * i
        total[...] = total + 1
    return total


def two_names(x):
    a = np.array(x)
    b = a
    c = a.copy()
    b[...] = 7.0
    return a, b, c, a is b, a is c


def an_element(x):
    return x[0], x[0, ...], x[1:2].reshape(()), np.squeeze(x[:1]), x[-1][()], x.sum()


def a_view_of_an_element(x):
    v = x[1, ...]
    v[...] = 9.0
    v += 1
    return v, x[1]


def view_in_a_loop(x):
    for i in range(len(x)):
        v = x[i, ...]
        v *= 2
    return x


def chosen(x):
    return np.where(x > 2, x, 0), np.clip(x, 0, 2), np.maximum(x, 1)


def in_an_arm(x):
    if x > 2:
        y = np.array(x)
    else:
        y = np.zeros(())
    y += 1
    return y


def array_or_scalar(x):
    y = np.array(1.0)
    if x > 2:
        y = y + x
    return y


def array_or_number(x):
    if x > 2:
        return np.asarray(x)
    return 0.5


def in_containers(x):
    a = np.array(x)
    found = {"a": a, "b": [a, a + 1]}
    a[...] = 3.0
    return found


def of_conditions(x):
    n = 0
    while x < 10:
        x = x + 3
        n += 1
    return x, n


def in_place_in_a_loop(x):
    n = 0
    while x < 10:
        x += 3
        n += 1
    return x, n


def python_numbers(x):
    return float(x), int(x), bool(x), round(float(x), 1), [10, 20, 30, 40][int(x)]


def out(x):
    y = np.zeros(())
    found = np.add(x, 1, out=y)
    return y, found, found is y


def products(x):
    return x @ x, np.dot(x, x), np.tensordot(x, x, 1), np.einsum("i,i->", x, x), np.linalg.norm(x), np.isin(2.0, x)


def the_same_array(x):
    ordered = np.ascontiguousarray(x), np.asfortranarray(x)
    return np.asarray(x), np.asanyarray(x), ordered, np.astype(x, float, copy=False)


def turned(x, i):
    return np.flip(x, i), np.roll(x, i), np.sum(x, axis=i), np.repeat(x, i, axis=0)


def parts_of_numbers(x):
    return np.real(x), np.imag(x), np.isreal(x), np.iscomplex(x)


def tuples_of_one(x):
    (only,) = np.ix_(x)
    return only + 0, np.linalg.matrix_rank(x), np.unstack(x)


def gradually(x, y):
    x[...] = y
    y[...] = 5.0
    return x, y


def scalar_methods(x):
    return x.copy(), x.astype("i4"), x.T, x.reshape(()), x.squeeze(), x.item(), np.reshape(x, ()), np.squeeze(x), x[...]


def swapped(x, n):
    a, b = np.array(x), np.array(2.0)
    for _ in range(n):
        a, b = b, a
    a[...] = 8.0
    return a, b


def through_a_helper(x):
    def fill(a):
        a[...] = 6.0
        return a

    y = np.array(x)
    return fill(y), y


ARRAY, SCALAR, NUMBER = lambda v: np.array(v), lambda v: np.float64(v), lambda v: v
VECTOR = lambda v: np.array([v, 2.0, 5.0])
KINDS = {"array": ARRAY, "scalar": SCALAR, "number": NUMBER, "vector": VECTOR}
CASES = [
    (made_of_a_number, "scalar number"), (of_a_constant, "array scalar"), (like_others, "array scalar number vector"),
    (the_argument, "array scalar number"), (as_array, "array scalar number"), (computed, "array scalar"),
    (methods, "array"), (attributes, "array scalar"), (written, "array"), (counted, "array scalar number"),
    (two_names, "array number"), (an_element, "vector"), (a_view_of_an_element, "vector"), (view_in_a_loop, "vector"),
    (chosen, "array scalar number"), (in_an_arm, "array scalar number"), (array_or_scalar, "array scalar number"),
    (array_or_number, "array scalar number"), (in_containers, "array number"), (of_conditions, "array scalar number"),
    (in_place_in_a_loop, "array scalar number"), (python_numbers, "array scalar number"), (out, "array number"),
    (products, "vector"), (scalar_methods, "scalar"), (through_a_helper, "number array"),
    (the_same_array, "array scalar vector"), (parts_of_numbers, "number scalar array"), (tuples_of_one, "vector"),
]  # fmt: skip


def describe(value):
    if isinstance(value, (tuple, list)):
        return type(value), [describe(v) for v in value]
    if isinstance(value, dict):
        return {key: describe(v) for key, v in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape, value.tobytes()
    return type(value), repr(value)


def arrays_in(value):
    if isinstance(value, (tuple, list)):
        return [a for v in value for a in arrays_in(v)]
    if isinstance(value, dict):
        return arrays_in(list(value.values()))
    return [value] if isinstance(value, np.ndarray) else []


def outcome(function, arguments):
    found = function(*arguments)
    arrays = arrays_in([found, *arguments])
    shared = [[np.shares_memory(a, b) for a in arrays] for b in arrays]
    return describe(found), describe(list(arguments)), shared


def check(program, *arguments):
    compiled = ac.compile(program)
    for shift in (0.0, 2.0):
        expected = outcome(program, [make(value + shift) for make, value in arguments])
        assert outcome(compiled, [make(value + shift) for make, value in arguments]) == expected
    return compiled


@pytest.mark.parametrize(
    ("program", "kind"), [(program, kind) for program, kinds in CASES for kind in kinds.split()],
    ids=lambda v: v if isinstance(v, str) else v.__name__,
)  # fmt: skip
@pytest.mark.search
def test_as_in_numpy(program, kind):
    check(program, (KINDS[kind], 1.0))


def test_two_arguments():
    check(gradually, (ARRAY, 1.0), (ARRAY, 2.0))
    for turns in (2, 3):
        compiled = ac.compile(swapped)
        assert outcome(compiled, [1.0, turns]) == outcome(swapped, [1.0, turns])


def test_axes_that_are_arrays():
    x = np.arange(6.0).reshape(2, 3)
    assert outcome(ac.compile(turned), [x, np.array(1)]) == outcome(turned, [x, np.array(1)])


def test_programs_are_traced():
    """Most programs run as a graph."""
    for program, make in ((written, ARRAY), (counted, NUMBER), (a_view_of_an_element, VECTOR), (chosen, NUMBER)):
        compiled = check(program, (make, 1.0))
        assert compiled.experimental_get_tracing_count() == 1, compiled.explain()
        assert inspect.isfunction(program)


def asked(x):
    found = []
    for name in ("ndim", "shape", "dtype", "size"):
        try:
            found.append(getattr(x, name))
        except AttributeError as error:
            found.append(str(error))
    try:
        found.append((x.ndim, x.shape))
    except AttributeError as error:
        found.append(str(error))
    return found


def test_python_numbers_have_no_array_attributes():
    check(asked, (NUMBER, 1.0))
    check(asked, (SCALAR, 1.0))
    check(asked, (ARRAY, 1.0))


def test_one_argument_as_array_and_as_scalar():
    compiled = ac.compile(the_argument)
    for make in (ARRAY, SCALAR, NUMBER, ARRAY, SCALAR):
        assert outcome(compiled, [make(1.0)]) == outcome(the_argument, [make(1.0)])


def taken(x, at):
    row = x[at]
    row += 1.0
    return row, x


def column(x, at):
    column = x[:, at]
    column[...] = 7.0
    return column, x


def grown(x, at):
    x[at] += 1.0
    return x[at, 0], x


@pytest.mark.parametrize("at", [np.array(1), np.array(0, np.int8), np.int64(1), 1, np.array(True)], ids=repr)
@pytest.mark.parametrize("program", [taken, column, grown], ids=lambda program: program.__name__)
def test_an_index_without_dimensions_copies(program, at):
    if program is column and np.asarray(at).dtype == bool:
        pytest.skip("a mask, which has no position")
    compiled = ac.compile(program)
    for shift in (0.0, 2.0):
        plain, argument = (np.arange(6.0).reshape(3, 2) + shift for _ in range(2))
        wanted, found = program(plain, at), compiled(argument, at)
        assert [part.tolist() for part in wanted] == [part.tolist() for part in found]
        expected = [np.shares_memory(part, plain) for part in wanted]
        assert [np.shares_memory(part, argument) for part in found] == expected
        assert plain.tolist() == argument.tolist()
