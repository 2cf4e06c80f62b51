"""Convolutions against their definition, and their gradients against finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autoconv as tf

DRAW = np.random.default_rng(0)


def convolve(image, filters, steps, gaps, around):
    """Convolve by the definition: each element is a sum over the kernel and the channels."""
    image = np.pad(image, [(0, 0), *around, (0, 0)])
    extents = [(k - 1) * gap + 1 for k, gap in zip(filters.shape[:2], gaps, strict=True)]
    height, width = ((n - e) // s + 1 for n, e, s in zip(image.shape[1:3], extents, steps, strict=True))
    found = np.zeros((image.shape[0], height, width, filters.shape[3]))
    for b, r, c, f in itertools.product(*map(range, found.shape)):
        for i, j in itertools.product(*map(range, filters.shape[:2])):
            pixel = image[b, r * steps[0] + i * gaps[0], c * steps[1] + j * gaps[1]]
            found[b, r, c, f] += pixel @ filters[i, j, :, f]
    return found


@pytest.mark.parametrize(
    ("padding", "around", "steps", "gaps"),
    [
        ("VALID", [(0, 0), (0, 0)], (1, 1), (1, 1)),
        ("VALID", [(0, 0), (0, 0)], (2, 1), (1, 2)),
        ("SAME", [(1, 1), (0, 1)], (1, 1), (1, 1)),
        ("SAME", [(1, 1), (0, 0)], (2, 2), (1, 1)),
        ([(0, 0), (2, 0), (0, 1), (0, 0)], [(2, 0), (0, 1)], (1, 2), (1, 1)),
    ],
)
@pytest.mark.parametrize("run", [lambda f: f, tf.function], ids=["at once", "function"])
def test_conv2d(padding, around, steps, gaps, run):
    image, filters = DRAW.normal(size=(2, 5, 6, 3)), DRAW.normal(size=(3, 2, 3, 4))
    expected = convolve(image, filters, steps, gaps, around)

    def body(x, w):
        return tf.nn.conv2d(x, w, strides=steps, padding=padding, dilations=[1, *gaps, 1])

    np.testing.assert_allclose(run(body)(tf.constant(image), tf.constant(filters)).numpy(), expected, atol=1e-12)
    if isinstance(padding, str):
        first = tf.nn.conv2d(image.transpose(0, 3, 1, 2), filters, steps, padding, "NCHW", gaps)
        np.testing.assert_allclose(first.numpy(), expected.transpose(0, 3, 1, 2), atol=1e-12)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_conv1d(padding):
    line, filters = DRAW.normal(size=(2, 7, 3)), DRAW.normal(size=(3, 3, 4))
    around = [(0, 0), (1, 1) if padding == "SAME" else (0, 0)]
    expected = convolve(line[:, None], filters[None], (1, 2), (1, 1), around)[:, 0]
    np.testing.assert_allclose(tf.nn.conv1d(line, filters, 2, padding).numpy(), expected, atol=1e-12)
    first = tf.nn.conv1d(line.transpose(0, 2, 1), filters, 2, padding, "NCW")
    np.testing.assert_allclose(first.numpy(), expected.transpose(0, 2, 1), atol=1e-12)


@pytest.mark.parametrize(("groups", "own", "each"), [(2, 3, 2), (4, 1, 1), (3, 1, 2)])
def test_groups_of_channels_have_filters_of_their_own(groups, own, each):
    image, filters = DRAW.normal(size=(2, 5, 6, groups * own)), DRAW.normal(size=(3, 2, own, groups * each))
    expected = np.concatenate(
        [
            convolve(
                image[..., g * own : (g + 1) * own], filters[..., g * each : (g + 1) * each], (2, 1), (1, 1),
                [(1, 1), (0, 1)],
            )
            for g in range(groups)
        ], -1,
    )  # fmt: skip

    @tf.function
    def f(x, w):
        return tf.nn.conv2d(x, w, (2, 1), "SAME")

    np.testing.assert_allclose(f(tf.constant(image), tf.constant(filters)).numpy(), expected, atol=1e-12)
    first = tf.nn.conv2d(image.transpose(0, 3, 1, 2), filters, (2, 1), "SAME", "NCHW")
    np.testing.assert_allclose(first.numpy(), expected.transpose(0, 3, 1, 2), atol=1e-12)


def test_first_and_second_derivatives():
    image, filters = DRAW.normal(size=(1, 4, 4, 2)), DRAW.normal(size=(2, 3, 2, 2))

    def f(x, w):
        return tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 3)

    slope = tf.grad(tf.function(f), (0, 1))
    inputs = [tf.constant(image), tf.constant(filters)]
    for position, found in enumerate(slope(*inputs)):
        direction = DRAW.normal(size=found.shape)
        ahead, behind = list(inputs), list(inputs)
        ahead[position], behind[position] = inputs[position] + 1e-5 * direction, inputs[position] - 1e-5 * direction
        difference = (f(*ahead).numpy() - f(*behind).numpy()) / 2e-5
        assert np.sum(found.numpy() * direction) == pytest.approx(difference, rel=1e-6)
        second = tf.grad(lambda *inputs: tf.reduce_sum(slope(*inputs)[position] * direction), position)  # noqa: B023
        difference = np.sum((slope(*ahead)[position].numpy() - slope(*behind)[position].numpy()) * direction) / 2e-5
        assert np.sum(second(*inputs).numpy() * direction) == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize(("channels", "filters"), [(2, 3), (1, 4)])  # in one group of channels, and in two
@pytest.mark.parametrize(
    ("strides", "dilations", "padding"),
    [(1, 1, "SAME"), ([2, 1], 1, "VALID"), (1, [1, 2], "SAME"), (2, 1, [(0, 0), (1, 0), (0, 2), (0, 0)])],
)
def test_filters_whose_sides_are_known_at_run_time(channels, filters, strides, dilations, padding):
    generator = np.random.default_rng(0)
    image = generator.normal(size=(2, 5, 6, 2)).astype(np.float32)

    @tf.function(input_signature=[tf.TensorSpec(image.shape), tf.TensorSpec([None, None, channels, filters])])
    def convolve(image, kernel):
        return tf.nn.conv2d(image, kernel, strides, padding, dilations=dilations)

    for sides in ((3, 2), (1, 3), (2, 2)):
        kernel = generator.normal(size=(*sides, channels, filters)).astype(np.float32)
        expected = tf.nn.conv2d(image, kernel, strides, padding, dilations=dilations)
        np.testing.assert_allclose(convolve(image, kernel), expected, rtol=1e-5, atol=1e-5)
    found, slopes = (
        tf.grad(lambda image, kernel: tf.reduce_sum(f(image, kernel) ** 2), 1)(image, kernel)  # noqa: B023
        for f in (convolve, lambda image, kernel: tf.nn.conv2d(image, kernel, strides, padding, dilations=dilations))
    )
    np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("channels", [1, 2, 4])  # of the filters: four groups, two, and one
@pytest.mark.parametrize("open_sizes", [(0, 1, 2, 3), (3,), (0, 3)])
def test_numbers_of_channels_that_are_known_at_run_time(channels, open_sizes):
    def convolve(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            result = tf.nn.conv2d(x, w, 1, "SAME")
            loss = tf.reduce_sum(result * result)
        return result, *tape.gradient(loss, [x, w])

    def by_channel(x, w):
        return tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")

    sizes = [None if axis in open_sizes else size for axis, size in enumerate((2, 5, 6, 4))]
    for function, filter_sizes in ((convolve, (3, 2, channels, 8)), (by_channel, (2, 2, 4, channels))):
        filters = DRAW.normal(size=filter_sizes)
        specs = [tf.TensorSpec(shape, tf.float64) for shape in (sizes, (*filter_sizes[:2], None, None))]
        compiled = tf.function(function, input_signature=specs)
        for batch in (2, 0):
            image = DRAW.normal(size=(2, 5, 6, 4))[: batch if sizes[0] is None else 2]
            found, expected = compiled(image, filters), function(tf.constant(image), tf.constant(filters))
            for actual, wanted in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
                np.testing.assert_allclose(actual, wanted, atol=1e-12)
    with pytest.raises(ValueError, match="cannot be divided into groups"):
        compiled(DRAW.normal(size=(2, 5, 6, 4)), DRAW.normal(size=(2, 2, 3, 1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 3, 1]), 1, "SAME"), "2 channels, the filters"),
        (lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 4]), tf.zeros([2, 2, 2, 3]), 1, "SAME"), "cannot be divided"),
        (lambda: tf.nn.conv2d(tf.zeros([1, 1, 4, 2]), tf.zeros([2, 2, 2, 1]), 1, "VALID"), "do not fit into"),
        (lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 2, 1]), 1, "same"), "`padding` must be"),
        (lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 2, 1]), [1, 1, 1], "SAME"), "`strides` must be"),
        (lambda: tf.nn.conv2d(tf.zeros([4, 4, 2]), tf.zeros([2, 2, 2, 1]), 1, "SAME"), "of one rank"),
        (lambda: tf.nn.conv2d(tf.zeros([1, 4, 4, 2]), tf.zeros([2, 2, 2, 1]), 1, "SAME", "HWC"), "`data_format`"),
    ],
)
def test_invalid_convolutions(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_strides_and_dilations():
    x, kernel = np.ones([1, 9, 9, 2], np.float32), np.ones([2, 2, 2, 3], np.float32)
    assert tf.nn.conv2d(x, kernel, 2, "SAME", dilations=2).shape == (1, 5, 5, 3)
    with pytest.raises(ValueError, match="strides > 1 not supported"):
        tf.nn.convolution(x, kernel, 2, "SAME", dilations=2)


def test_many_patches_of_few_channels_are_one_product() -> None:
    """As products of each element of the kernel, these frames of a signal took 20 GB."""
    image, filters = tf.TensorSpec((4, 160_000, 1)), tf.TensorSpec((512, 1, 513))
    frames = tf.function(lambda x, w: tf.nn.conv1d(x, w, stride=32, padding="VALID"))
    nodes = list(frames.get_concrete_function(image, filters).graph.walk())
    assert [node.op.name for node in nodes].count("matmul") == 1


PADDINGS = ["SAME", "VALID", [(0, 0), (1, 0), (0, 2), (0, 0)], [(0, 0), (3, 0), (0, 0), (0, 0)]]
CONVOLUTIONS = [  # shapes of the image and of the filters, the arguments after them
    *(
        ((2, 6, 7, 16), (3, 2, 16, 4), (strides, padding, "NHWC", dilations))
        for padding in PADDINGS
        for strides, dilations in [(1, 1), (1, 2), (2, 1), ((1, 3), 1), ((2, 4), 2)]
    ),
    ((2, 6, 5, 32), (3, 2, 16, 4), (2, "SAME")),  # two groups
    ((2, 6, 5, 3), (3, 2, 1, 6), (1, "SAME")),  # a group for each channel
    ((2, 6, 5, 3), (2, 3, 1, 3), ((2, 1), "VALID", "NHWC", (1, 2))),
    ((2, 7, 16), (3, 16, 4), (2, "SAME")),
    ((1, 4, 5, 3, 16), (2, 3, 1, 16, 2), ((1, 2, 2, 2, 1), "SAME")),
]
TRANSPOSED_CONVOLUTIONS = [  # the same
    ((2, 3, 4, 16), (3, 2, 5, 16), ((6, 8), 2, "SAME")),
    ((2, 3, 4, 16), (3, 2, 5, 16), ((8, 11), (2, 3), "VALID")),
    ((2, 3, 4, 16), (3, 2, 5, 16), ((7, 5), 1, "VALID", "NHWC", (2, 1))),
]


@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("run", [lambda f: f, tf.function], ids=["at once", "function"])
def test_gradients(run, is_transposed):
    for case in TRANSPOSED_CONVOLUTIONS if is_transposed else CONVOLUTIONS:
        check_derivatives(run, is_transposed, *case)


def test_gradients_of_images_with_open_sizes():
    for image_shape, filter_shape, arguments in CONVOLUTIONS[::3]:
        convolve = getattr(tf.nn, f"conv{len(image_shape) - 2}d")

        def derivatives(image, filters, convolve=convolve, arguments=arguments):
            with tf.GradientTape() as tape:
                tape.watch([image, filters])
                loss = tf.reduce_sum(convolve(image, filters, *arguments) ** 2)
            return tape.gradient(loss, [image, filters])

        open_shape = [None] * (len(image_shape) - 1) + [image_shape[-1]]
        specs = [tf.TensorSpec(shape, tf.float64) for shape in (open_shape, filter_shape)]
        compiled = tf.function(derivatives, input_signature=specs)
        for more in (0, 1):
            sizes = [*(size + more for size in image_shape[:-1]), image_shape[-1]]
            operands = tf.constant(DRAW.normal(size=sizes)), tf.constant(DRAW.normal(size=filter_shape))
            for found, expected in zip(compiled(*operands), derivatives(*operands), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def check_derivatives(run, is_transposed, image_shape, filter_shape, arguments):
    """Check derivatives along random directions beside differences of values and of first derivatives."""
    image, filters = DRAW.normal(size=image_shape), DRAW.normal(size=filter_shape)
    directions = [DRAW.normal(size=array.shape) for array in (image, filters)]
    convolve = tf.nn.conv2d_transpose if is_transposed else getattr(tf.nn, f"conv{len(image_shape) - 2}d")

    def value(image, filters):
        return tf.reduce_sum(convolve(image, filters, *arguments) ** 2) / 100.0

    @run
    def slope(image, filters):
        with tf.GradientTape() as tape:
            tape.watch([image, filters])
            result = value(image, filters)
        slopes = tape.gradient(result, [image, filters])
        return sum(tf.reduce_sum(slope * direction) for slope, direction in zip(slopes, directions, strict=True))

    @run
    def curvature(image, filters):
        with tf.GradientTape() as tape:
            tape.watch([image, filters])
            result = slope(image, filters)
        slopes = tape.gradient(result, [image, filters])
        return sum(tf.reduce_sum(slope * direction) for slope, direction in zip(slopes, directions, strict=True))

    step = 1e-4
    pairs = list(zip((image, filters), directions, strict=True))
    moved = [[tf.constant(array + distance * direction) for array, direction in pairs] for distance in (step, -step)]
    for function, derivative in ((value, slope), (slope, curvature)):
        expected = (float(function(*moved[0])) - float(function(*moved[1]))) / (2 * step)
        found = float(derivative(tf.constant(image), tf.constant(filters)))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("kernel", [(2, 2), (3, 3), (1, 1), (5, 2), (4, 4), (1, 3)])
@pytest.mark.parametrize("strides", [(2, 2), (3, 2), (1, 2), (4, 3)])
@pytest.mark.parametrize("run", [lambda f: f, tf.function], ids=["at once", "function"])
def test_transposed_convolutions_are_adjoint(padding, kernel, strides, run):
    """The inner product of conv2d(x) and y is that of x and conv2d_transpose(y), for all x and y."""
    for sides in ((9, 11), (12, 7)):
        x, filters = DRAW.normal(size=(2, *sides, 3)), DRAW.normal(size=(*kernel, 3, 4))
        forward = tf.nn.conv2d(x, filters, strides, padding).numpy()
        y = DRAW.normal(size=forward.shape)
        transpose = run(lambda y, filters, shape=x.shape: tf.nn.conv2d_transpose(y, filters, shape, strides, padding))
        backward = transpose(tf.constant(y), tf.constant(filters)).numpy()
        assert backward.shape == x.shape
        np.testing.assert_allclose((forward * y).sum(), (x * backward).sum(), rtol=1e-9)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_transposed_convolutions_of_open_sides(data_format):
    order = (0, 1, 2, 3) if data_format == "NHWC" else (0, 3, 1, 2)
    for image_shape, filter_shape, (sides, strides, padding, *rest) in TRANSPOSED_CONVOLUTIONS:

        def derivatives(y, filters, sides, strides=strides, padding=padding, rest=rest):
            dilations = rest[1] if rest else None
            with tf.GradientTape() as tape:
                tape.watch([y, filters])
                out = tf.nn.conv2d_transpose(y, filters, sides, strides, padding, data_format, dilations)
                loss = tf.reduce_sum(out**2)
            return out, *tape.gradient(loss, [y, filters])

        y = tf.constant(DRAW.normal(size=image_shape).transpose(order))
        filters = tf.constant(DRAW.normal(size=filter_shape))
        open_sides = [size if axis == order.index(3) else None for axis, size in enumerate(y.shape)]
        specs = [tf.TensorSpec(open_sides, tf.float64), tf.TensorSpec(filter_shape, tf.float64)]
        compiled = tf.function(derivatives, input_signature=[*specs, tf.TensorSpec([2], tf.int32)])
        expected = derivatives(y, filters, sides)
        for found, value in zip(compiled(y, filters, tf.constant(sides)), expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-9)
        with pytest.raises(tf.errors.InvalidArgumentError, match="do not fit"):
            compiled(y, filters, tf.constant([50, 50]))


def test_images_of_unknown_rank():
    x, filters = DRAW.normal(size=(1, 4, 4, 3)).astype("f"), tf.ones([2, 2, 3, 2])
    calls = [
        lambda x: tf.nn.conv2d(x, filters, 1, "SAME"), lambda x: tf.nn.convolution(x, filters),
        lambda x: tf.nn.depthwise_conv2d(x, filters, [1, 1, 1, 1], "SAME"), lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"),
        lambda x: tf.nn.avg_pool2d(x, 2, 2, "VALID"),
        lambda x: tf.nn.conv2d_transpose(x, tf.ones([2, 2, 5, 3]), [1, 8, 8, 5], 2),
    ]
    for call in calls:
        compiled = tf.function(call, input_signature=[tf.TensorSpec(None)])
        np.testing.assert_allclose(compiled(x), call(x), rtol=1e-5)
        assert compiled.get_concrete_function().structured_outputs.shape.rank == 4
        with pytest.raises(tf.errors.InvalidArgumentError, match="not compatible"):
            compiled(x[0])


def test_patches_and_normalization_of_images_of_unknown_rank():
    @tf.function(input_signature=[tf.TensorSpec(None)])
    def f(x):
        patches = tf.image.extract_patches(x, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
        return tf.nn.local_response_normalization(x), patches

    assert [shape.rank for shape in f.get_concrete_function().output_shapes] == [4, 4]
    normalized, patches = f(tf.ones([1, 3, 3, 2]))
    np.testing.assert_allclose(normalized.numpy(), np.full((1, 3, 3, 2), 3**-0.5), rtol=1e-6)
    np.testing.assert_array_equal(patches.numpy(), np.ones((1, 2, 2, 8)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.ones([3, 3, 2]))
