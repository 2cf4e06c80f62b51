"""Reads and assignments of variables. At run time a resource is any object with an array `value`."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.effects import Effects
from autoconv.graph.types import ResourceType, TensorType, Type, are_shapes_compatible, shape_text
from autoconv.ops.elementwise.arithmetic import quiet
from autoconv.ops.gradients import pass_cotangent
from autoconv.ops.record import Builder, define, sample


class VariableCell:
    """The cell of a variable: the simplest resource, which holds the value."""

    __slots__ = ("shape", "value")

    def __init__(self, value: Any) -> None:
        self.value = np.asarray(value)
        self.shape = self.value.shape


def _type_of_variable(op_name: str, resource: Type) -> TensorType:
    """Return the type of a variable's value; raise TypeError if the operand is no variable of tensors."""
    if not isinstance(resource, ResourceType) or not isinstance(resource.value, TensorType):
        raise TypeError(f"{op_name} takes a variable, found {resource}")
    return resource.value


def _read_type(resource: Type) -> TensorType:
    return _type_of_variable("read_variable", resource)


def _assign_type(resource: Type, value: TensorType) -> TensorType:
    """Return the type of a variable's new value; its shape is the value's, or the variable's if that is unknown."""
    declared_type = _type_of_variable("assign_variable", resource)
    if value.dtype is not declared_type.dtype:
        raise TypeError(
            f"a variable of {declared_type.dtype.name} cannot be assigned a value of {value.dtype.name}; cast first"
        )
    if not are_shapes_compatible(declared_type.shape, value.shape):
        raise ValueError(
            f"Cannot assign value to variable: the shape of the variable is [{shape_text(declared_type.shape)}], "
            f"that of the value [{shape_text(value.shape)}]"
        )
    return declared_type if value.shape is None else declared_type.with_shape(value.shape)


def _check_value(resource: Any, value: Any) -> Any:
    """Return the value as an array; raise InvalidArgumentError for another dtype or shape than the variable's."""
    value = np.asarray(value)
    old_value = resource.value
    if value.dtype != old_value.dtype:
        raise InvalidArgumentError(f"a variable of {old_value.dtype} cannot be assigned a value of {value.dtype}")
    declared_shape = getattr(resource, "shape", None)
    if not are_shapes_compatible(declared_shape, value.shape):
        raise InvalidArgumentError(
            f"Cannot assign value to variable: the shape of the variable is [{shape_text(declared_shape)}], "
            f"that of the value {list(value.shape)}"
        )
    return value


def _assign(resource: Any, value: Any) -> Any:
    resource.value = _check_value(resource, value)
    return resource.value


def _assign_add(resource: Any, value: Any) -> Any:
    return _update(resource, value, np.add)


def _assign_subtract(resource: Any, value: Any) -> Any:
    return _update(resource, value, np.subtract)


def _update(resource: Any, value: Any, ufunc: np.ufunc) -> Any:
    """Assign ufunc(old value, value) to the variable; return the new value."""
    old_value = resource.value
    if np.shape(value) != old_value.shape:
        raise InvalidArgumentError(
            f"Cannot update variable with shape {list(old_value.shape)} using a Tensor with shape "
            f"{list(np.shape(value))}, shapes must be equal."
        )
    resource.value = np.asarray(ufunc(old_value, _check_value(resource, value)))
    return resource.value


def _assignment_gradient(b: Builder, inputs: Any, results: Any, cotangents: Any, attributes: Any) -> Any:
    """Pass the cotangent to the variable, none to the assigned value: the result counts as a new read."""
    return cotangents[0], None


read_variable = define(
    name="read_variable", graphdef="ReadVariableOp", result=_read_type,
    kernel=lambda resource: resource.value,
    gradient=pass_cotangent, effects=Effects.READ,
    samples=(sample(VariableCell([1.5, 2.0])),),
)  # fmt: skip
assign_variable = define(
    name="assign_variable", graphdef="AssignVariableOp", result=_assign_type, kernel=_assign,
    gradient=_assignment_gradient,
    effects=Effects.WRITE, samples=(sample(VariableCell([1.5, 2.0]), np.array([0.5, 1.0])),),
)  # fmt: skip
assign_add_variable = define(
    name="assign_add_variable", graphdef="AssignAddVariableOp", result=_assign_type,
    kernel=quiet(_assign_add), gradient=_assignment_gradient, effects=Effects.READ | Effects.WRITE,
    samples=(sample(VariableCell([1.5, 2.0]), np.array([0.5, 1.0])),),
)  # fmt: skip
assign_sub_variable = define(
    name="assign_sub_variable", graphdef="AssignSubVariableOp", result=_assign_type,
    kernel=quiet(_assign_subtract), gradient=_assignment_gradient, effects=Effects.READ | Effects.WRITE,
    samples=(sample(VariableCell([1.5, 2.0]), np.array([0.5, 1.0])),),
)  # fmt: skip

VARIABLE_OPS = frozenset(  # names of ops whose first operand is a variable
    op.name for op in (read_variable, assign_variable, assign_add_variable, assign_sub_variable)
)
