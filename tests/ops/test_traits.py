"""Each trait of each op, against its kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest

import autoconv
from autoconv.errors import IntegerLimitError, OtherKindError
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.effects import Effects
from autoconv.graph.region_flow import flow_edges, state_size
from autoconv.ops import OPS
from autoconv.ops.elements import ELEMENTS
from autoconv.ops.elements.maths import is_in_c_library
from autoconv.ops.index_spec import At, Gather, Slice
from autoconv.ops.record import Op, Sample
from autoconv.ops.traits import Traits
from tests.graph.random_graphs import random_graph

X = np.arange(1.0, 25.0).reshape(2, 3, 4)
SQUARE = np.arange(9.0).reshape(3, 3)


def ops_with(fact: Callable[[Traits], Any]) -> list[Op]:
    found = [op for op in OPS.values() if fact(op.traits)]
    assert found
    return found


def parametrize_ops(ops: list[Op]) -> Any:
    return pytest.mark.parametrize("op", [pytest.param(op, id=op.name) for op in ops])


def samples_of(op: Op) -> Iterator[Sample]:
    """Return the samples whose inputs are arrays."""
    for sample in op.samples:
        if all(isinstance(x, (np.ndarray, np.generic)) for x in sample.inputs):
            yield sample


def run(op: Op, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
    assert op.kernel is not None
    with np.errstate(all="ignore"):
        results = op.kernel(*inputs, **attributes)
    return results if isinstance(results, tuple) else (results,)


def is_same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))


# Samples of views of arrays in memory, which the records lack.
IN_MEMORY: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
    "array_view": (X, {"spec": (At(1), Slice(None, None, 2))}),
    "array_strided": (X, {"offset": 8, "shape": (2, 2), "strides": (96, 8)}),
    "array_transpose": (X, {"perm": (2, 0, 1)}),
    "array_diagonal": (SQUARE, {"offset": 0}),
    "array_windows": (X, {"axes": (1,), "lengths": (2,)}),
    "array_part": (X + 1j, {"part_name": "imag"}),
    "array_bits": (X, {"dtype": autoconv.int64}),
}
# Stores at positions: array, value, positions.
STORES = (Sample((np.zeros(4), np.array([1.0, 2.0]), np.array([1, 3])), {"spec": (Gather(),)}),)
# Ops whose kernels copy NumPy's view, and samples with index arrays, which NumPy copies.
COPIED = {"numpy_read_only"}


@parametrize_ops(ops_with(lambda traits: traits.view))
def test_view(op: Op) -> None:
    assert not op.traits.may_alias
    cases = [(item.inputs, item.attributes) for item in samples_of(op)]
    if op.name in IN_MEMORY:
        x, attributes = IN_MEMORY[op.name]
        cases.append(((x,), attributes))
    shared = False
    for inputs, attributes in cases:
        for result in run(op, *inputs, **attributes):
            if isinstance(inputs[0], np.ndarray) and isinstance(result, np.ndarray) and result.size:
                shared |= np.shares_memory(result, inputs[0])
    assert cases
    assert shared or op.name in COPIED


@parametrize_ops(ops_with(lambda traits: traits.same_order))
def test_same_order(op: Op) -> None:
    for item in samples_of(op):
        (result,) = run(op, *item.inputs, **item.attributes)
        assert is_same(np.ravel(result), np.ravel(item.inputs[0]))


@parametrize_ops(ops_with(lambda traits: traits.selects_rows))
def test_selects_rows(op: Op) -> None:
    for item in samples_of(op):
        assert all(len(result) <= np.size(item.inputs[0]) for result in run(op, *item.inputs, **item.attributes))


@parametrize_ops(ops_with(lambda traits: traits.shape_only))
def test_shape_only(op: Op) -> None:
    """Other elements of these inputs do not change the results."""
    for item in samples_of(op):
        inputs = list(item.inputs)
        for position in op.traits.shape_only:
            inputs[position] = other_elements(np.asarray(inputs[position]))
        for a, b in zip(run(op, *item.inputs, **item.attributes), run(op, *inputs, **item.attributes), strict=True):
            assert is_same(a, b)


def other_elements(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "O":
        return np.full(x.shape, b"other", object)
    return ~x if x.dtype.kind == "b" else np.full(x.shape, 77, x.dtype) - x  # type: ignore[no-any-return]


@parametrize_ops(ops_with(lambda traits: traits.sizes))
def test_sizes(op: Op) -> None:
    """The operand's numbers as an attribute give results of the same type; random numbers differ."""
    sizes = op.traits.sizes
    assert sizes is not None
    for item in samples_of(op):
        assert len(item.inputs) in (sizes.position, sizes.position + 1)
        if len(item.inputs) > sizes.position:
            numbers = np.asarray(item.inputs[-1]).tolist()
            if sizes.form != "number":
                numbers = tuple(map(tuple, numbers)) if sizes.form == "pairs" else tuple(np.atleast_1d(numbers))
            attributes = {**item.attributes, sizes.attribute: numbers}
            (a,), (b,) = run(op, *item.inputs, **item.attributes), run(op, *item.inputs[:-1], **attributes)
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if "random" not in op.name:
                assert is_same(a, b)


