"""Ops that move elements by counts and shifts that are values, as C libraries and ONNX models."""

import numpy as np
import pytest

import autoconv
from tests.clibrary.calling import Caller, LibraryError

X = np.arange(1, 9, dtype=np.float32).reshape(4, 2) ** 2
IDS = np.array([0, 0, 2, 3], np.int32)


def summed(ids, count):
    """Return the sums of rows of X by their ids; rows with a negative id are dropped."""
    return np.array([X[ids == i].sum(0) for i in range(count)], np.float32)


def of_segments(reduce, ids, count, missing):
    return np.array([reduce(X[ids == i], 0) if (ids == i).any() else [missing] * 2 for i in range(count)], np.float32)


# Function, specs, operands after X, result.
CASES = {
    "segment_sum": (autoconv.math.segment_sum, "int32[n]", (IDS,), summed(IDS, 4)),
    "segment_max": (autoconv.math.segment_max, "int32[n]", (IDS,), of_segments(np.max, IDS, 4, 0)),
    "segment_mean": (autoconv.math.segment_mean, "int32[n]", (IDS,), of_segments(np.mean, IDS, 4, 0)),
    "unsorted_segment_sum": (
        autoconv.math.unsorted_segment_sum, "int32[n] int32[]", (IDS[::-1], 5), summed(IDS[::-1], 5)
    ),
    "negative ids": (autoconv.math.unsorted_segment_sum, "int32[n] int32[]", (IDS - 1, 4), summed(IDS - 1, 4)),
    "roll": (lambda x, shift: autoconv.roll(x, shift, 0), "int32[]", (3,), np.roll(X, 3, 0)),
    "roll back": (lambda x, shift: autoconv.roll(x, shift, [0, 1]), "int32[2]", (np.array([-6, 1], np.int32),),
                  np.roll(X, (-6, 1), (0, 1))),
    "pad": (lambda x, low: autoconv.pad(x, [[low, 1], [0, low]]), "int32[]", (2,), np.pad(X, ((2, 1), (0, 2)))),
}  # fmt: skip


@pytest.mark.parametrize("spec", ["float32[n,2]", "float32[4,2]"])
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_numpy(tmp_path, name, spec):
    function, other_specs, operands, expected = CASES[name]
    specs = f"{spec} {other_specs}"
    if "n" not in spec:
        specs = specs.replace("[n]", "[4]")
    operands = [np.int32(operand) if isinstance(operand, int) else operand.copy() for operand in operands]
    library = autoconv.clibrary.build(function, specs, to=tmp_path / "f", name="f")
    np.testing.assert_allclose(Caller(library)(X, *operands)["value"], expected)
    np.testing.assert_allclose(autoconv.onnx.load(autoconv.onnx.export(function, specs))(X, *operands), expected)


def test_maxima_of_known_sizes(tmp_path):
    def maxima(x, ids):
        return autoconv.math.unsorted_segment_max(x, ids, 4)

    library = autoconv.clibrary.build(maxima, "float32[4,2] int32[4]", to=tmp_path / "f", name="f")
    lowest = np.finfo(np.float32).min
    np.testing.assert_array_equal(Caller(library)(X, IDS)["value"], of_segments(np.max, IDS, 4, lowest))


def test_negative_ids_without_a_number_of_segments_are_an_error(tmp_path):
    library = autoconv.clibrary.build(autoconv.math.segment_sum, "float32[4,2] int32[4]", to=tmp_path / "f", name="f")
    with pytest.raises(LibraryError, match="negative"):
        Caller(library)(X, IDS - 1)


def test_no_positions_in_no_rows(tmp_path):
    def every_second(x):
        return x[np.arange(0, len(x), 2)]

    library = autoconv.clibrary.build(every_second, "float64[n,m]", to=tmp_path / "f", name="f", contract="compile")
    for shape in ((0, 3), (1, 3), (5, 2)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        np.testing.assert_array_equal(Caller(library)(x)["value"], every_second(x))
