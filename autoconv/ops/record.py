"""The record that an op is, and the registry of all of them.

An op cannot arrive half-made: `define` refuses a duplicate, a missing gradient is written `none("reason")`, and the
samples on each record are what the tests over `OPS` run (kernel against result rule, gradient against finite
differences, every backend against the kernel).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from autoconv.errors import StagingError
from autoconv.graph.effects import Effects
from autoconv.graph.types import TensorType, Type

if TYPE_CHECKING:
    from autoconv.graph.graph import Graph

OPS: dict[str, Op] = {}


class Builder(Protocol):
    """Applies ops by name: `b.add(x, y)`, `b.reduce_sum(x, axis=(0,), keepdims=False)`.

    Gradients are written against it, so that the same rule records into a graph or runs at once. An op with one
    result answers it bare, with several a tuple.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]: ...


ResultRule = Callable[..., "Type | Sequence[Type]"]
Kernel = Callable[..., Any]
Gradient = Callable[..., Any]
EffectRule = Callable[[Sequence[Type], Mapping[str, Any]], Effects]


# What a rule does not raise on purpose; a trace would take it for an error of the program's.
_FAILURES = (IndexError, KeyError, AttributeError, AssertionError, NameError, ZeroDivisionError)
_ADDRESSES = 2**63


def _is_beyond_memory(type_: Type) -> bool:
    """Whether no machine has memory for such an array, whose bytes native code could not count."""
    if not isinstance(type_, TensorType) or type_.shape is None:
        return False
    known = [size for size in type_.shape if isinstance(size, int)]
    return bool(known) and 0 not in known and math.prod(known) * type_.dtype.size >= _ADDRESSES


@dataclass(frozen=True, slots=True)
class NoGradient:
    """Why an op has no gradient."""

    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """Inputs (arrays) and attributes that an op is tested on; `differentiable` says which inputs to perturb."""

    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    differentiable: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """What an op is.

    name            its name here, in the graph's text, and in `Builder`
    graphdef        its name in a TensorFlow GraphDef
    result          (*input types, **attributes) -> a result type, or a sequence of them; raises TypeError or
                    ValueError saying what does not fit. Ops with regions take `regions=` as well
    kernel          (*arrays, **attributes) -> array, or a tuple of them: the meaning of the op, in NumPy.
                    None for control flow, which backends interpret
    gradient        (b, inputs, results, cotangents, attributes) -> a cotangent (or None) an input, written in
                    other ops by way of the Builder `b`; or none("reason")
    effects         what running it may do, or a rule over (input types, attributes)
    unify           which inputs have to be of one dtype: their indices, or "all"
    commutative     f(x, y) == f(y, x)
    identity        the e for which f(x, e) == x
    shape_only      the inputs of which nothing but the shape (of a list: the length too) is read
    elementwise     every element of the result depends on the same element of the (broadcast) inputs alone
    result_name     (name of the node, index) -> what a result is called where a tensor is printed
    samples         what the tests over the registry run
    """

    name: str
    graphdef: str
    result: ResultRule
    kernel: Kernel | None
    gradient: Gradient | NoGradient
    effects: Effects | EffectRule = Effects.PURE
    unify: tuple[int, ...] | str = ()
    commutative: bool = False
    identity: int | float | bool | None = None
    elementwise: bool = False
    shape_only: tuple[int, ...] = ()
    result_name: Callable[[str, int], str] | None = None
    samples: tuple[Sample, ...] = ()

    def result_types(
        self, inputs: Sequence[Type], attributes: Mapping[str, Any], regions: Sequence[Graph] = ()
    ) -> tuple[Type, ...]:
        """The result types of one application; raises what the rule raises, and StagingError where the rule fails."""
        try:
            found: Any = (
                self.result(*inputs, regions=regions, **attributes) if regions else self.result(*inputs, **attributes)
            )
        except _FAILURES as error:
            if type(error) not in _FAILURES or (type(error) is IndexError and "index out of range" not in str(error)):
                raise  # a rule's own words
            raise StagingError(f"{self.name} has no rule for {', '.join(map(str, inputs))}") from error
        results = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if any(map(_is_beyond_memory, results)):
            raise StagingError(f"{self.name} would give an array of more than {_ADDRESSES} bytes")
        return results

    def __repr__(self) -> str:
        return f"<Op {self.name}>"


def define(**fields: Any) -> Op:
    """Makes an op and puts it into `OPS`; raises ValueError when the name is taken."""
    op = Op(**fields)
    if op.name in OPS:
        raise ValueError(f"the op {op.name!r} is defined twice")
    OPS[op.name] = op
    return op


def none(reason: str) -> NoGradient:
    """Says that an op has no gradient, and why."""
    return NoGradient(reason)


def sample(*inputs: Any, differentiable: tuple[int, ...] | None = None, **attributes: Any) -> Sample:
    return Sample(inputs, attributes, differentiable)
