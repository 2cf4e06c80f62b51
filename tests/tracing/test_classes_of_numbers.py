"""Results computed from elements of arrays under `compile` have the classes of plain NumPy: NumPy scalars, or Python's
bool, int or float."""

import itertools
import linecache

import numpy as np
import pytest

import autoconv
from tests.tracing.plain_comparison import check_against_plain

EXPRESSIONS = {
    "truth": """
        not x[0] > 1; not x[0]; bool(x[0] > 1); any(v > 1 for v in x); all([x[0] > 0]); x[0] > 0 and x[1] > 0
        x[0] > 0 or x[1]; 1.0 < x[0] < 2.0; x[0] in x; any([x[0], x[1]]); (x[0] > 1) + 1
        x[0] > 1 if x[1] > 0 else False
        not (x[0] > 1 and x[1] > 1); not any(x > 1); x.any(); x[0] is None; [x[0]] == [1.0]; {1: x[0]} == {1: 1.0}
        list(x) == [1.0, 2.0]; tuple(x) < (1.0, 3.0); x[0] not in (3.0,); (x[0], 1) != (x[1], 1)
    """,
    "numbers": """
        min(x); sum(x); x[0] // 1; x[0] % 2; divmod(x[0], 1); round(x[0], 1); x[0] ** 2; 2 ** x[0]
        -x[0]
        abs(x[0]); np.float64(3) == x[0]; x[0].item(); float(x[0]); int(x[0] > 1); x[0].sum(); np.ndim(x[0]); x[0] * 2
        np.real(x[0]); np.where(x[0] > 0, 1.0, 2.0); np.clip(x[0], 0, 1); np.asarray(x[0]); x[0, ...]; np.floor(x[0])
    """,
    "classes": """
        type(x[0]); type(x[0] > 1); type(x); isinstance(x[0], float); isinstance(x[0] > 1, bool); np.isscalar(x[0])
        np.isscalar(x); isinstance(x[0], np.ndarray); isinstance(x[0], np.floating); hasattr(x[0], "is_integer")
        x[0].dtype; x[0].shape; x[0].ndim; type(float(x[0])); type(len(x)); type(x[0] + 1); type(np.asarray(x[0]))
        x.__class__; x[0].__class__; len(x).__class__.__name__; (x[0] > 1).__class__
    """,
}


def describe(values):
    return [(type(v), repr(v)) if not isinstance(v, tuple) else describe(v) for v in values]


@pytest.mark.parametrize("kind", EXPRESSIONS)
def test_classes_of_results(kind):
    parts = [part.strip() for line in EXPRESSIONS[kind].strip().splitlines() for part in line.split(";")]
    text = "def every(x):\n    return (\n" + "".join(f"        ({part}),\n" for part in parts) + "    )\n"
    file = f"<classes of {kind}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    compiled = autoconv.compile(namespace["every"])
    for x in (np.array([1.0, 2.0]), np.array([0.0, 3.0])):
        found, expected = describe(compiled(x)), describe(namespace["every"](x))
        assert dict(zip(parts, found, strict=True)) == dict(zip(parts, expected, strict=True))
    assert compiled.experimental_get_tracing_count() == 1, compiled.explain()


def test_classes_of_python_numbers():
    def classes(x):
        xs = [1]
        xs.append(x)
        table = {1: x}
        of_numbers = x.__class__, (x > 1).__class__, x.__class__ is float
        return of_numbers, xs.__class__, table.__class__.__name__, {x}.__class__

    compiled = autoconv.compile(classes)
    assert compiled(1.5) == classes(1.5)
    assert compiled(2) == classes(2)
    assert "plain Python" not in compiled.explain()


def test_numbers_lack_the_attributes_of_their_class():
    def attributes_present(x):
        names = ("__call__", "__name__", "mro", "__dict__", "__mro__", "__array__", "__len__", "shape", "T")
        return [(hasattr(x, name), hasattr(x[0], name), hasattr(len(x), name)) for name in names]

    def after_a_write(x):
        x[0] = 1
        return attributes_present(x), getattr(x, "__name__", "none"), getattr(x[0], "mro", "none"), callable(x)

    for function in (attributes_present, after_a_write):
        check_against_plain(function, (np.arange(3.0),), (np.arange(3),))


