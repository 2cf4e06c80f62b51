"""Constants, shapes, slices and joins by their public names, eager and traced, against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.api.tensors import constants, gather, indexing, shaping
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import float32, float64, int32, int64
from autoconv.runtime.tensors.conversion import constant

X = np.arange(12, dtype=np.float32).reshape(3, 4)
RunAndTrace = Callable[..., Any]


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_array_equal(np.asarray(found.numpy()), expected)


def test_fills() -> None:
    assert_same(constants.zeros([2, 3]), np.zeros((2, 3)))
    assert constants.zeros(3).dtype is float32
    assert constants.ones((2,), int32).numpy().dtype == np.int32
    assert_same(constants.zeros([2], "string"), [b"", b""])
    assert_same(constants.ones(constant([2, 1])), np.ones((2, 1)))
    assert_same(constants.fill([2, 2], 7), [[7, 7], [7, 7]])
    assert_same(constants.zeros_like(X), np.zeros((3, 4)))
    assert constants.ones_like(X, dtype="int32").dtype is int32
    assert_same(constants.eye(2, 3), np.eye(2, 3))
    assert constants.eye(2, batch_shape=[3]).shape == (3, 2, 2)


def test_shapes_made_of_tensors(run_and_trace: RunAndTrace) -> None:
    run_and_trace(lambda x: constants.zeros([shaping.shape(x)[0], 2]), X)
    run_and_trace(lambda x: constants.ones(shaping.shape(x)), X)
    run_and_trace(lambda x: constants.fill(shaping.shape(x)[:1], 3), X)
    run_and_trace(lambda x: constants.eye(shaping.shape(x)[0]), X)
    run_and_trace(lambda x: constants.eye(shaping.shape(x)[0], batch_shape=[2]), X)
    run_and_trace(lambda x: constants.zeros_like(x), X)
    run_and_trace(lambda n: constants.zeros([n]), np.int32(3))
    run_and_trace(lambda x: shaping.broadcast_to(x, [2, shaping.shape(x)[0], shaping.size(x) // 3]), X)
    run_and_trace(lambda x: shaping.reshape(x, [-1, shaping.shape(x)[0]]), X)
    run_and_trace(lambda x: shaping.tile(x, [1, shaping.rank(x)]), X)


def test_range(run_and_trace: RunAndTrace) -> None:
    assert_same(constants.range(5), np.arange(5))
    assert_same(constants.range(1, 10, 3), [1, 4, 7])
    assert_same(constants.range(5, 0, -2), [5, 3, 1])
    assert_same(constants.range(5, 2), [])
    assert_same(constants.range(0.0, 1.0, 0.25), [0, 0.25, 0.5, 0.75])
    assert constants.range(3).dtype is int32 and constants.range(3.0).dtype is float32
    assert constants.range(constant(3, int64)).dtype is int64
    assert constants.range(3, dtype=float64).dtype is float64
    assert constants.range(0, constant(3.0)).dtype is float32
    run_and_trace(lambda n: constants.range(n), np.int32(4))
    run_and_trace(lambda n: constants.range(1, n, 2), np.int64(6))
    run_and_trace(lambda n: constants.range(n, delta=0.5), np.float32(2))
    with pytest.raises(InvalidArgumentError, match="delta != 0"):
        constants.range(0, 3, 0)


def test_linspace(run_and_trace: RunAndTrace) -> None:
    assert_same(constants.linspace(0.0, 1.0, 5), np.linspace(0, 1, 5, dtype=np.float32))
    assert constants.linspace(0, 10, 3).dtype is float64
    assert_same(constants.linspace([0.0, 1.0], [2.0, 3.0], 3, axis=-1), [[0, 1, 2], [1, 2, 3]])
    run_and_trace(lambda a, n: constants.linspace(a, 3.0, n), np.float32(1), np.int32(3))
    with pytest.raises(InvalidArgumentError, match="num > 0"):
        constants.linspace(0.0, 1.0, -1)
    assert_same(constants.linspace(0.0, 1.0, 0), [])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: shaping.shape(x), [3, 4]),
        (lambda x: shaping.size(x, out_type=int64), 12),
        (lambda x: shaping.rank(x), 2),
        (lambda x: shaping.reshape(x, [2, -1]), X.reshape(2, 6)),
        (lambda x: shaping.reshape(x, []) if x.shape == () else shaping.reshape(x, (4, 3)), X.reshape(4, 3)),
        (lambda x: shaping.transpose(x), X.T),
        (lambda x: shaping.transpose(x, [1, 0]), X.T),
        (lambda x: shaping.expand_dims(x, 1), X[:, None]),
        (lambda x: shaping.expand_dims(x, -1), X[..., None]),
        (lambda x: shaping.squeeze(shaping.expand_dims(x, 1)), X),
        (lambda x: shaping.squeeze(x[None], [0]), X),
        (lambda x: shaping.reverse(x, [0, -1]), X[::-1, ::-1]),
        (lambda x: shaping.roll(x, 1, 0), np.roll(X, 1, 0)),
        (lambda x: shaping.roll(x, [1, -2], [0, 1]), np.roll(X, (1, -2), (0, 1))),
        (lambda x: shaping.roll(x, shaping.shape(x)[0] - 1, 0), np.roll(X, 2, 0)),
        (lambda x: shaping.broadcast_to(x, [2, 3, 4]), np.broadcast_to(X, (2, 3, 4))),
        (lambda x: shaping.tile(x, [2, 1]), np.tile(X, (2, 1))),
        (lambda x: shaping.repeat(x, 2), np.repeat(X, 2)),
        (lambda x: shaping.repeat(x, [1, 0, 2], axis=0), np.repeat(X, [1, 0, 2], 0)),
        (lambda x: shaping.repeat(x, shaping.shape(x)[:1], axis=1), np.repeat(X, 3, 1)),
        (lambda x: shaping.pad(x, [[1, 0], [0, 2]]), np.pad(X, [(1, 0), (0, 2)])),
        (
            lambda x: shaping.pad(x, [[1, 0], [0, 2]], constant_values=5),
            np.pad(X, [(1, 0), (0, 2)], constant_values=5),
        ),
        (lambda x: shaping.pad(x, [[1, 0], [0, 2]], "reflect"), np.pad(X, [(1, 0), (0, 2)], "reflect")),
        (lambda x: shaping.pad(x, [[1, 0], [0, 2]], "SYMMETRIC"), np.pad(X, [(1, 0), (0, 2)], "symmetric")),
        (lambda x: shaping.pad(x, [[1, 0], [0, 2]], "REFLECT", x[0, 1]), np.pad(X, [(1, 0), (0, 2)], "reflect")),
        (
            lambda x: shaping.pad(x, [[1, 0], [0, 2]], constant_values=x[0, 1] + 4),
            np.pad(X, [(1, 0), (0, 2)], constant_values=5),
        ),
        (
            lambda x: shaping.pad(x, shaping.stack([shaping.shape(x) - 2, [0, 1]])),
            np.pad(X, [(1, 2), (0, 1)]),
        ),
        (lambda x: shaping.concat([x, x * 2], 0), np.vstack([X, X * 2])),
        (lambda x: shaping.concat([x, [[1, 2], [3, 4], [5, 6]]], axis=-1)[:, 4:], [[1, 2], [3, 4], [5, 6]]),
        (lambda x: shaping.stack([x, x + 1], axis=2), np.stack([X, X + 1], 2)),
        (lambda x: shaping.stack([1, x[0, 1], 2.5]), [1, 1, 2.5]),
        (lambda x: shaping.ensure_shape(x, [3, None]), X),
        (lambda x: indexing.slice(x, [1, 0], [2, -1]), X[1:3]),
        (lambda x: indexing.slice(x, [0, shaping.shape(x)[0] - 2], [-1, 2]), X[:, 1:3]),
        (lambda x: indexing.slice(x, shaping.shape(x) - 2, [1, 1]), X[1:2, 2:3]),
        (lambda x: indexing.slice(x, [0, 0], [shaping.shape(x)[0] - 1, shaping.shape(x)[0]]), X[:2, :3]),
        (lambda x: indexing.strided_slice(x, [0, 3], [3, 0], [2, -1]), X[0:3:2, 3:0:-1]),
        (lambda x: indexing.strided_slice(x, [1, 0], [2, 0], shrink_axis_mask=1, end_mask=2), X[1]),
        (lambda x: indexing.boolean_mask(x, [True, False, True]), X[[True, False, True]]),
        (lambda x: indexing.boolean_mask(x, x > 4), X[X > 4]),
        (lambda x: indexing.boolean_mask(x, [True, False, False, True], axis=1), X[:, [0, 3]]),
        (lambda x: x[shaping.shape(x)[0] - 1], X[2]),
        (lambda x: x[: shaping.shape(x)[0] - 1, ..., None], X[:2, :, None]),
        (lambda x: x[[0, 2]], X[0, 2]),  # a list is a tuple, as in TensorFlow
        (lambda x: x[[slice(None), slice(0, 1)]], X[:, :1]),
        (lambda x: x[[0, 2], :], X[[0, 2]]),
        (lambda x: x[x > 4], X[X > 4]),
        (lambda x: gather.where(x > 4, x, -1.0), np.where(X > 4, X, -1)),
        (lambda x: gather.where(x > 4), np.argwhere(X > 4)),
        (lambda x: gather.where(x), np.argwhere(X)),
        (lambda x: gather.gather(x, [2, 0]), X[[2, 0]]),
        (lambda x: gather.gather(x, [], axis=1), X[:, :0]),
        (lambda x: gather.gather_nd(x, [[0, 1], [2, 3]]), [X[0, 1], X[2, 3]]),
        (lambda x: gather.scatter_nd([[1], [0]], x[:2], shaping.shape(x)), np.stack([X[1], X[0], X[0] * 0])),
        (lambda x: gather.tensor_scatter_nd_add(x, [[0, 0]], [5.0])[0, 0], 5),
        (lambda x: gather.one_hot([0, 2], shaping.shape(x)[0]), [[1, 0, 0], [0, 0, 1]]),
        (lambda x: gather.one_hot([1], 2, on_value=5, off_value=-1, axis=0), [[-1], [5]]),
        (lambda x: gather.segment_sum(x, [0, 0, 2]), [X[0] + X[1], X[0] * 0, X[2]]),
        (lambda x: gather.unsorted_segment_sum(x, [0, 0, 2], 4)[3], np.zeros(4)),
    ],
)  # fmt: skip
def test_against_numpy(run_and_trace: RunAndTrace, function: Callable[..., Any], expected: Any) -> None:
    # Tensors of unknown rank support a slice or mask over several dimensions, too.
    assert_same(run_and_trace(function, X), expected)


def test_functions_with_several_results(run_and_trace: RunAndTrace) -> None:
    for parts, desired in (
        (run_and_trace(lambda x: shaping.split(x, 2, axis=1), X), np.split(X, 2, 1)),
        (run_and_trace(lambda x: shaping.split(x, [1, 2]), X), [X[:1], X[1:]]),
        (run_and_trace(lambda x: shaping.split(x, [1, -1]), X), [X[:1], X[1:]]),
        (run_and_trace(lambda x: shaping.split(x, [1, shaping.shape(x)[0] - 1]), X), [X[:1], X[1:]]),
        (run_and_trace(lambda x: shaping.split(x, 1), X), [X]),
        (run_and_trace(lambda x: shaping.unstack(x, num=3), X), list(X)),
        (run_and_trace(lambda x: gather.dynamic_partition(x, [1, 0, 1], 2), X), [X[[1]], X[[0, 2]]]),
    ):
        assert isinstance(parts, list) and len(parts) == len(desired)
        for part, expected in zip(parts, desired, strict=True):
            assert_same(part, expected)
    with pytest.raises(ValueError, match="Cannot infer"):
        run_and_trace(lambda x: shaping.unstack(x), X)


def test_indices_in_lists_of_tensors(run_and_trace: RunAndTrace) -> None:
    for function, wanted in (
        (lambda x, i: gather.gather(x, [i, 0]), X[[1, 0]]),
        (lambda x, i: gather.gather_nd(x, [[i, 0], (1, i)]), X[[1, 1], [0, 1]]),
    ):
        assert_same(run_and_trace(function, X, np.int32(1), unknown_rank=False), wanted)


def test_grids_and_masks(run_and_trace: RunAndTrace) -> None:
    a, b, c = np.array([1, 2]), np.array([3, 4, 5]), np.array([6])
    for kind in ("xy", "ij"):
        found = run_and_trace(lambda *v, kind=kind: shaping.meshgrid(*v, indexing=kind), a, b, c, unknown_rank=False)
        for left, right in zip(found, np.meshgrid(a, b, c, indexing=kind), strict=True):
            assert_same(left, right)
    assert_same(
        run_and_trace(lambda n: shaping.sequence_mask(n), np.array([1, 3])), [[True, False, False], [True, True, True]]
    )
    assert_same(run_and_trace(lambda n: shaping.sequence_mask(n, 2, int32), np.array([1, 0])), [[1, 0], [0, 0]])
    with pytest.raises(ValueError, match="indexing"):
        shaping.meshgrid(a, b, indexing="yx")


def test_errors() -> None:
    x = constant(X)
    for function, text in (
        (lambda: shaping.reshape(x, [5]), "12 values"),
        (lambda: shaping.squeeze(x, [0]), "Can not squeeze"),
        (lambda: shaping.concat([x, x[:2]], 1), "do not go together"),
        (lambda: shaping.stack([x, x[:2]]), "must match"),
        (lambda: shaping.split(x, 2), "do not divide"),
        (lambda: shaping.split(x, [1, 1]), "do not add up"),
        (lambda: shaping.broadcast_to(x, [2, 4]), "Incompatible shapes"),
        (lambda: shaping.ensure_shape(x, [2, None]), "not compatible"),
        (lambda: shaping.pad(x, [[5, 0], [0, 0]], "REFLECT"), "no greater"),
        (lambda: indexing.slice(x, [0, 0], [4, 1]), r"Expected size\[0\] in \[0, 3\]"),
        (lambda: shaping.tile(x, [2]), "multiples"),
        (lambda: gather.gather(x, [3]), r"indices\[0\] = 3 is not in \[0, 3\)"),
    ):
        with pytest.raises(InvalidArgumentError, match=text):
            function()
    with pytest.raises(ValueError, match="both"):
        gather.where([True], x=1)
    with pytest.raises(TypeError, match="axis"):
        shaping.concat([x], axis=1.5)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([4, 2], "Input to reshape is a tensor with 6 values, but the requested shape has 8"),
        ([-1, 4], "Input to reshape is a tensor with 6 values, but the requested shape requires a multiple of 4"),
        ([-1, -1], "Only one input size may be -1, not both 0 and 1"),
        ([3, -2], "Size 1 must be non-negative, not -2"),
    ],
)
def test_messages_of_reshape(sizes: list[int], message: str) -> None:
    """The messages are TensorFlow's."""
    with pytest.raises(InvalidArgumentError, match=message):
        shaping.reshape(np.arange(6), constant(sizes))


