"""Python functions that are called each time a graph runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autoconv.api.gradients.dense_gradients import dense
from autoconv.api.gradients.tape import GradientTape, UnconnectedGradients
from autoconv.errors import (
    AutoconvError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.graph.types import Shape
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import EagerTensor


def numpy_function(
    func: Callable[..., Any] | None = None, inp: Sequence[Any] | None = None, Tout: Any = None,
    stateful: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """func(*arrays), called each time the graph runs, with NumPy arrays as arguments and results, without a gradient.

    A scalar is passed as NumPy's number, a scalar string as bytes.
    `Tout` is the dtype of the result, or a list of dtypes for several results, which are returned as a list of tensors.
    The shapes of results are unknown. Raises InvalidArgumentError when the function returns another dtype, or another
    number of values. An error of the function is raised as TensorFlow's: InvalidArgumentError for TypeError and
    ValueError, UnimplementedError, OutOfRangeError and ResourceExhaustedError for NotImplementedError, StopIteration
    and MemoryError, else UnknownError. The original error is its `__cause__`.

    >>> autoconv.numpy_function(np.sinc, [autoconv.constant(0.5)], autoconv.float32).numpy().round(3)
    np.float32(0.637)
    """
    if func is None:
        return _callback_decorator(numpy_function, "numpy_function", inp, Tout, stateful=stateful, name=name)
    is_user_code = not hasattr(func, "graphdef_name")  # callables of the package name their op of TensorFlow
    return _apply_callback(func, ArrayCall if is_user_code else None, inp, Tout, name)


def py_function(
    func: Callable[..., Any] | None = None, inp: Sequence[Any] | None = None, Tout: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """func(*tensors), called each time the graph runs, with eager tensors. `Tout` is as in `numpy_function`.

    A gradient flows through the function: the reverse pass runs it again, under a tape. Without `func` and `inp` the
    result is a decorator, as it is for `numpy_function`.

    >>> autoconv.py_function(lambda x: float(x) ** 2, [autoconv.constant(3.0)], autoconv.float32).numpy()
    np.float32(9.0)
    """
    if func is None:
        return _callback_decorator(py_function, "py_function", inp, Tout, name=name)
    return _apply_callback(func, EagerCall, inp, Tout, name or "EagerPyFunc")


def _callback_decorator(op: Callable[..., Any], op_name: str, inp: Any, result_specs: Any, **options: Any) -> Any:
    """Return a decorator; its result passes its tensors to `op` together with the decorated function.

    `op_name` is the op's name in errors. Raises TypeError without `result_specs`, or if `inp` is given.
    """
    if result_specs is None:
        raise TypeError(
            f"Missing required argument: 'Tout'. If {op_name} is a decorator, set `Tout` by name: "
            f"`@autoconv.{op_name}(Tout=autoconv.float32)`."
        )
    if inp is not None:
        raise TypeError(f"Don't set the `inp` argument when using {op_name} as a decorator (`func=None`).")

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*tensors: Any) -> Any:
            return op(func, inp=tensors, Tout=result_specs, **options)

        return call

    return decorate


class ArrayCall:
    """A user's function of arrays; its exceptions are raised as errors of ops, see `numpy_function`.

    `dtypes` are those of the results.
    """

    def __init__(self, function: Callable[..., Any], dtypes: Sequence[DType]) -> None:
        self.function = function
        self.dtypes = dtypes
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *arrays: Any) -> Any:
        # `array[()]` is NumPy's scalar of an array without dimensions.
        return self._call(*(array if array.shape else array[()] for array in map(np.asarray, arrays)))

    def _call(self, *arguments: Any) -> Any:
        """Return the function's result; raise errors of the function as those of an op."""
        try:
            return self._converted(self.function(*arguments))
        except Exception as error:
            if isinstance(error, AutoconvError):
                raise
            raise _op_error(error) from error

    def _converted(self, result: Any) -> Any:
        """Return the function's result, converted to arrays of the dtypes as far as the class requires it."""
        return result


def _op_error(error: Exception) -> OpError:
    """Return TensorFlow's error for an exception of a user's function."""
    error_classes = (op_error for python_classes, op_error in _ERROR_CLASSES if isinstance(error, python_classes))
    error_class = next(error_classes, UnknownError)
    return error_class(f"{type(error).__name__}: {error}")


