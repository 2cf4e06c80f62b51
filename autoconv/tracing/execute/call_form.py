"""The CallForm of a trace: the checks and conversions of the user's arguments in its native entry."""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from autoconv.backends.call_form import (
    ABSENT,
    BY_STRIDES,
    CalledResult,
    CallForm,
    Captured,
    CellGuard,
    ConstantResult,
    ContainerResult,
    GlobalGuard,
    Guard,
    InstanceParameter,
    ListParameter,
    OutputResult,
    ResultForm,
    SelectedResult,
    function_offsets,
    slot_offset,
)
from autoconv.graph.dtypes import float64
from autoconv.graph.types import ArrayType, ObjectType, TensorType
from autoconv.lazy_dataclass import dataclass
from autoconv.operators.calls.call import is_user_code
from autoconv.operators.regions.layout import Arms, Instance, Layout, Leaf, Parts, Static, scalar_dtype
from autoconv.operators.regions.marshalling import rebuild
from autoconv.ops.values.generator_types import GENERATOR_TYPES
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, untraced_copy
from autoconv.runtime.recording.activity import BUSY
from autoconv.runtime.recording.contracts import Contract
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.support.immutable_classes import is_immutable_object
from autoconv.runtime.support.structure import Template, pack
from autoconv.runtime.tensors.donation import DonatedArray
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor
from autoconv.tracing.guards.fingerprints import guarded_module_attributes, is_user_module
from autoconv.tracing.guards.guards import Guards
from autoconv.tracing.key.array_keys import ArrayKey
from autoconv.tracing.key.cache_key import Key, Literal, ObjectKey, TensorKey
from autoconv.tracing.key.definition import definition_of
from autoconv.tracing.key.opaque_arguments import MIN_OPAQUE_ITEMS

