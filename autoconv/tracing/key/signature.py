"""Binding and flattening of arguments: the cache key, the names and the leaves of a call."""

from __future__ import annotations

import inspect
import itertools
import types
import typing
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from autoconv.config.placement import replica
from autoconv.graph.types import TensorType
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.support.code_signature import code_signature
from autoconv.runtime.support.composite_structures import expand_specs
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.support.structure import MissingFieldError, flat_leaves, flatten, is_structure, loses_state
from autoconv.runtime.support.type_spec import is_composite, is_composite_spec
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tracing.key.argument_structure import CannotFlatten, find_structures_to_flatten
from autoconv.tracing.key.array_keys import ArrayKey, make_array_key, may_overlap, needs_numpy
from autoconv.tracing.key.cache_key import (
    Key,
    Literal,
    ObjectKey,
    TensorKey,
    dict_orders,
    is_number,
    make_object_key,
)
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.composite_arguments import convert_lists_to_tensors, fit_composites, open_component_types
from autoconv.tracing.key.input_signatures import convert_to_spec, holds_composite_spec, validate_input_signature
from autoconv.tracing.key.leaf_keys import make_leaf_key, mark_layouts
from autoconv.tracing.key.opaque_arguments import guess_list_items, select_opaque_arguments


def _signature_of(function: Callable[..., Any], contract: type[Contract]) -> inspect.Signature:
    """Return the signature of a function; for a builtin without one, a signature that accepts everything.

    A wrapper has the signature of its own code under `compile`, where `python_numbers` is true; under `function`, that
    of the wrapped function, as in TensorFlow.
    """
    try:
        return code_signature(function) if contract.python_numbers else inspect.signature(function)
    except ValueError:
        return inspect.signature(lambda *args, **kwargs: None)


