"""Call forms: how the arguments and results of a user's call map to those of a compiled graph."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from autoconv.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Captured:
    """A parameter that is the same object on every call."""

    value: Any


@dataclass(frozen=True, slots=True)
class ListParameter:
    """A parameter that takes `list_depth` nested lists.

    A call checks only the first item at each depth: the innermost one has to be of class `item_type`, and the product
    of the lengths at least `min_length_product`.
    """

    item_type: type
    list_depth: int
    min_length_product: int


@dataclass(frozen=True, slots=True)
class InstanceParameter:
    """A parameter that is an instance of exactly this class, passed through unchanged."""

    instance_type: type


ABSENT = object()  # stands for the value of a global name that is unbound
# Forms of parameters, see `CallForm.parameters`. In `TensorKey.origin` the last stride, in elements, follows BY_STRIDES
# if it is part of the key.
BY_COLUMNS, BY_STRIDES = "array by columns", "array by strides"
# Size in bytes from which a writable array in neither C nor Fortran order is read by its strides; smaller ones are
# copied.
MIN_STRIDED_BYTES = 1 << 13


@dataclass(frozen=True, slots=True)
class GlobalGuard:
    """Guard that `namespace[name]` is this very object, or, for ABSENT, that the name is unbound.

    `fields` pairs offsets in the object, in bytes, with the object that each has to hold (None: a NULL pointer).
    `empty_dict` is a dict that has to be empty.
    """

    namespace: dict[str, Any]
    name: str
    value: Any
    fields: tuple[tuple[int, Any], ...] = ()
    empty_dict: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CellGuard:
    """Guard that a closure cell holds this very object; `fields` and `empty_dict` as in GlobalGuard."""

    cell: Any
    value: Any
    fields: tuple[tuple[int, Any], ...] = ()
    empty_dict: dict[str, Any] | None = None


Guard = GlobalGuard | CellGuard


@dataclass(frozen=True, slots=True)
class OutputResult:
    """An output of the graph, by position.

    `kind` is the form in which the user gets it: "tensor", "array" (a NumPy scalar for rank 0), "memory" (an ndarray),
    "object" (unchanged) or "number".
    """

    position: int
    kind: str


@dataclass(frozen=True, slots=True)
class ConstantResult:
    """The same immutable object on every call."""

    value: Any


@dataclass(frozen=True, slots=True)
class ContainerResult:
    """A new container of the parts; `keys` are those of a dict, None for others."""

    container_type: type
    keys: tuple[Any, ...] | None
    parts: tuple[ResultForm, ...]


@dataclass(frozen=True, slots=True)
class CalledResult:
    """The result of a Python function applied to the parts, such as a named tuple, an object or a copy of a set."""

    function: Callable[..., Any]
    parts: tuple[ResultForm, ...]


@dataclass(frozen=True, slots=True)
class SelectedResult:
    """One of several results, selected by the integer output at `tag_position`."""

    tag_position: int
    arms: tuple[ResultForm, ...]


ResultForm = OutputResult | ConstantResult | ContainerResult | CalledResult | SelectedResult


def output_kinds(form: ResultForm) -> dict[int, str]:
    """Return the kind of each output that a result uses, by the output's position; that of a tag is "tag"."""
    if isinstance(form, OutputResult):
        return {form.position: form.kind}
    result = {form.tag_position: "tag"} if isinstance(form, SelectedResult) else {}
    parts = form.arms if isinstance(form, SelectedResult) else getattr(form, "parts", ())
    for part in parts:
        result.update(output_kinds(part))
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """Forms of the arguments and results of a call.

    parameters    for each parameter "tensor" (an instance of `tensor_class`), "array" (an ndarray), BY_COLUMNS (one in
                  Fortran order, whose transposition is the graph's argument), "memory" (a writable ndarray, laid out
                  as its type states, with memory of its own unless the type states otherwise), BY_STRIDES (the same,
                  only read), "number" (a Python bool, int or float), or one of the parameter classes above
    fixed_arguments  positions of arguments that are no parameters, with the type and value that each must have (for
                  strings, the identical object)
    defaults      the arguments that stand for the last ones where a call omits them
    result        the result of the call, built from the outputs
    outputs_may_share_memory  whether output arrays may share memory with other holders; otherwise they are copied
    tensor_class  its instances hold an array at `array_slot` and a bool at `weak_slot`, offsets in bytes
    weak          for each tensor parameter, the value that its bool must have
    guards        conditions on globals and cells; if one fails, or while `busy` is not 0, the call returns
                  NotImplemented
    donated       positions of parameters whose tensors are donated: the call replaces their arrays by `donation` and
                  may reuse the memory for other arrays
    saved         positions of "memory" parameters that are copied before the graph runs; if it fails,
                  `restore(error, array, copy, array, copy, ...)` is called
    """

    parameters: tuple[str | Captured | ListParameter | InstanceParameter, ...]
    fixed_arguments: tuple[tuple[int, Any], ...]
    defaults: tuple[Any, ...]
    result: ResultForm
    outputs_may_share_memory: bool
    tensor_class: type
    array_slot: int
    weak_slot: int
    weak: tuple[bool, ...]
    guards: tuple[Guard, ...]
    busy: ctypes.c_int64
    donated: frozenset[int] = frozenset()
    donation: Any = None
    saved: frozenset[int] = frozenset()
    restore: Callable[..., None] | None = None


DICT_COUNT = 16  # offset of the number of entries in a dict object, in bytes


@functools.cache
def function_offsets() -> tuple[int, ...]:
    """Return the offsets of `__code__`, `__defaults__`, `__kwdefaults__` and `__dict__` in a function, in bytes.

    The tuple is empty where this Python's layout of functions or dicts is unknown.
    """

    def probe() -> None: ...

    values = probe.__code__, ("mark",), {"a": 1}, {"b": 1, "c": 2, "d": 3}
    _, probe.__defaults__, probe.__kwdefaults__, probe.__dict__ = values
    words = list((ctypes.c_void_p * (probe.__sizeof__() // 8)).from_address(id(probe)))
    has_count = ctypes.c_int64.from_address(id(values[3]) + DICT_COUNT).value == len(values[3])
    has_layout = has_count and all(id(value) in words for value in values)
    return tuple(8 * words.index(id(value)) for value in values) if has_layout else ()


def slot_offset(instance: Any, name: str) -> int:
    """Return the offset in bytes of the word of an object that holds the value of slot `name`."""
    unique_object = object()
    setattr(instance, name, unique_object)
    words = (ctypes.c_void_p * (instance.__sizeof__() // 8)).from_address(id(instance))
    return 8 * list(words).index(id(unique_object))