_CONSTANT_TYPES = (bool, int, float, complex, str, bytes)
_IMMUTABLE_CLASSES = (
    type(None), np.number, np.bool_, type, range, np.dtype, types.EllipsisType, types.NotImplementedType
)  # fmt: skip
_TYPES_GUARDED_BY_IDENTITY = (*_CONSTANT_TYPES, type(None), types.BuiltinFunctionType, np.ufunc, np.dtype)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The leaves of the arguments.

    `donated` are the positions of donated leaves; the last `location_count` leaves are written locations.
    `are_extracted`: the entry is not called with the user's arguments alone, but with leaves extracted from them, or
    with written locations as well.
    """

    key: Key
    donated: Collection[int]
    location_count: int
    are_extracted: bool


@dataclass(frozen=True, slots=True)
class Results:
    """The layout of the results and how they are returned.

    If `returns_arrays` is true, results are NumPy arrays, otherwise tensors. If `outputs_need_no_copy` is true, no
    output shares memory with a captured array or a constant. `first_equal_positions` has for each output the
    position of the first output that is the same value; it is empty if all differ.
    """

    layout: Layout
    returns_arrays: bool
    outputs_need_no_copy: bool
    first_equal_positions: Sequence[int]


def make_call_form(
    arguments: Arguments, captures: Sequence[Any], results: Results, guards: Guards, contract: type[Contract], name: str
) -> CallForm | None:
    """Return the form of native calls with the user's own arguments, or None if they are not supported.

    Supported arguments are single tensors, arrays and numbers. Results may be tuples, lists and dicts of these and of
    constants, and variants. The form includes only guards by identity; the caller checks the others. `name` is the name
    of the function.
    """
    key, donated = arguments.key, arguments.donated
    first_location = len(key.leaves) - arguments.location_count
    native_leaves = [leaf for i, leaf in enumerate(key.leaves) if _is_native_parameter(leaf, i >= first_location)]
    literals = {i: leaf.value for i, leaf in enumerate(key.leaves) if isinstance(leaf, Literal)}
    checked_literals = {i: value for i, value in literals.items() if _is_comparable(value)}
    has_structures = any(template is not None for _, template in key.templates)
    has_other_leaves = len(native_leaves) + len(checked_literals) < len(key.leaves)
    if has_structures or has_other_leaves:
        return None
    if first_location != len(key.templates) or key.orders:  # written containers are leaves, or arguments are dicts
        return None
    output_positions = iter(results.first_equal_positions) if results.first_equal_positions else itertools.count()
    result = _result_form(results.layout, output_positions, contract, results.returns_arrays)
    values = [_captured_value(captured) for captured in captures]
    if result is None or not all(map(_is_native_capture, values)):
        return None
    identity_guards = [identity_guard(check.value.binding, check.value.read()) for check in guards.checks]
    identity_guards += _definition_guards(guards.function)
    parameter_leaf_positions = [i for i in range(len(key.leaves)) if i not in checked_literals]
    parameter_forms = [_parameter_form(leaf) for leaf in native_leaves]
    return CallForm(
        parameters=(*parameter_forms, *map(Captured, values)),
        fixed_arguments=tuple(checked_literals.items()),
        defaults=_defaults(guards.function, arguments),
        result=result,
        outputs_may_share_memory=results.outputs_need_no_copy
        and not any(isinstance(leaf, TensorKey) and leaf.is_of_array for leaf in native_leaves),
        tensor_class=EagerTensor,
        array_slot=_ARRAY_SLOT,
        weak_slot=_WEAK_SLOT,
        weak=tuple(leaf.type.weak for leaf in native_leaves if isinstance(leaf, TensorKey) and leaf.origin == "tensor"),
        guards=tuple(guard for guard in identity_guards if guard is not None),
        busy=BUSY,
        donated=frozenset(
            i
            for i, leaf_position in enumerate(parameter_leaf_positions)
            if leaf_position in donated and parameter_forms[i] == "tensor"
        ),
        donation=DonatedArray(name) if donated else None,
    )


def pass_locations(entry: Callable[..., Any], readers: Sequence[Callable[[], Any]]) -> Callable[..., Any]:
    """Return an entry that calls `entry` with further arguments: what `readers` return, such as written attributes."""
    if len(readers) == 1:
        (read,) = readers
        return lambda *arguments: entry(*arguments, read())
    return lambda *arguments: entry(*arguments, *[read() for read in readers])


def _is_native_parameter(leaf: Any, is_location: bool) -> bool:
    """Return whether a leaf is a parameter of a kind that native code accepts.

    `is_location` is true for a written location. Of arguments that are objects, only lists of numbers and random
    generators are accepted.
    """
    if isinstance(leaf, ObjectKey):
        is_number_list = isinstance(leaf.item_kind, str) and bool(leaf.item_kind)
        return is_number_list or leaf.kind in _GENERATOR_CLASSES or (is_location and leaf.kind in _OBJECT_CLASSES)
    return isinstance(leaf, (TensorKey, ArrayKey))


_NUMBER_CLASSES: dict[object, type] = {"int": int, "float": float, "bool": bool}  # `ObjectKey.item_kind` -> class
# `ObjectKey.kind` -> class.
_GENERATOR_CLASSES = {type_.kind: cls for cls, type_ in GENERATOR_TYPES.items()}
_OBJECT_CLASSES = {cls.__name__: cls for cls in (list, dict, set, str, bytes)} | _GENERATOR_CLASSES


def _parameter_form(leaf: Any) -> str | ListParameter | InstanceParameter:
    """Return the form in which native calls take an argument with this leaf key."""
    if isinstance(leaf, ObjectKey) and not leaf.item_kind:
        return InstanceParameter(_OBJECT_CLASSES[leaf.kind])
    if isinstance(leaf, ObjectKey):
        return ListParameter(_NUMBER_CLASSES[leaf.item_kind], leaf.depth, MIN_OPAQUE_ITEMS)
    if isinstance(leaf, ArrayKey):
        return "memory"
    return BY_STRIDES if leaf.is_by_strides else str(leaf.origin)


def _is_comparable(value: Any) -> bool:
    """Return whether native code can compare an argument with this value."""
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return value is None or type(value) in (bool, float, str)


def has_python_guards(guards: Guards) -> bool:
    """Return whether there are guards that native code does not check, because they are not by identity."""
    return any(identity_guard(check.value.binding, check.value.read()) is None for check in guards.checks)


def identity_guard(binding: tuple[Any, Any] | None, value: Any) -> Guard | None:
    """Return a guard by identity for an immutable value; None for other values.

    `binding` is a namespace and a name, or a cell and None.
    """
    if binding is None:
        return None
    container, name = binding
    if value is MISSING:
        return None if name is None else GlobalGuard(container, name, ABSENT)
    checked_fields: tuple[tuple[int, Any], ...] = ()  # (offset in the function object, expected pointer)
    empty_dict = None
    if isinstance(value, types.FunctionType) and is_user_code(value):
        offsets = function_offsets()
        if not offsets or value.__kwdefaults__ or value.__dict__ or not _are_constants(value.__defaults__):
            return None
        empty_dict = value.__dict__
        checked_fields = tuple(zip(offsets, (*definition_of(value), empty_dict), strict=True))
    elif not _identity_suffices(value):
        return None
    if name is None:
        return CellGuard(container, value, checked_fields, empty_dict)
    return GlobalGuard(container, name, value, checked_fields, empty_dict)


def _definition_guards(function: types.FunctionType | None) -> list[Guard]:
    """Return guards that the traced function still has its code and defaults; none if `function` is None."""
    offsets = function_offsets()[:-1]  # without `__dict__`, the last
    if function is None or not offsets:
        return []
    checked_fields = tuple(zip(offsets, definition_of(function), strict=True))
    keyword_defaults = function.__kwdefaults__ or {}
    default_guards = [GlobalGuard(keyword_defaults, name, value) for name, value in keyword_defaults.items()]
    return [CellGuard(types.CellType(function), function, checked_fields), *default_guards]


def _defaults(function: types.FunctionType | None, arguments: Arguments) -> tuple[Any, ...]:
    """Return the defaults of the longest run of last arguments that all have one.

    The tuple is empty if defaults are not guarded, or if the arguments are not the function's last parameters: a call
    gives parameters behind `*` by keyword, and a bound method lacks the first parameter.
    """
    if function is None or not function_offsets() or arguments.are_extracted:
        return ()
    code, defaults = function.__code__, function.__defaults__ or ()
    names = tuple(name for name, _ in arguments.key.templates)
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    is_variadic = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    if is_variadic or parameters[len(parameters) - len(names) :] != names:
        return ()
    values = dict(zip(parameters[code.co_argcount - len(defaults) :], defaults, strict=False))
    values |= function.__kwdefaults__ or {}
    names_with_default = list(itertools.takewhile(values.__contains__, reversed(names)))
    return tuple(values[name] for name in reversed(names_with_default))


def _are_constants(defaults: tuple[Any, ...] | None) -> bool:
    """Return whether all defaults of a function, if it has any, are None, numbers or texts."""
    return all(value is None or type(value) in _CONSTANT_TYPES for value in defaults or ())


def _identity_suffices(value: Any) -> bool:
    """Return whether a value that is no user's function is unchanged as long as it is the same object."""
    if isinstance(value, (types.FunctionType, type)):
        return not is_user_code(value)
    if type(value) is tuple:  # a tuple of constants is one itself
        return all(type(item) in (tuple, *_TYPES_GUARDED_BY_IDENTITY) and _identity_suffices(item) for item in value)
    if hasattr(type(value), "__autoconv_function__"):
        return True
    if isinstance(value, types.ModuleType):
        return not (is_user_module(value) or guarded_module_attributes(value, frozenset(vars(value))))
    return type(value) in _TYPES_GUARDED_BY_IDENTITY or isinstance(value, (Tensor, np.number, np.bool_))


