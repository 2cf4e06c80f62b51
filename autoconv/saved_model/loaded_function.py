"""Functions of a loaded object: they choose the saved trace that takes a call's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autoconv.errors import DataLossError
from autoconv.operators.calls.call import do_not_convert
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.support.composite_structures import spec_parts
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import flatten
from autoconv.runtime.support.type_spec import TypeSpec, is_composite, is_composite_spec
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.saved_model.structures import decode
from autoconv.saved_model.traces import LoadedTrace, replaying
from autoconv.tracing.api.decorators import function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction

_EMPTY = inspect.Parameter.empty


class LoadedFunction:
    """A function that was saved: a call runs the trace that takes its arguments.

    Tensors have to fit the trace's shapes and have its dtypes; Python numbers and lists become tensors where the trace
    takes one, other values have to equal those that it was traced with. Raises ValueError where no trace fits, and
    TypeError where an `input_signature` has declared the types.
    """

    __autoconv_do_not_convert__ = True

    def __init__(
        self, name: str, parameters: Sequence[Mapping[str, Any]] | None, declared_types: bool = False
    ) -> None:
        self.__name__ = name
        self.parameters = parameters
        self.declared_types = declared_types
        self.traces: list[LoadedTrace] = []
        self.variables: tuple[Variable, ...] = ()  # of a function that was saved by itself
        self._signature = None if parameters is None else _signature(parameters)

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The saved traces as functions, in the order in which they were made."""
        return [_concrete(trace) for trace in self.traces]

    @do_not_convert
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace, tensors = self._choose(args, kwargs)
        return trace.run(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for these arguments: TensorSpecs, tensors and plain values."""
        if not args and not kwargs and len(self.traces) == 1:
            return _concrete(self.traces[0])
        return _concrete(self._choose(args, kwargs)[0])

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[LoadedTrace, list[Any]]:
        """Return the first trace that takes the arguments, and the tensors for it: exact dtypes before conversions."""
        for converts in (False, True):
            for trace in self.traces:
                tensors = self._tensors(trace, args, kwargs, converts)
                if tensors is not None:
                    return trace, tensors
        if not self.traces:
            raise ValueError("Found zero restored functions for caller function.")
        if self.declared_types:
            (declared,) = {str(trace.args)[1:-1].rstrip(",") for trace in self.traces[:1]}
            raise TypeError(
                f"Binding inputs to tf.function failed due to `the arguments are of other types`. Received args: "
                f"{args} and kwargs: {kwargs} for signature: ({declared})."
            )
        options = "\n\n".join(
            f"Option {i + 1}:\n  Positional arguments: {trace.args}\n  Keyword arguments: {trace.kwargs}"
            for i, trace in enumerate(self.traces)
        )
        raise ValueError(
            f"Could not find matching concrete function to call loaded from the SavedModel. Got:\n  Positional "
            f"arguments: {args}\n  Keyword arguments: {kwargs}\n\n Expected these arguments to match one of the "
            f"following {len(self.traces)} option(s):\n\n{options}"
        )

    def _tensors(
        self, trace: LoadedTrace, args: tuple[Any, ...], kwargs: dict[str, Any], converts: bool
    ) -> list[Any] | None:
        bound = self._bind(args, kwargs)
        if bound is None:
            return None
        expected = flatten((trace.args, trace.kwargs))[0]
        leaves = list(_leaves(bound, (trace.args, trace.kwargs)))
        if len(leaves) != len(expected):
            return None
        tensors = []
        for value, spec in zip(leaves, expected, strict=True):
            if is_composite_spec(spec):
                parts = _parts(value, spec)
                if parts is None:
                    return None
                tensors += parts
                continue
            if not isinstance(spec, TensorSpec):
                if value is _MISMATCH or not _is_equal(value, spec):
                    return None
                continue
            tensor = _as_spec(value, spec, converts)
            if tensor is None:
                return None
            tensors.append(tensor)
        return tensors

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the arguments as the trace has them: positional ones, and those by keyword."""
        if self._signature is None:
            return args, kwargs
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:
            return None
        bound.apply_defaults()
        return bound.args, bound.kwargs

    def __repr__(self) -> str:
        return f"<autoconv.saved_model.LoadedFunction {self.__name__} with {len(self.traces)} traces>"


class _Mismatch:
    """Stands for a part of the arguments whose structure differs from the trace's."""


_MISMATCH = _Mismatch()


def _leaves(arguments: Any, expected: Any) -> Iterator[Any]:
    """Iterate over the leaves of `arguments` where `expected` has one; `_MISMATCH` for another structure."""
    if isinstance(expected, dict):
        if not isinstance(arguments, Mapping) or set(arguments) != set(expected):
            yield _MISMATCH
            return
        for key in sorted(expected):
            yield from _leaves(arguments[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        if not isinstance(arguments, (list, tuple)) or len(arguments) != len(expected):
            yield _MISMATCH
            return
        for argument, part in zip(arguments, expected, strict=True):
            yield from _leaves(argument, part)
    else:
        yield arguments


def _is_equal(value: Any, expected: Any) -> bool:
    if is_tensor(value) or isinstance(value, np.ndarray):
        return False
    return type(value) is type(expected) and (value == expected or (value != value and expected != expected))


def _parts(value: object, spec: TypeSpec) -> list[Any] | None:
    """Return the tensors of a composite of the spec, or the specs of its tensors; None for another value."""
    if is_composite(value):
        return flatten(value)[0] if spec.is_compatible_with(value) else None
    if is_composite_spec(value):
        return spec_parts(value)[0] if spec.is_compatible_with(value) else None  # type: ignore[arg-type]
    return None


def _as_spec(value: Any, spec: TensorSpec, converts: bool) -> Any:
    """Return the value as a tensor of the spec's type; None where it does not fit."""
    if isinstance(value, TensorSpec):
        return value if spec.dtype is value.dtype and spec.shape.is_compatible_with(value.shape) else None
    if value is None or value is _MISMATCH or isinstance(value, dict):
        return None
    if not is_tensor(value):
        if not converts and not isinstance(value, (np.ndarray, np.generic)):
            return None
        try:
            value = convert_to_tensor(value, spec.dtype if converts else None)
        except (TypeError, ValueError):
            return None
    if value.dtype is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
        return None
    return value


def _signature(parameters: Sequence[Mapping[str, Any]]) -> inspect.Signature:
    parameters_made = []
    for row in parameters:
        default: Any = _EMPTY
        if "default" in row:
            default = None if row["default"] is None else decode(row["default"])
        try:
            kind = getattr(inspect._ParameterKind, row["kind"])
            parameters_made.append(inspect.Parameter(row["name"], kind, default=default))
        except (ValueError, AttributeError) as error:
            raise DataLossError(f"the parameters of a saved function are damaged: {error}") from None
    try:
        return inspect.Signature(parameters_made)
    except ValueError as error:
        raise DataLossError(f"the parameters of a saved function are damaged: {error}") from None


def _concrete(trace: LoadedTrace) -> ConcreteFunction:
    """Return the trace as a function of its structured arguments."""

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = flatten((args, kwargs))[0]
        return trace.run([leaf for leaf in leaves if is_tensor(leaf)])

    result = function(replaying(call, trace.name), autograph=False).get_concrete_function(*trace.args, **trace.kwargs)
    result.output_specs = _specs(result.symbolic_outputs, ())
    return result


def _specs(value: Any, path: tuple[str, ...]) -> Any:
    """Return tensors of a structure as specs, each with the name of its place."""
    if isinstance(value, dict):
        return {key: _specs(part, (*path, str(key))) for key, part in value.items()}
    if type(value) in (list, tuple):
        outer = path or ("output",)
        return type(value)(_specs(part, (*outer, str(place))) for place, part in enumerate(value))
    if not is_tensor(value):
        return value
    return TensorSpec(value.shape, value.dtype, "_".join(path) or "output_0")


def signature_function(trace: LoadedTrace) -> ConcreteFunction:
    """Return a signature: it takes tensors by keyword and returns a dict."""
    return _concrete(trace)
