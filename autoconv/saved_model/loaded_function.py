"""Functions of a loaded object, which select the saved trace that accepts a call's arguments."""

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
from autoconv.runtime.support.structure import flat_leaves
from autoconv.runtime.support.type_spec import TypeSpec, is_composite, is_composite_spec
from autoconv.runtime.tensors.conversion import convert_to_tensor, is_tensor
from autoconv.saved_model.structures import decode
from autoconv.saved_model.traces import LoadedTrace, mark_replaying
from autoconv.tracing.api.decorators import function
from autoconv.tracing.execute.compiled_trace import ConcreteFunction

_EMPTY = inspect.Parameter.empty


class LoadedFunction:
    """A function that was saved: a call runs the trace that accepts its arguments.

    A tensor has to have the dtype of the trace's tensor, and fit its shape. Python numbers and lists become tensors
    where the trace takes one; other values have to equal those of the trace. If no trace fits, a call raises TypeError
    for a function with an `input_signature` (`has_declared_types`), and ValueError for another function.
    `parameters` are the saved records of the parameters, None for a function that was saved as a concrete function.
    """

    __autoconv_do_not_convert__ = True

    def __init__(
        self, name: str, parameters: Sequence[Mapping[str, Any]] | None, has_declared_types: bool = False
    ) -> None:
        self.__name__ = name
        self.parameters = parameters
        self.has_declared_types = has_declared_types
        self.traces: list[LoadedTrace] = []
        self.variables: tuple[Variable, ...] = ()  # set by `load_function` only
        self._signature = None if parameters is None else _restore_signature(parameters)

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The saved traces as functions, in the order in which they were made."""
        return [concrete_function_of(trace) for trace in self.traces]

    @do_not_convert
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace, tensors = self._choose_trace(args, kwargs)
        return trace.run(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for these arguments: TensorSpecs, tensors and plain values."""
        if not args and not kwargs and len(self.traces) == 1:
            return concrete_function_of(self.traces[0])
        trace, _ = self._choose_trace(args, kwargs)
        return concrete_function_of(trace)

    def _choose_trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[LoadedTrace, list[Any]]:
        """Return the first trace that accepts the arguments, and their tensors; conversions are tried last."""
        for allows_conversion in (False, True):
            for trace in self.traces:
                tensors = self._tensors_if_accepted(trace, args, kwargs, allows_conversion)
                if tensors is not None:
                    return trace, tensors
        if not self.traces:
            raise ValueError("Found zero restored functions for caller function.")
        if self.has_declared_types:
            declared_types = str(self.traces[0].args)[1:-1].rstrip(",")
            raise TypeError(
                f"Binding inputs to tf.function failed due to `the arguments are of other types`. Received args: "
                f"{args} and kwargs: {kwargs} for signature: ({declared_types})."
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

    def _tensors_if_accepted(
        self, trace: LoadedTrace, args: tuple[Any, ...], kwargs: dict[str, Any], allows_conversion: bool
    ) -> list[Any] | None:
        """Return the tensors of the arguments in the order of a trace's specs; None if the trace does not accept them.
        """
        bound = self._bind(args, kwargs)
        if bound is None:
            return None
        specs = flat_leaves((trace.args, trace.kwargs))
        leaves = list(_matching_leaves(bound, (trace.args, trace.kwargs)))
        if len(leaves) != len(specs):
            return None
        tensors = []
        for value, spec in zip(leaves, specs, strict=True):
            if is_composite_spec(spec):
                composite_tensors = _composite_tensors(value, spec)
                if composite_tensors is None:
                    return None
                tensors += composite_tensors
                continue
            if not isinstance(spec, TensorSpec):
                if value is _MISMATCH or not _is_equal(value, spec):
                    return None
                continue
            tensor = _convert_to_spec(value, spec, allows_conversion)
            if tensor is None:
                return None
            tensors.append(tensor)
        return tensors

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Bind arguments to the saved signature; return positional and keyword ones, None if they do not fit."""
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


class _StructureMismatch:
    """Marker of a part of the arguments whose structure differs from the trace's."""


_MISMATCH = _StructureMismatch()


def _matching_leaves(arguments: Any, expected: Any) -> Iterator[Any]:
    """Iterate over the leaves of `arguments` where `expected` has one; `_MISMATCH` for another structure."""
    if isinstance(expected, dict):
        if not isinstance(arguments, Mapping) or set(arguments) != set(expected):
            yield _MISMATCH
            return
        for key in sorted(expected):
            yield from _matching_leaves(arguments[key], expected[key])
    elif isinstance(expected, (list, tuple)):
        if not isinstance(arguments, (list, tuple)) or len(arguments) != len(expected):
            yield _MISMATCH
            return
        for argument, part in zip(arguments, expected, strict=True):
            yield from _matching_leaves(argument, part)
    else:
        yield arguments


def _is_equal(value: Any, expected: Any) -> bool:
    """Return whether a plain value equals the trace's value: of the same class, and nan equal to nan."""
    if is_tensor(value) or isinstance(value, np.ndarray):
        return False
    are_nan = value != value and expected != expected
    return type(value) is type(expected) and (value == expected or are_nan)


def _composite_tensors(value: object, spec: TypeSpec) -> list[Any] | None:
    """Return the tensors of a composite of the spec, or the specs of its tensors; None for another value."""
    if is_composite(value):
        return flat_leaves(value) if spec.is_compatible_with(value) else None
    if is_composite_spec(value):
        return spec_parts(value)[0] if spec.is_compatible_with(value) else None  # type: ignore[arg-type]
    return None


def _convert_to_spec(value: Any, spec: TensorSpec, allows_conversion: bool) -> Any:
    """Return the value as a tensor of the spec's type, or a fitting spec as it is; None if it does not fit."""
    if isinstance(value, TensorSpec):
        return value if spec.dtype is value.dtype and spec.shape.is_compatible_with(value.shape) else None
    if value is None or value is _MISMATCH or isinstance(value, dict):
        return None
    if not is_tensor(value):
        if not allows_conversion and not isinstance(value, (np.ndarray, np.generic)):
            return None
        try:
            value = convert_to_tensor(value, spec.dtype if allows_conversion else None)
        except (TypeError, ValueError):
            return None
    if value.dtype is not spec.dtype or not spec.shape.is_compatible_with(value.shape):
        return None
    return value


def _restore_signature(parameters: Sequence[Mapping[str, Any]]) -> inspect.Signature:
    """Return the signature of saved parameters; raises DataLossError for damage."""
    restored_parameters = []
    for record in parameters:
        default: Any = _EMPTY
        if "default" in record:
            default = None if record["default"] is None else decode(record["default"])
        try:
            kind = getattr(inspect._ParameterKind, record["kind"])
            restored_parameters.append(inspect.Parameter(record["name"], kind, default=default))
        except (ValueError, AttributeError) as error:
            raise DataLossError(f"the parameters of a saved function are damaged: {error}") from None
    try:
        return inspect.Signature(restored_parameters)
    except ValueError as error:
        raise DataLossError(f"the parameters of a saved function are damaged: {error}") from None


def concrete_function_of(trace: LoadedTrace) -> ConcreteFunction:
    """Return a trace as a concrete function that takes the arguments in the structure in which they were saved."""

    def call(*args: Any, **kwargs: Any) -> Any:
        leaves = flat_leaves((args, kwargs))
        return trace.run([leaf for leaf in leaves if is_tensor(leaf)])

    result = function(mark_replaying(call, trace.name), autograph=False).get_concrete_function(
        *trace.args, **trace.kwargs
    )
    result.output_specs = _named_specs(result.symbolic_outputs, ())
    return result


def _named_specs(value: Any, path: tuple[str, ...]) -> Any:
    """Replace the tensors of a structure by specs that are named after their positions."""
    if isinstance(value, dict):
        return {key: _named_specs(part, (*path, str(key))) for key, part in value.items()}
    if type(value) in (list, tuple):
        outer_path = path or ("output",)
        return type(value)(_named_specs(part, (*outer_path, str(position))) for position, part in enumerate(value))
    if not is_tensor(value):
        return value
    return TensorSpec(value.shape, value.dtype, "_".join(path) or "output_0")