# Errors of functions that a running graph calls: (Python's class or classes, TensorFlow's class).
_ERROR_CLASSES: list[tuple[type[Exception] | tuple[type[Exception], ...], type[OpError]]] = [
    ((TypeError, ValueError), InvalidArgumentError), (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError), (NotImplementedError, UnimplementedError),
]  # fmt: skip


class EagerCall(ArrayCall):
    """A function of arrays that calls a function of eager tensors, with a vjp.

    Results that are no tensors are converted to the dtypes: arrays are cast, and so are Python's ints.
    """

    graphdef_name = "EagerPyFunc"

    def __call__(self, *arrays: Any) -> Any:
        with recording(region=None):
            return self._call(*(EagerTensor(array) for array in arrays))

    def _converted(self, result: Any) -> Any:
        if isinstance(result, (list, tuple)) and len(result) == len(self.dtypes):
            return [_array(value, dtype) for value, dtype in zip(result, self.dtypes, strict=True)]
        return _array(result, self.dtypes[0]) if result is not None and len(self.dtypes) == 1 else result

    def gradient(self, b: Any, inputs: Sequence[Any], results: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """Record the vjp, which runs the function again under a tape; return the cotangents of the inputs.

        `b` is the builder of the gradient's graph.
        """
        differentiable_positions = [i for i, x in enumerate(inputs) if x.type.dtype.is_differentiable]
        connected_positions = [i for i, cotangent in enumerate(cotangents) if cotangent is not None]
        if not differentiable_positions:
            return [None] * len(inputs)

        def vjp_of_tensors(*tensors: Any) -> list[Any]:
            """Return the cotangents of the differentiable arguments, from arguments and cotangents of results."""
            arguments, upstream = tensors[: len(inputs)], tensors[len(inputs) :]
            tape = GradientTape()
            with tape:
                tape.watch([arguments[i] for i in differentiable_positions])
                output = self.function(*arguments)
            results = output if isinstance(output, (list, tuple)) else [output]
            targets = [convert_to_tensor(results[i]) for i in connected_positions]
            sources = [arguments[i] for i in differentiable_positions]
            gradients = tape.gradient(targets, sources, list(upstream), UnconnectedGradients.ZERO)
            return [dense(gradient) for gradient in gradients]

        dtypes = tuple(inputs[i].type.dtype for i in differentiable_positions)
        output = b.py_call(
            *inputs, *(cotangents[i] for i in connected_positions), function=EagerCall(vjp_of_tensors, dtypes),
            dtypes=dtypes,
            shapes=tuple(inputs[i].type.shape for i in differentiable_positions),
        )  # fmt: skip
        input_cotangents = output if isinstance(output, tuple) else [output]
        cotangent_by_position = dict(zip(differentiable_positions, input_cotangents, strict=True))
        return [cotangent_by_position.get(i) for i in range(len(inputs))]


def _array(value: TensorLike, dtype: DType) -> Any:
    """Return a result of the function as an array; values that are no tensors are converted to the dtype."""
    tensor = convert_to_tensor(value, None if as_tensor(value) is not None else dtype)
    return np.asarray(tensor.numpy())  # type: ignore[attr-defined]


def _apply_callback(
    func: Callable[..., Any] | None,
    call_class: type[ArrayCall] | None,
    inputs: Sequence[Any] | None,
    result_specs: Any,
    name: str | None,
) -> Any:
    """Return the results of an op that calls the function, by an object of `call_class` that takes arrays.

    They are a list if `result_specs` is a list of dtypes or TensorSpecs; else one tensor, None without a result.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func!r}")
    is_single = not isinstance(result_specs, (list, tuple))
    spec_list = ([] if result_specs is None else [result_specs]) if is_single else list(result_specs)
    result_types = [_result_type(spec) for spec in spec_list]
    dtypes = tuple(dtype for dtype, _ in result_types)
    results = apply(
        "py_call", *(inputs or ()), function=func if call_class is None else call_class(func, dtypes), dtypes=dtypes,
        shapes=tuple(shape for _, shape in result_types), name=name,
    )  # fmt: skip
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    if not is_single:
        return results
    return results[0] if results else None


def _result_type(spec: Any) -> tuple[DType, Shape]:
    """Return the dtype and the shape of a result, which is unknown for a dtype alone."""
    if isinstance(spec, TensorSpec):
        return spec.dtype, spec.shape.dims_tuple
    return as_dtype(spec), None
