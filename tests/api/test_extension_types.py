"""Extension types in functions, loops, datasets and tapes; handlers of public functions for them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import autoconv as ac

E = ac.experimental


class Masked(E.ExtensionType):
    values: ac.Tensor
    mask: ac.Tensor
    name: str = "m"

    def __validate__(self):
        self.values.shape.assert_is_compatible_with(self.mask.shape)

    def filled(self, default):
        return ac.where(self.mask, self.values, default)


class Nested(E.ExtensionType):
    parts: tuple[ac.Tensor, ...]
    by_name: Mapping[str, ac.Tensor]
    inner: Masked | None = None
    size: int | ac.Tensor = 3


class Row(E.BatchableExtensionType):
    weight: ac.Tensor
    items: ac.RaggedTensor
    unit: str


class Scaled(E.ExtensionType):
    values: ac.Tensor

    def __init__(self, values, factor=1.0):
        self.values = ac.convert_to_tensor(values) * factor


def make_masked():
    return Masked([1.0, 2.0], [True, False], "a")


def test_functions_take_and_return_extension_types():
    doubled = ac.function(lambda x: Masked(x.values * 2.0, x.mask, x.name))
    found = doubled(make_masked())
    assert type(found) is Masked and found.name == "a" and found.values.numpy().tolist() == [2.0, 4.0]
    doubled(Masked([3.0, 4.0], [True, True], "a"))
    assert doubled.experimental_get_tracing_count() == 1
    doubled(Masked([3.0, 4.0], [True, True], "b"))  # a static field is part of the spec
    assert doubled.experimental_get_tracing_count() == 2
    spec = Masked.Spec(values=ac.TensorSpec([None]), mask=ac.TensorSpec([None], ac.bool), name="m")
    first = ac.function(lambda x: x.filled(0.0), input_signature=[spec])
    assert [first(Masked([1.0] * n, [True] * n)).shape for n in (1, 3)] == [[1], [3]]


def test_fields_of_structures():
    value = Nested([[1.0], [2, 3]], {"a": 1}, make_masked())
    found = ac.function(lambda x: x)(value)
    assert [part.numpy().tolist() for part in found.parts] == [[1.0], [2, 3]]
    assert int(found.by_name["a"]) == 1 and found.inner.name == "a" and found.size == 3
    assert Scaled([1.0, 2.0], factor=3.0).values.numpy().tolist() == [3.0, 6.0]


def test_loops_branches_and_gradients():
    @ac.function
    def grown(x, count):
        for _ in ac.range(count):
            if ac.reduce_sum(x.values) < 6.0:
                x = Masked(x.values + 1.0, x.mask, x.name)
        return x

    assert grown(make_masked(), ac.constant(9)).values.numpy().tolist() == [3.0, 4.0]
    x = make_masked()
    with ac.GradientTape() as tape:
        tape.watch(x)
        y = ac.reduce_sum(x.filled(0.0) ** 2)
    assert tape.gradient(y, x).values.numpy().tolist() == [2.0, 0.0]


def test_objects_compare_by_fields_and_are_immutable():
    assert bool(make_masked() == make_masked()) and not bool(make_masked() == Masked([1.0, 3.0], [True, False], "a"))
    assert make_masked() != Masked([1.0, 2.0], [True, False], "b")
    with pytest.raises(AttributeError, match="Cannot mutate attribute `name`"):
        make_masked().name = "b"
    with pytest.raises(AttributeError, match="Cannot mutate"):
        del make_masked().name
    assert repr(make_masked()).startswith("Masked(values=<autoconv.Tensor")


def test_fields_are_checked_against_annotations():
    with pytest.raises(ValueError, match="incompatible"):
        Masked([1.0], [True, False])
    with pytest.raises(TypeError, match="expected str, got 'int'"):
        Masked([1.0], [True], 3)
    with pytest.raises(TypeError, match="missing a required argument: 'mask'"):
        Masked([1.0])
    with pytest.raises(TypeError, match="unexpected argument 'other'"):
        Masked([1.0], [True], other=1)
    with pytest.raises(TypeError, match="expected a Tensor"):
        Masked(ac.ragged.constant([[1]]), [True])
    with pytest.raises(TypeError, match="expected one of int, Tensor"):
        Nested([], {}, size=object())
    with pytest.raises(AttributeError, match="has no field 'more'"):

        class Wrong(E.ExtensionType):
            values: ac.Tensor

            def __init__(self):
                self.values, self.more = ac.constant(1), 2

        Wrong()


def test_batchable_types_in_datasets():
    rows = Row([1, 2, 3], ac.ragged.constant([[1], [2, 3], []]), "kg")
    batches = list(ac.data.Dataset.from_tensor_slices(rows).batch(2))
    assert [(b.weight.numpy().tolist(), b.items.to_list(), b.unit) for b in batches] == [
        ([1, 2], [[1], [2, 3]], "kg"),
        ([3], [[]], "kg"),
    ]
    mapped = ac.data.Dataset.from_tensor_slices(rows).map(lambda row: row.weight * 2)
    assert [int(x) for x in mapped] == [2, 4, 6]
    with pytest.raises(TypeError, match="have no rows"):
        ac.data.Dataset.from_tensor_slices(make_masked())


def test_specs_of_values():
    assert ac.type_spec_from_value(make_masked()).values == ac.TensorSpec([2])
    assert ac.type_spec_from_value(np.ones(3)) == ac.TensorSpec([3], ac.float64)
    assert ac.type_spec_from_value(ac.sparse.eye(2)) == ac.SparseTensorSpec([2, 2])
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        ac.type_spec_from_value(object())


def test_handlers_of_public_functions():
    @E.dispatch_for_api(ac.shape)
    def shape_of_masked(input: Masked, out_type=ac.int32):
        return ac.shape(input.values, out_type)

    @E.dispatch_for_api(ac.concat, {"values": list[Masked]})
    def concat_masked(values, axis, name=None):
        parts = [[getattr(x, field) for x in values] for field in ("values", "mask")]
        return Masked(*(ac.concat(part, axis) for part in parts))

    @E.dispatch_for_unary_elementwise_apis(Masked)
    def unary(function, x):
        return Masked(function(x.values), x.mask)

    @E.dispatch_for_binary_elementwise_apis(Masked | ac.Tensor, Masked | ac.Tensor)
    def binary(function, x, y):
        values = [item.values if isinstance(item, Masked) else item for item in (x, y)]
        return Masked(function(*values), x.mask if isinstance(x, Masked) else y.mask)

    x = make_masked()
    try:
        assert ac.shape(x).numpy().tolist() == [2]
        assert ac.concat([x, x], axis=0).mask.numpy().tolist() == [True, False] * 2
        assert ac.function(lambda x: ac.negative(x))(x).values.numpy().tolist() == [-1.0, -2.0]
        assert ac.math.add(x, ac.constant(1.0)).values.numpy().tolist() == [2.0, 3.0]
        assert ac.multiply(x, x).values.numpy().tolist() == [1.0, 4.0]
    finally:
        for handler in (shape_of_masked, concat_masked, unary, binary):
            E.unregister_dispatch_for(handler)
    with pytest.raises(ValueError, match="Attempt to convert a value"):
        ac.shape(x)
    with pytest.raises(ValueError, match="was not registered"):
        E.unregister_dispatch_for(unary)


class _Weighted(ac.experimental.BatchableExtensionType):
    values: ac.Tensor
    weight: ac.Tensor


@pytest.mark.parametrize("staged", [False, True])
def test_map_fn_over_the_rows_of_a_batchable_type(staged):
    def totals(batch):
        return ac.map_fn(
            lambda row: ac.reduce_sum(row.values) * row.weight, batch, fn_output_signature=ac.TensorSpec([], ac.int32)
        )

    batch = _Weighted([[1, 2], [3, 4], [5, 6]], [1, 10, 100])
    found = (ac.function(totals) if staged else totals)(batch)
    assert found.numpy().tolist() == [3, 70, 1100]


def test_specs_are_structures_of_their_tensors_specs():
    x = Masked([1, 2], [True, False])
    spec = ac.type_spec_from_value(x)
    values, mask = ac.TensorSpec([2], ac.int32), ac.TensorSpec([2], ac.bool)
    assert spec._serialize() == (("values", values), ("mask", mask), ("name", "m"))
    assert spec._deserialize(spec._serialize()) == spec
    assert ac.nest.flatten([spec, 7], expand_composites=True) == [values, mask, 7]
    packed = ac.nest.pack_sequence_as([spec, 7], [[3, 4], [True, True], 8], expand_composites=True)
    assert (packed[0].values, packed[0].mask, packed[0].name, packed[1]) == ([3, 4], [True, True], "m", 8)
    ragged = ac.ragged.constant([[1.0, 2.0], [3.0]])
    parts = ac.nest.flatten(ragged, expand_composites=True)
    spec = ac.type_spec_from_value(ragged)
    assert [part.shape.as_list() for part in ac.nest.flatten(spec, expand_composites=True)] == [[None], [3]]
    assert ac.nest.pack_sequence_as(spec, parts, expand_composites=True).to_list() == [[1.0, 2.0], [3.0]]


def test_specs_of_named_types_are_found_by_name():
    from autoconv.tensorflow.python.framework import type_spec_registry

    class Named(E.ExtensionType):
        __name__ = "tests.Named"
        x: ac.Tensor

    assert type_spec_registry.get_name(Named.Spec) == "tests.Named.Spec"
    assert type_spec_registry.lookup("tests.Named.Spec") is Named.Spec
    with pytest.raises(ValueError, match="has not been registered"):
        type_spec_registry.get_name(Masked.Spec)
