"""Private paths of TensorFlow that libraries import: structures up to shallower ones, deprecations, shapes."""

from __future__ import annotations

import logging
from collections import namedtuple

import pytest

import autoconv as ac
from autoconv.tensorflow.python.framework import tensor_shape, tensor_spec, type_spec
from autoconv.tensorflow.python.ops import array_ops, math_ops, resource_variable_ops
from autoconv.tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops
from autoconv.tensorflow.python.util import deprecation, nest, tf_inspect

Point = namedtuple("Point", ["x", "y"])


def test_parts_up_to_the_leaves_of_a_shallow_structure() -> None:
    assert nest.flatten_up_to(["a", "b"], [1, [2, 3]]) == [1, [2, 3]]
    assert nest.map_structure_up_to({"x": 0}, len, {"x": [1, 2]}) == {"x": 2}
    assert nest.map_structure_up_to(Point(0, 0), lambda a, b: a + b, Point(1, 2), Point(10, 20)) == Point(11, 22)
    paths = nest.map_structure_with_tuple_paths_up_to([0, 0], lambda path, part: (path, part), [[1], 2])
    assert paths == [((0,), [1]), ((1,), 2)]


def test_structures_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_shallow_structure([1], (1,))
    nest.assert_shallow_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError, match="same sequence length"):
        nest.assert_shallow_structure([1], [1, 2])
    with pytest.raises(TypeError, match="must also be a sequence"):
        nest.flatten_up_to([1], 1)
    with pytest.raises(ValueError, match="same keys"):
        nest.flatten_up_to({"a": 1}, {"b": 1})


def test_paths_of_leaves() -> None:
    structure = {"b": Point(1, [2]), "a": 3}
    assert nest.flatten_with_tuple_paths(structure) == [(("a",), 3), (("b", "x"), 1), (("b", "y", 0), 2)]
    assert nest.flatten_with_joined_string_paths(structure, ".") == [("a", 3), ("b.x", 1), ("b.y.0", 2)]
    assert list(nest.yield_flat_paths([1, [2]])) == [(0,), (1, 0)]
    assert nest.map_structure_with_paths(lambda path, a: f"{path}={a}", {"k": [5]}) == {"k": ["k/0=5"]}


def test_traversal_ends_where_the_function_says() -> None:
    shallow = nest.get_traverse_shallow_structure(lambda part: isinstance(part, list), [1, [2, (3, 4)]])
    assert shallow == [False, [False, False]]
    assert nest.flatten_dict_items({(1, 2): ["a", "b"], 3: "c"}) == {1: "a", 2: "b", 3: "c"}


def test_deprecations_warn_once(caplog: pytest.LogCaptureFixture) -> None:
    @deprecation.deprecated("2030-01-01", "use g")
    def f(x: int) -> int:
        return x + 1

    @deprecation.deprecated_args(None, "leave it out", "old", ("flag", False))
    def g(x: int, old: int = 0, flag: bool = False) -> int:
        return x + old

    with caplog.at_level(logging.WARNING, logger="absl"):
        logging.getLogger("absl").propagate = True
        assert f(1) == f(1) == 2
        assert g(1) == 1
        assert g(1, flag=False) == 1
        assert g(1, old=2) == g(1, 2) == 3
        with deprecation.silence():
            g(1, flag=True)
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert "after 2030-01-01: use g" in messages[0]
    assert "the arguments old of" in messages[1]


def test_public_names_under_private_paths() -> None:
    assert tf_inspect.getfullargspec(lambda a, b=1: a).args == ["a", "b"]
    assert tensor_shape.as_shape([2, None]).as_list() == [2, None]
    assert tensor_shape.dimension_at_index(ac.TensorShape([2, 3]), 1).value == 3
    assert array_ops.reshape is ac.reshape
    assert math_ops.erf is ac.math.erf
    assert math_ops.matmul is ac.matmul
    assert isinstance(type_spec.type_spec_from_value(ac.constant(1)), tensor_spec.TensorSpec)
    with pytest.raises(ac.errors.UnimplementedError, match="VariableSpec"):
        resource_variable_ops.VariableSpec([2])


def test_a_prevented_gradient_raises() -> None:
    x = ac.Variable(2.0)
    with ac.GradientTape() as tape:
        y = array_ops.prevent_gradient(x * x, "no second derivative")
    assert y.numpy() == 4
    with pytest.raises(LookupError, match="no second derivative"):
        tape.gradient(y, x)


def test_deprecated_values_are_compared_by_equality(caplog: pytest.LogCaptureFixture) -> None:
    @deprecation.deprecated_arg_values(None, "use another mode", mode="old mode")
    def f(mode: str) -> str:
        return mode

    with caplog.at_level(logging.WARNING, logger="absl"):
        logging.getLogger("absl").propagate = True
        f(" ".join(["old", "mode"]))
        f("new mode")
    assert len(caplog.records) == 1


def test_products_of_sparse_matrices_may_conjugate() -> None:
    matrix = ac.sparse.from_dense(ac.constant([[1 + 1j, 2j]]))
    product = sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul(matrix, matrix, ac.complex128, adjoint_b=True)
    assert ac.sparse.to_dense(product).numpy().tolist() == [[6]]
    product = sparse_csr_matrix_ops.sparse_matrix_sparse_mat_mul(matrix, matrix, ac.complex128, transpose_b=True)
    assert ac.sparse.to_dense(product).numpy().tolist() == [[(1 + 1j) ** 2 - 4]]
