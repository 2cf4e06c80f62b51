"""Groups of elements by keys, beside plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac


def groups(elements, key, size):
    """Return the groups as lists: full ones in the order in which they get full, then the others by their keys."""
    open_, found = {}, []
    for element in elements:
        group = open_.setdefault(key(element), [])
        group.append(element)
        if len(group) == size(key(element)):
            found.append(open_.pop(key(element)))
    return found + [open_[group_key] for group_key in sorted(open_)]


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_groups_of_one_size(size):
    data = ac.data.Dataset.range(11).group_by_window(lambda x: x % 3, lambda key, group: group.batch(100), size)
    assert [item.numpy().tolist() for item in data] == groups(range(11), lambda x: x % 3, lambda key: size)


def test_groups_of_sizes_by_key():
    data = ac.data.Dataset.range(11).group_by_window(
        key_func=lambda x: ac.cast(x % 2, ac.int32),
        reduce_func=lambda key, group: group.map(lambda x: (key, x)).batch(100),
        window_size_func=lambda key: key + 2,
    )
    keys_and_groups = [(keys.numpy().tolist(), group.numpy().tolist()) for keys, group in data]
    assert [group for _, group in keys_and_groups] == groups(range(11), lambda x: x % 2, lambda key: key + 2)
    assert all(keys == [group[0] % 2] * len(group) for keys, group in keys_and_groups)


def test_elements_of_several_parts():
    data = ac.data.Dataset.from_tensor_slices({"a": [0, 1, 0], "b": [[1.0], [2.0], [3.0]]})
    data = data.group_by_window(lambda x: x["a"], lambda key, group: group.batch(2), 2)
    assert [item["b"].numpy().tolist() for item in data] == [[[1.0], [3.0]], [[2.0]]]
    pairs = ac.data.Dataset.zip((ac.data.Dataset.range(4), ac.data.Dataset.range(4, 8)))
    pairs = pairs.group_by_window(lambda a, b: a // 2, lambda key, group: group.batch(2), 2)
    assert [[part.numpy().tolist() for part in item] for item in pairs] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_a_size_by_a_variable_in_a_function_over_the_groups():
    size = ac.Variable(2, dtype=ac.int64)

    @ac.function
    def total(data):
        found = ac.constant(0, ac.int64)
        for group in data:
            found = found * 10 + ac.reduce_sum(group)
        return found

    data = ac.data.Dataset.range(4).group_by_window(
        lambda x: x % 2, lambda key, group: group.batch(4), window_size_func=lambda key: size
    )
    assert total(data).numpy() == 24
    size.assign(1)
    assert total(data).numpy() == 123


def test_groups_that_are_refused():
    data = ac.data.Dataset.range(3)
    with pytest.raises(ValueError, match="either `window_size` or `window_size_func`"):
        data.group_by_window(lambda x: x, lambda key, group: group)
    with pytest.raises(TypeError, match="has to return a dataset"):
        data.group_by_window(lambda x: x, lambda key, group: key, 2)
    with pytest.raises(ValueError, match="has to be a positive number, found 0"):
        list(data.group_by_window(lambda x: x, lambda key, group: group, 0))
    single = data.group_by_window(lambda x: x, lambda key, group: group, 1)
    assert np.array_equal(list(single.as_numpy_iterator()), [0, 1, 2])


LENGTHS = [1, 5, 3, 2, 8, 4, 1, 6, 9, 2]


def sequences():
    return ac.data.Dataset.from_generator(
        lambda: ([length] * length for length in LENGTHS), output_signature=ac.TensorSpec([None], ac.int32)
    )


def buckets(boundaries, sizes):
    """Return the lengths of each batch: full ones in the order in which they get full, then the others by bucket."""
    return groups(LENGTHS, lambda length: sum(length >= item for item in boundaries), lambda key: sizes[key])


def test_buckets_are_padded_to_their_longest():
    data = sequences().bucket_by_sequence_length(lambda x: ac.shape(x)[0], [3, 6], [2, 2, 3])
    assert data.element_spec == ac.TensorSpec([None, None], ac.int32)
    expected = [[[n] * n + [0] * (max(item) - n) for n in item] for item in buckets([3, 6], [2, 2, 3])]
    assert [batch.numpy().tolist() for batch in data] == expected


def test_a_function_iterates_over_buckets():
    @ac.function
    def total(data):
        found = 0
        for batch in data:
            found += ac.reduce_sum(batch)
        return found

    data = sequences().bucket_by_sequence_length(lambda x: ac.shape(x)[0], [3, 6], [2, 2, 3])
    assert total(data) == sum(n * n for n in LENGTHS)


def test_buckets_are_padded_to_their_boundary():
    data = sequences().filter(lambda x: ac.size(x) < 7).bucket_by_sequence_length(
        lambda x: ac.size(x), [3, 7], [2, 2, 2], padding_values=-1, pad_to_bucket_boundary=True, drop_remainder=True
    )
    assert data.element_spec.shape.as_list() == [None, None]  # the sizes of batches may differ from bucket to bucket
    widths = [batch.numpy().shape for batch in data]
    assert sorted(widths) == [(2, 2), (2, 2), (2, 6), (2, 6)]
    longest = sequences().bucket_by_sequence_length(lambda x: ac.size(x), [3], [2, 2], pad_to_bucket_boundary=True)
    with pytest.raises(ac.errors.InvalidArgumentError, match=r"must have length < max\(bucket_boundaries\)"):
        list(longest)


def test_buckets_of_one_shape_need_no_padding():
    data = ac.data.Dataset.range(6).bucket_by_sequence_length(lambda x: x, [3], [2, 2], no_padding=True)
    assert [batch.numpy().tolist() for batch in data] == [[0, 1], [3, 4], [2], [5]]


def test_each_bucket_has_a_size():
    with pytest.raises(ValueError, match=r"must equal `len\(bucket_boundaries\) \+ 1`"):
        ac.data.Dataset.range(6).bucket_by_sequence_length(lambda x: x, [3], [2])
