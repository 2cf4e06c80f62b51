"""Binding of arguments to one trace, by the parameters of its function.

A trace takes the tensors for which it was made. Python values of its key may be omitted, or given again. Error texts
also explain the flat signature, the tensors in order, which TensorFlow tries as well.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Mapping
from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.types import is_subtype
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.support.composite_structures import is_narrower_template
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.structure import flat_leaves, flatten, pack
from autoconv.runtime.tensors.conversion import as_tensor, to_array
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor
from autoconv.tracing.key.cache_key import Literal, Reference, SpecKey, TensorKey, VariableKey
from autoconv.tracing.views.function_type import FunctionType, Parameter


class _MismatchError(TypeError):
    """A leaf that does not fit its parameter, with the reason."""


def bind_to_trace(name: str, traced_name: str, type_: FunctionType, args: Any, kwargs: Any) -> list[Any]:
    """Return the leaves of the arguments, in the order of the trace's leaves.

    `name` is the function's and `traced_name` the trace's, for error texts. Raises TypeError for arguments that do not
    fit, and InvalidArgumentError for tensors of another dtype.
    """
    leaves: list[Any] = []
    arguments: dict[str, Any] = {}
    try:
        names = {parameter.name: _python_name(parameter.name, i) for i, parameter in enumerate(type_.parameters)}
        signature = inspect.Signature(_python_parameters(type_, names))
        bound = signature.bind(*args, **{names.get(key, key): value for key, value in kwargs.items()})
        bound.apply_defaults()
        arguments = {key: bound.arguments[python_name] for key, python_name in names.items()}
        alias_numbers: dict[int, int] = {}
        for parameter in type_.parameters:
            leaves += _fit(parameter, arguments[parameter.name], alias_numbers)
        return leaves
    except TypeError as error:
        reason = str(error)
    leaves_of_flat_call = _bind_flat(type_, args, kwargs)
    if leaves_of_flat_call is not None:
        return leaves_of_flat_call
    _check_dtypes(traced_name, type_, arguments)
    signature_text = ", ".join(f"{parameter.name}: {parameter}" for parameter in type_.parameters)
    flat_error = _flat_signature_error(name, type_, args, kwargs)
    raise TypeError(
        f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
        f"signature: ({signature_text}).\nFallback to flat signature also failed due to: {flat_error}"
    )


def _python_name(name: str, position: int) -> str:
    """Return the name of a parameter for `inspect.Signature`: another one if it is no name in Python, such as "in"."""
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"argument_{position}"


def _python_parameters(type_: FunctionType, names: Mapping[str, str]) -> list[inspect.Parameter]:
    """Return the parameters for `inspect.Signature`; a single keyword-only parameter may be given by position."""
    result = [_python_parameter(parameter, names[parameter.name]) for parameter in type_.parameters]
    if len(result) == 1:
        return [result[0].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    return result


def _python_parameter(parameter: Parameter, name: str) -> inspect.Parameter:
    """Return a parameter for `inspect.Signature`; its default is its value in the key, or `_REQUIRED`."""
    kind = inspect.Parameter.KEYWORD_ONLY if parameter.is_by_keyword else inspect.Parameter.POSITIONAL_OR_KEYWORD
    is_fixed = all(isinstance(leaf, (Literal, Reference)) for leaf in parameter.leaves)
    return inspect.Parameter(name, kind, default=_fixed_value(parameter) if is_fixed else _REQUIRED)


_REQUIRED = object()  # the default of a required parameter


def _fixed_value(parameter: Parameter) -> Any:
    """Return the value of a parameter whose leaves are all known at trace time."""
    leaves = [leaf.value if isinstance(leaf, Literal) else leaf.get() for leaf in parameter.leaves]  # type: ignore[union-attr]
    return pack(parameter.template, leaves)


def _fit(parameter: Parameter, value: Any, alias_numbers: dict[int, int]) -> list[Any]:
    """Return the leaves of the argument `value`, each converted by `_fit_leaf`.

    Raises _MismatchError if the argument is missing or does not fit the parameter.
    """
    if value is _REQUIRED:
        raise _MismatchError(f"missing a required argument: '{parameter.name}'")
    if parameter.template is None:
        return [_fit_leaf(parameter.leaves[0], value, alias_numbers)]
    leaves, template = flatten(value)
    if not is_narrower_template(template, parameter.template):
        raise _MismatchError(f"Can not cast {value!r} to {parameter}")
    return [_fit_leaf(key, leaf, alias_numbers) for key, leaf in zip(parameter.leaves, leaves, strict=True)]


def _fit_leaf(key: Any, value: Any, alias_numbers: dict[int, int]) -> Any:
    """Return the leaf, converted to a tensor if necessary. Raises _MismatchError if it does not fit the key.

    `alias_numbers` maps the ids of storages of variables to numbers by first occurrence, as in `VariableKey.alias`.
    """
    if isinstance(key, TensorKey):
        tensor = as_tensor(value)
        if tensor is None:
            tensor = _convert_to_tensor(key, value)
        if tensor is None or tensor.dtype is not key.type.dtype or not is_subtype(tensor.type, key.type):
            raise _MismatchError(f"Can not cast {_as_text(value)} to {key}")
        return tensor
    if isinstance(key, VariableKey):
        if not isinstance(value, Variable) or value.storage.type != key.type:
            raise _MismatchError(f"Can not cast {_as_text(value)} to {key}")
        if alias_numbers.setdefault(id(value.storage), len(alias_numbers)) != key.alias:
            text = f"Can not cast {_as_text(value)} to {key}"
            raise _MismatchError(f"{text}: in the trace, other arguments were the same variable")
        return value
    if isinstance(key, SpecKey):
        if not hasattr(type(value), "__autoconv_spec__") or value.__autoconv_spec__() != key.spec:
            raise _MismatchError(f"Can not cast {value!r} to {key}")
        return value
    key_of_value = Literal(value) if isinstance(key, Literal) else Reference(value)
    if key_of_value != key:
        raise _MismatchError(f"Can not cast {value!r} to {key}")
    return value


def _convert_to_tensor(key: TensorKey, value: Any) -> Tensor | None:
    """Return a value as a tensor of the key's dtype; None if it does not convert."""
    dtype = key.type.dtype
    try:
        if isinstance(value, (np.ndarray, np.generic)) and not dtype.is_string:
            array = np.asarray(value)
            can_cast = np.can_cast(array.dtype, dtype.numpy, "same_kind")
            return EagerTensor(array.astype(dtype.numpy)) if can_cast else None
        return EagerTensor(to_array(value, dtype))
    except (TypeError, ValueError):
        return None


