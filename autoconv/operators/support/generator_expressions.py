"""Sources of comprehensions, and traced generators, which stay unevaluated until they are consumed."""

from __future__ import annotations

import dis
import functools
import gc
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from autoconv.config.paths import is_own_file
from autoconv.errors import StagingError
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.spans import current_place

_ITERATOR_DEPTH = 4  # the largest number of nested iterators that are examined


class Source:
    """The parts of `element for into in iterable if conditions`; an element that is a Source is the next `for` clause.

    The element and the conditions are functions of the target's names. `into` is the source text of a target with
    several names.
    """

    __slots__ = ("conditions", "element", "is_nested", "iterable", "unpack")

    def __init__(
        self,
        iterable: Iterable[Any],
        element: Callable[..., Any],
        conditions: tuple[Callable[..., Any], ...] = (),
        into: str = "",
    ) -> None:
        self.iterable = iterable
        self.element = element
        self.conditions = conditions
        self.is_nested = False  # whether some element is itself a Source
        self.unpack = _unpacking_function(into) if into else _to_tuple


class GeneratorCall:
    """The result of a call of a generator function.

    In Python it is `function(*args, **kwargs)`. `pass_values(take, *args, **kwargs)` passes the values to the
    function `take` until that returns true; `pass_values` is None where Python takes the values.
    """

    __slots__ = ("args", "function", "is_nested", "kwargs", "pass_values", "stand_in")

    def __init__(
        self, function: Callable[..., Any], pass_values: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function = function
        self.pass_values = pass_values
        self.args = args
        self.kwargs = kwargs
        self.is_nested = True  # as a nested Source, it cannot be resumed after an early exit from a loop
        self.stand_in: Any = None  # the TracedGenerator by which the program refers to it

    def is_held(self) -> bool:
        """Return whether a variable of the program refers to the generator, so that no loop's end closes it."""
        frame = sys._getframe(1)
        while frame is not None:
            if not is_own_file(frame.f_code.co_filename) and any(x is self.stand_in for x in frame.f_locals.values()):
                return True
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def values(self) -> Iterator[Any]:
        """Return Python's generator over the values."""
        result: Iterator[Any] = self.function(*self.args, **self.kwargs)
        return result


def _to_tuple(item: object) -> tuple[Any]:
    return (item,)


@functools.cache
def _unpacking_function(into: str) -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that unpacks an item into that target, and returns the values of the names as a tuple."""
    name_texts = into.translate(str.maketrans("()*", "   ")).split(",")
    names = ", ".join(name.strip() for name in name_texts if name.strip())
    assign = eval(compile(f"lambda item: [({names},) for {into} in (item,)][0]", __file__, "eval"))

    def unpack(item: object) -> tuple[Any, ...]:
        """Assign the item to the target; an error of this assignment is one of the program."""
        try:
            values: tuple[Any, ...] = assign(item)
        except Exception as error:
            mark_program_error(error)
            raise
        return values

    return unpack


class TracedGenerator:
    """A generator of the program under trace, made by a generator expression or by a call of a generator function.

    For statements and builtins consume its source in a graph loop; to other Python code it is a generator.
    """

    def __init__(self, source: Source, values: Callable[[Source], Iterator[Any]]) -> None:
        self._source = source
        self._values = values
        self._home = current_region()
        self._iterator: Iterator[Any] | None = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return types.GeneratorType

    def take_source(self) -> Any:
        """Return the Source for a loop, or the iterator if single values were taken.

        The caller must call `leave` after a loop whose end does not depend on a tensor.
        """
        self._check_region()
        if self._iterator is not None:
            return self._iterator
        if type(self._source) is GeneratorCall and self._source.pass_values is None:
            return self._python_iterator()
        self._iterator = _exhausted_generator()
        if type(self._source) is GeneratorCall:
            self._source.stand_in = self
        return self._source

    @property
    def is_generator_call(self) -> bool:
        """True if a call of a generator function made it."""
        return type(self._source) is GeneratorCall

    @property
    def is_unstarted(self) -> bool:
        """True if no value has been taken yet."""
        return self._iterator is None

    @property
    def is_repeatable(self) -> bool:
        """True if its values can be taken again after `reset`: its source is no iterator."""
        return type(self._source) is Source and not isinstance(self._source.iterable, Iterator)

    def reset(self) -> None:
        """Return to the state before the first value, after the effects of taking values were undone."""
        self._iterator = None

    def leave(self, is_exhausted: bool) -> None:
        """Set the state after a loop that `is_exhausted` or was left early.

        After an early exit, more values can be taken if the source is an iterator, which continues; others refuse.
        """
        if is_exhausted:
            self._iterator = iter(())
        elif not self._source.is_nested and isinstance(self._source.iterable, Iterator):
            self._iterator = None

    def __iter__(self) -> TracedGenerator:
        return self

    def __next__(self) -> Any:
        self._check_region()
        return next(self._python_iterator())

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._python_iterator(), name)

    def _python_iterator(self) -> Iterator[Any]:
        """Return Python's iterator over the remaining values; it is made at the first call."""
        if self._iterator is None:
            self._iterator = self._values(self._source)
            if self._home is not None and isinstance(self._iterator, types.GeneratorType):
                self._home.trace.generators.append(weakref.ref(self._iterator))
        return self._iterator

    def _check_region(self) -> None:
        """Raise StagingError outside of the region that made the generator."""
        if self._home is None or current_region() is not self._home.merged_region:
            raise StagingError(
                "whether this generator expression is iterated depends on a tensor", current_place(),
                "the generator expression where its values are used, or a list",
            )  # fmt: skip


def binds_outer_names(iterator: object) -> bool:
    """Return whether a generator expression, perhaps behind other iterators, assigns to names outside (`y := x`)."""
    pending_values = [(iterator, 0)]
    while pending_values:
        value, depth = pending_values.pop()
        if isinstance(value, types.GeneratorType) and _stores_outer_names(value.gi_code):
            return True
        if isinstance(value, Iterator) and depth < _ITERATOR_DEPTH:
            pending_values += [(part, depth + 1) for part in gc.get_referents(value)]
    return False


@functools.cache
def _stores_outer_names(code: types.CodeType) -> bool:
    """Return whether `code` is that of a generator expression that assigns to outer names."""
    if code.co_name != "<genexpr>":
        return False
    steps = dis.get_instructions(code)
    stored_names = {step.argval for step in steps if step.opname in ("STORE_DEREF", "STORE_GLOBAL")}
    return not stored_names <= {*code.co_varnames, *code.co_cellvars}


def _exhausted_generator() -> Iterator[NoReturn]:
    raise StagingError(
        "a generator expression is iterated again after a loop over it in the graph", current_place(),
        "a list",
    )  # fmt: skip
    yield


TracedGenerator.__name__ = "generator"  # the name in messages