class Signature:
    """Binding and flattening of the arguments of a function; `specs` is its validated input signature, or None."""

    def __init__(
        self,
        function: Callable[..., Any],
        contract: type[Contract],
        input_signature: Sequence[Any] | None,
        name: str,
        follow_type_hints: bool = False,
    ) -> None:
        self.contract = contract
        self.name = name
        self.python_signature = _signature_of(function, contract)
        self.specs = validate_input_signature(input_signature)
        self.tensor_parameters = _tensor_parameters(function) if follow_type_hints else frozenset()
        parameters = self.python_signature.parameters.values()
        has_simple_parameters = input_signature is None and all(p.kind not in _VARIADIC for p in parameters)
        self.guesses_list_items = True  # whether the key of an opaque list has the kind of its items
        # Predicate for structures that stay one leaf, because a rebuilt structure would lack a part.
        self.is_leaf: Callable[[Any], bool] | None = loses_state if contract.promises_identity else None
        # Parameter -> default, or `Parameter.empty`; None if the full binding of Python is needed.
        self._defaults = {p.name: p.default for p in parameters} if has_simple_parameters else None
        self._keyword_names = {p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY}
        self._positional_count = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
        self.has_no_keyword_only = self._positional_count == len(self.python_signature.parameters)
        # True if the arguments of each call can be passed by position to native code.
        self.has_positional_form = self.has_no_keyword_only or has_simple_parameters
        # The number of positional arguments up to which native code takes a call; the binding checks smaller limits.
        self.max_positional = 2**62 if self.has_no_keyword_only else self._positional_count
        # The names of the parameters in order, for native entries; None for a parameter that takes no keyword.
        names = (p.name if p.kind is not p.POSITIONAL_ONLY else None for p in parameters)
        self.native_names = tuple(names) if has_simple_parameters else ()

    def arguments_by_position(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...] | None:
        """Return all arguments by position, with defaults; None if only Python's full binding can do so.

        The arguments of a function with `*args` are returned as they are, whatever their number; each native entry
        checks it.
        """
        defaults = self._defaults
        if defaults is None and self.has_no_keyword_only and not kwargs:
            return args
        if defaults is None or len(args) > self._positional_count or len(args) + len(kwargs) > len(defaults):
            return None
        arguments, keyword_count = list(args), 0
        for name in itertools.islice(defaults, len(args), None):
            if name in kwargs and name in self._keyword_names:
                keyword_count += 1
                arguments.append(kwargs[name])
            elif defaults[name] is not inspect.Parameter.empty:
                arguments.append(defaults[name])
            else:
                return None
        return tuple(arguments) if keyword_count == len(kwargs) else None

    def split_positions(self, arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return `args` and `kwargs` of a call whose `arguments` are in the order of the parameters."""
        count = self.max_positional
        keyword_only_names = list(self._defaults or ())[count:]
        return arguments[:count], dict(zip(keyword_only_names, arguments[count:], strict=False))

    def bind(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        by_value_positions: frozenset[int] = frozenset(),
        object_arguments: frozenset[str] = frozenset(),
        arrays_as_memory: bool = False,
    ) -> Call:
        """Bind and flatten the arguments.

        `by_value_positions` are the positions of those leaves, Python numbers, whose values are part of the key.
        `object_arguments` names arguments that stay one leaf, as traced code changes them; long containers stay one
        leaf as well. If `arrays_as_memory` is true, arrays are traced as memory (`ArrayKey`), unless tensors are among
        the arguments. Raises TypeError for wrong arguments, and CannotFlatten for those that cannot be flattened.
        """
        arguments, named_values = self._bind_python_arguments(args, kwargs)
        opaque_arguments, structures = self._select_opaque(named_values, object_arguments)
        names: list[str] = []
        leaves: list[Any] = []
        templates = []
        types_by_index = dict[int, TensorType]()  # index of a leaf -> the type that its spec gives it
        alias_numbers = dict[int, int]()  # id of a variable's storage -> its number in this call, from `make_leaf_key`
        for position, (name, value) in enumerate(named_values):
            spec = self.specs[position] if self.specs is not None and position < len(self.specs) else None
            if self.specs is not None and spec is None:
                self._check_default(name, value, args, kwargs)
            if name in self.tensor_parameters and isinstance(value, (bool, int, float, complex, str, bytes)):
                value = constant(value)
            is_opaque = name in opaque_arguments
            if spec is None:
                leaves_of_argument, template = self._flatten_argument(value, is_opaque)
            else:
                leaves_of_argument, template = self._flatten_to_spec(value, is_opaque, spec, name, args, kwargs)
                specs = enumerate(() if holds_composite_spec(spec) else flat_leaves(spec), len(leaves))
                types_by_index.update((index, leaf.type) for index, leaf in specs if isinstance(leaf, TensorSpec))
            types_by_index.update(open_component_types(template, len(leaves)))
            templates.append((name, template))
            leaves += leaves_of_argument
            names += [name] * len(leaves_of_argument)
        if arrays_as_memory:
            arrays_as_memory = not any(isinstance(leaf, Tensor) and not is_number(leaf.type) for leaf in leaves)

        def make_key(index: int, leaf: Any) -> Any:
            """Return the key of the leaf at that position."""
            if index in types_by_index:
                return TensorKey(types_by_index[index], "tensor")
            if names[index] in object_arguments:
                return make_object_key(leaf)
            if names[index] in opaque_arguments:
                return self._make_opaque_key(leaf)
            if arrays_as_memory and isinstance(leaf, np.ndarray) and not needs_numpy(leaf):
                return make_array_key(leaf)
            return make_leaf_key(self.contract, leaf, alias_numbers, index in by_value_positions)

        keys = mark_layouts([make_key(index, leaf) for index, leaf in enumerate(leaves)], leaves)
        orders = dict_orders(structures) if self.contract.promises_identity else ()
        arrays = [leaf for leaf, key in zip(leaves, keys, strict=True) if isinstance(key, ArrayKey)]
        overlaps = arrays_as_memory and may_overlap(arrays)
        key = Key(tuple(templates), keys, orders, overlaps, arrays_as_memory, replica())
        return Call(key, names, leaves, arguments, args, kwargs)

    def _select_opaque(
        self, named_values: Sequence[tuple[str, Any]], object_arguments: frozenset[str]
    ) -> tuple[frozenset[str], Any]:
        """Return the names of `object_arguments` and large containers, and the structures in the other arguments."""
        try:
            opaque_arguments = object_arguments
            if self.contract.runs_plain:  # under `function` all containers are flattened, as in TensorFlow
                opaque_arguments = select_opaque_arguments(named_values, object_arguments)
            values_to_flatten = [value for name, value in named_values if name not in opaque_arguments]
            structures = find_structures_to_flatten(values_to_flatten, self.is_leaf, self.contract.promises_identity)
            return opaque_arguments, structures
        except MissingFieldError as error:
            raise CannotFlatten(f"an object among the arguments lacks a field: {error.message}") from None

    def _flatten_to_spec(
        self, value: Any, is_opaque: bool, spec: Any, name: str, args: Any, kwargs: Any
    ) -> tuple[list[Any], Any]:
        """Return the leaves and the template of an argument, converted to its spec in the input signature."""
        value = convert_lists_to_tensors(value, spec, convert_to_spec) if is_structure(spec) else value
        fit = partial(self._fit_to_spec, value=value, spec=spec, name=name, args=args, kwargs=kwargs)
        return self._flatten_argument(value, is_opaque, spec, fit)

    def _flatten_argument(
        self, value: Any, is_opaque: bool, spec: Any = None, fit: Any = None
    ) -> tuple[list[Any], Any]:
        """Return the leaves and the template of an argument; `fit(leaves)` converts them to the spec, if any."""
        if spec is not None and holds_composite_spec(spec):
            return fit_composites(value, fit, flat_leaves(spec))
        is_single_leaf = is_opaque or self._is_frozen_record(value)
        leaves, template = ([value], None) if is_single_leaf else expand_specs(*flatten(value, self.is_leaf))
        if spec is None:
            return leaves, template
        # `fit` makes one tensor of a list if the spec is that of a tensor: a single leaf without a template.
        keeps_template = isinstance(value, Tensor) or is_structure(spec)
        return fit(leaves), template if keeps_template else None

    def _make_opaque_key(self, value: Any) -> ObjectKey:
        """Return the key of an argument that is not flattened; a list's key has the guessed kind of its items."""
        item_kind, depth = guess_list_items(value) if self.guesses_list_items and type(value) is list else ("", 0)
        return ObjectKey(type(value).__name__, item_kind, depth)

    def _is_frozen_record(self, value: Any) -> bool:
        """Return whether the value is a frozen dataclass without tensors, under `function` one leaf, keyed by value."""
        parameters = getattr(type(value), "__dataclass_params__", None)
        if parameters is None or not parameters.frozen or self.contract.promises_identity:
            return False
        return not any(isinstance(leaf, (Tensor, Variable, np.ndarray, np.generic)) for leaf in flat_leaves(value))

    def _check_default(self, name: str, value: Any, args: Any, kwargs: Any) -> None:
        """Raise TypeError unless a parameter without a spec in the input signature has its default value.

        `args` and `kwargs` are the arguments of the call, for the message.
        """
        parameter = self.python_signature.parameters.get(name)
        if parameter is None or parameter.default is parameter.empty:
            return
        if is_structure(parameter.default):
            is_default, default_text = value is parameter.default, repr(parameter.default)
        else:
            default_key = make_leaf_key(self.contract, parameter.default, {}, is_by_value=False)
            is_default = make_leaf_key(self.contract, value, {}, is_by_value=False) == default_key
            default_text = str(default_key)
        if not is_default:
            raise self._binding_error(
                f"Can not cast {value!r} to {default_text}", args, kwargs,
                f"Leave {name} out, or give it a spec in the input_signature.",
            )  # fmt: skip

    def _binding_error(self, reason: str, args: Any, kwargs: Any, remedy: str = "") -> TypeError:
        text = (
            f"Binding inputs to tf.function failed due to `{reason}`. Received args: {args} and kwargs: {kwargs} for "
            f"signature: {self.format_text()}."
        )
        return TypeError(f"{text} {remedy}" if remedy else text)

    def _bind_python_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
        """Return the arguments by parameter, with defaults, and as a list of (name, value).

        In the list, each item of `*args` has a name such as "args_0", and each item of `**kwargs` has its key.
        """
        positional = self.arguments_by_position(args, kwargs)
        if positional is not None and self._defaults is not None:
            arguments = dict(zip(self._defaults, positional, strict=True))
            return arguments, list(arguments.items())
        try:
            bound = self.python_signature.bind(*args, **kwargs)
        except TypeError as error:
            raise self._binding_error(str(error), args, kwargs) from None
        bound.apply_defaults()
        named_values: list[tuple[str, Any]] = []
        for name, value in bound.arguments.items():
            kind = self.python_signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                named_values += [(f"{name}_{i}", item) for i, item in enumerate(value)]
            elif kind is inspect.Parameter.VAR_KEYWORD:
                duplicates = value.keys() & {name for name, _ in named_values}
                if duplicates:
                    message = f"the keyword argument {min(duplicates)!r} repeats the name"
                    raise CannotFlatten(f"{message} of an argument given by position")
                named_values += list(value.items())
            else:
                named_values.append((name, value))
        return dict(bound.arguments), named_values

    def _fit_to_spec(self, leaves: list[Any], value: Any, spec: Any, name: str, args: Any, kwargs: Any) -> list[Any]:
        """Convert the leaves of an argument, whose value is given too, to its spec.

        Raises TypeError for a value that does not fit; its message has `args` and `kwargs`, those of the call.
        """
        if is_structure(spec):
            specs, template = flatten(spec)
            _, template_of_value = flatten(value, is_composite)
            if template_of_value == template:
                return [
                    fitted_leaf
                    for leaf, leaf_spec in zip(leaves, specs, strict=True)
                    for fitted_leaf in self._fit_to_spec([leaf], leaf, leaf_spec, name, args, kwargs)
                ]
        if isinstance(spec, TensorSpec) and not is_composite(value):
            tensor = convert_to_spec(value, spec)
            if tensor is not None:
                return [tensor]
        elif is_composite_spec(spec):
            if (is_composite(value) or is_composite_spec(value)) and spec.is_compatible_with(value):
                return [value]
        elif hasattr(type(value), "__autoconv_spec__") and value.__autoconv_spec__() == spec:
            return [value]
        value_text = repr(TensorSpec.from_tensor(value)) if isinstance(value, Tensor) else repr(value)
        remedy = "Cast or reshape the argument, or change the input_signature."
        raise self._binding_error(f"Can not cast {value_text} to {spec!r}", args, kwargs, remedy)

    def check_arity(self) -> None:
        """Raise TypeError when the input signature does not match the function's parameters."""
        if self.specs is None:
            return
        parameters = [p for p in self.python_signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return
        if len(self.specs) > len(parameters):
            surplus = len(self.specs) - len(parameters)
            raise TypeError(
                f"input_signature contains {surplus} extra type constraints. The function takes {self.format_text()}."
            )
        missing = [p.name for p in parameters[len(self.specs) :] if p.default is p.empty]
        if missing:
            text = f"input_signature missing type constraint for {', '.join(missing)}"
            raise TypeError(f"{text}. Add an autoconv.TensorSpec for each.")

    def format_text(self) -> str:
        """Return the signature as text for error messages, such as "(x, y=<captured_default_value>)"."""
        parameter_texts: list[str] = []
        has_star = False
        for position, parameter in enumerate(self.python_signature.parameters.values()):
            text = _STARS.get(parameter.kind, "") + parameter.name
            if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
                parameter_texts.append("*")
            has_star = has_star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
            equals = "="
            if self.specs is not None and position < len(self.specs):
                text, equals = f"{text}: {self.specs[position]!r}", " = "
            elif self.specs is not None and parameter.default is not parameter.empty:
                text, equals = f"{text}: {Literal(parameter.default)}", " = "
            if parameter.default is not parameter.empty:
                text += f"{equals}<captured_default_value>"
            parameter_texts.append(text)
        return f"({', '.join(parameter_texts)})"


_STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def _tensor_parameters(function: Callable[..., Any]) -> frozenset[str]:
    """Return the parameters that are annotated as Tensor."""
    try:
        hints = typing.get_type_hints(getattr(function, "__func__", function))
    except (NameError, TypeError, AttributeError):  # annotations may name objects that are missing at run time
        return frozenset()
    return frozenset(name for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Tensor))


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_method(function: Any) -> bool:
    return isinstance(function, types.MethodType)