def _result_form(
    layout: Layout, positions: Iterator[int], contract: type[Contract], returns_arrays: bool
) -> ResultForm | None:
    """Return the form of a call's result, or None if native code cannot build it.

    `positions` gives the positions of outputs of the graph; each leaf of the layout takes the next one.
    """
    if isinstance(layout, Static):
        return _static_form(layout.value)
    if isinstance(layout, Leaf):
        if not isinstance(layout.type, (TensorType, ArrayType, ObjectType)):
            return None
        return OutputResult(next(positions), _result_kind(layout.type, contract, returns_arrays))
    if isinstance(layout, Arms):
        return _variant_form(layout, positions, contract, returns_arrays)
    forms = [_result_form(part, positions, contract, returns_arrays) for part in layout.children]
    parts = tuple(part for part in forms if part is not None)
    if len(parts) < len(forms):
        return None
    if not isinstance(layout, (Parts, Instance)):
        return None
    if layout.kind in (tuple, list) or (layout.kind is dict and _has_known_plain_keys(layout)):
        return ContainerResult(layout.kind, layout.keys, parts)
    if isinstance(layout, Parts) and layout.kind is not dict:
        return CalledResult(partial(_pack_level, Template(layout.kind, layout.keys, (None,) * len(parts))), parts)
    return CalledResult(partial(_rebuild_level, layout.with_children(lambda part: _ANY_LEAF)), parts)


