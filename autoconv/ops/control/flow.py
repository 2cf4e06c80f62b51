"""Ops with regions: cond, while, call, try; and raise.

Their bodies are graphs, which backends interpret or compile. Captures follow the operands:

- `cond(index, *captures)` has one region per arm, each with the captures as parameters.
- `while(*state, *captures)` has the regions test and body, both with state and captures as parameters.
- `call(*arguments)` has one region, shared by the calls of a recursive function (then `recursive` is true).
- `try(*captures)` has three regions. The body takes the captures; the normal end takes the body's results and the
  captures; the handler takes the exception and the captures.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

import numpy as np

from autoconv.graph.effects import Effects
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType, Type, is_subtype, join
from autoconv.ops.record import define, no_gradient


def _cond_types(index: TensorType, *captures: Type, regions: Sequence[Graph], **_: Any) -> tuple[Type, ...]:
    """Return the joins of the arms' output types; the index is a bool (arms: true, false) or an integer."""
    if not (index.dtype.is_bool or index.dtype.is_integer) or index.shape not in ((), None):
        raise TypeError(f"cond takes a bool or integer scalar, found {index}")
    counts = {len(region.outputs) for region in regions}
    if len(counts) != 1:
        raise TypeError(f"the arms of a cond have {sorted(counts)} outputs; they need the same number")
    first_arm, *other_arms = regions
    joined_types = [value.type for value in first_arm.outputs]
    for region in other_arms:
        joined_types = [join(type_, value.type) for type_, value in zip(joined_types, region.outputs, strict=True)]
    return tuple(joined_types)


def _while_types(*inputs: Type, regions: Sequence[Graph], state: int, **_: Any) -> tuple[Type, ...]:
    """Return the types of the `state` loop variables, the body's first parameters.

    Raises TypeError unless outputs are of subtypes.
    """
    _test, body = regions
    state_types = tuple(value.type for value in body.parameters[:state])
    for type_before, output in zip(state_types, body.outputs, strict=True):
        if not is_subtype(output.type, type_before):
            raise TypeError(f"a loop variable is {type_before} before an iteration and {output.type} after it")
    return state_types


def _call_types(*inputs: Type, regions: Sequence[Graph], **_: Any) -> tuple[Type, ...]:
    return tuple(value.type for value in regions[0].outputs)


define(
    name="cond", graphdef="If", result=_cond_types, kernel=None,
    gradient=no_gradient("differentiated by its regions"),
    result_name=lambda name, index: f"{name}/Identity_{index}:0" if index else f"{name}/Identity:0",
    control=True, selects=True,
)  # fmt: skip
define(
    name="while", graphdef="While", result=_while_types, kernel=None,
    gradient=no_gradient("differentiated by its regions"),
    result_name=lambda name, index: f"{name}:{index + 2}",  # TensorFlow's loops have two counters before the state
    control=True, repeats=True,
)  # fmt: skip
define(
    name="call", graphdef="PartitionedCall", result=_call_types, kernel=None,
    gradient=no_gradient("differentiated by its region"),
    # recursion may exceed Python's limit
    effects=lambda types, attributes: Effects.RAISE if attributes.get("recursive") else Effects.PURE,
    control=True,
)  # fmt: skip


def _try_types(*captures: Type, regions: Sequence[Graph], **_attributes: Any) -> tuple[Type, ...]:
    """Return the joins of the output types of the normal end and of the handler."""
    _, normal_end, handler = regions
    if len(normal_end.outputs) != len(handler.outputs):
        raise TypeError("both ends of a try need the same number of outputs")
    pairs = zip(normal_end.outputs, handler.outputs, strict=True)
    return tuple(join(value.type, other.type) for value, other in pairs)


define(
    name="try", graphdef="Try", result=_try_types, kernel=None,
    gradient=no_gradient("differentiated by its regions"),
    control=True,
)  # fmt: skip


