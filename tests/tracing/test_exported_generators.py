"""Random generators in graphs that leave the process draw the numbers of NumPy and of Python."""

import pickle
import random
import shutil

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import UnsupportedError
from autoconv.ops.random import generator_bits as bits
from autoconv.ops.random import generator_draws as draws
from autoconv.tracing.api.exported_generators import state_of, ziggurat
from tests.backends.portable_samples import run_module
from tests.clibrary.calling import Caller


def by_xla(function, specs, *arguments):
    pytest.importorskip("jaxlib")
    module = ac.stablehlo.export(function, *specs, contract="compile")
    results, word = run_module(module, [np.asarray(x) for x in arguments])
    assert not word
    return results


def by_onnx(function, specs, *arguments):
    pytest.importorskip("onnxruntime")
    results = ac.onnx.load(ac.onnx.export(function, *specs, contract="compile"))(*arguments)
    return results if isinstance(results, tuple) else (results,)


@pytest.fixture
def by_c(tmp_path):
    def run(function, specs, *arguments):
        if shutil.which("cc") is None:
            pytest.skip("there is no C compiler")
        result = Caller(ac.clibrary.build(function, *specs, contract="compile", to=tmp_path / "made"))(*arguments)
        return tuple(result.values())

    return run


@pytest.fixture(params=["xla", "onnx", "c"])
def run(request, by_c):
    return {"xla": by_xla, "onnx": by_onnx, "c": by_c}[request.param]


def test_the_code_of_generators_as_plain_python():
    generator = np.random.default_rng(1)
    state, normal, exponential = state_of(generator), ziggurat("normal"), ziggurat("exponential")
    pcg64 = bits.PCG64
    with np.errstate(over="ignore"):
        for i in range(3000):
            np.testing.assert_allclose(draws.normal(pcg64, state, 1.0, 2.0, *normal), generator.normal(1.0, 2.0), 1e-15)
            found = draws.exponential(pcg64, state, 2.0, *exponential)
            assert found == pytest.approx(generator.exponential(2.0), 1e-15)
            assert draws.integer(pcg64, state, -3, 5 + i) == generator.integers(-3, 5 + i)
        for name in ("laplace", "gumbel", "logistic"):
            expected = getattr(generator, name)(1.0, 2.0)
            assert getattr(draws, name)(pcg64, state, 1.0, 2.0) == pytest.approx(expected, 1e-14)
        for low, high in ((-(2**63), 2**63 - 1), (0, 2**32), (0, 2**32 - 1), (4, 5), (0, 3 * 2**40)):
            assert draws.integer(pcg64, state, low, high) == generator.integers(low, high)
        np.testing.assert_array_equal(draws.permutation(pcg64, state, 40), generator.permutation(40))
        np.testing.assert_array_equal(state, state_of(generator))
        for seed in (0, 5, 2**40 + 3, 2**63 - 1):
            bits.seed_pcg64(state, seed, 4)
            np.testing.assert_array_equal(state, state_of(np.random.default_rng(seed)))


@pytest.mark.filterwarnings("ignore:overflow encountered")
def test_the_code_of_mersenne_twisters_as_plain_python():
    older, state = np.random.RandomState(7), np.zeros(630, np.uint32)
    bits.seed_mersenne(state, 7)
    for i in range(700):
        np.testing.assert_allclose(draws.polar_normal(bits.RANDOM_STATE, state, 0.0, 1.0), older.randn(), 1e-14)
        assert draws.fraction(bits.RANDOM_STATE, state) == older.rand()
        assert draws.integer(bits.RANDOM_STATE, state, -3, 5 + i * 2**25) == older.randint(-3, 5 + i * 2**25)
    generator = random.Random(3)
    state = state_of(generator)
    for i in range(1, 700):
        assert draws.integer(bits.PYTHON, state, 0, i**5) == generator.randrange(i**5)
    generator.gauss()
    with pytest.raises(UnsupportedError, match="keeps a normal number"):
        state_of(generator)
    with pytest.raises(UnsupportedError, match="the bits of PCG64, not MT19937"):
        state_of(np.random.RandomState(np.random.PCG64(1)))


def walk(x, seed):
    rng = np.random.default_rng(seed)
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += rng.normal(0, x[i])
        total += rng.integers(0, 10)
    return total, rng.random(4), rng.choice(x, 3)


