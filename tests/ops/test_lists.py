"""Tensor lists: values that share a buffer, the ops on them, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autoconv.errors import IndexOutOfRangeError, InvalidArgumentError, OutOfRangeError
from autoconv.graph.dtypes import float32, float64, int32, int64
from autoconv.graph.graph import Graph
from autoconv.graph.types import ListType, NoCommonType, TensorType
from autoconv.ops import OPS
from autoconv.ops.builder import GraphBuilder
from autoconv.ops.values.list_value import ListValue


def numbers(*values: float) -> ListValue:
    return ListValue([np.array(v) for v in values], dtype=float64, shape=())


def run(name: str, *inputs: Any, **attributes: Any) -> Any:
    return OPS[name].kernel(*inputs, **attributes)


def values(list_: ListValue) -> list[Any]:
    return [x.tolist() for x in list_]


def test_appending_shares_the_buffer() -> None:
    first = numbers(1, 2)
    second = first.append(np.array(3.0))
    third = second.append(np.array(4.0))
    assert third._buffer is second._buffer is first._buffer
    appended = first.append(np.array(9.0))
    assert appended._buffer is not first._buffer
    assert [values(x) for x in (first, second, third, appended)] == [[1, 2], [1, 2, 3], [1, 2, 3, 4], [1, 2, 9]]


def test_append_after_pop_does_not_overwrite() -> None:
    full = numbers(1, 2, 3)
    shorter, last = full.pop()
    replaced = shorter.append(np.array(7.0))
    assert float(last) == 3 and values(full) == [1, 2, 3] and values(replaced) == [1, 2, 7]


def test_many_appends_are_linear() -> None:
    found = numbers()
    for i in range(50_000):
        found = found.append(np.float64(i))
    assert found.length == 50_000 and float(found.get(49_999)) == 49_999


def test_set_copies() -> None:
    first = numbers(1, 2, 3)
    second = run("list_set", first, np.int32(1), np.array(5.0))
    assert values(first) == [1, 2, 3] and values(second) == [1, 5, 3]
    longer = run("list_set", first, np.int32(4), np.array(5.0), resize=True)
    assert values(longer) == [1, 2, 3, 0, 5]


def test_errors() -> None:
    with pytest.raises(
        IndexOutOfRangeError, match=r"Trying to access element 7 in a list with 3 elements\.$"
    ) as caught:
        run("list_get", numbers(1, 2, 3), np.int32(7))
    assert isinstance(caught.value, (OutOfRangeError, IndexError))
    with pytest.raises(IndexError, match=r"Trying to modify element 5 in a list with 2 elements\."):
        run("list_set", numbers(1, 2), np.int32(5), np.array(1.0))
    with pytest.raises(IndexError, match="empty list"):
        run("list_pop", numbers())
    with pytest.raises(InvalidArgumentError, match="cannot hold an element of float64"):
        run("list_push", ListValue(dtype=int32), np.array(1.5))
    with pytest.raises(InvalidArgumentError, match="one shape"):
        run("list_stack", ListValue([np.zeros(1), np.zeros(2)], dtype=float64))
    with pytest.raises(InvalidArgumentError, match="non-fully-defined"):
        run("list_stack", ListValue(dtype=float64, shape=(None,)))
    with pytest.raises(InvalidArgumentError, match="uninitialized"):
        run("list_get", run("list_reserve", np.int32(2), dtype=float64, shape=None), np.int32(0))


def test_unwritten_elements_are_zeros() -> None:
    reserved = run("list_reserve", np.int32(3), dtype=float32, shape=(2,))
    written = run("list_set", reserved, np.int32(1), np.ones(2, np.float32))
    np.testing.assert_array_equal(run("list_stack", written), [[0, 0], [1, 1], [0, 0]])
    unknown = run("list_reserve", np.int32(2), dtype=float32, shape=None)
    replaced = run("list_set", unknown, np.int32(1), np.ones((1, 2), np.float32))
    assert run("list_stack", replaced).shape == (2, 1, 2)


def test_negative_indices_count_from_the_end_on_request() -> None:
    assert float(run("list_get", numbers(1, 2, 3), np.int32(-1), wrap=True)) == 3
    assert values(run("list_set", numbers(1, 2, 3), np.int32(-3), np.array(9.0), wrap=True)) == [9, 2, 3]
    with pytest.raises(IndexError):
        run("list_get", numbers(1, 2, 3), np.int32(-1))


def test_a_weak_list_takes_the_dtype_of_its_first_item() -> None:
    empty = run("list_empty", dtype=float64, shape=(), weak=True)
    first = run("list_push", empty, np.array(0.5))
    second = run("list_push", first, np.array(1.5, np.float32))
    assert first.dtype is float64 and first.weak and second.dtype is float32 and not second.weak
    assert run("list_stack", second).dtype == np.float32


def test_whole_list_ops() -> None:
    a, b = numbers(1, 2), numbers(3)
    assert values(run("list_concat", a, b)) == [1, 2, 3]
    assert values(run("list_slice", numbers(1, 2, 3), np.int32(1), np.int32(3))) == [2, 3]
    assert values(run("list_resize", a, np.int32(3))) == [1, 2, 0]
    assert values(run("list_add", a, run("list_zeros_like", a))) == [1, 2]
    assert run("list_length", a) == 2
    np.testing.assert_array_equal(run("list_gather", numbers(1, 2, 3), np.array([[2, 0]])), [[3, 1]])
    parts = run("list_split", np.arange(5), np.array([2, 0, 3]))
    assert values(parts) == [[0, 1], [], [2, 3, 4]]
    np.testing.assert_array_equal(run("list_flatten", parts), np.arange(5))
    with pytest.raises(InvalidArgumentError, match="sum of lengths"):
        run("list_split", np.arange(5), np.array([2, 2]))


def test_rules() -> None:
    scalars = ListType(TensorType(float32, ()))
    index = TensorType(int32, ())
    assert OPS["list_push"].result(scalars, TensorType(float32, ())) == scalars
    widened = OPS["list_push"].result(ListType(TensorType(float32, (2,))), TensorType(float32, (3,)))
    assert widened == ListType(TensorType(float32, (None,)))
    assert (
        OPS["list_push"].result(ListType(TensorType(float64, (), True)), TensorType(float32, ())) == scalars
    )
    with pytest.raises(NoCommonType):
        OPS["list_push"].result(scalars, TensorType(int64, ()))
    assert OPS["list_stack"].result(ListType(TensorType(float32, (2,)))) == TensorType(float32, (None, 2))
    assert OPS["list_pop"].result(scalars) == (scalars, TensorType(float32, ()))
    assert OPS["list_get"].result(scalars, index) == TensorType(float32, ())
    with pytest.raises(TypeError, match="integer scalar"):
        OPS["list_get"].result(scalars, TensorType(float32, ()))
    with pytest.raises(TypeError, match="takes a list"):
        OPS["list_get"].result(TensorType(float32, ()), index)


def total(list_: ListValue, weights: list[float]) -> float:
    return float(sum(w * np.sum(x) for w, x in zip(weights, list_, strict=True)))


WEIGHTS = [1.5, -2.0, 0.75, 3.0, 0.5, -1.0, 2.5, 4.0]
ROWS = ListValue(
    [np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.array([0.5, 0.25])], dtype=float64, shape=(2,)
)
RAGGED = ListValue([np.array([1.0]), np.array([2.0, 3.0])], dtype=float64, shape=(None,))
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("list_push", (ROWS, np.array([7.0, 8.0])), {}),
    ("list_pop", (ROWS,), {}),
    ("list_get", (ROWS, np.array(1, np.int32)), {}),
    ("list_get", (RAGGED, np.array(-1, np.int32)), {"wrap": True}),
    ("list_set", (ROWS, np.array(1, np.int32), np.array([7.0, 8.0])), {}),
    ("list_set", (ROWS, np.array(5, np.int32), np.array([7.0, 8.0])), {"resize": True}),
    ("list_from_tensor", (np.arange(6.0).reshape(3, 2),), {}),
    ("list_stack", (ROWS,), {}),
    ("list_gather", (ROWS, np.array([2, 0, 2])), {}),
    ("list_add_at", (ROWS, np.array([2, 0, 2]), np.arange(6.0).reshape(3, 2)), {}),
    ("list_flatten", (RAGGED,), {}),
    ("list_split", (np.arange(4.0), np.array([1, 3])), {}),
    ("list_split_like", (np.arange(3.0), RAGGED), {}),
    ("list_concat", (ROWS, ROWS), {}),
    ("list_concat", (RAGGED, RAGGED), {}),
    ("list_slice", (ROWS, np.array(1, np.int32), np.array(3, np.int32)), {}),
    ("list_slice_back", (ROWS.with_items(ROWS.items()[:1]), np.array(1, np.int64), ROWS), {}),
    ("list_resize", (ROWS, np.array(2, np.int32)), {}),
    ("list_resize", (ROWS, np.array(4, np.int32)), {}),
    ("list_add", (ROWS, ROWS), {}),
]


def type_of(value: Any) -> Any:
    return value.type if isinstance(value, ListValue) else TensorType(_dtype(value), np.shape(value))


def _dtype(value: Any) -> Any:
    return {"float64": float64, "int32": int32, "int64": int64}[np.asarray(value).dtype.name]


def evaluate(graph: Graph, arguments: list[Any]) -> list[Any]:
    found = dict(zip(graph.parameters, arguments, strict=True))
    for node in graph.nodes:
        results = node.op.kernel(*(found[v] for v in node.inputs), **node.attributes)
        found.update(zip(node.results, results if isinstance(results, tuple) else (results,), strict=True))
    return [found[v] for v in graph.outputs]


def weighted_sum(value: Any, seed: float) -> float:
    """Return a number that depends on every element, each with its own weight."""
    if isinstance(value, ListValue):
        return sum(weighted_sum(item, seed + 0.3 * i) for i, item in enumerate(value))
    return float(np.sum(np.asarray(value) * weights_like(value, seed)))


def weights_like(value: Any, seed: float) -> Any:
    if isinstance(value, ListValue):
        return value.with_items([weights_like(item, seed + 0.3 * i) for i, item in enumerate(value)])
    return np.sin(np.arange(np.size(value)).reshape(np.shape(value)) * 1.3 + seed) + 2.0


def perturb(value: Any, position: int, change: float) -> Any:
    if isinstance(value, ListValue):
        rows = [np.array(item) for item in value]
        for row in rows:
            if position < row.size:
                row.reshape(-1)[position] += change
                break
            position -= row.size
        return value.with_items(rows)
    copy = np.array(value)
    copy.reshape(-1)[position] += change
    return copy


def flatten(value: Any) -> np.ndarray:
    return (
        np.concatenate([np.ravel(x) for x in value] or [np.zeros(0)])
        if isinstance(value, ListValue)
        else np.ravel(value)
    )


@pytest.mark.parametrize(
    ("name", "inputs", "attributes"), CASES, ids=[f"{i}-{c[0]}" for i, c in enumerate(CASES)]
)
def test_gradients(name: str, inputs: tuple[Any, ...], attributes: dict[str, Any]) -> None:
    graph = Graph("gradient")
    parameters = [graph.add_parameter(type_of(x)) for x in inputs]
    results = graph.add(OPS[name], parameters, attributes).results
    cotangents = [graph.add_parameter(r.type) for r in results]
    found = OPS[name].gradient(GraphBuilder(graph), tuple(parameters), results, tuple(cotangents), attributes)
    wanted_inputs = [i for i, ct in enumerate(found) if ct is not None]
    graph.outputs = [found[i] for i in wanted_inputs]

    def forward(*arguments: Any) -> list[Any]:
        results = OPS[name].kernel(*arguments, **attributes)
        return list(results) if isinstance(results, tuple) else [results]

    def loss(*arguments: Any) -> float:
        return sum(weighted_sum(result, 0.7 + i) for i, result in enumerate(forward(*arguments)))

    seeds = [weights_like(result, 0.7 + i) for i, result in enumerate(forward(*inputs))]
    gradients = evaluate(graph, [*inputs, *seeds])
    for i, gradient in zip(wanted_inputs, gradients, strict=True):
        slopes = [
            (loss(*inputs[:i], perturb(inputs[i], p, 1e-4), *inputs[i + 1 :])
             - loss(*inputs[:i], perturb(inputs[i], p, -1e-4), *inputs[i + 1 :])) / 2e-4
            for p in range(flatten(inputs[i]).size)
        ]  # fmt: skip
        np.testing.assert_allclose(flatten(gradient), slopes, atol=1e-8)


def test_unused_results_of_pop() -> None:
    for missing in (0, 1):
        graph = Graph("gradient")
        list_ = graph.add_parameter(ROWS.type)
        results = graph.add(OPS["list_pop"], [list_], {}).results
        ct = graph.add_parameter(results[1 - missing].type)
        cotangents: tuple[Any, ...] = (None, ct) if missing == 0 else (ct, None)
        graph.outputs = list(OPS["list_pop"].gradient(GraphBuilder(graph), (list_,), results, cotangents, {}))
        seed = np.ones(2) if missing == 0 else weights_like(ROWS.pop()[0], 1.0)
        (found,) = evaluate(graph, [ROWS, seed])
        assert found.length == 3 and np.stack(list(found)).shape == (3, 2)