def _static_form(value: Any) -> ResultForm:
    """Return the form of a value that is equal on every call: its containers are made anew, its other parts shared."""
    kind: Any = TRACED_TO_PLAIN.get(type(value), type(value))
    if kind not in (tuple, list, dict, set) or _is_immutable(value):
        return ConstantResult(value)
    if kind is set:
        return CalledResult(partial(untraced_copy, value), ())
    items = tuple(dict.values(value) if kind is dict else kind.__iter__(value))
    return ContainerResult(kind, tuple(dict.keys(value)) if kind is dict else None, tuple(map(_static_form, items)))


def _is_immutable(value: Any) -> bool:
    """Return whether all calls can return the object itself."""
    if type(value) is tuple:
        return all(map(_is_immutable, value))
    return type(value) in _CONSTANT_TYPES or isinstance(value, _IMMUTABLE_CLASSES) or is_immutable_object(value)


def _has_known_plain_keys(layout: Parts | Instance) -> bool:
    """Return whether a dict has keys that native code can build, all of which are present on every call."""
    alternatives = [alternative for part in layout.parts for alternative in part.alternatives]
    may_lack_keys = any(isinstance(layout, Static) and layout.value is MISSING for layout in alternatives)
    return bool(layout.keys) and not may_lack_keys and all(type(key) in _CONSTANT_TYPES for key in layout.keys or ())


def _pack_level(template: Template, *parts: Any) -> Any:
    """Return the structure of one level that has the given parts."""
    return pack(template, parts)


def _rebuild_level(layout: Layout, *parts: Any) -> Any:
    """Return the value of a layout of one level that has the given parts."""
    return rebuild(layout, iter(parts))


_ANY_LEAF = Leaf(TensorType(float64, None))  # the layout of a part that is passed through unchanged


def _variant_form(
    layout: Arms, positions: Iterator[int], contract: type[Contract], returns_arrays: bool
) -> ResultForm | None:
    """Return the form of alternatives, or None if native code cannot build one of them."""
    tag = next(positions)
    # All arms that are numbers share one output.
    number_positions = None if layout.number_type is None else itertools.repeat(next(positions))
    forms: list[ResultForm] = []
    for arm in layout.arms:
        is_number = isinstance(arm, Leaf) and scalar_dtype(arm) is not None
        arm_positions = number_positions if is_number and number_positions is not None else positions
        form = _result_form(arm, arm_positions, contract, returns_arrays)
        if form is None:
            return None
        forms.append(form)
    return SelectedResult(tag, tuple(forms))


def _result_kind(type_: Any, contract: type[Contract], returns_arrays: bool) -> str:
    """Return the kind of Python object for an output, as in `OutputResult`."""
    if isinstance(type_, ObjectType):
        return "object"
    if not contract.python_numbers:
        return "tensor"
    if isinstance(type_, ArrayType):
        return "memory"
    return "number" if type_.weak else "array" if returns_arrays else "tensor"


def _captured_value(captured: Any) -> Any:
    """Return the object that native code reads for a capture: tensors and NumPy's scalars become arrays."""
    value = captured._array if isinstance(captured, EagerTensor) else captured
    return np.asarray(value) if isinstance(value, (np.number, np.bool_)) else value


def _is_native_capture(captured: Any) -> bool:
    """Return whether native code takes the captured value: arrays have to be in C order and writeable."""
    if isinstance(captured, np.generic):
        return False
    return not isinstance(captured, np.ndarray) or (type(captured) is np.ndarray and captured.flags.carray)


_ARRAY_SLOT, _WEAK_SLOT = (slot_offset(EagerTensor(0), name) for name in ("_array", "_weak"))
