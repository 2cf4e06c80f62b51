"""Special functions against mpmath's values, and further functions with TensorFlow's figures."""

import numpy as np
import pytest

import autoconv as ac

S = ac.math.special
# At 0.3, 1.7, 5, 11, 40: by mpmath, with 20 digits.
VALUES = {
    "bessel_j0": [0.9776262465382961, 0.3979848594461095, -0.1775967713143383, -0.1711903004071961,
        0.00736689058423729],
    "bessel_j1": [0.148318816273104, 0.5777652315290233, -0.32757913759146523, -0.17678529895672151,
        0.126038318037585],
    "bessel_y0": [-0.8072735778045195, 0.4520270001816346, -0.30851762524903376, -0.16884732389207954,
        0.12593641705826092],
    "bessel_y1": [-2.2931051383885293, -0.2847262450640684, 0.14786314339122683, 0.16370553741494284,
        -0.005793505821549633],
    "bessel_k0": [1.3724600605442974, 0.16549631805699655, 0.0036910983340425942, 6.243020547653677e-06,
        8.392861100099567e-19],
    "bessel_k1": [3.055992033457325, 0.2093624882040825, 0.004044613445452165, 6.520860674580886e-06,
        8.497131954861039e-19],
    "bessel_k0e": [1.8526273007720142, 0.9059181385685513, 0.547807564313519, 0.37379549700110815,
        0.19755558495729816],
    "bessel_k1e": [4.12515776224447, 1.146039246230254, 0.6002738587883126, 0.3904309361349164,
        0.20000996725443349],
    "dawsn": [0.28263166502131193, 0.37255934897407883, 0.10213407442427684, 0.04564475216411602,
        0.012503909917843973],
    "expint": [-0.30266853926582593, 3.9209632013549043, 40.18527535580318, 6071.406374098611, 6039718263611242.0],
    "fresnel_cos": [0.2994009760520472, 0.32382687600390025, 0.5636311887040122, 0.5289366617557965,
        0.49999841685744545],
    "fresnel_sin": [0.014116998006576583, 0.5491959403215686, 0.49919138191711687, 0.4999238837937511,
        0.4920422537902731],
    "spence": [0.8893776242860387, -0.6051584023377052, -2.369939796998366, -4.198277886858103, -8.330297527721036],
}  # fmt: skip
AT = [0.3, 1.7, 5.0, 11.0, 40.0]


@pytest.mark.parametrize("name", VALUES)
def test_special_functions(name):
    function = getattr(S, name)
    x = ac.constant(np.array(AT))
    np.testing.assert_allclose(function(x), VALUES[name], rtol=1e-12)
    np.testing.assert_allclose(ac.function(function)(x), VALUES[name], rtol=1e-12)
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    steps = 1e-5
    difference = (function(x + steps) - function(x - steps)) / (2 * steps)
    np.testing.assert_allclose(tape.gradient(y, x), difference, rtol=1e-5, atol=1e-9)


def test_ends_of_domains():
    x = np.array([-2.0, 0.0])
    for name in ("bessel_y0", "bessel_y1"):
        assert getattr(S, name)(x).numpy().tolist() == [-np.inf, -np.inf]
    assert S.bessel_k0(x).numpy().tolist() == [np.inf, np.inf]
    assert np.isnan(S.expint(x)[0]) and S.expint(x)[1] == -np.inf
    assert np.isnan(S.spence(x)[0]) and S.spence(x)[1] == np.pi**2 / 6
    np.testing.assert_array_equal(S.dawsn(-np.array(AT)), -S.dawsn(np.array(AT)).numpy())
    assert S.bessel_j0(np.float16(1.0)).dtype is ac.float16


SLOPES = {  # at 0 and at -1, of the closed forms; NaN where the function or a limit is not defined
    "bessel_j1": [0.5, 0.32514710081303303], "dawsn": [1.0, -0.0761590138], "fresnel_cos": [1.0, 0.0],
    "fresnel_sin": [0.0, 1.0], "spence": [-np.inf, np.nan], "expint": [np.inf, -0.36787944117144233],
    "bessel_k0": [-np.inf, -np.inf], "bessel_k1": [-np.inf, np.nan], "bessel_k0e": [np.nan, np.nan],
    "bessel_k1e": [-np.inf, np.nan], "bessel_y0": [np.inf, np.inf],
}  # fmt: skip


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_at_the_ends_of_domains(name):
    x = ac.constant(np.array([0.0, -1.0]))

    def slopes(x):
        with ac.GradientTape() as tape:
            tape.watch(x)
            y = getattr(S, name)(x)
        return tape.gradient(y, x)

    for function in (slopes, ac.function(slopes)):
        np.testing.assert_allclose(function(x), SLOPES[name], rtol=1e-8, atol=1e-12)


