"""Classes of errors that ops raise for values, as in TensorFlow 2.21: eagerly and in graphs."""

import pytest

import autoconv as ac

CALLS = {
    "Invalid pattern": lambda: ac.strings.regex_replace("a", "(", ""),
    "Invalid pattern: \\[": lambda: ac.strings.regex_full_match("a", "["),
    "supports the encodings": lambda: ac.strings.unicode_decode("a", "XX"),
    "is not in \\[0, 2\\)": lambda: ac.dynamic_partition([1, 2], [0, 5], 2),
    "one shape": lambda: ac.add_n([[1], [1, 2]]),
    "'logits' of categorical must have 2 dimensions": lambda: ac.random.categorical([1.0], 2),
    "'logits' of stateless_categorical must have 2": lambda: ac.random.stateless_categorical([[[1.0]]], 2, [1, 2]),
    "Dimension -1 must be >= 0": lambda: ac.random.normal([2, -1]),
    "Operands do not have the same shape": lambda: ac.sparse.add(ac.sparse.eye(3), ac.sparse.eye(2)),
    "Cannot reshape a tensor with 9 elements": lambda: ac.sparse.reshape(ac.sparse.eye(3), [2, -1]),
}


@pytest.mark.parametrize("pattern", CALLS)
def test_values_of_arguments(pattern):
    for call in (CALLS[pattern], ac.function(CALLS[pattern])):
        with pytest.raises(ac.errors.InvalidArgumentError, match=pattern):
            call()


def test_clipping_keeps_the_shape():
    assert ac.clip_by_value([[1.0, 5.0]], [1.0, 2.0], 3.0).numpy().tolist() == [[1.0, 3.0]]
    for call in (ac.clip_by_value, ac.function(ac.clip_by_value)):
        with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(2,\) are incompatible"):
            call(ac.constant([1.0]), [1.0, 2.0], 3.0)


def test_an_index_of_another_kind_is_a_type_error_by_name():
    with pytest.raises(TypeError) as raised:
        ac.constant([1])["a"]
    assert type(raised.value).__name__ == "TypeError"


def test_axes_beyond_the_rank():
    for call in (ac.tensordot, ac.function(ac.tensordot)):
        for axes in (3, [[0], [5]]):
            with pytest.raises(ValueError, match="tensordot: the axes"):
                call([[1.0]], [[1.0]], axes)


def test_dtypes_of_positions_and_sizes_and_of_results():
    """TensorFlow accepts int32 and int64 for sizes, int16 for positions too, and a few dtypes for random numbers."""
    small, row = ac.constant([1], ac.uint8), ac.constant([[1.0, 2.0]])
    for call in (
        lambda: ac.reshape(row, small),
        lambda: ac.broadcast_to(1.0, small),
        lambda: ac.tile([1.0], small),
        lambda: ac.fill(small, 1.0),
        lambda: ac.roll([1, 2], small[0], 0),
        lambda: ac.slice([1, 2], small, [1]),
        lambda: ac.gather([1, 2], small),
        lambda: ac.gather_nd([1, 2], small),
        lambda: ac.scatter_nd(small[None], [1], [2]),
        lambda: ac.nn.embedding_lookup(row, small),
        lambda: ac.nn.sparse_softmax_cross_entropy_with_logits(small, row),
        lambda: ac.nn.conv2d(ac.ones([1, 2, 2, 1], ac.int8), ac.ones([1, 1, 1, 1], ac.int8), 1, "SAME"),
        lambda: ac.linalg.det(ac.eye(2, dtype=ac.bfloat16)),
    ):
        with pytest.raises(ac.errors.InvalidArgumentError, match="is not in the list of allowed values"):
            call()
    with pytest.raises(ac.errors.InvalidArgumentError, match=r"\[unsorted_segment_min\]"):
        ac.math.unsorted_segment_min(["a"], [0], 1)
    for draw in (ac.random.uniform, ac.random.normal, lambda s, **o: ac.random.stateless_uniform(s, [1, 2], **o)):
        with pytest.raises(ValueError, match=r"Argument `dtype` got invalid value autoconv.int8"):
            draw([2], dtype=ac.int8)


def test_dtypes_of_results():
    same_size = ac.image.resize(ac.ones([2, 2, 1], ac.uint8), [2, 2])
    values, vectors = ac.linalg.eigh(ac.eye(2, dtype=ac.complex64))
    limits = ac.math.unsorted_segment_max(ac.constant([1.0], ac.bfloat16), [0], 2)
    assert (same_size.dtype, values.dtype, vectors.dtype) == (ac.float32, ac.complex64, ac.complex64)
    assert (limits.dtype, limits.numpy()[1] < -3e38) == (ac.bfloat16, True)
    assert ac.math.segment_mean([1, 2, 9], [0, 0, 1]).numpy().tolist() == [1, 9]
    assert ac.math.reduce_euclidean_norm([3, 4, 1]).numpy() == 5
    assert ac.linspace(ac.constant(0, ac.int8), ac.constant(1, ac.int8), 2).dtype == ac.float32
    assert ac.linalg.logdet(ac.eye(2, dtype=ac.complex128)).dtype == ac.float64


def test_options_outside_of_their_range_raise_value_error():
    calls = {
        "interval": lambda: ac.image.adjust_hue(ac.ones([2, 2, 3]), 2.0),
        "the mode has to be one of": lambda: ac.pad(ac.ones([2]), [[1, 1]], "WRAP"),
    }
    for pattern, call in calls.items():
        for run in (call, ac.function(call)):
            with pytest.raises(ValueError, match=pattern):
                run()
