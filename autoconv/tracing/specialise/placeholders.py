"""The arguments of a trace: placeholders for the leaves, and the structures around them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.call_form import BY_COLUMNS
from autoconv.graph.types import ArrayType, ObjectType
from autoconv.ops import OPS
from autoconv.ops.values.generator_types import generator_class
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import traced_argument
from autoconv.runtime.objects.symbolic_generators import SymbolicGenerator
from autoconv.runtime.objects.symbolic_objects import SymbolicObject
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.recording.tape_recorders import active_recorders
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.structure import pack
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.tracing.guards.list_facts import list_item_type
from autoconv.tracing.guards.trace_restrictions import RunPlain
from autoconv.tracing.key.argument_containers import containers_by_template
from autoconv.tracing.key.array_keys import ArrayKey, describe_array, needs_numpy
from autoconv.tracing.key.cache_key import CustomKey, ObjectKey, OuterName, SpecKey, TensorKey
from autoconv.tracing.key.call import Call
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.key.trace_types import TracingContext


def make_placeholders(trace: Trace, call: Call, names: Sequence[str]) -> list[Any]:
    """Return the leaves for the traced function: symbolic values, placeholders of variables, or values of the key.

    Add a parameter to the graph for each symbolic value and variable.
    """
    leaves: list[Any] = []
    for position, (leaf, key, name) in enumerate(zip(call.leaves, call.key.leaves, names, strict=True)):
        if isinstance(leaf, (np.ndarray, np.generic)) and trace.contract.numpy_arrays and needs_numpy(leaf):
            description = with_article(describe_array(leaf))
            raise RunPlain(f"{name!r} is {description}, which a graph does not take as an array of numbers")
        if isinstance(key, TensorKey) and key.origin == BY_COLUMNS:
            (transposed_type,) = OPS["transpose"].result_types([key.type], {"perm": None})
            value = trace.root.graph.add_parameter(transposed_type, name)
            leaves.append(SymbolicTensor(trace.root.graph.add(OPS["transpose"], [value], {"perm": None}).results[0]))
        elif isinstance(key, TensorKey) and key.is_by_strides:
            shape = key.type.shape or ()
            stride = None if key.last_stride is None else key.last_stride * key.type.dtype.size
            type_ = ArrayType(key.type.dtype, shape, (*(None,) * (len(shape) - 1), stride), shared=True)
            array = trace.root.graph.add_parameter(type_, name)
            leaves.append(SymbolicTensor(trace.root.graph.add(OPS["array_load"], [array], {}).results[0]))
        elif isinstance(key, TensorKey):
            value = trace.root.graph.add_parameter(key.type, name)
            positions = trace.positions_of_numbers
            if positions is not None and key.origin == "number":
                positions[value] = position
            leaves.append(SymbolicTensor(value))
        elif isinstance(key, ArrayKey):
            if not key.is_behaved:
                raise RunPlain(f"the array {name!r} is read-only or has an unusual memory layout")
            type_ = replace(key.type, shared=call.key.overlaps)
            leaves.append(SymbolicArray(trace.root.graph.add_parameter(type_, name)))
        elif isinstance(key, ObjectKey):
            value = trace.root.graph.add_parameter(ObjectType(key.kind), name)
            item_type = list_item_type(key)
            if item_type is not None:
                trace.argument_list_items[value] = item_type
            is_generator = generator_class(value.type) is not None
            leaves.append(SymbolicGenerator(value) if is_generator else SymbolicObject(value))
        elif isinstance(key, SpecKey):
            leaves.append(key.spec(trace.root.graph.add_parameter(key.spec.type, name)))
        elif isinstance(leaf, Variable):
            value = trace.root.graph.add_parameter(leaf.storage.type, name)
            leaves.append(_argument_variable(leaf, value))
        elif isinstance(key, CustomKey):
            leaves.append(key.type.placeholder_value(TracingContext()))
        else:
            leaves.append(leaf)
    return leaves


def _argument_variable(caller_variable: Variable, value: Any) -> Variable:
    """Return the placeholder of a variable argument, whose value in the graph is the parameter `value`."""
    placeholder = Variable.__new__(Variable)
    placeholder.__dict__.update(caller_variable.__dict__)
    storage = caller_variable.storage

    value_in_graph = value  # in the class below, `value` is an attribute

    class ArgumentStorage:
        """The storage of the placeholder: that of the caller's variable, whose value in the graph is the parameter."""

        value_in_root = value_in_graph
        name, shape, type, number = storage.name, storage.shape, storage.type, storage.number
        value, element_type = storage.value, storage.element_type
        variable, outer_recorders = weakref.ref(caller_variable), active_recorders()

        @staticmethod
        def __autoconv_resource__(region: Any) -> Any:
            return region.lift(value_in_graph)

    placeholder._storage = ArgumentStorage()  # type: ignore[assignment]
    return placeholder


def rebuild_arguments(trace: Trace, call: Call, leaves: list[Any]) -> dict[str, Any]:
    """Return the arguments by name, with structures rebuilt around the placeholders `leaves`.

    Register those containers with the trace that it writes. Their leaves follow the leaves of all arguments.
    """
    arguments: dict[str, Any] = {}
    for (name, template), leaf_slice in zip(call.key.templates, call.key.leaf_slices(), strict=True):
        argument = pack(template, leaves[leaf_slice], initialise=not trace.contract.objects_in_graph)
        arguments[name] = traced_argument(argument) if trace.contract.objects_in_graph else argument
    container_leaves = iter(leaves[call.key.template_leaf_count :])
    for name, template in call.key.templates:
        is_written = name in call.key.written_arguments
        for container in containers_by_template(arguments[name], template) if template and is_written else ():
            trace.argument_containers[id(container)] = container, next(container_leaves)
    return arguments


def invoke(target: Callable[..., Any], signature: Signature, arguments: dict[str, Any]) -> Any:
    """Call the function with the arguments, each as its parameter requires: by position, by keyword, or collected."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    remaining_arguments = {name: value for name, value in arguments.items() if not isinstance(name, OuterName)}
    for name, parameter in signature.python_signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            index = 0
            while f"{name}_{index}" in remaining_arguments:
                positional.append(remaining_arguments.pop(f"{name}_{index}"))
                index += 1
        elif parameter.kind is parameter.VAR_KEYWORD:
            keywords.update(remaining_arguments)
            remaining_arguments.clear()
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = remaining_arguments.pop(name)
        else:
            positional.append(remaining_arguments.pop(name))
    return target(*positional, **keywords)