def _raise(*data: Any, exception: Any, template: tuple[Any, ...] | None, chain: Any = None) -> tuple[()]:
    """Raise `exception`: an instance if `template` is None, else a class with one argument per entry of the template.

    An entry is the number of an input, for the input as a Python number; (number,), for the input as NumPy's scalar;
    (None, value), for the value; or a tuple of strings and numbers of inputs, which become one text. `chain` is an
    exception whose cause and context the new exception gets, or None.
    """
    if template is None:
        raise copy_exception(exception)
    raise _copy_links(exception(*(_exception_argument(entry, data) for entry in template)), chain)


def _exception_argument(entry: Any, data: Sequence[Any]) -> Any:
    """Return the argument of an exception for an entry of the template of `_raise`."""
    if isinstance(entry, int):
        return data[entry].item() if _is_scalar(data[entry]) else data[entry]
    if entry and entry[0] is None:
        return entry[1]
    if entry and isinstance(entry[0], int):
        return data[entry[0]][()]
    return "".join(piece if isinstance(piece, str) else format_data(data[piece]) for piece in entry)


_MISSING = object()  # the value of an attribute that an instance lacks


def copy_exception(exception: BaseException) -> BaseException:
    """Return a copy of the exception, with its cause and context; each raise needs a separate instance."""
    class_: Any = type(exception)
    try:
        copy = class_.__new__(class_, *exception.args)  # without running the constructor again
    except Exception:  # the class cannot be instantiated by these arguments
        return exception.with_traceback(None)
    copy.args = exception.args
    for name in _slot_names(class_):  # such as SyntaxError.msg, StopIteration.value
        with suppress(AttributeError, TypeError):
            attribute = getattr(exception, name)
            if getattr(copy, name, _MISSING) is not attribute:
                setattr(copy, name, attribute)
    vars(copy).update(vars(exception))
    return _copy_links(copy, exception)


@lru_cache(maxsize=256)
def _slot_names(class_: type) -> tuple[str, ...]:
    """Return the names of attributes that instances of an exception class hold in slots, not in their `__dict__`."""
    return tuple(
        name
        for base in class_.__mro__
        if base not in (BaseException, object)
        for name, descriptor in vars(base).items()
        if isinstance(descriptor, (GetSetDescriptorType, MemberDescriptorType)) and not name.startswith("__")
    )


def _copy_links(copy: BaseException, original: BaseException | None) -> BaseException:
    """Return `copy` after setting its cause and context to those of `original`, unless that is None."""
    if original is not None:
        copy.__cause__, copy.__context__ = original.__cause__, original.__context__
        copy.__suppress_context__ = original.__suppress_context__
    return copy


def format_data(value: Any) -> str:
    """Return the text of a value; a scalar of the graph has the text of its Python number."""
    return str(value.item()) if _is_scalar(value) else str(value)


def _is_scalar(value: object) -> bool:
    """Return whether the value is a number of the graph.

    The class is tested first, since objects of the program may have attributes of any name.
    """
    return isinstance(value, (np.ndarray, np.generic)) and value.ndim == 0


define(
    name="raise", graphdef="Raise", result=lambda *_, **__: (), kernel=_raise,
    gradient=no_gradient("makes no value"), effects=Effects.RAISE | Effects.OUTPUT,
)  # fmt: skip


def _absent_types(*, type: Type) -> Type:
    return type


def _absent(*, type: Type) -> Any:
    """Return a value of the type, which nothing reads: zeros, or None for a type other than a tensor's."""
    if not isinstance(type, TensorType):
        return None
    shape = tuple(size if isinstance(size, int) else 0 for size in type.shape or ())
    return np.zeros(shape, type.dtype.numpy)


define(
    name="absent", graphdef="Absent", result=_absent_types, kernel=_absent,
    gradient=no_gradient("stands where a variant's arm has no payload; never read"),
)  # fmt: skip
