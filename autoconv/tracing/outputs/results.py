"""Conversion of a traced function's result to the outputs of its graph."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import is_dataclass
from types import BuiltinMethodType, EllipsisType, GeneratorType, MethodWrapperType, NotImplementedType
from typing import Any

import numpy as np

from autoconv.emit.converted import is_of_converted_class_statement
from autoconv.graph.types import TensorType
from autoconv.operators.control.iterables import StagedIterable, StagedRange
from autoconv.operators.control.variants import merge_arms
from autoconv.operators.regions.layout import Layout, Static, Variant, is_container
from autoconv.operators.regions.marshalling import emit
from autoconv.operators.regions.value_layout import layout_of
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.protected_names import Undefined, ld
from autoconv.operators.values.tensor_lists import map_list
from autoconv.runtime.arrays.read_only import is_read_only
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TracedSet, has_optional_keys, heap_of, items_of
from autoconv.runtime.objects.dict_views import DictView
from autoconv.runtime.objects.rebuilt_arguments import find_rebuilt, refuse_rebuilt
from autoconv.runtime.objects.symbol_search import captures_trace_values, varies_by_call
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, box
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import Trace, current_region
from autoconv.runtime.recording.tracebacks import place_at_definition
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.closure_contents import BoundSymbolicMethod
from autoconv.runtime.support.immutable_classes import is_immutable_object
from autoconv.runtime.support.remedies import COMPILE_ADVICE
from autoconv.runtime.support.shape import TensorShape
from autoconv.runtime.support.structure import (
    flatten,
    is_structure,
    keys_of,
    loses_state,
    mutable_parts,
    pack,
    raw_items,
)
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor, convert_to_tensor
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor, Tensor
from autoconv.tracing.guards import trace_restrictions


def make_outputs(result: Any, trace: Trace, function: Any) -> tuple[Layout, list[Any]]:
    """Convert a traced function's result; return its layout, and the values to be the graph's outputs."""
    region = trace.root
    for part in find_rebuilt([result]) if trace.contract.promises_identity else ():
        refuse_rebuilt(part, "of the arguments is returned")  # completes "a CLASS …", the reason for users
    converted_result = _convert_result(result, trace, function)
    layout = layout_of(converted_result, region)
    for value in _static_values(layout):  # those in arms and objects have not been examined by `_convert_result`
        if isinstance(value, (TracedGenerator, StagedIterable, HeldIterator, DictView)):
            raise trace_restrictions.RunPlain(f"{_describe(value)} is returned")
        if trace.contract.promises_identity and (varies_by_call(value) or _is_class_made_by_call(type(value))):
            raise trace_restrictions.RunPlain(f"{_describe(value)} is returned")
    values = emit(converted_result, layout, region)
    outputs = []
    for value in values:
        if isinstance(value.type, TensorType):
            node = region.record("identity", [value], {}, node_name="Identity")
            outputs.append(node.results[0])
        else:
            outputs.append(value)
    return layout, outputs


def _static_values(layout: Layout) -> Iterator[Any]:
    """Iterate over the Python objects in a layout that are the same in every run."""
    if isinstance(layout, Static):
        yield from _nested_values(layout.value, set())
    for part in getattr(layout, "parts", ()) or getattr(layout, "arms", ()):
        yield from _static_values(part)


def _nested_values(value: Any, seen: set[int]) -> Iterator[Any]:
    """Iterate over a value and, if it is a container, over its items at any depth."""
    yield value
    if not isinstance(value, (tuple, list, dict, set, frozenset)) or id(value) in seen:
        return
    seen.add(id(value))
    for part in (*dict.keys(value), *dict.values(value)) if isinstance(value, dict) else raw_items(value):
        yield from _nested_values(part, seen)


def _convert_result(value: Any, trace: Trace, function: Any) -> Any:
    """Return a result, or a part of one, in the form that `layout_of` takes.

    Under `function` every number becomes a tensor; under `compile` Python's numbers stay.
    """
    if type(value) in (Variant, Undefined):
        value = ld(value)
    if id(value) in trace.argument_containers:
        _, argument = trace.argument_containers[id(value)]
        return argument
    if type(value) in (SymbolicObject, SymbolicArray):
        return value
    if heap_of(value) is not None:
        return box(value)
    if items_of(value) is not None and not trace.contract.objects_in_graph:
        return map_list(value, functools.partial(_convert_result, trace=trace, function=function))
    if has_optional_keys(value):
        return {key: _convert_result(item, trace, function) for key, item in dict.items(value)}
    is_leaf = functools.partial(_is_returned_as_object, trace) if trace.contract.promises_identity else None
    if is_structure(value) and not (is_leaf is not None and is_leaf(value)):
        leaves, template = flatten(value, is_leaf)
        result = pack(template, [_convert_result(leaf, trace, function) for leaf in leaves], initialise=is_leaf is None)
        if any(_is_created_by_trace(trace, key) for key in keys_of(template)) and trace.contract.promises_identity:
            raise trace_restrictions.RunPlain("a dict is returned with a key that is an object made by the call")
        reassembled = (part for part in mutable_parts(result) if is_dataclass(part) or type(part) is dict)
        copies = (part for part in reassembled if not _is_created_by_trace(trace, part))
        trace.reassembled_objects.update((id(part), part) for part in copies)
        return result
    if isinstance(value, Variant):
        return merge_arms(value, _convert_arms(value, trace, function), current_region() or trace.root)
    return _python_result(value, trace) if trace.contract.python_numbers else _tensor_result(value, trace, function)


def _python_result(value: Any, trace: Trace) -> Any:
    """Convert a result under `compile`; raise RunPlain for a value that a graph cannot return."""
    tensor = as_tensor(value)
    if tensor is not None:
        return _to_symbolic(tensor, trace)
    if isinstance(value, type) and _is_class_made_by_call(value):
        raise trace_restrictions.RunPlain("a class created by the call is returned")
    if type(value) is TracedSet:
        value.ordered_source()  # raises StagingError where no set has its order
        return value
    if _is_constant(value):
        return value
    if isinstance(value, np.ndarray):
        raise trace_restrictions.RunPlain("an array from outside, or a view of one, is returned")
    if isinstance(value, np.generic):
        trace.uses_arrays = True
        return _to_symbolic(EagerTensor(value), trace)
    if _is_created_by_trace(trace, value):
        if _is_class_made_by_call(type(value)):
            raise trace_restrictions.RunPlain("an object is returned whose class is created by the call")
        return value
    if type(value) is StagedRange:
        return box(value)
    raise trace_restrictions.RunPlain(f"{_describe(value)} is returned")


def _is_constant(value: Any) -> bool:
    """Return whether the value is an immutable object of Python's or its library's classes, a class or a dtype."""
    if type(value) is slice:
        return all(map(_is_constant, (value.start, value.stop, value.step)))
    is_set_of_constants = type(value) is frozenset and all(map(_is_constant, value))
    return isinstance(value, _CONSTANT_TYPES) or is_set_of_constants or is_immutable_object(value)


_CONSTANT_TYPES = (
    type(None), bool, int, float, complex, str, bytes, type, range, np.dtype, EllipsisType, NotImplementedType
)  # fmt: skip


def _tensor_result(value: Any, trace: Trace, function: Any) -> Any:
    """Convert a result under `function`; raise TypeError for a value that is no tensor."""
    if value is None:
        return None
    tensor = as_tensor(value)
    if tensor is not None:
        if tensor.weak:
            return convert_to_tensor(tensor)
        return _to_symbolic(tensor, trace)
    is_known_shape = isinstance(value, TensorShape) and value.is_fully_defined()
    if is_known_shape or isinstance(value, (bool, int, float, complex, str, bytes, np.ndarray, np.generic)):
        return convert_to_tensor(value)
    if isinstance(value, range):
        return list(map(convert_to_tensor, value))
    if hasattr(type(value), "__autoconv_graph_value__") and not isinstance(value, TracedSet):
        return value
    text = (
        "To be compatible with autoconv.function, Python functions must return zero or more Tensors or ExtensionTypes "
        f"or None values; in compilation of {function!r}, found return value of type {type(value).__name__}, "
        "which is not a Tensor or ExtensionType. Return its tensors: a tuple, list or dict of them. "
        f"Or: {COMPILE_ADVICE}."
    )
    raise place_at_definition(TypeError(text), function)


def _is_returned_as_object(trace: Trace, value: Any) -> bool:
    """Return whether a structure is returned as the object itself, with all of its attributes."""
    return loses_state(value) or _is_created_by_trace(trace, value) or id(value) in trace.argument_containers


def _is_created_by_trace(trace: Trace, value: Any) -> bool:
    """Return whether code of the trace created the object."""
    return trace.created_objects is not None and id(value) in trace.created_objects


def _is_class_made_by_call(cls: type) -> bool:
    """Return whether each call makes the class anew, so that its objects differ in class from call to call."""
    return is_of_converted_class_statement(cls) or captures_trace_values(cls)


def _describe(value: Any) -> str:
    """Return the class of a value as Python's users call it, with an article."""
    if isinstance(value, StagedIterable):
        return with_article(type(value).__name__.removeprefix("Staged").lower())
    if isinstance(value, (BoundSymbolicMethod, BuiltinMethodType, MethodWrapperType)):
        return "a method"
    if isinstance(value, (HeldIterator, Iterator)) and value.__class__ is not GeneratorType:
        return "an iterator"
    return with_article(value.__class__)


def _convert_arms(value: Variant, trace: Trace, function: Any) -> list[Any]:
    """Return the converted arms of a variant; under `compile`, arms that are Python constants stay unchanged."""
    keeps_numbers = trace.contract.python_numbers
    result = []
    for layout, arm in zip(value.layouts, value.values, strict=True):
        is_absent = arm is MISSING or isinstance(arm, Undefined)
        is_unchanged = isinstance(layout, Static) and (is_absent or (keeps_numbers and not is_container(layout)))
        result.append(arm if is_unchanged else _convert_result(arm, trace, function))
    return result


def _to_symbolic(tensor: Tensor, trace: Trace) -> Any:
    """Return a resulting tensor as a value of the trace; arrays that are read-only stay so."""
    if isinstance(tensor, SymbolicTensor):
        if trace.contract.numpy_arrays and tensor.type.shape != () and is_read_only(tensor.value_in_graph, trace):
            return dispatch.apply("numpy_read_only", tensor)
        return tensor
    return SymbolicTensor(trace.capture(tensor, tensor.type, "Const"))
