"""Classes of errors that ops raise for values, as in TensorFlow 2.21: at once and in graphs."""

import pytest

import autoconv as ac

CALLS = {
    "Invalid pattern": lambda: ac.strings.regex_replace("a", "(", ""),
    "Invalid pattern: \\[": lambda: ac.strings.regex_full_match("a", "["),
    "supports the encodings": lambda: ac.strings.unicode_decode("a", "XX"),
    "one shape": lambda: ac.add_n([[1], [1, 2]]),
    "should be a matrix": lambda: ac.random.categorical([1.0], 2),
    "should be a matrix, ": lambda: ac.random.stateless_categorical([[[1.0]]], 2, [1, 2]),
}


@pytest.mark.parametrize("pattern", CALLS)
def test_values_of_arguments(pattern):
    for call in (CALLS[pattern], ac.function(CALLS[pattern])):
        with pytest.raises(ac.errors.InvalidArgumentError, match=pattern):
            call()


def test_axes_beyond_the_rank():
    for call in (ac.tensordot, ac.function(ac.tensordot)):
        for axes in (3, [[0], [5]]):
            with pytest.raises(ValueError, match="tensordot: the axes"):
                call([[1.0]], [[1.0]], axes)
