"""Functions of elements: equal ones share their code, and each names the line of the program in its errors."""

from __future__ import annotations

import numpy as np
import pytest

import autoconv
from autoconv.data import functions

Dataset = autoconv.data.Dataset


def test_equal_pipelines_share_their_code():
    def rows(numbers):
        return list(Dataset.from_tensor_slices(numbers).map(lambda x: x * 2.0 + 1.0).as_numpy_iterator())

    functions._COMPILED_GRAPHS.clear()
    for numbers in ([1.0, 2.0], [3.0], [5.0, 7.0]):
        assert rows(np.array(numbers, np.float32)) == [2 * number + 1 for number in numbers]
    assert len(functions._COMPILED_GRAPHS) == 1


def test_functions_with_other_captures_constants_and_types_share_no_results():
    outcomes = []
    for factor in (autoconv.constant(2), autoconv.constant(3)):
        for constant in (1, 1.5):
            dataset = Dataset.range(2).map(lambda x: autoconv.cast(x, autoconv.float32) * constant)  # noqa: B023
            outcomes.append([x * int(factor) for x in dataset.as_numpy_iterator()])
            dataset = Dataset.range(2).map(lambda x: autoconv.cast(x, autoconv.int32) * factor)  # noqa: B023
            outcomes.append(list(dataset.as_numpy_iterator()))
    assert outcomes == [[0, 2], [0, 2], [0, 3], [0, 2], [0, 3], [0, 3], [0, 4.5], [0, 3]]


def test_functions_that_draw_with_a_seed_have_streams_of_their_own():
    autoconv.random.set_seed(1)
    datasets = [Dataset.range(3).map(lambda _: autoconv.random.uniform([], seed=5)) for _ in range(2)]
    of_tensorflow = np.array([0.195606, 0.93945706, 0.28997242], np.float32)
    for pair in (zip(*datasets, strict=True), Dataset.zip(tuple(datasets))):
        np.testing.assert_array_equal([[*map(float, numbers)] for numbers in pair], np.stack([of_tensorflow] * 2, 1))


def test_errors_name_the_line_of_their_own_function():
    def first(x):
        return autoconv.gather([1, 2], x)

    def second(x):
        return autoconv.gather([1, 2], x)

    for function in (first, second):
        line = function.__code__.co_firstlineno + 1
        with pytest.raises(autoconv.errors.InvalidArgumentError, match=rf"test_functions\.py:{line}:16: indices = 7"):
            list(Dataset.from_tensors(7).map(function))


def test_changes_of_an_array_after_its_dataset_was_made_have_no_effect():
    numbers = np.arange(4.0)
    whole, rows = Dataset.from_tensors(numbers), Dataset.from_tensor_slices({"x": numbers})
    numbers[:] = -1.0
    assert whole.get_single_element().numpy().tolist() == [0.0, 1.0, 2.0, 3.0]
    assert [float(row["x"]) for row in rows] == [0.0, 1.0, 2.0, 3.0]


def test_datasets_of_datasets_of_changing_slices():
    def parts(x):
        return Dataset.from_tensor_slices(autoconv.reshape(x[:4], [2, 2])).concatenate(Dataset.from_tensors(x[4:]))

    flat = Dataset.from_tensors(np.arange(6)).repeat(2).flat_map(parts)
    assert [part.tolist() for part in flat.as_numpy_iterator()] == [[0, 1], [2, 3], [4, 5]] * 2
