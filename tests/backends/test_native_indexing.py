"""Gathers and scatters as native loops: against the kernels and NumPy, out of range, repeated, empty, in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autoconv as ac
from autoconv.errors import InvalidArgumentError
from autoconv.ops.index_spec import At, Gather, NewAxis, Rest, Slice
from tests.backends.native import compare_errors, op, run_both

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TABLE = np.arange(300 * 4, dtype=np.float32).reshape(300, 4) / 8
SCATTERS = tuple(f"tensor_scatter_nd_{name}" for name in ("update", "add", "sub", "min", "max"))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_every_integer_dtype_is_a_position(dtype: str) -> None:
    indices = np.array([3, 0, 3, 100, 127], dtype)
    (found,) = run_both(op("gather", axis=0), TABLE, indices)
    np.testing.assert_array_equal(found, TABLE[indices])
    (found,) = run_both(op("tensor_scatter_nd_add"), TABLE, indices[:, None], TABLE[:5])
    expected = TABLE.copy()
    np.add.at(expected, indices, TABLE[:5])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_the_first_position_out_of_range_is_named(dtype: str) -> None:
    largest = np.iinfo(dtype).max
    small = TABLE[:100]
    message = compare_errors(op("gather", axis=0), small, np.array([1, 100, largest], dtype))
    assert "indices[1] = 100 is not in [0, 100)" in message
    compare_errors(op("tensor_scatter_nd_update"), small, np.array([[1], [largest]], dtype), small[:2])
    compare_errors(op("segment_sum", num_segments=5), small[:2], np.array([5, 0], dtype))
    if not dtype.startswith("u"):
        message = compare_errors(op("gather", axis=0), small, np.array([[1, 2], [-1, 0]], dtype))
        assert "indices[1,0] = -1 is not in [0, 100)" in message
        compare_errors(op("tensor_scatter_nd_add"), small, np.array([[1], [np.iinfo(dtype).min]], dtype), small[:2])


@pytest.mark.parametrize(("axis", "batch"), [(0, 0), (1, 0), (2, 0), (-1, 1), (1, 1), (2, 2), (-2, 0)])
def test_gather_along_any_axis_and_its_gradient(axis: int, batch: int) -> None:
    x = np.random.default_rng(0).random((3, 4, 5))
    shape = ((2, 3), (3, 2), (3, 4))[batch]
    indices = np.random.default_rng(1).integers(0, x.shape[axis], shape)
    (rows,) = run_both(op("gather", axis=axis, batch_dims=batch), x, indices)
    if not batch:
        np.testing.assert_array_equal(rows, np.take(x, indices, axis))
    run_both(lambda b, ct, i, like: b.ungather(ct, i, like, axis=axis, batch_dims=batch), rows, indices, x)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
@pytest.mark.parametrize("name", [*SCATTERS, "scatter_nd"])
def test_vectors_of_every_length(name: str, depth: int) -> None:
    random = np.random.default_rng(depth)
    x = random.integers(-9, 9, (3, 4, 2)).astype(np.float64)
    indices = random.integers(0, 2, (2, 6, depth))
    (found,) = run_both(op("gather_nd"), x, indices)
    expected = x[tuple(np.moveaxis(indices, -1, 0))] if depth else np.tile(x, (2, 6, 1, 1, 1))
    np.testing.assert_array_equal(found, expected)
    updates = random.integers(-9, 9, found.shape).astype(np.float64)
    if name == "scatter_nd":
        run_both(op(name, shape=x.shape), indices, updates)
    else:
        run_both(op(name), x, indices, updates)


def test_the_last_of_repeated_updates_stays() -> None:
    indices, updates = np.array([[1], [1], [2], [1]]), np.arange(1.0, 5.0)
    (found,) = run_both(op("tensor_scatter_nd_update"), np.zeros(3), indices, updates)
    np.testing.assert_array_equal(found, [0.0, 4.0, 3.0])


@pytest.mark.parametrize("name", SCATTERS)
def test_integers_wrap_and_nan_stays_as_in_numpy(name: str) -> None:
    indices = np.array([[0], [1], [0]])
    run_both(op(name), np.array([100, 7, 9], np.int8), indices, np.array([100, -3, 100], np.int8))
    run_both(op(name), np.array([1.0, np.nan, -0.0]), indices, np.array([np.nan, 2.0, 1.0]))


def test_bools_are_joined_by_or() -> None:
    (found,) = run_both(op("scatter_nd", shape=(3,)), np.array([[0], [0], [2]]), np.array([True, False, False]))
    assert found.tolist() == [True, False, False]


@pytest.mark.parametrize("rows", [0, 3])
def test_nothing_to_gather_or_scatter(rows: int) -> None:
    x, none = np.ones((rows, 2)), np.zeros((0,), np.int32)
    assert run_both(op("gather", axis=0), x, none)[0].shape == (0, 2)
    run_both(op("gather_nd"), x, none.reshape(0, 1))
    run_both(op("tensor_scatter_nd_add"), x, none.reshape(0, 1), np.ones((0, 2)))
    run_both(op("segment_sum", num_segments=4), x[:0], none)
    run_both(op("scatter_nd", shape=(rows, 2)), none.reshape(0, 1), np.ones((0, 2)))
    if not rows:
        compare_errors(op("gather", axis=0), x, np.array([0]))


def test_slices_of_no_elements() -> None:
    run_both(op("gather", axis=0), np.ones((3, 0)), np.array([2, 1]))
    run_both(op("tensor_scatter_nd_add"), np.ones((3, 0)), np.array([[2], [1]]), np.ones((2, 0)))


def test_strided_inputs() -> None:
    indices = np.arange(20, dtype=np.int32)[::3]
    (found,) = run_both(op("gather", axis=0), TABLE.T[:, ::2].T, indices)
    np.testing.assert_array_equal(found, TABLE[::2][indices])
    run_both(op("tensor_scatter_nd_add"), TABLE[::3], indices[:, None], TABLE[::-1][:7])


def test_along_an_axis() -> None:
    x = np.random.default_rng(0).random((3, 5))
    order = np.argsort(x, axis=1)
    (found,) = run_both(op("take_along_axis", axis=1), x, order)
    np.testing.assert_array_equal(found, np.sort(x, axis=1))
    run_both(op("add_along_axis", axis=1), found, order, x)
    compare_errors(op("take_along_axis", axis=0), x, np.array([[0, 1, 2, 3, -1]]))


_ALL: Any = Slice()


@pytest.mark.parametrize(
    ("spec", "operands"),
    [
        ((Gather(),), [[2, -3, 0]]),
        ((_ALL, Gather()), [[[1, -4], [0, 3]]]),
        ((Gather(), _ALL, Gather()), [[0, -1], [[4], [2]]]),
        ((Gather(), Gather(), Slice(3, None, -2)), [[0, 1], [-1, 2]]),
        ((Rest(), Gather(), NewAxis()), [[0, 1, -5]]),
        ((At(-1), Gather(), Gather()), [[0, 1], [2, 3]]),
        ((Gather(), _ALL, At("input")), [[0, 1, 1], -2]),
        ((NewAxis(), Gather(), Gather()), [[0, 1], [3]]),
    ],
)
def test_index_arrays_in_brackets(spec: Any, operands: Any) -> None:
    x = np.arange(60.0).reshape(3, 4, 5)
    arguments = [np.array(operand) for operand in operands]
    (part,) = run_both(op("get_item", spec=spec), x, *arguments)
    run_both(op("set_item", spec=spec), x, np.arange(part.size, dtype=np.float64).reshape(part.shape), *arguments)
    run_both(op("set_item", spec=spec), x, np.array(7.5), *arguments)
    run_both(op("add_at_item", spec=spec), x, part, *arguments)
    run_both(op("add_at_item", spec=spec), x, part[:1], *arguments)


@pytest.mark.parametrize("index", [3, -4, -(2**63), 2**63 - 1])
def test_index_arrays_out_of_range(index: int) -> None:
    message = compare_errors(op("get_item", spec=(Gather(),)), np.arange(3.0), np.array([0, index]))
    assert f"index {index} is out of bounds for dimension 0 of size 3" in message
    compare_errors(op("set_item", spec=(Gather(),)), np.arange(3.0), np.array(1.0), np.array([0, index]))


def test_unsigned_positions_do_not_count_from_the_end() -> None:
    compare_errors(op("get_item", spec=(Gather(),)), np.arange(3.0), np.array([2**64 - 1], np.uint64))


def test_gathered_rows_are_not_stored() -> None:
    """An embedding, its sum and its update are one loop each, over rows that are read in place."""

    def build(b: Any, table: Any, source: Any, target: Any) -> Any:
        rows = b.multiply(b.gather(table, source, axis=0), b.constant(value=np.float32(2)))
        return b.tensor_scatter_nd_add(table, b.expand_dims(target, axis=1), rows)

    table = np.random.default_rng(0).random((50, 8), np.float32)
    source, target = (np.random.default_rng(i).integers(0, 50, 200).astype(np.int32) for i in (1, 2))
    (found,) = run_both(build, table, source, target)
    expected = table.copy()
    np.add.at(expected, target, table[source] * np.float32(2))
    np.testing.assert_array_equal(found, expected)


def test_errors_come_in_the_order_of_the_program() -> None:
    def build(b: Any, x: Any, first: Any, second: Any) -> Any:
        rows = b.gather(x, first, axis=0)
        return b.tensor_scatter_nd_add(x, b.reshape(second, shape=(-1, 1)), rows)

    x, good, bad, worse = np.ones((3, 9)), np.array([0, 1]), np.array([0, 7]), np.array([-1, 0])
    run_both(build, x, good, good)
    assert "indices[1] = 7" in compare_errors(build, x, bad, worse)
    assert "indices[0] = [-1] does not index into shape [3, 9]" in compare_errors(build, x, good, worse)


def test_an_effect_between_a_scatter_and_its_updates() -> None:
    """The updates are computed before an op that may raise, and the scatter runs after it."""

    def build(b: Any, x: Any, y: Any, positions: Any) -> Any:
        twice = b.multiply(y, y)
        checked = b.check_numerics(twice, message="twice")
        return b.tensor_scatter_nd_add(x, positions, twice), checked

    x, y = np.zeros((4, 9)), np.ones((2, 9))
    run_both(build, x, y, np.array([[3], [3]]), kernels=("check_numerics",))
    assert "twice" in compare_errors(build, x, y * np.inf, np.array([[9], [3]]))


def test_a_histogram_is_counted_in_place() -> None:
    """The loop owns its array: ten counters are not copied a million times."""

    @ac.function
    def count(values: Any, counters: Any) -> Any:
        for i in ac.range(ac.shape(values)[0]):
            counters = ac.tensor_scatter_nd_add(counters, values[i][None, None], [1])
        return counters

    values = np.random.default_rng(0).integers(0, 100, 5000).astype(np.int32)
    counters = np.zeros(100, np.int32)
    np.testing.assert_array_equal(count(values, counters), np.bincount(values, minlength=100))
    assert not counters.any()


def test_a_scatter_does_not_change_an_array_that_others_read() -> None:
    def build(b: Any, x: Any, positions: Any) -> Any:
        y = b.add(x, x)
        rows = b.gather(y, positions, axis=0)
        return b.tensor_scatter_nd_update(y, b.expand_dims(positions, axis=1), b.negative(b.reverse(rows, axis=(0,))))

    run_both(build, np.arange(30.0).reshape(3, 10), np.array([2, 0, 1]))
    run_both(build, np.arange(3.0), np.array([2, 0, 1]))


@pytest.mark.parametrize("name", ["gather", "tensor_scatter_nd_add"])
def test_gradients_are_native_and_those_of_numpy(name: str) -> None:
    positions = np.array([[2], [0], [2]], np.int32)

    @ac.function
    def loss(x: Any, y: Any) -> Any:
        if name == "gather":
            return ac.reduce_sum(ac.gather(x, positions[:, 0]) * y)
        return ac.reduce_sum(ac.tensor_scatter_nd_add(x, positions, y) ** 2)

    x, y = np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2) - 2.5
    to_x, to_y = ac.grad(loss, argnums=(0, 1))(ac.constant(x), ac.constant(y))
    if name == "gather":
        expected = np.zeros((3, 2))
        np.add.at(expected, positions[:, 0], y)
        np.testing.assert_array_equal(to_x, expected)
        np.testing.assert_array_equal(to_y, x[positions[:, 0]])
    else:
        summed = x.copy()
        np.add.at(summed, positions[:, 0], y)
        np.testing.assert_array_equal(to_x, 2 * summed)
        np.testing.assert_array_equal(to_y, 2 * summed[positions[:, 0]])


def test_the_error_of_a_position_out_of_range() -> None:
    @ac.function
    def rows(x: Any, i: Any) -> Any:
        return ac.gather(x, i) + 1.0

    np.testing.assert_array_equal(rows(np.float32([1, 2, 3]), np.array([2, 0])), [4, 2])
    with pytest.raises(InvalidArgumentError, match=r"indices\[0\] = 3 is not in \[0, 3\)"):
        rows(np.float32([1, 2, 3]), np.array([3, 0]))


def test_each_column_of_positions_is_checked_against_its_size() -> None:
    x = np.arange(10.0).reshape(2, 5)
    assert run_both(op("gather_nd"), x, np.array([[1, 4], [0, 3]]))[0].tolist() == [9.0, 3.0]
    assert "indices[1] = [4, 1]" in compare_errors(op("gather_nd"), x, np.array([[1, 4], [4, 1]]))


def test_one_element_of_a_gathered_vector() -> None:
    def build(b: Any, x: Any, positions: Any) -> Any:
        rows = b.gather(x, positions, axis=0)
        return b.get_item(rows, spec=(At(1), At(0)))

    assert run_both(build, np.arange(6.0).reshape(3, 2), np.array([0, 2]))[0] == 4.0


def test_an_unknown_number_of_segments_is_found_by_the_kernel() -> None:
    (sums,) = run_both(op("segment_sum"), np.arange(3.0), np.array([0, 1, 1]), kernels=("segment_sum",))
    np.testing.assert_array_equal(sums, [0.0, 3.0])


@pytest.mark.parametrize(("axis", "shape"), [(0, (4000, 300)), (1, (300, 4000))])
def test_large_scatters_are_the_same_on_several_threads(axis: int, shape: tuple[int, ...]) -> None:
    """Updates are divided so that parts are disjoint: across the slices, or before the axis."""
    random = np.random.default_rng(0)
    x, like = random.random(shape), np.zeros((50, 300) if axis == 0 else (300, 50))
    positions = random.integers(0, 50, 4000)
    (found,) = run_both(op("ungather", axis=axis, batch_dims=0), x, positions, like)
    expected = np.zeros(like.shape)
    np.add.at(np.moveaxis(expected, axis, 0), positions, np.moveaxis(x, axis, 0))
    np.testing.assert_array_equal(found, expected)
    run_both(op("gather", axis=axis), x, positions[: shape[axis]] % shape[axis])
    run_both(op("segment_sum", num_segments=50), random.random((400, 3000)), positions[:400])


def test_a_million_single_updates() -> None:
    random = np.random.default_rng(0)
    positions = random.integers(0, 1000, 1_000_000).astype(np.int32)
    (found,) = run_both(op("segment_sum", num_segments=1000), np.ones(1_000_000, np.int32), positions)
    np.testing.assert_array_equal(found, np.bincount(positions, minlength=1000))


@pytest.mark.parametrize("index", [-7, 3, 5, 6])
def test_positions_in_another_shape_of_the_same_memory(index: int) -> None:
    """A position is checked against the shape that is indexed, not the shape of the allocation."""

    def one_row(b: Any, x: Any, i: Any) -> Any:
        row = b.get_item(b.reshape(x, shape=(3, 4)), i, spec=(At("input"),))
        return b.multiply(row, row)

    def rows_and_sum(b: Any, x: Any, i: Any) -> Any:
        y = b.reshape(x, shape=(3, 4))
        return b.add(b.gather(y, b.reshape(i, shape=(1, 1)), axis=0), b.reduce_sum(y, axis=None))

    assert "its size is 3" in compare_errors(one_row, np.arange(12.0), np.array(index))
    assert "is not in [0, 3)" in compare_errors(rows_and_sum, np.arange(12.0), np.array(index))


def test_a_scatter_into_another_shape_of_the_same_memory() -> None:
    def build(b: Any, x: Any, i: Any) -> Any:
        y = b.reshape(b.add(x, x), shape=(3, 4))
        return b.tensor_scatter_nd_update(y, i, b.reshape(x, shape=(3, 4)))

    run_both(build, np.arange(12.0), np.array([[2], [0], [2]]))


def test_a_number_as_an_array_of_positions() -> None:
    def build(b: Any, x: Any, n: Any) -> Any:
        positions = b.reshape(n, shape=(1,))
        return b.gather(x, positions, axis=0), b.get_item(x, positions, spec=(Gather(),)), b.gather_nd(x, positions)

    run_both(build, np.arange(6.0).reshape(3, 2), np.int32(2))
    assert "indices[0] = 3 is not in [0, 3)" in compare_errors(build, np.arange(6.0).reshape(3, 2), np.int32(3))

    def scatter(b: Any, x: Any, n: Any) -> Any:
        return b.tensor_scatter_nd_add(x, b.reshape(n, shape=(1, 1)), b.reshape(n, shape=(1,)))

    assert run_both(scatter, np.arange(3), np.int64(2))[0].tolist() == [0, 1, 4]


@pytest.mark.parametrize("index", [1, -3, 3, -4])
def test_a_number_whose_rank_was_not_known(index: int) -> None:
    x, n = np.arange(24.0).reshape(3, 2, 4), np.array(index)
    specs: list[Any] = [(Gather(),), (_ALL, Gather(), At(1)), (Gather(), At("input"))]
    for spec in specs[: 1 if abs(index) > 2 else 3]:
        operands = (n, np.array(1)) if At("input") in spec else (n,)
        if not -3 <= index < 3:
            assert f"index {index} is out of bounds" in compare_errors(op("get_item", spec=spec), x, *operands)
            continue
        (part,) = run_both(op("get_item", spec=spec), x, *operands)
        run_both(op("set_item", spec=spec), x, -part, *operands)
