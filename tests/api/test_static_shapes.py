"""Sizes that are known while tracing, propagated through computations on shapes."""

import numpy as np
import pytest

import autoconv as ac


def static_shapes(function, *shape):
    """Return the static shapes of a function's results for a tensor of a partly unknown shape."""
    concrete = ac.function(function).get_concrete_function(ac.TensorSpec(shape, ac.float32))
    return [tuple(found.shape) for found in concrete.structured_outputs]


def test_reshape_keeps_the_sizes_that_are_known():
    def f(x):
        s = ac.shape(x)
        return (
            ac.reshape(x, ac.concat([s[:1], [6]], 0)),
            ac.reshape(x, ac.concat([ac.shape(x)[:-2], [s[1] * s[2]]], 0)),
            ac.reshape(x, [s[0], ac.reduce_prod(s[1:])]),
            ac.reshape(x, ac.stack([s[0], 3, 2])),
            ac.reshape(x, ac.cast(ac.concat([[-1], ac.cast(s[2:], ac.int64)], 0), ac.int32)),
            ac.broadcast_to(x, s + ac.constant([0, 0, 0])),
            ac.zeros([s[0] * 2, s[2]]),
        )

    expected = [(None, 6), (None, 6), (None, 6), (None, 3, 2), (None, 3), (None, 2, 3), (None, 3)]
    assert static_shapes(f, None, 2, 3) == expected


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda x, n: ac.zeros([n, 3]), [None, 3]),
        (lambda x, n: ac.fill(ac.concat([[n], ac.shape(x)[1:]], 0), 0.0), [None, 5]),
        (lambda x, n: ac.random.uniform(ac.stack([2, n + 1])), [2, None]),
        (lambda x, n: ac.reshape(x, ac.cast([n, 5], ac.int64)), [None, 5]),
        (lambda x, n: ac.math.unsorted_segment_max(x, ac.zeros(ac.shape(x)[:1], ac.int32), n), [None, 5]),
        (lambda x, n: ac.zeros([n]), [None]),
    ],
)
def test_sizes_beside_those_that_a_tensor_has_are_known(make, expected):
    function = ac.function(make, autograph=False)
    concrete = function.get_concrete_function(ac.TensorSpec([None, 5]), ac.TensorSpec([], ac.int32))
    assert concrete.output_shapes.as_list() == expected


def test_static_values():
    assert ac.get_static_value(ac.constant([1, 2])).tolist() == [1, 2] and ac.get_static_value(3) == 3

    @ac.function(input_signature=[ac.TensorSpec([None, 2, 3])])
    def f(x):
        found.append(ac.get_static_value(ac.shape(x)[1:]))
        found.append(ac.get_static_value(ac.shape(x)))
        found.append(ac.get_static_value(ac.shape(x), partial=True))
        found.append(ac.get_static_value(x))
        found.append((ac.get_static_value(ac.rank(x)), ac.get_static_value(ac.size(x[0]))))
        found.append(ac.pad(ac.shape(x), [[0, ac.rank(x)]]).shape)
        return x

    found = []
    f(ac.ones([4, 2, 3]))
    assert found[0].tolist() == [2, 3] and found[1] is None and found[2] == [None, 2, 3] and found[3] is None
    assert found[4:] == [(3, 6), (6,)]


def test_a_conditional_on_a_known_size_runs_one_branch():
    from autoconv.tensorflow.__internal__.smart_cond import smart_cond

    @ac.function(input_signature=[ac.TensorSpec([None, 4])])
    def f(x):
        return smart_cond(ac.shape(x)[-1] > 1, lambda: ac.argmax(x, axis=-1), lambda: ac.squeeze(x, axis=-1))

    assert f(ac.constant([[0.0, 3.0, 1.0, 2.0]])).numpy().tolist() == [1]


def test_shapes_that_broadcast():
    assert ac.broadcast_static_shape(ac.TensorShape([None, 3]), ac.TensorShape([2, 1])) == ac.TensorShape([2, 3])
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        ac.broadcast_static_shape(ac.TensorShape([2]), ac.TensorShape([3]))
    assert ac.broadcast_dynamic_shape([5, 1, 3], [4, 1]).numpy().tolist() == [5, 4, 3]
    assert ac.function(ac.broadcast_dynamic_shape)(ac.constant([2, 1]), ac.constant([3])).numpy().tolist() == [2, 3]
    with pytest.raises(ac.errors.InvalidArgumentError):
        ac.broadcast_dynamic_shape([2], [3])


def test_the_rank_is_known_in_branches():
    def f(x):
        axis = ac.rank(x) - 1
        inner = lambda: ac.cond(x[0, 0] > 0, lambda: ac.expand_dims(x, axis), lambda: x[:, None])
        return (ac.cond(ac.reduce_any(x > 0), inner, lambda: ac.reshape(x, [-1, 1, 4])),)

    assert static_shapes(f, None, 4) == [(None, 1, 4)]


def test_values_computed_from_known_shapes() -> None:
    found = {}

    @ac.function
    def examine(x: ac.Tensor) -> ac.Tensor:
        rank = ac.rank(x)
        tensors = {
            "range": ac.range(1, rank + 1), "negative": -rank, "cast": ac.cast(rank, ac.int64), "equal": rank == 2,
            "stack": ac.stack([rank, 1]), "fill": ac.fill([rank], 7), "gather": ac.gather(ac.shape(x), [1]),
            "part": ac.unstack(ac.shape(x))[1], "long": ac.range(rank * 1000),
        }  # fmt: skip
        found.update({name: ac.get_static_value(tensor) for name, tensor in tensors.items()})
        return x

    examine(ac.zeros([2, 3]))
    assert found.pop("long") is None
    assert {name: np.asarray(value).tolist() for name, value in found.items()} == {
        "range": [1, 2], "negative": -2, "cast": 2, "equal": True, "stack": [2, 1], "fill": [7, 7], "gather": [3],
        "part": 3,
    }  # fmt: skip


def test_shapes_without_elements_broadcast() -> None:
    assert ac.broadcast_dynamic_shape([], []).dtype == ac.int32
    assert ac.broadcast_dynamic_shape([], ac.constant([2], ac.int64)).numpy().tolist() == [2]


def test_a_shape_may_be_one_size_of_the_run() -> None:
    @ac.function(input_signature=[ac.TensorSpec([None], ac.int32)])
    def fill(x: ac.Tensor) -> tuple[ac.Tensor, ...]:
        return ac.zeros(ac.size(x)), ac.ones(x[0]), ac.fill(x[0], 7), ac.reshape(x[None], ac.size(x))

    zeros, ones, filled, reshaped = fill(ac.constant([2, 5, 6]))
    assert zeros.numpy().tolist() == [0, 0, 0] and ones.numpy().tolist() == [1, 1]
    assert filled.numpy().tolist() == [7, 7] and reshaped.numpy().tolist() == [2, 5, 6]