def _check_dtypes(traced_name: str, type_: FunctionType, arguments: dict[str, Any]) -> None:
    """Raise InvalidArgumentError if a tensor has another dtype than in the trace; return if an argument is missing."""
    if any(value is _REQUIRED for value in arguments.values()):
        return
    position = 0
    for parameter in type_.parameters:
        value = arguments.get(parameter.name)
        leaves = flat_leaves(value) if parameter.template is not None else [value]
        for key, leaf in zip(parameter.leaves, leaves, strict=False):
            if not isinstance(key, TensorKey):
                continue
            dtype = key.type.dtype
            if isinstance(leaf, Tensor) and leaf.dtype is not dtype:
                raise InvalidArgumentError(
                    f"cannot compute {traced_name} as input #{position}(zero-based) was expected to be a {dtype.name} "
                    f"tensor but is a {leaf.dtype.name} tensor [Op:{traced_name}]. Cast it: "
                    f"autoconv.cast(value, autoconv.{dtype.name}).",
                    current_place(),
                )
            position += 1


def _bind_flat(type_: FunctionType, args: Any, kwargs: Any) -> list[Any] | None:
    """Return the leaves of a call that gives only the trace's tensors in order; None if the arguments do not fit.

    The trace's other leaves, Python values, are taken from its key.
    """
    names = _flat_names(type_)
    if args and all(parameter.kind == "KEYWORD_ONLY" for parameter in type_.parameters):
        return None  # a signature of a saved object takes its tensors by name
    arguments_by_name = dict(zip(names, args, strict=False)) | kwargs
    if len(args) + len(kwargs) != len(names) or set(arguments_by_name) != set(names):
        return None
    leaves: list[Any] = []
    alias_numbers: dict[int, int] = {}
    try:
        for parameter in type_.parameters:
            for leaf_name, key in zip(parameter.names, parameter.leaves, strict=True):
                if isinstance(key, (TensorKey, VariableKey)):
                    leaves.append(_fit_leaf(key, arguments_by_name[leaf_name], alias_numbers))
                elif isinstance(key, (Literal, Reference)):
                    leaves.append(key.value if isinstance(key, Literal) else key.get())
                else:
                    return None
    except _MismatchError:
        return None
    return leaves


def _flat_names(type_: FunctionType) -> list[str]:
    """Return the names of the trace's tensors and variables in order."""
    return [
        leaf_name for parameter in type_.parameters
        for leaf_name, key in zip(parameter.names, parameter.leaves, strict=True)
        if isinstance(key, (TensorKey, VariableKey))
    ]  # fmt: skip


def _flat_signature_error(name: str, type_: FunctionType, args: Any, kwargs: Any) -> str:
    """Return the reason why the arguments do not fit the flat signature, which has the trace's tensors in order."""
    names = _flat_names(type_)
    call_text = f"{name}({', '.join(names)})"
    if len(args) > len(names):
        return f"{call_text} takes {len(names)} positional arguments, got {len(args)}."
    unexpected_names = [key for key in kwargs if key not in names[len(args) :]]
    if unexpected_names:
        return f"{call_text} got unexpected keyword arguments: {', '.join(unexpected_names)}."
    missing_names = [leaf_name for leaf_name in names[len(args) :] if leaf_name not in kwargs]
    if missing_names:
        return f"{call_text} missing required arguments: {', '.join(missing_names)}."
    positional = [*args, *(kwargs[leaf_name] for leaf_name in names[len(args) :])]
    for position, value in enumerate(positional):
        if as_tensor(value) is None:
            kind = type(value).__name__
            return f"{call_text}: expected argument #{position}(zero-based) to be a Tensor; got {kind} ({value!r})."
    return f"{call_text}: the trace takes arguments of these types only."


def _as_text(value: Any) -> str:
    """Return an argument for messages: numbers and tensors by their specs."""
    if isinstance(value, (Tensor, Variable)):
        return repr(TensorSpec.from_tensor(value))
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        return repr(TensorSpec.from_tensor(EagerTensor(to_array(value))))
    return repr(value)