@parametrize_ops(ops_with(lambda traits: traits.generates))
def test_generates(op: Op) -> None:
    """An element depends only on its index and on scalars: a larger result has the same elements."""
    assert not op.traits.view and not op.traits.elementwise
    for item in samples_of(op):
        (result,) = run(op, *item.inputs, **item.attributes)
        arrays = [x for i, x in enumerate(item.inputs) if np.ndim(x) and i not in op.traits.shape_only]
        assert not any(isinstance(x, np.ndarray) and np.shares_memory(x, result) for x in arrays)
        assert all(x.dtype.kind in "iu" for x in arrays)  # positions and sizes, never elements that are moved


@parametrize_ops(ops_with(lambda traits: traits.stores_into is not None))
def test_stores_into(op: Op) -> None:
    x = X.copy()
    attributes = {"spec": (At(1),)} if op.name == "array_set" else {}
    assert run(op, x, np.array(7.0), **attributes) in ((), ((),))
    assert not is_same(x, X)
    assert op.traits.stores_into == 0


MADE = {
    "array_new": ((), {"shape": (2, 3), "dtype": as_dtype("float64"), "fill": 0}),
    "array_of": ((X,), {}),
    "object_build": (((1,), 2), {"class_name": "list"}),
    "object_make": ((1, 2), {"class_": type("Place", (), {}), "names": ("x", "y")}),
    "object_exception": (("text",), {"exception": ValueError}),
}


@parametrize_ops(ops_with(lambda traits: traits.allocates))
def test_allocates(op: Op) -> None:
    """Each run returns a new object."""
    inputs, attributes = MADE[op.name]
    (first,), (second,) = (run(op, *inputs, **attributes) for _ in range(2))
    assert first is not second
    assert not any(first is operand for operand in inputs)
    if isinstance(first, np.ndarray):
        assert first.base is None and not np.shares_memory(first, second)
        assert not any(isinstance(x, np.ndarray) and np.shares_memory(first, x) for x in inputs)


@parametrize_ops(ops_with(lambda traits: traits.control))
def test_control(op: Op) -> None:
    assert op.kernel is None


def test_only_control_ops_have_edges():
    """Nodes of control ops have edges, those of other ops none."""
    seen = set()
    for seed in range(40):
        for node in random_graph(Random(seed))[0].walk():
            assert bool(list(flow_edges(node))) <= node.op.traits.control
            seen.add(node.op.name) if node.op.traits.control else None
    assert seen


def test_selectors_and_states():
    """The selector of a conditional enters no region; the results of a loop's body are its next arguments."""
    seen = set()
    for seed in range(40):
        for node in random_graph(Random(seed))[0].walk():
            flow = list(flow_edges(node))
            if node.op.traits.selects:
                assert {source for source, _ in flow}.isdisjoint(set(node.inputs[:1]) - set(node.inputs[1:]))
                seen.add("selects")
            if node.op.traits.repeats:
                _, body = node.regions
                count = state_size(node)
                assert count == len(body.outputs) == len(node.results)
                assert set(zip(body.outputs, body.parameters[:count], strict=True)) <= set(flow)
                seen.add("repeats")
            assert node.op.traits.control >= (node.op.traits.selects or node.op.traits.repeats)
    assert seen == {"selects", "repeats"}


@parametrize_ops(ops_with(lambda traits: traits.prints or traits.irreversible))
def test_printing(op: Op) -> None:
    assert not (op.traits.prints and op.traits.irreversible)
    effects = op.effects if isinstance(op.effects, Effects) else Effects.OUTPUT
    assert effects & Effects.OUTPUT


# Their output effect keeps them in the graph and in order; writes of iterators are not recorded.
SILENT = {
    "assert_true", "check_numerics", "raise", "object_raise", "iterator_make", "iterator_advance", "iterator_next",
}


def test_every_op_with_output_states_how_it_is_recorded():
    for op in OPS.values():
        if isinstance(op.effects, Effects) and op.effects & Effects.OUTPUT and op.name not in SILENT:
            assert op.traits.prints or op.traits.irreversible, op.name


def test_costly():
    """All elementary functions are costly, and only elementwise ops are."""
    for name in ELEMENTS:
        if name in OPS and is_in_c_library(name):
            assert OPS[name].traits.costly, name
    assert all(op.traits.elementwise for op in ops_with(lambda traits: traits.costly))


