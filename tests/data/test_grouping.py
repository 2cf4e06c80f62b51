"""Groups of elements by keys, beside plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv as ac


def groups(elements, key, size):
    """Return the groups as lists, in the order in which they are complete, then by their keys."""
    open_, found = {}, []
    for element in elements:
        group = open_.setdefault(key(element), [])
        group.append(element)
        if len(group) == size(key(element)):
            found.append(open_.pop(key(element)))
    return found + [open_[one] for one in sorted(open_)]


@pytest.mark.parametrize("size", [1, 2, 3, 20])
def test_groups_of_one_size(size):
    data = ac.data.Dataset.range(11).group_by_window(lambda x: x % 3, lambda key, group: group.batch(100), size)
    assert [each.numpy().tolist() for each in data] == groups(range(11), lambda x: x % 3, lambda key: size)


def test_groups_of_sizes_by_key():
    data = ac.data.Dataset.range(11).group_by_window(
        key_func=lambda x: ac.cast(x % 2, ac.int32),
        reduce_func=lambda key, group: group.map(lambda x: (key, x)).batch(100),
        window_size_func=lambda key: key + 2,
    )
    found = [(key.numpy().tolist(), each.numpy().tolist()) for key, each in data]
    assert [each for _, each in found] == groups(range(11), lambda x: x % 2, lambda key: key + 2)
    assert all(key == [each[0] % 2] * len(each) for key, each in found)


def test_elements_of_several_parts():
    data = ac.data.Dataset.from_tensor_slices({"a": [0, 1, 0], "b": [[1.0], [2.0], [3.0]]})
    data = data.group_by_window(lambda x: x["a"], lambda key, group: group.batch(2), 2)
    assert [each["b"].numpy().tolist() for each in data] == [[[1.0], [3.0]], [[2.0]]]
    pairs = ac.data.Dataset.zip((ac.data.Dataset.range(4), ac.data.Dataset.range(4, 8)))
    pairs = pairs.group_by_window(lambda a, b: a // 2, lambda key, group: group.batch(2), 2)
    assert [[part.numpy().tolist() for part in each] for each in pairs] == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_a_variable_and_a_function_around():
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
