"""Sources of elements: tensors, rows, ranges, generators, arrays on disk."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_one_element(elements):
    dataset = Dataset.from_tensors(([1, 2], {"a": 3.0}))
    assert elements(dataset) == [([1, 2], {"a": 3.0})]
    assert dataset.element_spec == (tf.TensorSpec((2,), tf.int32), {"a": tf.TensorSpec((), tf.float32)})
    assert len(dataset) == 1


def test_rows_of_structures(elements):
    Point = collections.namedtuple("Point", "x y")
    dataset = Dataset.from_tensor_slices(Point([1, 2, 3], [[1.0], [2.0], [3.0]]))
    assert dataset.element_spec == Point(tf.TensorSpec((), tf.int32), tf.TensorSpec((1,), tf.float32))
    assert [(int(p.x), p.y.numpy().tolist()) for p in dataset] == [(1, [1.0]), (2, [2.0]), (3, [3.0])]
    named = Dataset.from_tensor_slices({"b": [1, 2], "a": ["x", "y"]})
    assert elements(named) == [{"b": 1, "a": b"x"}, {"b": 2, "a": b"y"}]
    assert len(named) == 2


def test_rows_are_those_at_the_time():
    array = np.arange(3)
    view = np.arange(6)[::2]
    dataset = Dataset.from_tensor_slices((array, view))
    array[:] = view[:] = 9
    assert [(int(a), int(b)) for a, b in dataset] == [(0, 0), (1, 2), (2, 4)]


def test_range(elements):
    assert elements(Dataset.range(3)) == [0, 1, 2]
    assert elements(Dataset.range(5, 1, -2)) == [5, 3]
    assert elements(Dataset.range(2, 2)) == []
    assert Dataset.range(3).element_spec == tf.TensorSpec((), tf.int64)
    assert Dataset.range(3, output_type=tf.float32).element_spec.dtype is tf.float32
    assert elements(Dataset.range(2, output_type=tf.float32)) == [0.0, 1.0]


def test_generator(elements):
    passes = []

    def generate(stop):
        passes.append(type(stop))
        for i in range(stop):
            yield i, [float(i)] * i

    signature = (tf.TensorSpec((), tf.int32), tf.TensorSpec((None,), tf.float32))
    dataset = Dataset.from_generator(generate, args=(3,), output_signature=signature)
    assert passes == []
    assert elements(dataset) == [(0, []), (1, [1.0]), (2, [2.0, 2.0])]
    assert elements(dataset)[-1] == (2, [2.0, 2.0])
    assert passes == [np.int32, np.int32]
    assert dataset.element_spec == signature
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_generator_with_types_and_shapes(elements):
    dataset = Dataset.from_generator(lambda: iter([(1, [2, 3])]), (tf.int64, tf.int64), (tf.TensorShape([]), [2]))
    assert dataset.element_spec == (tf.TensorSpec((), tf.int64), tf.TensorSpec((2,), tf.int64))
    assert elements(dataset) == [(1, [2, 3])]
    named = Dataset.from_generator(lambda: iter([{"a": 1}]), {"a": tf.int32})
    assert elements(named) == [{"a": 1}]


def test_a_generator_is_closed_with_its_iterator():
    closed = []

    def generate():
        try:
            yield from range(100)
        finally:
            closed.append(True)

    iterator = iter(Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)).map(lambda x: x))
    next(iterator)
    assert not closed
    del iterator
    assert closed


def test_a_generator_may_use_one_array_again():
    def generate():
        array = np.zeros(2, np.int32)
        for i in range(3):
            array[:] = i
            yield array

    dataset = Dataset.from_generator(generate, output_signature=tf.TensorSpec((2,), tf.int32))
    assert next(iter(dataset.batch(3))).numpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert [x.tolist() for x in dataset.prefetch(3).as_numpy_iterator()] == [[0, 0], [1, 1], [2, 2]]


def test_arrays_on_disk(tmp_path, elements):
    np.save(tmp_path / "a.npy", np.arange(6).reshape(3, 2))
    np.savez(tmp_path / "b.npz", x=np.arange(2), y=np.array([1.5, 2.5]))
    dataset = Dataset.from_npy(tmp_path / "a.npy")
    assert elements(dataset) == [[0, 1], [2, 3], [4, 5]]
    assert elements(Dataset.from_npz(tmp_path / "b.npz")) == [{"x": 0, "y": 1.5}, {"x": 1, "y": 2.5}]


def test_mapped_arrays_are_read_row_by_row(tmp_path):
    mapped = np.lib.format.open_memmap(tmp_path / "big.npy", "w+", np.int64, (4, 2))
    dataset = Dataset.from_tensor_slices(mapped[1:])
    mapped[2] = [7, 8]  # a copy would not show this write
    rows = list(dataset.as_numpy_iterator())
    assert [row.tolist() for row in rows] == [[0, 0], [7, 8], [0, 0]]
    mapped[2] = 0
    assert rows[1].tolist() == [7, 8]  # read when the element was requested


def test_counter(elements):
    assert elements(tf.data.experimental.Counter(10, -5).take(3)) == [10, 5, 0]
    assert int(tf.data.experimental.Counter().cardinality()) == tf.data.INFINITE_CARDINALITY


def test_lists_are_tensors_and_tuples_structures(elements):
    assert elements(Dataset.from_tensors([[1, 2], [3, 4]])) == [[[1, 2], [3, 4]]]
    assert elements(Dataset.from_tensor_slices(([1, 2], [3, 4]))) == [(1, 3), (2, 4)]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Dataset.from_tensor_slices(([1, 2, 3], [1, 2])), ValueError, "Dimensions 3 and 2 are not compatible"),
        (lambda: Dataset.from_tensor_slices(3), ValueError, "component 0 is a scalar"),
        (lambda: Dataset.from_tensor_slices([[1], [1, 2]]), ValueError, "non-rectangular"),
        (lambda: Dataset.from_tensors(None), TypeError, "found None"),
        (lambda: Dataset.from_generator([1], tf.int32), TypeError, "`generator` must be a Python callable, found"),
        (lambda: Dataset.from_generator(lambda: [1]), TypeError, "give it output_signature"),
        (lambda: Dataset.from_generator(lambda: [1], output_signature=tf.int32), TypeError, "TensorSpec objects"),
        (lambda: Dataset.range(), ValueError, "one to three integers"),
        (lambda: Dataset.range(1, 2, 0), ValueError, "must not be zero"),
        (lambda: Dataset.range(1.5), TypeError, "an integer was expected"),
        (lambda: Dataset(3), TypeError, "a Dataset is created by"),
    ],
)
def test_invalid_arguments(make, kind, message):
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "a",
            "could not be converted to the expected type. The expected type was int32, but the yielded element was 'a'",
        ),
        ([1, 2], r"an element of shape \(2,\) where an element of shape \(\) was expected"),
        (None, "could not be converted"),
    ],
)
def test_values_that_do_not_fit_the_signature(value, message):
    dataset = Dataset.from_generator(lambda: iter([1, value]), output_signature=tf.TensorSpec((), tf.int32))
    iterator = iter(dataset)
    assert int(next(iterator)) == 1
    with pytest.raises(TypeError, match=message):
        next(iterator)
    with pytest.raises(TypeError, match=message):  # an error, not the end of the iteration
        next(iterator)


def test_another_structure_than_the_signature():
    pair = (tf.TensorSpec((), tf.int32), tf.TensorSpec((), tf.int32))
    dataset = Dataset.from_generator(lambda: iter([(1, 2, 3)]), output_signature=pair)
    with pytest.raises(TypeError, match=r"did not match the expected structure.*\(1, 2, 3\)"):
        list(dataset)


def test_a_generator_that_raises():
    def generate():
        yield 1
        raise KeyError("lost")

    iterator = iter(Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)).prefetch(1))
    assert int(next(iterator)) == 1
    with pytest.raises(KeyError, match="lost") as raised:
        next(iterator)
    assert raised.traceback[-1].name == "generate"
    assert 'raise KeyError("lost")' in str(raised.traceback[-1].statement)


@pytest.mark.parametrize("kind", [ValueError, TypeError])
def test_errors_of_a_generator_are_those_of_ops(kind):
    def generate():
        yield 1
        raise kind("lost")

    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{kind.__name__}: lost") as raised:
        list(Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)))
    assert isinstance(raised.value, kind) and isinstance(raised.value.__cause__, kind)


def test_arguments_of_a_generator_are_whole_tensors(elements):
    def generate(rows, scale):
        yield rows.sum() * scale

    dataset = Dataset.from_generator(generate, args=((1, 2), 3), output_signature=tf.TensorSpec((), tf.int64))
    assert elements(dataset) == [9]


def test_a_dataset_of_a_long_list(elements):
    assert elements(tf.data.experimental.from_list(list(range(2000)))) == list(range(2000))


def test_empty_lists_from_a_generator_take_the_dtype_of_the_spec(elements):
    def rows():
        yield []
        yield [1, 2]

    dataset = Dataset.from_generator(rows, output_signature=tf.TensorSpec([None], tf.int32))
    assert elements(dataset) == [[], [1, 2]]
    assert [row.dtype for row in dataset.as_numpy_iterator()] == [np.int32, np.int32]


def test_generators_of_optionals():
    """Keras yields an Optional without a value where a batch has no targets."""
    optional = tf.experimental.Optional
    spec = tf.TensorSpec((), tf.int64)

    def generate():
        for i in range(3):
            yield i, optional.from_value(np.int64(i)) if i % 2 else optional.empty(spec), optional.empty(None)

    signature = (tf.TensorSpec((), tf.int32), tf.OptionalSpec(spec), tf.OptionalSpec(None))
    found = list(Dataset.from_generator(generate, output_signature=signature).prefetch(1))
    assert [bool(value.has_value()) for _, value, _ in found] == [False, True, False]
    assert int(found[1][1].get_value()) == 1
    assert not any(bool(nothing.has_value()) for _, _, nothing in found)
