"""The record of an op, and the registry of all ops.

`define` refuses a second op of one name, and an op without a gradient states `no_gradient("reason")`. Tests run each op
in `OPS` on the samples of its record: they compare the kernel with the type rule, the gradient with finite differences,
and every backend with the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Protocol

from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.traits import Traits

OPS: dict[str, Op] = {}
_NO_TRAITS = Traits()
_TRAITS = frozenset(field.name for field in fields(Traits))


class Builder(Protocol):
    """An object that applies ops by name: `b.add(x, y)`, `b.reduce_sum(x, axis=(0,), keepdims=False)`.

    Gradient rules take a builder `b`, so that one rule records into a graph or runs eagerly. A method returns the
    result of the op, or a tuple of several results.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]: ...


ResultRule = Callable[..., "Type | Sequence[Type]"]
Kernel = Callable[..., Any]
Gradient = Callable[..., Any]
EffectRule = Callable[[Sequence[Type], Mapping[str, Any]], Effects]


# Errors of a type rule for inputs that it does not foresee. A trace would take them for errors of the program.
_FAILURES = (IndexError, KeyError, AttributeError, AssertionError, NameError, ZeroDivisionError)
_MAX_BYTES = 2**63  # bytes that native code can count


def _is_beyond_memory(type_: Type) -> bool:
    """Return whether an array of the type has more bytes than a signed integer of 64 bits can count."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return False
    sizes = [size for size in type_.shape if isinstance(size, int)]
    return bool(sizes) and 0 not in sizes and math.prod(sizes) * type_.dtype.size >= _MAX_BYTES


@dataclass(frozen=True, slots=True)
class NoGradient:
    """The reason why an op has no gradient."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs (arrays) and attributes on which an op is tested.

    The gradient is tested for the inputs at the positions `differentiable`; None for all of float64 and complex128.
    """

    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    differentiable: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """The record of an op.

    name            its name in `OPS`, in the graph's text, and in `Builder`
    graphdef        its name in a TensorFlow GraphDef
    result          type rule: (*input types, **attributes) -> a result type, or a sequence of them; raises TypeError or
                    ValueError with the reason for incompatible inputs. Ops with regions take `regions=` as well
    kernel          (*arrays, **attributes) -> array, or a tuple of them: the meaning of the op, in NumPy. Python
                    objects are returned in a tuple, even a single one. None for control flow, which backends interpret
    gradient        (b, inputs, results, cotangents, attributes) -> a cotangent (or None) per input, written in
                    other ops through the Builder `b`; or no_gradient("reason"), which a rule may return as well
    effects         side effects, or a rule over (input types, attributes)
    unify           inputs that must have one dtype: their indices, or "all"
    traits          facts that analyses, passes and backends read
    result_name     (name of the node, index) -> name of a result in printed tensors
    samples         inputs for the tests over the registry
    """

    name: str
    graphdef: str
    result: ResultRule
    kernel: Kernel | None
    gradient: Gradient | NoGradient
    effects: Effects | EffectRule = Effects.PURE
    unify: tuple[int, ...] | str = ()
    traits: Traits = _NO_TRAITS
    result_name: Callable[[str, int], str] | None = None
    samples: tuple[Sample, ...] = ()

    def result_types(
        self, inputs: Sequence[Type], attributes: Mapping[str, Any], regions: Sequence[Any] = ()
    ) -> tuple[Type, ...]:
        """Return the result types of an application of the op.

        Raises the errors that the type rule raises on purpose; StagingError if the rule fails by one of `_FAILURES`, or
        if a result would not fit into memory.
        """
        try:
            rule_result: Any = (
                self.result(*inputs, regions=regions, **attributes) if regions else self.result(*inputs, **attributes)
            )
        except _FAILURES as error:
            if type(error) not in _FAILURES or (type(error) is IndexError and "index out of range" not in str(error)):
                raise  # raised on purpose by the rule
            raise StagingError(f"{self.name} has no rule for {', '.join(map(str, inputs))}") from error
        results = tuple(rule_result) if isinstance(rule_result, (tuple, list)) else (rule_result,)
        if any(map(_is_beyond_memory, results)):
            raise StagingError(f"{self.name} would give an array of more than {_MAX_BYTES} bytes")
        return results

    def __repr__(self) -> str:
        return f"<Op {self.name}>"


def define(**record_fields: Any) -> Op:
    """Make an op and add it to `OPS`; raises ValueError when the name is taken.

    `record_fields` are fields of `Op`, and of its `Traits`.
    """
    traits = Traits(**{name: record_fields.pop(name) for name in _TRAITS & record_fields.keys()})
    op = Op(**record_fields, traits=traits)
    if op.name in OPS:
        raise ValueError(f"the op {op.name!r} is defined twice")
    OPS[op.name] = op
    return op


def no_gradient(reason: str) -> NoGradient:
    """Mark an op as having no gradient, with the reason."""
    return NoGradient(reason)


def sample(*inputs: Any, differentiable: tuple[int, ...] | None = None, **attributes: Any) -> Sample:
    return Sample(inputs, attributes, differentiable)