def test_infinite_arguments():
    for name in ("fresnel_cos", "fresnel_sin"):
        assert getattr(S, name)(np.array([np.inf, -np.inf])).numpy().tolist() == [0.5, -0.5]


def test_gradients_of_powers_at_zero():
    for power in (lambda x: x**x, lambda x: x**0.0, lambda x: 0.0 * x):
        assert ac.grad(power)(0.0) == 0.0


def test_scripts_of_characters():
    points = [1, 31, 38, 0x41, 0x3B1, 0x431, 0x4E00, 0x1F600, -1, 0x110000]
    found = ac.function(ac.strings.unicode_script)(points).numpy().tolist()
    assert found == [0, 0, 0, 25, 14, 8, 17, 0, -1, -1]


def test_positions():
    assert ac.unravel_index([22, 41, 37], [7, 6]).numpy().tolist() == [[3, 6, 6], [4, 5, 1]]
    stitched = ac.function(lambda: ac.dynamic_stitch([[0, 2], [1, 3, 1]], [[[1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5]]]))
    assert stitched().numpy().tolist() == [[1, 1], [5, 5], [2, 2], [4, 4]]
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    assert ac.histogram_fixed_width(values, [0.0, 5.0], nbins=5).numpy().tolist() == [2, 1, 1, 0, 2]
    assert ac.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5).numpy().tolist() == [0, 0, 1, 2, 4, 4]
    assert ac.truncatediv([7, -7, 7], [2, 2, -2]).numpy().tolist() == [3, -3, -3]
    assert ac.truncatemod([7, -7, 7], [2, 2, -2]).numpy().tolist() == [1, -1, 1]
    x = np.array([0.5, -1.0, 2.0])
    lowest = -(2**31)  # has no positive counterpart
    assert ac.truncatediv([lowest, lowest], [2, 3]).numpy().tolist() == [-(2**30), -715827882]
    assert ac.truncatemod([lowest, lowest], [2, 3]).numpy().tolist() == [0, -2]
    np.testing.assert_allclose(ac.math.cumulative_logsumexp(x), np.log(np.cumsum(np.exp(x))))
    np.testing.assert_allclose(ac.math.polyval([1.0, -3.0, 0.5], x), np.polyval([1.0, -3.0, 0.5], x))


def test_statistics():
    x, weights = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0], [3.0]])
    mean, variance = ac.nn.weighted_moments(x, [0], weights)
    np.testing.assert_allclose(mean, np.average(x, axis=0, weights=weights[:, 0]))
    np.testing.assert_allclose(variance, np.average((x - mean) ** 2, axis=0, weights=weights[:, 0]))
    count, sums, squares, shift = ac.nn.sufficient_statistics(x, [0], shift=0.5)
    mean, variance = ac.nn.normalize_moments(count, sums, squares, shift)
    np.testing.assert_allclose(mean, x.mean(0))
    np.testing.assert_allclose(variance, x.var(0))
    image = x.reshape(1, 1, 2, 2).astype(np.float32)
    expected = image / (1 + 0.5 * (image**2).sum(-1, keepdims=True)) ** 0.75
    np.testing.assert_allclose(ac.nn.lrn(image, 1, 1.0, 0.5, 0.75), expected, rtol=1e-6)
    expected_slope = np.where(x > 2, 1.0, 0.25)
    positive, negative = np.log1p(np.exp(-x)), np.log1p(np.exp(x))
    found = ac.nn.weighted_cross_entropy_with_logits(expected_slope, x, 2.5)
    np.testing.assert_allclose(found, 2.5 * expected_slope * positive + (1 - expected_slope) * negative)
    np.testing.assert_allclose(ac.nn.log_poisson_loss(expected_slope, x), np.exp(x) - expected_slope * x)


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_cumulative_logsumexp_of_distant_numbers(axis, reverse, graph):
    x = np.array([[0.0, 1000.0, -1000.0], [-2000.0, 3.0, 3.0]])
    ordered = np.flip(x, axis) if reverse else x
    expected = np.logaddexp.accumulate(ordered, axis)
    cumulate = lambda x: ac.math.cumulative_logsumexp(x, axis, reverse=reverse)
    sums = (ac.function(cumulate) if graph else cumulate)(ac.constant(x))
    np.testing.assert_allclose(sums, np.flip(expected, axis) if reverse else expected)


def test_cumulative_logsumexp_without_the_element_and_its_gradient():
    variable = ac.Variable([0.0, 1000.0, 3.0])
    with ac.GradientTape() as tape:
        sums = ac.math.cumulative_logsumexp(variable, exclusive=True)
        total = ac.reduce_sum(sums[1:])
    assert sums.numpy().tolist() == [-np.inf, 0.0, 1000.0]
    assert tape.gradient(total, variable).numpy().tolist() == [1.0, 1.0, 0.0]