def test_a_generator_of_a_seed(run):
    x = np.array([0.1, 0.7, 0.9, 0.2, 0.8])
    for found, expected in zip(run(walk, ["float64[5]", "int64[]"], x, 3), walk(x, 3), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def sized(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.random(n + 1), rng.choice(n, n)


def test_sizes_that_are_values_of_the_export(run):
    for found, expected in zip(run(sized, [3, "int64[]"], 5), sized(3, 5), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def several(x):
    rng = np.random.default_rng([1, 2])
    y = rng.uniform(x, 5.0)
    rng.shuffle(y)
    return y, rng.choice(x, p=x / x.sum()), rng.exponential(3.0, (2, 2))


def of_older_kind(x):
    rng = np.random.RandomState(7)
    return x * rng.rand(3), rng.randn(), rng.randint(5)


@pytest.mark.parametrize("function", [several, of_older_kind])
def test_distributions(function, by_c):
    x = np.arange(1.0, 4.0)
    for found, expected in zip(by_c(function, ["float64[3]"], x), function(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_bounds_and_scales_are_refused_as_by_numpy():
    invalid = [(5.0, 1.0), (np.inf, 1.0), (1.0, np.inf), (0.0, -0.0), (0.0, np.nan)]
    codes = ((draws.ascending_uniform, bits.PCG64, np.random.default_rng(1)),
             (draws.uniform, bits.RANDOM_STATE, np.random.RandomState(1)),
             (draws.unchecked_uniform, bits.PYTHON, random.Random(1)))  # fmt: skip
    for code, source, generator in codes:
        for bounds in invalid:
            state = state_of(generator)
            try:
                expected = generator.uniform(*bounds)
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error)):
                    code(source, state, *bounds)
            else:
                np.testing.assert_equal(code(source, state, *bounds), expected)
    for scale in (-1.0, -0.0):
        with pytest.raises(ValueError, match="scale < 0"):
            draws.laplace(bits.PCG64, state_of(codes[0][2]), 0.0, scale)
    assert np.isnan(draws.laplace(bits.PCG64, state_of(codes[0][2]), 0.0, np.nan))


def invalid_draws(x):
    rng = np.random.default_rng(3)
    return rng.uniform(x[0], x[1]) + rng.laplace(0.0, x[2]) + rng.choice(2, p=x[3:])


def test_invalid_operands_of_draws_raise_outside_of_the_process():
    pytest.importorskip("onnxruntime")
    model = ac.onnx.load(ac.onnx.export(invalid_draws, "float64[5]", contract="compile"))
    x = [1.0, 2.0, 3.0, 0.25, 0.75]
    np.testing.assert_allclose(model(np.array(x)), invalid_draws(np.array(x)), 1e-14)
    for x in ([2.0, 1.0, 3.0, 0.25, 0.75], [1.0, 2.0, -0.5, 0.25, 0.75], [1.0, 2.0, 3.0, 0.5, 0.75],
              [1.0, 2.0, 3.0, -0.25, 1.25], [1.0, 2.0, 3.0, np.nan, 0.75]):  # fmt: skip
        with pytest.raises(ValueError, match=r"high - low < 0|scale < 0|[Pp]robabilities"):
            invalid_draws(np.array(x))
        with pytest.raises(ValueError, match="failed in raise"):
            model(np.array(x))


def test_the_text_of_a_graph():
    concrete = ac.compile(lambda x: np.random.default_rng(3).random() + x).get_concrete_function(1.0)
    assert "stablehlo.multiply" in concrete.graph.to_stablehlo()


OUTER, PYTHON = np.random.default_rng(3), random.Random(3)


def from_outside(x):
    return x + OUTER.random() * PYTHON.random() + PYTHON.randint(1, 6) * OUTER.integers(3, 2**40)


def test_generators_from_outside_are_arguments_and_results():
    pytest.importorskip("onnxruntime")
    copies = pickle.dumps((OUTER, PYTHON))
    model = ac.onnx.export(from_outside, "float64[n]", contract="compile")
    assert [x.name for x in model.graph.output] == ["result_0", "new_OUTER", "new_PYTHON", "autoconv_error"]
    states = map(state_of, pickle.loads(copies))
    globals()["OUTER"], globals()["PYTHON"] = pickle.loads(copies)
    found, *new_states = ac.onnx.load(model)(np.arange(3.0), *states)
    np.testing.assert_allclose(found, from_outside(np.arange(3.0)), rtol=1e-15)
    for state, generator in zip(new_states, (OUTER, PYTHON), strict=True):
        np.testing.assert_array_equal(state, state_of(generator))


def test_the_header_has_the_state_of_a_generator_from_outside(by_c, tmp_path):
    state, python_state = state_of(OUTER), state_of(PYTHON)
    start = f"OUTER_start[6] = {{{', '.join(map(str, state))}}}"
    (found,) = by_c(from_outside, ["float64[n]"], np.arange(3.0), state, python_state)
    assert start in (tmp_path / "made.h").read_text()
    np.testing.assert_allclose(found, from_outside(np.arange(3.0)), rtol=1e-15)
    np.testing.assert_array_equal(state, state_of(OUTER))


@pytest.mark.parametrize("function, words", [
    (lambda x: x * np.random.rand(), "whole process shares"),
    (lambda x: x * random.random(), "whole process shares"),
    (lambda x: np.random.default_rng(1).beta(1, 2) + x, "a draw by 'beta'"),
    (lambda x: np.random.default_rng(1).integers(3, size=int(x[0])), "a number of values known only at run time"),
    (lambda x: np.random.default_rng(x > 1).random(), "a seed that is no integer"),
])  # fmt: skip
def test_what_has_no_form_is_refused_with_its_line(function, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        ac.stablehlo.export(function, "float64[3]", contract="compile")
    assert caught.value.place.file == __file__


def test_a_generator_of_other_bits_has_no_form():
    with pytest.raises(UnsupportedError, match="bits of Philox"):
        state_of(np.random.Generator(np.random.Philox(1)))


def draw_from_pythons_generator(x):
    generator = random.Random(5)
    return generator.random() * x, generator.randrange(10)


def draw_from_a_seed(n):
    return random.Random(n).random()


def test_generators_of_pythons_made_from_constants(run):
    found = run(draw_from_pythons_generator, [ac.TensorSpec([], ac.float64)], 2.0)
    np.testing.assert_array_equal([float(number) for number in found], draw_from_pythons_generator(2.0))
    with pytest.raises(UnsupportedError, match="seed that is no constant"):
        ac.stablehlo.export(draw_from_a_seed, ac.TensorSpec([], ac.int64), contract="compile")
