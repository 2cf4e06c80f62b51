"""Joins of types: the laws of a least upper bound, and types without a common one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoconv.graph.dtypes import DTYPES, bool_, float32, float64, int32, int64, string
from autoconv.graph.types import (
    IterableType,
    IteratorType,
    ListType,
    MapType,
    NoCommonType,
    ResourceType,
    Symbol,
    TensorType,
    TupleType,
    Type,
    VariantType,
    are_shapes_compatible,
    is_subtype,
    join,
    leaves,
    shape_text,
)

dtypes = st.sampled_from([dtype for dtype in DTYPES.values() if dtype.name not in ("bfloat16", "string")])
dimensions = st.one_of(st.integers(0, 3), st.none(), st.sampled_from([Symbol("n"), Symbol("m")]))
shapes = st.one_of(st.none(), st.lists(dimensions, max_size=3).map(tuple))
tensors = st.builds(TensorType, dtypes, shapes, st.booleans())
types: st.SearchStrategy[Any] = st.recursive(
    tensors,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2).map(lambda items: TupleType(tuple(items))),
        st.builds(ListType, inner),
        st.builds(MapType, inner, inner),
        st.builds(ResourceType, inner),
        st.builds(IteratorType, inner),
        st.builds(IterableType, inner),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=2).map(
            lambda arms: VariantType(tuple(arms.items()))
        ),
    ),
    max_leaves=3,
)


def join_or_none(first: Type, second: Type) -> Type | None:
    try:
        return join(first, second)
    except NoCommonType:
        return None


def unordered(type_: Any) -> Any:
    """Return the type with the arms of variants as sets, without an order."""
    if isinstance(type_, VariantType):
        return frozenset((tag, unordered(payload)) for tag, payload in type_.arms)
    if isinstance(type_, TupleType):
        return tuple(map(unordered, type_.items))
    if isinstance(type_, (ListType, IteratorType, IterableType)):
        return type(type_), unordered(type_.element)
    if isinstance(type_, ResourceType):
        return ResourceType, unordered(type_.value)
    if isinstance(type_, MapType):
        return unordered(type_.key), unordered(type_.value)
    return type_


@given(types)
def test_join_is_idempotent(type_: Type) -> None:
    assert join(type_, type_) == type_


@given(types, types)
def test_join_is_commutative(first: Type, second: Type) -> None:
    assert unordered(join_or_none(first, second)) == unordered(join_or_none(second, first))


@given(tensors, tensors)
def test_both_are_instances_of_the_join(first: Type, second: Type) -> None:
    joined = join_or_none(first, second)
    if joined is not None:
        assert is_subtype(first, joined) and is_subtype(second, joined)


@given(shapes, shapes)
def test_operands_of_a_join_are_compatible_with_it(first: Any, second: Any) -> None:
    joined = join(TensorType(float32, first), TensorType(float32, second))
    assert isinstance(joined, TensorType)
    assert are_shapes_compatible(first, joined.shape) and are_shapes_compatible(second, joined.shape)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ((2, 3), (2, 3), (2, 3)),
        ((2, 3), (2, 4), (2, None)),
        ((2, 3), (2,), None),
        ((2,), None, None),
        ((Symbol("n"),), (Symbol("n"),), (Symbol("n"),)),
        ((Symbol("n"),), (Symbol("m"),), (None,)),
        ((Symbol("n"),), (3,), (None,)),
        ((), (), ()),
    ],
)
def test_shapes_join_by_dimension(first: Any, second: Any, joined: Any) -> None:
    assert join(TensorType(float32, first), TensorType(float32, second)) == TensorType(float32, joined)


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (TensorType(int64, (), True), TensorType(float32), TensorType(float32)),
        (TensorType(int64, (), True), TensorType(float64, (), True), TensorType(float64, (), True)),
        (TensorType(bool_, (), True), TensorType(int64, (), True), TensorType(int64, (), True)),
        (TensorType(float32, (), True), TensorType(float64, (), True), TensorType(float64, (), True)),
        (TensorType(float32, (), True), TensorType(float32), TensorType(float32)),
        (TensorType(float64, (), True), TensorType(int32), None),
        (TensorType(int32), TensorType(int64), None),
        (TensorType(int64, (), True), TensorType(string), None),
        (TupleType(()), TupleType((TensorType(int32),)), None),
        (ListType(TensorType(int32)), TensorType(int32), None),
    ],
)
def test_dtypes_join_where_one_yields(first: Type, second: Type, joined: Type | None) -> None:
    assert join_or_none(first, second) == joined == join_or_none(second, first)


def test_variants_join_arm_by_arm() -> None:
    first = VariantType((("none", TupleType(())), ("value", TensorType(float32, (2,)))))
    second = VariantType((("value", TensorType(float32, (3,))), ("error", TupleType(()))))
    assert str(join(first, second)) == "variant<none: tuple<>, value: float32[?], error: tuple<>>"


def test_no_common_type_names_both() -> None:
    with pytest.raises(NoCommonType, match=r"int32\[2\] and float32\[\] have no common dtype"):
        join(TensorType(int32, (2,)), TensorType(float32))


def test_text_of_shapes() -> None:
    assert [shape_text(s) for s in (None, (), (2, None, Symbol("n")))] == ["*", "", "2,?,n"]


def test_leaves_are_in_order() -> None:
    a, b, c = TensorType(int32), TensorType(float32), TensorType(string)
    type_ = TupleType((ListType(a), VariantType((("x", b),)), MapType(c, ResourceType(IteratorType(a)))))
    assert list(leaves(type_)) == [a, b, c, a]
