"""`tensorflow.test`: the base class of tests, with assertions about tensors, and queries of devices."""

from __future__ import annotations

import contextlib
import importlib
import platform
import random as python_random
import re
import tempfile
import unittest
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock as mock

import numpy as np

import autoconv
from autoconv import errors
from autoconv.compat import v1
from autoconv.nest import flatten, map_structure
from autoconv.runtime.annotations import TensorLike

try:
    absltest: Any = importlib.import_module("absl.testing.absltest")
except ImportError:
    absltest = None
ExceptionTypes = type[BaseException] | tuple[type[BaseException], ...]
_TestCaseBase: Any = unittest.TestCase if absltest is None else absltest.TestCase


class TestCase(_TestCaseBase):
    """A test case whose assertions take tensors, variables and structures of them."""

    def setUp(self) -> None:
        super().setUp()
        python_random.seed(42)
        np.random.seed(42)
        autoconv.random.set_seed(42)

    def evaluate(self, tensors: object) -> Any:
        """Return a structure with the values of tensors; functions are called, and other values are unchanged.

        Where a graph is recorded, the tensors are computed by the default session, or by a new one.
        """
        if autoconv.executing_eagerly():
            return map_structure(self._evaluate_tensor, tensors)
        with self.session() as session:
            return session.run(tensors)

    @staticmethod
    def _evaluate_tensor(tensor: object) -> Any:
        return tensor.numpy() if hasattr(tensor, "numpy") else tensor() if callable(tensor) else tensor

    @contextlib.contextmanager
    def session(self, graph: Any = None, *args: object, **kwargs: object) -> Iterator[Any]:
        """Run the `with` block in the default session of the graph that is recorded, or in a new one.

        While ops run eagerly, the session's method `run` is `evaluate`.
        """
        if graph is None and autoconv.executing_eagerly():
            yield SimpleNamespace(run=self.evaluate)
            return
        default = v1.get_default_session() if graph is None else None
        with v1.Session(graph=graph) if default is None else contextlib.nullcontext(default) as session:
            yield session

    cached_session = session

    def test_session(self, *args: object, **kwargs: object) -> Any:
        """Return `session()`. Test runners also run it, because of its name; it then passes."""
        return self.session()

    def get_temp_dir(self) -> str:
        """Return a folder that is removed after the test."""
        if not hasattr(self, "_folder"):
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self._folder = folder.name
        return self._folder

    def _to_array(self, value: object) -> np.ndarray:
        """Return a tensor, or a list or tuple of them, as an array."""
        if isinstance(value, np.ndarray | np.generic):
            return np.asarray(value)
        if isinstance(value, list | tuple):
            value = [self._to_array(part) for part in value]
        return np.array(value.numpy() if hasattr(value, "numpy") else value)

    _GetNdArray = _to_array

    def assertAllClose(
        self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Assert that two structures have the same form and close elements; nan equals nan."""
        self._assert_close(_as_dict_if_named(a), _as_dict_if_named(b), rtol, atol, msg)

    def _assert_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str | None) -> None:
        """Fail unless two nests of numbers and arrays are equal within the tolerances."""
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            self.assertTrue(isinstance(a, Mapping) and isinstance(b, Mapping), f"{a!r} against {b!r}. {msg}")
            self.assertCountEqual(a.keys(), b.keys(), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"at {key!r}. {msg or ''}")
            return
        try:
            first, second = self._to_array(a), self._to_array(b)
            is_nested = first.dtype == object or second.dtype == object
        except ValueError:
            is_nested = True
        if is_nested:
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
            return
        self.assertShapesAgree(first, second, msg)
        first, second = _widen(first), _widen(second)
        if not np.allclose(first, second, rtol=rtol, atol=atol, equal_nan=True):
            np.testing.assert_allclose(first, second, rtol=rtol, atol=atol, equal_nan=True, err_msg=msg or "")

    def assertShapesAgree(self, a: np.ndarray, b: np.ndarray, msg: str | None = None) -> None:
        self.assertEqual(a.shape, b.shape, f"Shape mismatch: expected {a.shape}, got {b.shape}. {msg or ''}")

    def assertAllCloseAccordingToType(
        self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, float_rtol: float = 1e-6,
        float_atol: float = 1e-6, half_rtol: float = 1e-3, half_atol: float = 1e-3, bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2, msg: str | None = None,
    ) -> None:  # fmt: skip
        """`assertAllClose` with tolerances by the narrower of both dtypes."""
        dtype_names = {str(self._to_array(part).dtype) for value in (a, b) for part in flatten(value)}
        if dtype_names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in dtype_names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in dtype_names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNotAllClose(
        self, a: object, b: object, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Assert that two structures are not close."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}".rstrip())

    def assertAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Assert that two tensors have the same shape and elements; nan equals nan."""
        first, second = self._to_array(_as_list(a)), self._to_array(_as_list(b))
        is_small = second.ndim <= 3 and second.size < 500
        if is_small and first.shape != second.shape:  # show the elements in the message
            self.assertEqual(first.shape, second.shape, f"Contents: {first!r} against {second!r}. {msg or ''}")
        self.assertEqual(first.shape, second.shape, msg)
        are_equal = first == second
        if first.dtype.kind in "fc" and second.dtype.kind in "fc":
            are_equal = are_equal | (np.isnan(first) & np.isnan(second))
        if not np.all(are_equal):
            np.testing.assert_array_equal(first, second, err_msg=msg or "")
            raise AssertionError(f"{first!r} against {second!r}. {msg or ''}")

    def assertNotAllEqual(self, a: object, b: object, msg: str | None = None) -> None:
        """Assert that two tensors differ."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}".rstrip())

    def assertAllGreater(self, a: object, comparison_target: object) -> None:
        self.assertTrue(np.all(self._to_array(a) > comparison_target), a)

    def assertAllLess(self, a: object, comparison_target: object) -> None:
        self.assertTrue(np.all(self._to_array(a) < comparison_target), a)

    def assertAllGreaterEqual(self, a: object, comparison_target: object) -> None:
        self.assertTrue(np.all(self._to_array(a) >= comparison_target), a)

    def assertAllLessEqual(self, a: object, comparison_target: object) -> None:
        self.assertTrue(np.all(self._to_array(a) <= comparison_target), a)

    def assertAllInSet(self, target: object, expected_set: Iterable[object]) -> None:
        self.assertTrue(set(self._to_array(target).ravel().tolist()) <= set(expected_set), target)

    def assertAllInRange(
        self, target: object, lower_bound: float, upper_bound: float, open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:  # fmt: skip
        values = self._to_array(target)
        is_above = values > lower_bound if open_lower_bound else values >= lower_bound
        is_below = values < upper_bound if open_upper_bound else values <= upper_bound
        self.assertTrue(np.all(is_above & is_below), f"{values!r} is not within {lower_bound} and {upper_bound}")

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Assert that two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}")

    def assertArrayNear(
        self, farray1: Sequence[float], farray2: Sequence[float], err: float, msg: str | None = None
    ) -> None:
        self.assertEqual(len(farray1), len(farray2), msg)
        for item, other in zip(farray1, farray2, strict=True):
            self.assertNear(float(item), float(other), err, msg)

    def assertNDArrayNear(self, ndarray1: object, ndarray2: object, err: float, msg: str | None = None) -> None:
        self.assertLess(np.linalg.norm(self._to_array(ndarray1) - self._to_array(ndarray2)), err, msg)

    def assertShapeEqual(self, input_a: object, input_b: object, msg: str | None = None) -> None:
        self.assertEqual(*(tuple(getattr(part, "shape", ())) for part in (input_a, input_b)), msg)

    def assertDTypeEqual(self, target: TensorLike, expected_dtype: object) -> None:
        self.assertEqual(autoconv.as_dtype(getattr(target, "dtype", None)), autoconv.as_dtype(expected_dtype))

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not start with {expected_start!r}")

    def assertEmpty(self, container: Sized, msg: str | None = None) -> None:
        self.assertEqual(len(container), 0, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: ExceptionTypes, expected_err_re_or_predicate: str | Callable[[BaseException], bool]
    ) -> Iterator[None]:
        """Assert that the block raises an error whose text matches, or for which the predicate is true."""
        try:
            yield
        except exception_type as error:
            expected = expected_err_re_or_predicate
            matches = expected(error) if callable(expected) else re.search(expected, str(error))
            self.assertTrue(matches, f"Exception of type {type(error)}: {error} does not match {expected!r}")
            return
        self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: str | Callable[[BaseException], bool]) -> Any:
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: ExceptionTypes = errors.InvalidArgumentError, *args: object, **kwargs: object
    ) -> Any:
        return self.assertRaisesRegex(exception_type, "Incompatible shapes")


def _as_dict_if_named(value: object) -> Any:
    return value._asdict() if hasattr(value, "_asdict") else value


def _as_list(value: object) -> Any:
    """Return a tuple as a list, so that it is compared as an array."""
    return list(value) if isinstance(value, tuple) else value


def _widen(array: np.ndarray) -> np.ndarray:
    """Return an array of float16 or bfloat16 as float32, so that differences do not overflow."""
    return array.astype(np.float32) if array.dtype.name in ("float16", "bfloat16") else array


def main(argv: Sequence[str] | None = None) -> None:
    """Run the tests of the program."""
    if absltest is not None:
        absltest.main(argv)
    else:
        unittest.main(argv=list(argv) if argv is not None else None)


def compute_gradient(f: Callable[..., Any], x: Sequence[Any], delta: float | None = None) -> tuple[Any, Any]:
    """Return two tuples of the Jacobians of `f` by each of `x`: from the tape, and from central differences."""
    points: list[Any] = [autoconv.convert_to_tensor(part) for part in x]
    step_size = delta if delta is not None else 1.0 / 1024
    tape_jacobians, numeric_jacobians = [], []
    for index, point in enumerate(points):
        with autoconv.GradientTape() as tape:
            tape.watch(point)
            result = f(*points)
        rows = tape.jacobian(result, point)
        size = int(np.prod(point.shape.as_list()))
        tape_jacobians.append(np.reshape(rows.numpy(), (-1, size)))
        columns = []
        for position in range(size):
            shifted_results = []
            for step in (step_size, -step_size):
                array = np.array(point.numpy())
                array.reshape(-1)[position] += step
                shifted_results.append(
                    f(*points[:index], autoconv.constant(array), *points[index + 1 :]).numpy().ravel()
                )
            columns.append((shifted_results[0] - shifted_results[1]) / (2 * step_size))
        numeric_jacobians.append(np.stack(columns, axis=1))
    return tuple(tape_jacobians), tuple(numeric_jacobians)


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: object = None) -> bool:
    """Return False: there is one device, the CPU."""
    return False


def is_built_with_cuda() -> bool:
    """Return False."""
    return False


is_built_with_rocm = is_built_with_xla = is_built_with_gpu_support = is_built_with_cuda


def gpu_device_name() -> str:
    """Return an empty name: there is no GPU."""
    return ""


def is_cpu_target_available(target: str) -> bool:
    """Return whether machine code for a processor ("x86_64", "aarch64") runs here."""
    return target == platform.machine()


def benchmark_config() -> None:
    """Return None: there is no configuration of sessions."""


def assert_equal_graph_def(expected: object, actual: object) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes; TypeError for anything else."""
    expected_nodes, actual_nodes = _nodes_by_name(expected), _nodes_by_name(actual)
    if expected_nodes != actual_nodes:
        raise AssertionError(f"Found unexpected differences: nodes {sorted(expected_nodes)} and {sorted(actual_nodes)}")


def _nodes_by_name(graph_def: Any) -> dict[str, Any]:
    if not hasattr(graph_def, "node"):
        raise TypeError(f"Expected a GraphDef, found {type(graph_def)}")
    return {node.name: node for node in graph_def.node}


def disable_with_predicate(pred: Callable[[], bool], skip_message: str) -> Callable[..., Any]:
    """Skip the decorated test method where `pred()` is true."""

    def decorate(method: Callable[..., Any]) -> Callable[..., Any]:
        def run_or_skip(self: unittest.TestCase, *args: object, **kwargs: object) -> Any:
            if pred():
                self.skipTest(skip_message)
            return method(self, *args, **kwargs)

        return run_or_skip

    return decorate


def with_eager_op_as_function(cls: type | None = None, only_as_function: bool = False) -> Any:
    """Return the class of tests unchanged: ops run in one way only."""
    return (lambda decorated: decorated) if cls is None else cls


def create_local_cluster(num_workers: int, num_ps: int, *args: object, **kwargs: object) -> Any:
    """Raise UnimplementedError: tasks of clusters are processes of Ray here."""
    raise errors.UnimplementedError("connect to a cluster by autoconv.config.experimental_connect_to_cluster")


class experimental:
    """Names of `tensorflow.test.experimental`."""

    @staticmethod
    def sync_devices() -> None:
        """Return at once: ops have ended when they return."""


class Benchmark:
    """A base class of benchmarks; its methods raise UnimplementedError."""

    def run_op_benchmark(self, *args: object, **kwargs: object) -> Mapping[str, Any]:
        raise errors.UnimplementedError("autoconv measures by `autoconv bench`.")


def test_src_dir_path(relative_path: str) -> str:
    """Return a path below the current folder."""
    return str(Path.cwd() / relative_path)


test_src_dir_path.__test__ = False  # type: ignore[attr-defined]  # not a test
__all__ = [
    "Benchmark", "TestCase", "assert_equal_graph_def", "benchmark_config", "compute_gradient", "create_local_cluster",
    "disable_with_predicate", "experimental", "gpu_device_name", "is_built_with_cuda", "is_built_with_gpu_support",
    "is_built_with_rocm", "is_built_with_xla", "is_cpu_target_available", "is_gpu_available", "main",
    "with_eager_op_as_function",
]  # fmt: skip