@parametrize_ops(ops_with(lambda traits: traits.reduction))
def test_reduction(op: Op) -> None:
    """A fold from the neutral element gives the result; a reduction of no elements gives the neutral element."""
    reduction = op.traits.reduction
    assert reduction is not None
    combine = OPS[reduction.combine]
    assert combine.traits.commutative and combine.traits.elementwise
    is_bool = reduction.kind in ("any", "all")
    x = np.array([True, False, True]) if is_bool else np.array([1.5, -2.0, 4.0, 0.5])
    neutral = np.asarray(reduction.neutral(as_dtype(x.dtype)), x.dtype)
    total = neutral
    for element in x:
        assert is_same(run(combine, neutral, element)[0], element)
        (total,) = run(combine, total, element)
    expected = total / len(x) if reduction.kind == "mean" else total
    like, attributes = ((np.zeros(()),), {}) if op.name == "sum_to_shape_of" else ((), {"axis": None})
    assert is_same(run(op, x, *like, **attributes)[0], np.asarray(expected))
    if reduction.kind != "mean":
        assert is_same(run(op, x[:0], *like, **attributes)[0], neutral)
    if reduction.start is not None and combine.traits.identity is not None:
        assert reduction.start == combine.traits.identity


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32"])
def test_neutral_elements_of_extremes(dtype: str) -> None:
    for name, pick in (("reduce_max", np.maximum), ("reduce_min", np.minimum)):
        reduction = OPS[name].traits.reduction
        assert reduction is not None
        neutral = np.asarray(reduction.neutral(as_dtype(dtype)), dtype)
        for x in (np.array([0, 1, 100], dtype), np.array([neutral], dtype)):
            assert is_same(pick(x, neutral), x)


@parametrize_ops(ops_with(lambda traits: traits.indexing))
def test_indexing(op: Op) -> None:
    """Other positions change the results."""
    indexing = op.traits.indexing
    assert indexing is not None and indexing.form in ("rows", "vectors", "along", "items")
    changed = False
    for item in STORES if op.traits.stores_into is not None else samples_of(op):
        if len(item.inputs) > indexing.first_operand:
            inputs = list(item.inputs)
            positions = np.asarray(inputs[indexing.first_operand])
            assert positions.dtype.kind in ("i", "b" if indexing.form == "items" else "i")
            inputs[indexing.first_operand] = np.zeros_like(positions)
            before, after = (_computed_or_stored(op, argument, item.attributes) for argument in (item.inputs, inputs))
            changed |= not is_same(before, after)
    assert changed


def _computed_or_stored(op: Op, inputs: Sequence[Any], attributes: Any) -> Any:
    """Return the first result, or for an op that stores into an array the changed copy of the array."""
    if op.traits.stores_into is None:
        return run(op, *inputs, **attributes)[0]
    arguments = [np.array(value) for value in inputs]
    run(op, *arguments, **attributes)
    return arguments[op.traits.stores_into]


@parametrize_ops(ops_with(lambda traits: traits.scatter))
def test_scatter(op: Op) -> None:
    """Neutral updates do not change the base; other updates are combined with elements, once for each position."""
    scatter = op.traits.scatter
    assert scatter is not None and op.traits.indexing is not None
    combine = OPS[scatter.combine] if scatter.combine else None
    neutral = {"minimum": np.inf, "maximum": -np.inf}.get(scatter.combine or "", 0.0)
    update = -7.0 if scatter.combine == "minimum" else 7.0
    for item in samples_of(op):
        inputs = list(item.inputs)

        def written(update: float, inputs: Any = inputs, attributes: Any = item.attributes) -> np.ndarray:
            inputs[scatter.updates] = np.full_like(inputs[scatter.updates], update, float)
            (result,) = run(op, *inputs, **attributes)
            return np.asarray(result)

        found = written(update)
        base = np.zeros(found.shape) if scatter.base is None else np.asarray(item.inputs[scatter.base])
        if combine is None:
            assert np.all((found == base) | (found == update)) and np.any(found != base)
            continue
        assert is_same(written(neutral), base)
        element, known = base, found == base
        for _ in range(inputs[scatter.updates].size):
            element = run(combine, element, np.full_like(base, update))[0]
            known |= found == element
        assert np.all(known) and np.any(found != base)


@parametrize_ops(ops_with(lambda traits: traits.op_on_tensors))
def test_on_values(op: Op) -> None:
    x, attributes = IN_MEMORY[op.name]
    assert is_same(run(op, x, **attributes)[0], run(OPS[op.traits.op_on_tensors], x, **attributes)[0])


@parametrize_ops(ops_with(lambda traits: traits.overflow_error))
def test_limited(op: Op) -> None:
    """Some operands give an int beyond 64 bits; with the trait "only", this is the only error."""
    attributes = {"python_round": {"digits": None}, "python_math": {"function": "floor"}}.get(op.name, {})
    arity = {len(item.inputs) for item in op.samples} if op.name != "python_math" else {1}
    least = np.array(-(2**63))
    candidates = [(np.array(3), np.array(80)), (np.array(-5.5), np.array(0)), (np.array(1e300),)]
    if op.traits.overflow_error == "only":  # a power or a shift of these would not fit into memory
        candidates += [(least, least), (least, np.array(2**62)), (least,)]
    raised, others = False, (OtherKindError, TypeError, ValueError) if op.traits.overflow_error == "also" else ()
    for inputs in candidates:
        if len(inputs) in arity:
            try:
                run(op, *inputs, **attributes)
            except IntegerLimitError:
                raised = True
            except others:
                pass
    assert raised
