"""Convolutions over images of any height and width: one native code, against their definition in NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autoconv
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph

SIZES = ((9, 12), (8, 8), (11, 7), (13, 14))


def spec(*shape, dtype=autoconv.float32):
    return autoconv.TensorSpec(shape, dtype)


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def pads_of(padding, sides, kernel, steps, gaps):
    """Return the numbers of zeros before and after each side, as TensorFlow's documentation defines them."""
    if padding == "VALID":
        return [(0, 0), (0, 0)]
    if padding != "SAME":
        return list(padding[1:3])
    found = []
    for side, count, step, gap in zip(sides, kernel, steps, gaps, strict=True):
        missing = max((-(-side // step) - 1) * step + (count - 1) * gap + 1 - side, 0)
        found.append((missing // 2, missing - missing // 2))
    return found


def windows(x, kernel, steps, gaps, pads, filler=0.0):
    """Yield each position in the window with the elements of `x` under it."""
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=filler)
    counts = [
        (side - (count - 1) * gap - 1) // step + 1
        for side, count, step, gap in zip(x.shape[1:3], kernel, steps, gaps, strict=True)
    ]
    for i, j in itertools.product(*map(range, kernel)):
        top, left = i * gaps[0], j * gaps[1]
        yield (i, j), x[:, top:, left:][:, :: steps[0], :: steps[1]][:, : counts[0], : counts[1]]


def convolved(x, w, steps, gaps, pads):
    return sum(part @ w[position] for position, part in windows(x.astype(np.float64), w.shape[:2], steps, gaps, pads))


def assert_compiled(f, max_compilations=1):
    run = f.get_concrete_function().executable.compiled
    assert isinstance(run, MultiShapeGraph)
    assert run.compilations <= max_compilations
    assert not f.get_concrete_function().kernels


CASES = {
    "same": ((3, 2), "SAME", (1, 1), (1, 1), False),
    "same, steps": ((3, 2), "SAME", (2, 2), (1, 1), True),
    "same, steps beyond the window": ((2, 1), "SAME", (3, 2), (1, 1), False),
    "same, gaps and steps": ((2, 2), "SAME", (2, 3), (3, 1), False),
    "valid, steps and gaps": ((2, 2), "VALID", (2, 3), (2, 1), False),
    "given": ((2, 2), [(0, 0), (2, 0), (1, 3), (0, 0)], (1, 2), (1, 1), True),
    "one element": ((1, 1), "SAME", (2, 2), (1, 1), False),
}


@pytest.mark.parametrize("name", CASES)
def test_convolutions_and_their_gradients(name):
    kernel, padding, steps, gaps, channels_first = CASES[name]
    order, inverse_order = ((0, 3, 1, 2), (0, 2, 3, 1)) if channels_first else ((0, 1, 2, 3), (0, 1, 2, 3))
    axis_padding = [padding[i] for i in order] if isinstance(padding, list) else padding

    @autoconv.function(input_signature=[spec(*[(None, None, None, 2)[i] for i in order]), spec(*kernel, 2, 4)])
    def f(x, w):
        with autoconv.GradientTape() as tape:
            tape.watch([x, w])
            y = autoconv.nn.conv2d(x, w, steps, axis_padding, "NCHW" if channels_first else "NHWC", gaps)
            loss = autoconv.reduce_sum(y * autoconv.cos(y))
        return y, *tape.gradient(loss, [x, w])

    w = floats(*kernel, 2, 4, seed=9)
    for n, sides in enumerate(SIZES, 2):
        x = floats(n, *sides, 2, seed=n)
        pads = pads_of(padding, sides, kernel, steps, gaps)
        y, of_x, of_w = (np.asarray(item) for item in f(autoconv.constant(x.transpose(order)), autoconv.constant(w)))
        expected = convolved(x, w, steps, gaps, pads)
        np.testing.assert_allclose(y.transpose(inverse_order), expected, rtol=1e-4, atol=1e-4)
        slope = np.cos(expected) - expected * np.sin(expected)  # of the loss by y, in which x and w are linear
        x_direction, w_direction = floats(*x.shape, seed=50), floats(*w.shape, seed=51)
        along_x, along_w = (convolved(x_direction, w, steps, gaps, pads), convolved(x, w_direction, steps, gaps, pads))
        of_x = of_x.transpose(inverse_order)
        np.testing.assert_allclose(np.vdot(of_x, x_direction), np.vdot(slope, along_x), rtol=2e-3, atol=2e-3)
        np.testing.assert_allclose(np.vdot(of_w, w_direction), np.vdot(slope, along_w), rtol=2e-3, atol=2e-3)
    assert_compiled(f)


@pytest.mark.parametrize(("dtype", "channels", "filters"), [("float64", 3, 5), ("float32", 4, 37), ("float32", 16, 8)])
def test_image_rows_shorter_and_longer_than_tiles(dtype, channels, filters):
    """Patches of few channels are read in place; for many channels, each element of the kernel has a product."""
    kind = getattr(autoconv, dtype)

    specs = [spec(None, None, None, channels, dtype=kind), spec(3, 3, channels, filters, dtype=kind)]

    @autoconv.function(input_signature=specs)
    def f(x, w):
        return autoconv.nn.relu(autoconv.nn.conv2d(x, w, (2, 1), "VALID", dilations=(1, 2)))

    w = floats(3, 3, channels, filters, seed=1).astype(dtype)
    for n, height, width in ((2, 7, 6), (3, 10, 7), (2, 9, 11), (2, 8, 12), (2, 7, 25), (4, 40, 53)):
        x = floats(n, height, width, channels, seed=width).astype(dtype)
        expected = np.maximum(convolved(x, w, (2, 1), (1, 2), [(0, 0)] * 2), 0)
        np.testing.assert_allclose(f(autoconv.constant(x), autoconv.constant(w)), expected, rtol=1e-4, atol=1e-4)
    assert_compiled(f)


def test_patches_of_images_some_of_whose_sides_are_known():
    for shape in ((None, None, 9, 3), (None, 8, None, 3), (2, None, None, 3), (1, 8, None, 3)):

        @autoconv.function(input_signature=[spec(*shape), spec(2, 3, 3, 6)])
        def f(x, w):
            return autoconv.nn.conv2d(x[:, ::-1], w, (1, 2), "SAME")

        w = floats(2, 3, 3, 6, seed=1)
        for n in (4, 11):
            x = floats(*[n if size is None else size for size in shape], seed=n)
            pads = pads_of("SAME", x.shape[1:3], (2, 3), (1, 2), (1, 1))
            np.testing.assert_allclose(f(x, w), convolved(x[:, ::-1], w, (1, 2), (1, 1), pads), rtol=1e-4, atol=1e-4)
        assert_compiled(f, 2)


def test_groups_and_pools_and_their_gradients():
    @autoconv.function(input_signature=[spec(None, None, None, 4), spec(2, 2, 2, 4), spec(2, 2, 1, 8)])
    def f(x, w, d):
        with autoconv.GradientTape() as tape:
            tape.watch([x, w, d])
            y = (
                autoconv.nn.max_pool2d(x, 3, 2, "SAME"), autoconv.nn.avg_pool2d(x, 3, 2, "SAME"),
                autoconv.nn.conv2d(x, w, 1, "VALID"), autoconv.nn.conv2d(x, d, 2, "SAME"),
            )  # fmt: skip
            loss = sum(autoconv.reduce_sum(part * part) for part in y)
        return y, tape.gradient(loss, [x, w, d])

    def expected(x, w, d):
        ones, twos = (1, 1), (2, 2)
        pads = pads_of("SAME", x.shape[1:3], (3, 3), twos, ones)
        maxima = np.max([part for _, part in windows(x, (3, 3), twos, ones, pads, -np.inf)], 0)
        sums, counts = (
            np.sum([part for _, part in windows(y, (3, 3), twos, ones, pads)], 0) for y in (x, np.ones_like(x))
        )
        halves = [convolved(x[..., i : i + 2], w[..., i : i + 2], ones, ones, [(0, 0)] * 2) for i in (0, 2)]
        pads = pads_of("SAME", x.shape[1:3], twos, twos, ones)
        by_channel = [convolved(x[..., i : i + 1], d[..., 2 * i : 2 * i + 2], twos, ones, pads) for i in range(4)]
        return maxima, sums / counts, np.concatenate(halves, -1), np.concatenate(by_channel, -1)

    w, d = floats(2, 2, 2, 4, seed=1), floats(2, 2, 1, 8, seed=2)
    for n, sides in ((2, (9, 7)), (3, (6, 8))):
        x = floats(n, *sides, 4, seed=n)
        y, slopes = f(*map(autoconv.constant, (x, w, d)))
        for found, desired in zip(y, expected(x, w, d), strict=True):
            np.testing.assert_allclose(found, desired, rtol=1e-4, atol=1e-4)
        arguments = [argument.astype(np.float64) for argument in (x, w, d)]
        for i, slope in enumerate(slopes):
            direction = floats(*arguments[i].shape, seed=60)
            losses = []
            for sign in (1, -1):
                moved = [*arguments[:i], arguments[i] + sign * 1e-6 * direction, *arguments[i + 1 :]]
                losses.append(sum(np.sum(argument * argument) for argument in expected(*moved)))
            np.testing.assert_allclose(np.vdot(slope, direction), (losses[0] - losses[1]) / 2e-6, rtol=1e-3, atol=1e-2)
    assert_compiled(f)


def test_small_images_have_code_of_their_own():
    """Images of a single window or a single row have code of their own."""

    @autoconv.function(input_signature=[spec(None, None, None, 2), spec(3, 3, 2, 4)])
    def f(x, w):
        return autoconv.nn.conv2d(x, w, 2, "SAME"), autoconv.nn.conv2d(x, w, 1, [(0, 0), (1, 0), (1, 1), (0, 0)])

    w = floats(3, 3, 2, 4, seed=1)
    for sides in ((9, 9), (2, 5), (5, 1)):
        x = floats(1, *sides, 2, seed=sides[1])
        same = pads_of("SAME", sides, (3, 3), (2, 2), (1, 1))
        for found, steps, pads in zip(f(x, w), ((2, 2), (1, 1)), (same, [(1, 0), (1, 1)]), strict=True):
            np.testing.assert_allclose(found, convolved(x, w, steps, (1, 1), pads), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_filters_that_do_not_fit_are_refused_when_the_graph_runs(padding):
    @autoconv.function(input_signature=[spec(None, None, None, 2), spec(3, 3, 2, 4)])
    def f(x, w):
        return autoconv.nn.conv2d(x, w, 1, padding)

    assert f(floats(1, 9, 9, 2), floats(3, 3, 2, 4)).shape == ((1, 7, 7, 4) if padding == "VALID" else (1, 9, 9, 4))
    for sides in ((2, 9), (9, 2), (1, 1)) if padding == "VALID" else ((0, 9), (9, 0)):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match="do not fit into an image"):
            f(floats(1, *sides, 2), floats(3, 3, 2, 4))


def test_sizes_of_residuals_and_several_layers_agree():
    @autoconv.function(input_signature=[spec(None, None, None, 3), spec(3, 3, 3, 3), spec(3, 3, 3, 5)])
    def f(x, w, v):
        y = autoconv.nn.relu(x + autoconv.nn.conv2d(x, w, 1, "SAME"))
        return autoconv.nn.conv2d(autoconv.nn.conv2d(y, v, 2, "SAME"), autoconv.ones([3, 3, 5, 2]), 2, "VALID")

    w, v = floats(3, 3, 3, 3, seed=1), floats(3, 3, 3, 5, seed=2)
    once = (1, 1)
    for sides in ((14, 17), (23, 20), (15, 15)):
        x = floats(2, *sides, 3, seed=sides[0])
        y = np.maximum(x + convolved(x, w, once, once, [once, once]), 0)
        y = convolved(y, v, (2, 2), once, pads_of("SAME", sides, (3, 3), (2, 2), once))
        wanted = convolved(y, np.ones((3, 3, 5, 2)), (2, 2), once, [(0, 0)] * 2)
        np.testing.assert_allclose(f(x, w, v), wanted, rtol=1e-3, atol=1e-3)
    assert_compiled(f)


def test_convolutions_of_signals_of_any_length():
    @autoconv.function(input_signature=[spec(None, None, 3), spec(4, 3, 2)])
    def f(x, w):
        return autoconv.nn.conv1d(x, w, 2, "SAME"), autoconv.nn.conv1d(x, w, 1, "VALID", dilations=2)

    w = floats(4, 3, 2, seed=1)
    for n in (9, 10, 17):
        x = floats(2, n, 3, seed=n)
        same, valid = f(x, w)
        pads = pads_of("SAME", (1, n), (1, 4), (1, 2), (1, 1))
        wanted = convolved(x[:, None], w[None], (1, 2), (1, 1), pads)[:, 0]
        np.testing.assert_allclose(same, wanted, rtol=1e-4, atol=1e-4)
        wanted = convolved(x[:, None], w[None], (1, 1), (1, 2), [(0, 0)] * 2)[:, 0]
        np.testing.assert_allclose(valid, wanted, rtol=1e-4, atol=1e-4)
    assert_compiled(f)