def extremes(x, k):
    half = x.sum() * 0.5
    return max(len(x), half), min(half, len(x)), max(k, half, 2), min(x[0], k), max(np.float32(1), half)


def test_the_greater_of_numbers_of_two_classes_keeps_its_class():
    compiled = autoconv.compile(extremes)
    for size in (2, 3, 5, 9, 9):
        for value in (0.0, 3.0, np.nan):
            x = np.full(size, value)
            expected, found = extremes(x, 3), compiled(x, 3)
            assert [isinstance(v, float) for v in expected] == [isinstance(v, float) for v in found]
            assert repr(np.array(expected)) == repr(np.array(found))


def greatest(x, start):
    best, least, bound = 0.0, start, 1 if x[0] > 0 else x[1]
    for v in x:
        best, least = max(best, abs(v)), min(v, least, 2.5)
        bound = max(v, bound)
    return best, least, bound, max(best, least), min(best, bound, 1.0), best > least


def test_extremes_of_numbers_whose_class_the_path_decides():
    compiled = autoconv.compile(greatest)
    signs = itertools.product([0.0, -0.0, 1.5, np.nan, -2.0], repeat=2)
    for values in [*map(np.array, signs), np.array([3, -2]), np.array([0, 7]), np.float32([1.5, -2.0])]:
        for start in (np.inf, 1, None):
            check_outcomes(compiled, greatest, values, start)


def check_outcomes(compiled, function, *arguments):
    outcomes = []
    for each in (compiled, function):
        try:
            outcomes.append(repr(each(*arguments)))
        except TypeError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


def test_a_class_that_nothing_reads_is_not_carried():
    @autoconv.compile
    def changes(x, limit):
        count = 0
        while count < 40:
            moved = 0.0
            for i in range(1, len(x)):
                moved = max(moved, abs(x[i] - x[i - 1]))
                x[i] = x[i - 1]
            count += 1
            if moved < limit:
                break
        return count

    assert changes(np.arange(9.0), 0.5) == 2
    (trace,) = changes.concrete_functions
    loops = [node for node in trace.optimised.walk() if node.op.name == "while"]
    states = [[str(value.type) for value in loop.results] for loop in loops]
    states_with_maximum = [state for state in states if "float64[]" in state]
    assert states_with_maximum and all(state == ["weak int64[]", "float64[]"] for state in states_with_maximum)


def bounded(x):
    best = 0
    for v in x:
        best = min(max(best, v), 10**20)
    return best, max(best, -(10**20)), min(best, True)


def test_constants_beyond_64_bits_beside_numbers_of_two_classes():
    compiled = autoconv.compile(bounded)
    for values in (np.array([1, 2]), np.array([-1, -2]), np.array([0, 0, 5]), np.array([0.5, 3.0])):
        assert repr(compiled(values)) == repr(bounded(values))


@pytest.mark.parametrize("statement", ["x <<= 1", "n >>= 1.5", "x = x << 1", "x |= n", "x = 3 ^ (x * 2)"])
def test_floats_in_bit_operations(statement):
    """The texts are those of Python, which names the operator of an assignment, wherever the float comes from."""
    lines = ["def f(x, n):", "    for _ in range(n):", f"        {statement}", "    return x"]
    name = f"<bits of floats {statement}>"
    linecache.cache[name] = (0, None, [f"{line}\n" for line in lines], name)
    namespace = {}
    exec(compile("\n".join(lines), name, "exec"), namespace)
    texts = []
    for function in (namespace["f"], autoconv.compile(namespace["f"])):
        with pytest.raises(TypeError) as error:
            function(2.5, 3)
        texts.append(str(error.value))
    assert texts[0] == texts[1]
