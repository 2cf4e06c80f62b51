"""How a compiled graph may be called straight from a user's call: facts for backends that can make use of them."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Captured:
    """A parameter that is the same object on every call."""

    value: Any


@dataclass(frozen=True, slots=True)
class Listed:
    """A parameter that is a list of at least so many items, the first of which is of this class; or a list of such
    lists, so many deep."""

    items: type
    depth: int
    least: int


@dataclass(frozen=True, slots=True)
class Whole:
    """A parameter that is an object of this very class, and is taken as it is."""

    kind: type


ABSENT = object()


@dataclass(frozen=True, slots=True)
class GlobalGuard:
    """`namespace[name]` has to be this very object; for ABSENT there is to be none. `words` are what it holds at some
    offsets, in bytes: this very object too, or NULL for None; `empty` is a dict that has to be so."""

    namespace: dict[str, Any]
    name: str
    value: Any
    words: tuple[tuple[int, Any], ...] = ()
    empty: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CellGuard:
    """A closure's cell has to hold this very object; `words` and `empty` as of a GlobalGuard."""

    cell: Any
    value: Any
    words: tuple[tuple[int, Any], ...] = ()
    empty: dict[str, Any] | None = None


Guard = GlobalGuard | CellGuard


@dataclass(frozen=True, slots=True)
class Given:
    """An output of the graph, by its position. `kind` is what the user gets: a "tensor", an "array" (a NumPy scalar
    where there are no dimensions), "memory" (an ndarray), an "object" as it is, or a "number"."""

    position: int
    kind: str


@dataclass(frozen=True, slots=True)
class Same:
    """The same object on every call; one that cannot be changed."""

    value: Any


@dataclass(frozen=True, slots=True)
class Together:
    """A tuple, a list, or a dict with these keys."""

    kind: type
    keys: tuple[Any, ...] | None
    parts: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The answer whose number the output at the position `tag` is."""

    tag: int
    arms: tuple[Answer, ...]


Answer = Given | Same | Together | OneOf


def outputs_of(answer: Answer) -> dict[int, str]:
    """The positions of the outputs that an answer is made of: what each comes as, "tag" for one that decides."""
    if isinstance(answer, Given):
        return {answer.position: answer.kind}
    found = {answer.tag: "tag"} if isinstance(answer, OneOf) else {}
    inner = answer.arms if isinstance(answer, OneOf) else getattr(answer, "parts", ())
    for part in inner:
        found.update(outputs_of(part))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """What arguments come as and results leave as.

    parameters    for each parameter "tensor" (an instance of `tensor_class`), "array" (an ndarray), "memory" (an
                  ndarray that lies in memory as its type says, shares none with the others unless its type says so,
                  and may be written to),
                  "number" (a Python bool, int or float), a list, an object, or what it always is
    exact         positions of arguments that are no parameters: each has to be of this type and value (of texts,
                  this object)
    answer        what the call answers, made of the outputs
    shares        whether an array that comes out may be memory that somebody else has; else it is copied
    tensor_class  its instances hold an array at `array_slot` and a bool at `weak_slot`, offsets in bytes
    weak          for each parameter that is a tensor, what its bool has to be
    guards        what has to be as it was; else, and while `busy` is not 0, the call answers NotImplemented
    donated       positions of the parameters whose tensors are given away: the call puts `donation` where their arrays
                  were, and may use the memory of those for other arrays
    """

    parameters: tuple[str | Captured | Listed | Whole, ...]
    exact: tuple[tuple[int, Any], ...]
    answer: Answer
    shares: bool
    tensor_class: type
    array_slot: int
    weak_slot: int
    weak: tuple[bool, ...]
    guards: tuple[Guard, ...]
    busy: ctypes.c_int64
    donated: frozenset[int] = frozenset()
    donation: Any = None


DICT_COUNT = 16  # where a dict says how many entries it has


@functools.cache
def function_offsets() -> tuple[int, ...]:
    """Where in a function its defaults, those of keywords and its attributes are held, in bytes; nothing where this
    Python lays functions or dicts out in a way that is not known."""

    def probe() -> None: ...

    held = ("mark",), {"a": 1}, {"b": 1, "c": 2, "d": 3}
    probe.__defaults__, probe.__kwdefaults__, probe.__dict__ = held
    words = list((ctypes.c_void_p * (probe.__sizeof__() // 8)).from_address(id(probe)))
    counted = ctypes.c_int64.from_address(id(held[2]) + DICT_COUNT).value == len(held[2])
    return tuple(8 * words.index(id(one)) for one in held) if counted and all(id(x) in words for x in held) else ()


def slot_offset(instance: Any, name: str) -> int:
    """Where in an object a slot lies, in bytes: the word that holds the address of what was put there."""
    mark = object()
    setattr(instance, name, mark)
    words = (ctypes.c_void_p * (instance.__sizeof__() // 8)).from_address(id(instance))
    return 8 * list(words).index(id(mark))