def test_tensors_in_a_list_are_cast_to_the_requested_dtype() -> None:
    number, fraction = autoconv.constant(3), autoconv.constant(1.7)

    def packed(a: Any, b: Any) -> Any:
        convert = autoconv.convert_to_tensor
        return convert((a, a), dtype="float32"), convert([[b, 2], [3, b]], "int32")

    for run in (packed, autoconv.function(packed)):
        first, second = run(number, fraction)
        assert first.numpy().tolist() == [3.0, 3.0] and first.dtype.is_floating
        assert second.numpy().tolist() == [[1, 2], [3, 1]]


def test_lists_without_elements_get_the_dtype_of_the_first_value():
    for values, dtype in (([[3], []], autoconv.int32), ([[], [3]], autoconv.float32), ([[True], []], autoconv.bool)):
        assert shaping.concat(values, 0).dtype is dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda: autoconv.zeros([2.0]),
        lambda: autoconv.ones((2, 3.0)),
        lambda: autoconv.reshape(autoconv.ones([4]), [2.0, 2]),
        lambda: autoconv.reshape(autoconv.ones([4]), autoconv.constant([2.0, 2.0])),
        lambda: autoconv.fill([2.0], 1),
        lambda: autoconv.tile([1], [2.0]),
        lambda: autoconv.random.uniform([2.0]),
        lambda: autoconv.reduce_sum(autoconv.ones([2, 2]), 1.0),
    ],
)
def test_sizes_and_axes_are_no_floats(call) -> None:
    with pytest.raises((TypeError, InvalidArgumentError)):
        call()
    with pytest.raises((TypeError, InvalidArgumentError)):
        autoconv.function(call)()


