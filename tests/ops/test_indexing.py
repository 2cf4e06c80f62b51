"""x[index], its update and its static shape, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.types import Symbol, TensorType, are_shapes_compatible
from autoconv.ops import OPS
from autoconv.ops.index_spec import INPUT, At, Gather, Mask, Slice, parse_index

X = np.arange(60.0).reshape(3, 4, 5)
INTS = np.array([[0, -1], [2, 1]])
MASK = np.arange(12).reshape(3, 4) % 3 == 0

INDICES = [
    0, -1, np.int64(2), np.array(1), slice(None), slice(1, None), slice(None, None, -1), slice(2, 0, -1),
    slice(5, 9), ..., None, (0, 1), (0, 1, 2), (0, ..., 1), (..., 1), (..., None), (None, 0, None),
    (slice(1), None, 2), (slice(None), slice(None, None, 2), slice(-2, None)), [0, 2], [[0, 1], [2, 0]],
    INTS, (INTS, INTS), (INTS, 0), (0, INTS), (0, slice(None), INTS), (INTS, slice(None), INTS),
    (slice(None), INTS, INTS), (slice(None), 1, INTS), (slice(None), INTS, None, 0), (INTS, ..., 0),
    (INTS, None, 0), ([0, 1], [1, 2], [3, 4]), ([[0], [1]], [2, 3]), MASK, MASK[:, 0],
    (slice(None), MASK[0]), (MASK, 0), (MASK, slice(1, 3)), (0, MASK[0], slice(None)), (MASK[:, 0], 1),
    (slice(None), MASK[0], [0, 1]), True, False, np.True_, (True, 0), [True, False, True], [],
    (slice(None), []), (), (np.array([], int), 0),
]  # fmt: skip


def split(index: Any) -> tuple[Any, list[np.ndarray]]:
    """Return the spec and the operands of an index without tensors."""
    spec, operands = parse_index(index, lambda item: False)
    return spec, [np.asarray(o) for o in operands]


def types(*arrays: Any) -> list[TensorType]:
    return [TensorType(as_dtype(np.asarray(a).dtype), np.shape(a)) for a in arrays]


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_get_item(index: Any) -> None:
    spec, operands = split(index)
    hash(spec)
    expected = X[index]
    found = OPS["get_item"].kernel(X, *operands, spec=spec)
    np.testing.assert_array_equal(found, expected)
    rule = OPS["get_item"].result(*types(X, *operands), spec=spec)
    assert are_shapes_compatible(rule.shape, expected.shape) and rule.shape is not None
    if Mask() not in spec:
        assert rule.shape == expected.shape
    unknown = [TensorType(t.dtype, (None,) * t.rank) for t in types(X, *operands)]
    assert are_shapes_compatible(OPS["get_item"].result(*unknown, spec=spec).shape, expected.shape)
    x, *rest = types(X, *operands)
    assert OPS["get_item"].result(TensorType(x.dtype, None), *rest, spec=spec).shape is None


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_set_and_add(index: Any) -> None:
    spec, operands = split(index)
    value = np.asarray(X[index]) * 2 + 1
    for wide in (value, np.array(7.0), value[None]):
        expected = X.copy()
        expected[index] = wide[0] if wide is not value and wide.ndim else wide
        np.testing.assert_array_equal(OPS["set_item"].kernel(X, wide, *operands, spec=spec), expected)
        rule = OPS["set_item"].result(*types(X, wide, *operands), spec=spec)
        assert rule.shape == X.shape
    expected = X.copy()
    np.add.at(expected, ... if isinstance(index, tuple) and not index else index, value)
    np.testing.assert_array_equal(OPS["add_at_item"].kernel(X, value, *operands, spec=spec), expected)


def slice_bounds() -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.integers(-7, 7))


def items(size: int) -> st.SearchStrategy[Any]:
    places = st.integers(-size, size - 1)
    return st.one_of(
        places,
        st.builds(slice, slice_bounds(), slice_bounds(), st.one_of(st.none(), st.integers(-3, 3).filter(bool))),
        st.lists(places, min_size=2, max_size=2),
        st.lists(places, min_size=1, max_size=1).map(lambda row: [row, row]),
        st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda row: sum(row) in (1, 2)),
    )


@st.composite
def whole_indices(draw: Any) -> tuple[Any, ...]:
    count = draw(st.integers(0, 3))
    sizes = X.shape
    chosen: list[Any]
    if count < 3 and draw(st.booleans()):
        head = draw(st.integers(0, count))
        tail = count - head
        chosen = [draw(items(s)) for s in sizes[:head]] + [...] + [draw(items(s)) for s in sizes[3 - tail :]]
    else:
        chosen = [draw(items(s)) for s in sizes[:count]]
    for _ in range(draw(st.integers(0, 2))):
        chosen.insert(draw(st.integers(0, len(chosen))), None)
    return tuple(chosen)


@given(whole_indices())
@settings(max_examples=120, deadline=None)
def test_any_index(index: tuple[Any, ...]) -> None:
    spec, operands = split(index)
    try:
        expected = X[index]
    except IndexError:  # arrays that do not broadcast
        with pytest.raises((InvalidArgumentError, ValueError)):
            OPS["get_item"].kernel(X, *operands, spec=spec)
        return
    np.testing.assert_array_equal(OPS["get_item"].kernel(X, *operands, spec=spec), expected)
    assert are_shapes_compatible(OPS["get_item"].result(*types(X, *operands), spec=spec).shape, expected.shape)
    changed = X.copy()
    changed[index] = -1.0
    np.testing.assert_array_equal(OPS["set_item"].kernel(X, np.array(-1.0), *operands, spec=spec), changed)


class TensorStandIn:
    """A stand-in for a tensor, with the attributes that parse_index reads."""

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)
        self.dtype = as_dtype(self.value.dtype)
        self.shape = self.value.shape

    def __repr__(self) -> str:
        return f"TensorStandIn({self.value.tolist()})"


def test_tensors_in_indices() -> None:
    index = (TensorStandIn(1), slice(TensorStandIn(0), TensorStandIn(3), TensorStandIn(2)), TensorStandIn([4, 0]))
    spec, operands = parse_index(index, lambda item: isinstance(item, TensorStandIn))
    assert spec == (At(INPUT), Slice(INPUT, INPUT, INPUT), Gather())
    found = OPS["get_item"].kernel(X, *(o.value for o in operands), spec=spec)
    np.testing.assert_array_equal(found, X[1, 0:3:2, [4, 0]])
    spec, operands = parse_index(TensorStandIn(MASK), lambda item: isinstance(item, TensorStandIn))
    assert spec == (Mask(),)
    spec, operands = parse_index(([TensorStandIn(1), 0], 2), lambda item: isinstance(item, TensorStandIn))
    assert spec == (Gather(), At(2)) and len(operands) == 1


@pytest.mark.parametrize(
    "index", [1.0, "a", np.array([1.0]), [0.5], TensorStandIn(1.5), slice(0.5), slice(TensorStandIn(0.5)), {}]
)
def test_not_an_index(index: Any) -> None:
    with pytest.raises(TypeError):
        parse_index(index, lambda item: isinstance(item, TensorStandIn))


def test_two_ellipses() -> None:
    with pytest.raises(IndexError, match="single ellipsis"):
        parse_index((..., 0, ...), lambda item: False)


@pytest.mark.parametrize(
    "index", [3, -4, (0, 4), (..., 5), [0, 3], (0, [4]), (0, 0, 0, 0), MASK.T, MASK[0]], ids=repr
)
def test_out_of_range(index: Any) -> None:
    spec, operands = split(index)
    with pytest.raises(IndexOutOfRangeError) as caught:
        OPS["get_item"].kernel(X, *operands, spec=spec)
    assert isinstance(caught.value, IndexError)
    if not operands or operands[0].dtype == bool:
        with pytest.raises(IndexOutOfRangeError):
            OPS["get_item"].result(*types(X, *operands), spec=spec)


def test_message_names_index_and_size() -> None:
    with pytest.raises(
        IndexOutOfRangeError, match="slice index 5 of dimension 1 out of bounds: its size is 4"
    ):
        OPS["get_item"].kernel(X, np.array(5), spec=(At(0), At(INPUT)))


@pytest.mark.parametrize("index", [0, (slice(None), 0)])
def test_value_that_does_not_fit(index: Any) -> None:
    spec, _ = split(index)
    value = np.zeros(7)
    with pytest.raises(InvalidArgumentError, match="could not broadcast"):
        OPS["set_item"].kernel(X, value, spec=spec)
    with pytest.raises(ValueError, match="could not broadcast"):
        OPS["set_item"].result(*types(X, value), spec=spec)


def test_symbols_are_kept() -> None:
    x = TensorType(as_dtype("float32"), (Symbol("n"), 3, None))
    for index, shape in [
        (slice(None), (Symbol("n"), 3, None)),
        ((slice(None, None, -1), 0), (Symbol("n"), None)),
        ((slice(0, None), None), (Symbol("n"), 1, 3, None)),
        ((slice(1, None), slice(1, None)), (None, 2, None)),
        ((0, ...), (3, None)),
        ([0, 1], (2, 3, None)),
    ]:
        spec, operands = split(index)
        assert OPS["get_item"].result(x, *types(*operands), spec=spec).shape == shape


def test_update_casts_to_the_tensor() -> None:
    found = OPS["set_item"].kernel(np.array([1, 2, 3]), np.array(2.75), spec=(At(1),))
    np.testing.assert_array_equal(found, [1, 2, 3])
    assert found.dtype == np.int64
    with pytest.raises(TypeError, match="complex"):
        OPS["set_item"].result(*types(X, np.array(1j)), spec=(At(1),))


@pytest.mark.parametrize(
    ("index", "shape", "raises"),
    [
        ((0, slice(1, None)), (3, 4), False),
        ((..., 0), (3, 4), False),
        ((..., 0), (3, None), True),
        ((..., 0), (None, 4), False),
        (0, None, True),
        ([0, 1], (3, 4), True),
        (MASK, (3, 4), False),
        (MASK, (3, None), True),
        (slice(None, None, 2), (None,), False),
        (TensorStandIn(0), (3,), True),
        (slice(TensorStandIn(0), None), (3,), False),
    ],
    ids=repr,
)
def test_effects(index: Any, shape: Any, raises: bool) -> None:
    spec, operands = parse_index(index, lambda item: isinstance(item, TensorStandIn))
    operand_types = [TensorType(as_dtype(getattr(o, "dtype", "int64")), np.shape(o)) for o in operands]
    rule: Any = OPS["get_item"].effects
    found = rule([TensorType(as_dtype("float32"), shape), *operand_types], {"spec": spec})
    assert bool(found & Effects.RAISE) == raises
