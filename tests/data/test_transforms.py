"""Transformations of elements, against plain Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autoconv as tf

Dataset = tf.data.Dataset


def test_map_and_filter(elements):
    dataset = Dataset.range(6).map(lambda x: (x, x * x)).filter(lambda x, square: square % 2 == 0)
    assert elements(dataset) == [(0, 0), (2, 4), (4, 16)]
    assert dataset.element_spec == (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.int64))


def test_functions_are_traced_once_and_converted(capsys):
    def halved(x):
        print("tracing")
        return x // 2 if x % 2 == 0 else -x

    dataset = Dataset.range(5).map(halved)
    assert [int(x) for x in dataset] == [0, -1, 1, -3, 2]
    assert [int(x) for x in dataset] == [0, -1, 1, -3, 2]
    assert capsys.readouterr().out == "tracing\n"


def test_functions_read_variables_and_change_them():
    factor, seen = tf.Variable(2, dtype=tf.int64), tf.Variable(0, dtype=tf.int64)

    def scaled(x):
        seen.assign_add(1)
        return x * factor

    dataset = Dataset.range(3).map(scaled)
    assert [int(x) for x in dataset] == [0, 2, 4]
    factor.assign(10)
    assert [int(x) for x in dataset] == [0, 10, 20]
    assert int(seen) == 6


def test_results_of_functions(elements):
    assert elements(Dataset.range(2).map(lambda x: {"x": x, "l": [x, x + 1], "n": 1.5, "s": "t"})) == [
        {"x": 0, "l": [0, 1], "n": 1.5, "s": b"t"},
        {"x": 1, "l": [1, 2], "n": 1.5, "s": b"t"},
    ]


def test_several_arguments_and_one_dict(elements):
    pairs = Dataset.from_tensor_slices(([1, 2], {"k": [3, 4]}))
    assert elements(pairs.map(lambda a, d: a + d["k"])) == [4, 6]


def test_take_skip_shard(elements):
    dataset = Dataset.range(7)
    assert elements(dataset.take(3)) == [0, 1, 2] and elements(dataset.take(-1)) == list(range(7))
    assert elements(dataset.skip(5)) == [5, 6] and elements(dataset.skip(-1)) == [] == elements(dataset.skip(9))
    assert elements(dataset.shard(3, 1)) == [1, 4]
    assert elements(dataset.take_while(lambda x: x < 4)) == [0, 1, 2, 3]


def test_take_reads_no_more_than_it_returns():
    read_elements = []

    def generate():
        for i in itertools.count():
            read_elements.append(i)
            yield i

    list(Dataset.from_generator(generate, output_signature=tf.TensorSpec((), tf.int32)).take(2))
    assert read_elements == [0, 1]


def test_repeat_concatenate_enumerate_zip(elements):
    dataset = Dataset.range(2)
    assert elements(dataset.repeat(3)) == [0, 1] * 3 and elements(dataset.repeat(0)) == []
    assert elements(dataset.repeat().take(5)) == [0, 1, 0, 1, 0]
    assert elements(Dataset.range(0).repeat()) == []
    assert elements(dataset.concatenate(Dataset.range(5, 7))) == [0, 1, 5, 6]
    assert elements(dataset.enumerate(start=7)) == [(7, 0), (8, 1)]
    assert elements(Dataset.zip(Dataset.range(3), dataset)) == [(0, 0), (1, 1)]
    assert elements(Dataset.zip(Dataset.range(2))) == [0, 1]
    assert elements(Dataset.zip((dataset, {"a": Dataset.range(9)}))) == [(0, {"a": 0}), (1, {"a": 1})]


def test_concatenate_joins_shapes():
    a, b = Dataset.from_tensors([1, 2]), Dataset.from_tensors([1, 2, 3])
    assert a.concatenate(b).element_spec == tf.TensorSpec((None,), tf.int32)


@pytest.mark.parametrize("shift", [None, 1, 2, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("drop", [True, False])
def test_window(shift, stride, drop):
    expected = []
    for start in range(0, 7, shift or 3):
        window = [start + i * stride for i in range(3)]
        if not drop or window[-1] < 7:
            expected.append([x for x in window if x < 7])
    windows = Dataset.range(7).window(3, shift, stride, drop)
    assert [[int(x) for x in window] for window in windows] == expected


def test_windows_of_structures_and_flat_map(elements):
    dataset = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4, 5, 6]}).window(2)
    assert [{k: [int(x) for x in v] for k, v in w.items()} for w in dataset] == [
        {"a": [1, 2], "b": [4, 5]},
        {"a": [3], "b": [6]},
    ]
    assert elements(Dataset.range(5).window(2).flat_map(lambda w: w.batch(2))) == [[0, 1], [2, 3], [4]]
    pairs = dataset.flat_map(lambda w: Dataset.zip((w["a"], w["b"])))
    assert elements(pairs) == [(1, 4), (2, 5), (3, 6)]


def test_windows_of_composites():
    rows = Dataset.from_tensor_slices((tf.sparse.from_dense([[1, 0], [0, 2], [3, 4]]), [5, 6, 7])).window(2)
    found = [([tf.sparse.to_dense(row).numpy().tolist() for row in a], [int(x) for x in b]) for a, b in rows]
    assert found == [([[1, 0], [0, 2]], [5, 6]), ([[3, 4]], [7])]


def test_flat_map_and_interleave(elements):
    repeated = lambda x: Dataset.from_tensors(x).repeat(x)
    assert elements(Dataset.range(4).flat_map(repeated)) == [1, 2, 2, 3, 3, 3]
    six = lambda x: Dataset.from_tensors(x).repeat(6)
    # The result that TensorFlow's documentation of interleave prints.
    expected = [
        1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5,
    ]  # fmt: skip
    dataset = Dataset.range(1, 6)
    assert elements(dataset.interleave(six, cycle_length=2, block_length=4)) == expected
    assert elements(dataset.interleave(six, 2, 4, num_parallel_calls=tf.data.AUTOTUNE)) == expected


def test_reduce_scan_unique(elements):
    dataset = Dataset.from_tensor_slices([3, 1, 3, 2])
    assert int(dataset.reduce(0, lambda total, x: total + x)) == 9
    count, largest = dataset.reduce((0, 0), lambda state, x: (state[0] + 1, tf.maximum(state[1], x)))
    assert (int(count), int(largest)) == (4, 3)
    assert elements(dataset.scan(0, lambda total, x: (total + x, total + x))) == [3, 4, 7, 9]
    assert elements(dataset.unique()) == [3, 1, 2]
    assert int(Dataset.from_tensors(7).get_single_element()) == 7


def test_reduce_reads_all_elements_and_converts_its_function():
    def longest(best, word):
        if tf.strings.length(word) > tf.strings.length(best):
            best = word
        return best

    assert Dataset.from_tensor_slices(["ab", "abcd", "c"]).reduce("", longest).numpy() == b"abcd"
    with pytest.raises(TypeError, match="element types for the new state must match the initial state"):
        Dataset.range(3).reduce(0, lambda total, x: tf.cast(total, tf.float32))


def test_a_variable_that_the_first_trace_of_a_function_creates_is_kept():
    kept = []

    def scaled(x):
        if not kept:
            kept.append(tf.Variable(lambda: tf.constant(2, tf.int64)))
        return x * kept[0].assign_add(1)

    dataset = Dataset.range(1, 4).map(scaled)
    assert [int(x) for x in dataset] == [1 * 3, 2 * 4, 3 * 5] and int(kept[0]) == 5


def test_a_function_all_of_whose_paths_raise_raises_when_it_is_traced():
    def failing(x):
        tf.gather([1, 2, 3], x)
        raise ValueError("not for these elements")

    def tried(x):
        try:
            return failing(x)
        except TypeError:
            return failing(x)

    with pytest.raises(ValueError, match="not for these elements"):
        Dataset.range(3).map(tried)


def test_cache_computes_once():
    runs = tf.Variable(0)

    def counted(x):
        runs.assign_add(1)
        return x

    dataset = Dataset.range(3).map(counted).cache()
    next(iter(dataset))  # not to the end: not kept
    assert int(runs) == 1
    for _ in range(3):
        assert [int(x) for x in dataset] == [0, 1, 2]
    assert int(runs) == 4


def test_cache_in_a_file(tmp_path, elements):
    runs = tf.Variable(0)

    def counted(x):
        runs.assign_add(1)
        return {"x": x, "s": [tf.strings.as_string(x), "é\x00"], "f": tf.cast(x, tf.float32)[None, None]}

    path = str(tmp_path / "kept")
    expected = [{"x": x, "s": [str(x).encode(), "é\x00".encode()], "f": [[float(x)]]} for x in range(3)]
    dataset = Dataset.range(3).map(counted).cache(path)
    next(iter(dataset))  # not to the end: not kept
    assert int(runs) == 1 and list(tmp_path.iterdir()) == []
    for _ in range(3):
        assert elements(dataset) == expected
    assert int(runs) == 4
    assert elements(Dataset.range(9).map(counted).cache(path)) == expected  # the file counts
    with pytest.raises(tf.errors.DataLossError, match="does not hold elements of"):
        list(Dataset.range(3).cache(path))
    (tmp_path / "kept").write_bytes((tmp_path / "kept").read_bytes()[:-5])
    with pytest.raises(tf.errors.DataLossError, match="damaged"):
        list(dataset)
    (tmp_path / "other").write_text("no elements")
    with pytest.raises(tf.errors.DataLossError, match="is not a file of elements"):
        list(Dataset.range(3).cache(str(tmp_path / "other")))


def test_unbatch(elements):
    assert elements(Dataset.from_tensor_slices([[1, 2], [3, 4]]).unbatch()) == [1, 2, 3, 4]
    assert elements(Dataset.range(5).batch(2).unbatch()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (lambda d: d, 10), (lambda d: d.repeat(3), 30), (lambda d: d.repeat(), -1), (lambda d: d.take(4), 4),
        (lambda d: d.take(40), 10), (lambda d: d.skip(4), 6), (lambda d: d.batch(3), 4),
        (lambda d: d.batch(3, drop_remainder=True), 3), (lambda d: d.filter(lambda x: x > 1), -2),
        (lambda d: d.map(lambda x: x), 10), (lambda d: Dataset.zip(d, d.take(3), d.repeat()), 3),
        (lambda d: d.concatenate(d), 20), (lambda d: d.shuffle(3).prefetch(1).cache(), 10),
        (lambda d: d.repeat().take(7), 7), (lambda d: d.shard(4, 1), 3), (lambda d: d.enumerate(), 10),
        (lambda d: d.flat_map(Dataset.from_tensors), -2), (lambda d: d.window(3), 4),
        (lambda d: d.window(3, 2, 2, drop_remainder=True), 3), (lambda d: d.filter(lambda x: x > 1).repeat(), -1),
        (lambda d: Dataset.sample_from_datasets([d, d.repeat()]), -1),
        (lambda d: Dataset.sample_from_datasets([d, d]), -2),
    ],
)  # fmt: skip
def test_cardinality(make, count):
    dataset = make(Dataset.range(10))
    assert int(dataset.cardinality()) == count
    if count >= 0:
        assert len(dataset) == count == len(list(dataset))
    else:
        with pytest.raises(TypeError, match="infinite" if count == -1 else "unknown"):
            len(dataset)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda d: d.map(lambda x: None), TypeError, "gives None"),
        (lambda d: d.map(lambda x: object()), TypeError, "gives object"),
        (lambda d: d.map(lambda x: x if x > 1 else None), TypeError, "on every path"),
        (lambda d: d.map(lambda x, y: x), TypeError, r"given 1 argument, for elements TensorSpec.*\(x, y\) does not"),
        (lambda d: d.enumerate().map(lambda x: x), TypeError, r"is given 2 arguments, for elements \(TensorSpec"),
        (lambda d: d.filter(lambda x: x), ValueError, "Invalid `predicate`.*bool scalar"),
        (lambda d: d.flat_map(lambda x: x), TypeError, "must return a dataset"),
        (lambda d: d.concatenate(Dataset.from_tensors(1.0)), TypeError, "of one kind"),
        (lambda d: Dataset.zip(d, 3), TypeError, "zip takes datasets, found int"),
        (lambda d: d.map(lambda x: x, num_parallel_calls=0), ValueError, "num_parallel_calls has to be positive"),
        (lambda d: d.map(lambda x: tf.Variable(1) + 1), ValueError, "Create the variable before"),
        (lambda d: d.scan(0, lambda s, x: s), TypeError, r"\(new state, output\)"),
        (lambda d: d.shuffle(0), ValueError, "buffer_size has to be positive"),
        (lambda d: d.get_single_element(), tf.errors.InvalidArgumentError, "more than one"),
        (lambda d: d.window(2).cache("file"), TypeError, "made of tensors"),
        (lambda d: d.apply(lambda d: 3), TypeError, "apply takes datasets"),
    ],
)  # fmt: skip
def test_invalid_arguments(make, kind, message):
    with pytest.raises(kind, match=message):
        make(Dataset.range(3))


def test_known_cardinality_is_checked(elements):
    filtered = Dataset.range(5).filter(lambda x: x < 3)
    assert elements(filtered.apply(tf.data.experimental.assert_cardinality(3))) == [0, 1, 2]
    assert len(filtered.apply(tf.data.experimental.assert_cardinality(3))) == 3
    for count, found in ((2, "at least 3"), (4, "3")):
        with pytest.raises(tf.errors.FailedPreconditionError, match=f"contained {found}"):
            elements(filtered.apply(tf.data.experimental.assert_cardinality(count)))


def test_numpy_iterator_yields_arrays():
    first, second = Dataset.from_tensor_slices(([1, 2], [[1.5], [2.5]])).as_numpy_iterator()
    assert type(first[0]) is np.int32 and isinstance(second[1], np.ndarray)


def test_none_is_a_component_without_tensors(elements):
    pairs = Dataset.from_tensor_slices(([1, 2, 3], None))
    none_spec = tf.NoneTensorSpec()
    assert pairs.element_spec == (tf.TensorSpec((), tf.int32), none_spec)
    assert elements(pairs.map(lambda x, y: (x + 1, y)).filter(lambda x, y: x > 2)) == [(3, None), (4, None)]
    assert [(x.numpy().tolist(), y) for x, y in pairs.batch(2)] == [([1, 2], None), ([3], None)]
    assert elements(pairs.batch(2).unbatch()) == [(1, None), (2, None), (3, None)]
    named = pairs.map(lambda x, y: {"x": x, "y": y}).concatenate(Dataset.from_tensors({"x": 4, "y": None}))
    assert named.element_spec["y"] == none_spec and [int(row["x"]) for row in named] == [1, 2, 3, 4]

    @tf.function
    def total(dataset):
        result = 0
        for x, y in dataset:
            result += x if y is None else 100
        return result

    assert int(total(pairs)) == 6


def test_a_list_of_results_is_a_tuple(elements):
    lists = Dataset.range(2).map(lambda x: [x, "s", [x, x]])
    assert [spec.dtype for spec in lists.element_spec] == [tf.int64, tf.string, tf.int64]
    assert lists.element_spec[2].shape == (2,)  # a list within is one tensor
    assert elements(Dataset.range(2).map(lambda x: [x, x + 1])) == [(0, 1), (1, 2)]


def test_functions_of_batches_of_any_size():
    def shifted(x):
        count = tf.shape(x)[0]
        noise = tf.random.stateless_uniform([count, 1], [1, 2]) * tf.ones([count, 1])
        return x + noise - tf.fill([count, 1], 0.5) * tf.zeros([count, 3])

    rows = np.arange(21, dtype=np.float32).reshape(7, 3)
    batches = list(Dataset.from_tensor_slices(rows).batch(3).map(shifted))
    for first, batch in zip((0, 3, 6), batches, strict=True):
        noise = tf.random.stateless_uniform([len(batch), 1], [1, 2]).numpy()
        np.testing.assert_allclose(batch.numpy(), rows[first : first + 3] + noise, rtol=1e-6)


def test_functions_of_batches_of_texts():
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0)

    def numbered(texts):
        words = table.lookup(tf.strings.split(texts).to_tensor(""))
        return tf.pad(words, [[0, 0], [0, 4 - tf.shape(words)[1]]]) * tf.ones_like(words[:, :1])

    batches = Dataset.from_tensor_slices(["a b", "b", "c a b"]).batch(2).map(numbered)
    assert [batch.numpy().tolist() for batch in batches] == [[[1, 2, 0, 0], [2, 0, 0, 0]], [[0, 1, 2, 0]]]