@pytest.mark.parametrize(("sizes", "expected"), [((0,), (0, 1)), ((0, 3), (0, 3)), ((2, 0, 3), (0, 6))])
def test_an_empty_tensor_beside_a_size_of_0(sizes, expected):
    empty = constants.zeros(sizes)
    assert shaping.reshape(empty, [0, -1]).shape == expected
    assert autoconv.function(lambda x: shaping.reshape(x, [0, -1]))(empty).shape == expected


def test_minus_one_beside_a_size_of_zero_that_only_the_run_has() -> None:
    spec = autoconv.TensorSpec([None, 4, None], autoconv.float32)

    @autoconv.function(input_signature=[spec])
    def flatten(x):
        return shaping.reshape(x, [shaping.shape(x)[0], -1])

    @autoconv.function(input_signature=[spec, autoconv.TensorSpec([], autoconv.int32)])
    def split(x, count):
        return shaping.reshape(x, [count, -1, 3])

    sizes = [(0, 4, 6), (2, 4, 6), (2, 4, 0)]
    assert [flatten(np.zeros(size, np.float32)).shape for size in sizes] == [(0, 24), (2, 24), (2, 0)]
    calls = [((0, 4, 6), 0), ((2, 4, 6), 4), ((5, 4, 0), 2)]
    assert [split(np.zeros(size, np.float32), n).shape for size, n in calls] == [(0, 8, 3), (4, 4, 3), (2, 0, 3)]
    for size, count in (((0, 4, 2), 0), ((2, 4, 6), 0)):
        with pytest.raises(autoconv.errors.InvalidArgumentError, match="requires a multiple of 0"):
            split(np.zeros(size, np.float32), count)


def test_pad_refuses_a_constant_of_another_dtype() -> None:
    assert autoconv.pad([1, 2], [[1, 0]], constant_values=0.0).numpy().tolist() == [0, 1, 2]
    for padding in (1.5, constant(1.0)):
        with pytest.raises(InvalidArgumentError, match="int32"):
            autoconv.pad(constant([1, 2]), [[1, 1]], constant_values=padding)
