"""The record of an op, and the registry of all ops.

Every op is complete: `define` refuses a duplicate, and a missing gradient is written `no_gradient("reason")`. The
samples on each record are what the tests over `OPS` run: kernel against type rule, gradient against finite
differences, every backend against the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type
from autoconv.ops.traits import Traits

OPS: dict[str, Op] = {}
_NO_TRAITS = Traits()
_TRAITS = frozenset(field.name for field in fields(Traits))


class Builder(Protocol):
    """Applies ops by name: `b.add(x, y)`, `b.reduce_sum(x, axis=(0,), keepdims=False)`.

    Gradients are written against it, so that one rule records into a graph or runs eagerly. An op with one
    result returns it bare, with several a tuple.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]: ...


ResultRule = Callable[..., "Type | Sequence[Type]"]
Kernel = Callable[..., Any]
Gradient = Callable[..., Any]
EffectRule = Callable[[Sequence[Type], Mapping[str, Any]], Effects]


# Failures of a type rule itself; a trace would take them for errors of the program.
_FAILURES = (IndexError, KeyError, AttributeError, AssertionError, NameError, ZeroDivisionError)
_MAX_BYTES = 2**63  # bytes that native code can count


def _is_beyond_memory(type_: Type) -> bool:
    """Return whether the array is larger than any memory, in bytes that native code could not count."""
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
    """Inputs (arrays) and attributes on which an op is tested; `differentiable` lists the inputs to perturb."""

    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    differentiable: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """The record of an op.

    name            its name here, in the graph's text, and in `Builder`
    graphdef        its name in a TensorFlow GraphDef
    result          type rule: (*input types, **attributes) -> a result type, or a sequence of them; raises TypeError or
                    ValueError with the reason for incompatible inputs. Ops with regions take `regions=` as well
    kernel          (*arrays, **attributes) -> array, or a tuple of them: the meaning of the op, in NumPy.
                    None for control flow, which backends interpret
    gradient        (b, inputs, results, cotangents, attributes) -> a cotangent (or None) per input, written in
                    other ops through the Builder `b`; or no_gradient("reason")
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
        """Return the result types of an application; raises the rule's errors, StagingError where the rule fails."""
        try:
            types_found: Any = (
                self.result(*inputs, regions=regions, **attributes) if regions else self.result(*inputs, **attributes)
            )
        except _FAILURES as error:
            if type(error) not in _FAILURES or (type(error) is IndexError and "index out of range" not in str(error)):
                raise  # raised on purpose by the rule
            raise StagingError(f"{self.name} has no rule for {', '.join(map(str, inputs))}") from error
        results = tuple(types_found) if isinstance(types_found, (tuple, list)) else (types_found,)
        if any(map(_is_beyond_memory, results)):
            raise StagingError(f"{self.name} would give an array of more than {_MAX_BYTES} bytes")
        return results

    def __repr__(self) -> str:
        return f"<Op {self.name}>"


def define(**facts: Any) -> Op:
    """Make an op and add it to `OPS`; raises ValueError when the name is taken.

    `facts` are fields of `Op`, and of its `Traits`.
    """
    traits = Traits(**{name: facts.pop(name) for name in _TRAITS & facts.keys()})
    op = Op(**facts, traits=traits)
    if op.name in OPS:
        raise ValueError(f"the op {op.name!r} is defined twice")
    OPS[op.name] = op
    return op


def no_gradient(reason: str) -> NoGradient:
    """Mark an op as having no gradient, with the reason."""
    return NoGradient(reason)


def sample(*inputs: Any, differentiable: tuple[int, ...] | None = None, **attributes: Any) -> Sample:
    return Sample(inputs, attributes, differentiable)
