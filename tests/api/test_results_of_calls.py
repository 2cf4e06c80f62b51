"""Results of public functions for unusual operands; the expected values are TensorFlow's."""

import numpy as np
import pytest

import autoconv as ac

TEXTS = ac.constant(["a", "bc"])
ROWS = ac.ragged.constant([[0, 1], [1]])
NON_HERMITIAN = ac.constant([1 + 1j, 3 - 2j], ac.complex64)


def as_lists(value):
    if isinstance(value, (tuple, list)):
        return [as_lists(item) for item in value]
    return value.to_list() if isinstance(value, ac.RaggedTensor) else np.asarray(value.numpy()).tolist()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: ac.unstack(TEXTS), [b"a", b"bc"]),
        (lambda: ac.strings.as_string(TEXTS, width=3), [b"  a", b" bc"]),
        (lambda: ac.as_string(NON_HERMITIAN, precision=1), [b"(1.0,1.0)", b"(3.0,-2.0)"]),
        (lambda: ac.ragged.stack(ac.constant([1.5, 2.0])), [[1.5, 2.0]]),
        (lambda: ac.ragged.stack([ac.constant([[1, 2]])], axis=-1), [[[1], [2]]]),
        (lambda: ac.ragged.stack_dynamic_partitions([[1, 2], [3, 4]], [[0, 1], [1, 0]], 2), [[1, 4], [2, 3]]),
        (lambda: ac.dynamic_partition(ROWS, ROWS, 2), [[0], [1, 1]]),
        (lambda: ac.reduce_any(ac.ragged.constant([[0, 2], [0]]), axis=1), [True, False]),
        (lambda: ac.logical_not(np.array([0.0, 1.5])), [True, False]),
        (lambda: ac.boolean_mask([1, 2, 3], ac.constant([1, 0, 2])), [1, 3]),
        (lambda: ac.reverse(ac.constant(2), ac.constant([], ac.int32)), 2),
        (lambda: ac.stack(ac.zeros([0, 3])), []),
        (lambda: ac.add_n(np.array([1, -2, 0])), -1),
        (lambda: ac.cast(2, 1), 2.0),
        (lambda: ac.function(lambda x: x.shape)(ac.zeros([2, 3])), [2, 3]),
        (lambda: ac.function(lambda x: [x, range(2)])(ac.zeros([1])), [[0.0], [0, 1]]),
        (lambda: ac.signal.fft(ac.zeros([2, 0], ac.complex64)), [[], []]),
        (lambda: ac.math.squared_difference(NON_HERMITIAN, ac.complex(0.0, 0.0)), [2 + 0j, 13 + 0j]),
        (lambda: ac.nn.moments(NON_HERMITIAN, 0), [2 - 0.5j, 3.25 + 0j]),
        (lambda: ac.saturate_cast([1e30], ac.int32), [2147483520]),
        (lambda: ac.clip_by_norm([3.0, 4.0], -1.0), [0.0, 0.0]),
        (lambda: ac.linalg.tensor_diag_part(ac.constant(3)), 3),
        (lambda: ac.signal.vorbis_window(0), []),
    ],
)
def test_results(call, expected):
    assert as_lists(call()) == expected


def test_dtypes_of_results():
    assert ac.ragged.stack([[1.5], [2.0]]).row_splits.dtype is ac.int32
    assert ac.ragged.row_splits_to_segment_ids(np.array([0, 1], np.int32)).dtype is ac.int64
    assert ac.signal.irfft([1 + 1j, 2.0]).dtype is ac.float32
    assert ac.signal.rfft(ac.zeros([2, 0], ac.float64)).dtype is ac.complex128
    assert ac.signal.irfft(ac.zeros([2, 0], ac.complex128)).dtype is ac.float64
    assert ac.stack(ac.zeros([0, 3])).shape == (0, 3)
    loss = ac.nn.softmax_cross_entropy_with_logits(ac.constant([1, 0]), ac.constant([2.0, 0.0], ac.float16))
    assert loss.dtype is ac.float16 and abs(float(loss) - 0.127) < 1e-3


def test_seeds_of_any_kind_of_number():
    draws = []
    for seed in (7, np.int64(7), ac.constant(7)):
        ac.random.set_seed(1)
        draws.append(float(ac.random.uniform([], seed=seed)))
    assert draws[0] == draws[1] == draws[2]


@pytest.mark.parametrize("class_", [TypeError, ValueError, ac.errors.InvalidArgumentError])
def test_a_mistake_with_dtypes_has_all_classes_that_tensorflow_raises(class_):
    with pytest.raises(class_):
        ac.constant([1]) * 1.5
    with pytest.raises(class_):
        ac.convert_to_tensor(ac.constant(1), ac.float32)


@pytest.mark.parametrize("class_", [TypeError, AttributeError])
def test_dense_arguments_of_sparse_functions(class_):
    with pytest.raises(class_, match="SparseTensor"):
        ac.sparse.reduce_sum(np.zeros([2]))


def test_shapes_are_int32_tensors_without_sizes_too():
    assert ac.constant(ac.TensorShape([])).dtype == ac.int32
    assert ac.constant(ac.TensorShape([2**33])).dtype == ac.int64
