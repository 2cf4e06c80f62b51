"""Upper estimate of the time that a call takes as plain Python, from its code and from the values that it reaches.

A first call pays a trace, some 50 ms. Where plain Python certainly takes less, the call may run plain, and a trace is
made once such calls have taken as long (see `plain_presumption`). So the estimate errs on the long side. Each loop
around an instruction multiplies it by the largest size within reach. Sizes are lengths of containers and texts, and
integers where there are `while` loops or loops over ranges.

Recursion counts as one more loop, as it visits the parts of a structure. The estimate is infinite for recursion with
numbers, and for `while` loops over numbers alone or beside floats. It is infinite as well for calls that reach arrays
or objects of this package: these are traced at once.
"""

from __future__ import annotations

import dis
import functools
import itertools
import math
import sys
import types
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autoconv.runtime.support.attribute_hooks import hooks_attributes
from autoconv.runtime.support.attributes import instance_attributes
from autoconv.runtime.support.bytecode import instructions_of

_SECONDS_AN_INSTRUCTION = 30e-9
_MAX_REACHED = 256  # values that are examined
_MAX_SAMPLE = 4  # items of a container that are examined: most have one kind of items
_MAX_CALLERS = 32  # functions that call each other in a chain
_MAX_DEPTH = 4  # loops around an instruction
_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, dict)
_NUMBERS = (bool, int, float, complex, type(None), np.generic)
_NAME_LOADS = frozenset(
    {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"}
)  # fmt: skip

Polynomial = Counter[int]
"""Numbers of instructions, by the number of loops around them."""


class Unbounded(Exception):
    """No bound of the work is known, or the call is traced at once."""


def estimate_seconds(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> float:
    """Return a time in seconds that a plain call of `function` hardly exceeds; infinity if none is known."""
    try:
        reach = _Reach(function, args, kwargs)
        work = reach.work(function, ())
    except Unbounded:
        return math.inf
    if reach.has_while and (reach.has_floats or reach.has_numbers_only):  # sizes do not bound such a loop
        return math.inf
    size = max(reach.size, reach.integer if reach.integers_bound_loops else 0, 2)
    if reach.is_recursive:
        size = max(size, reach.value_count)
    depths = ((depth + reach.is_recursive, count) for depth, count in work.items())
    return _SECONDS_AN_INSTRUCTION * sum(count * float(size) ** depth for depth, count in depths)


class _Loops:
    """The instructions of a code object by loop depth, the names and code that it uses there, and the kinds of loops.
    """

    def __init__(self, code: types.CodeType) -> None:
        instructions = list(instructions_of(code))
        # JUMP_BACKWARD_NO_INTERRUPT, which waits for the value of a generator, is no loop of the program.
        loops = [(i.argval, i.offset) for i in instructions if "BACKWARD" in i.opname and "INTERRUPT" not in i.opname]
        starts = {start for start, _ in loops}  # each loop is (offset of its start, offset of a jump back to it)
        for_starts = {i.offset for i in instructions if i.opname == "FOR_ITER"}
        self.has_while = bool(starts - for_starts)
        bounds = {start: max(end for loop_start, end in loops if loop_start == start) for start in starts}
        self.counts: Polynomial = Counter()
        self.names: list[tuple[str, int]] = []  # (name, loops around its use)
        self.codes: list[tuple[types.CodeType, int]] = []  # (code of an inner function, loops around its calls)
        self.integers: list[int] = []  # constants that are compared
        for instruction, following in itertools.zip_longest(instructions, instructions[1:]):
            offset, value = instruction.offset, instruction.argval
            depth = sum(start <= offset <= end for start, end in bounds.items())
            self.counts[depth] += 1
            if instruction.opname in _NAME_LOADS:
                self.names.append((value, depth))
            elif isinstance(value, types.CodeType):
                is_comprehension = value.co_name.startswith("<") and value.co_name != "<lambda>"
                # A comprehension runs once; other inner functions may be called in a loop.
                self.codes.append((value, depth if is_comprehension else depth + 1))
            elif type(value) is int and following is not None and following.opname == "COMPARE_OP":
                self.integers.append(value)
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        calls = (i for i, instruction in enumerate(instructions) if instruction.argval == "range")
        self.ranges = [_range_operands(instructions[i + 1 :], parameters) for i in calls]  # for each call of `range`


def _range_operands(instructions: list[dis.Instruction], parameters: tuple[str, ...]) -> tuple[Any, ...] | None:
    """Return the constants, and the names of parameters, in the arguments of a call of `range`.

    `instructions` follow the one that loads `range`. Return None if the arguments use other values, or other functions
    than `len`.
    """
    operands: list[Any] = []
    for instruction in instructions:
        name, value = instruction.opname, instruction.argval
        if name == "CALL":
            return tuple(operands)
        if name == "LOAD_CONST" or (name == "LOAD_FAST" and value in parameters):
            operands.append(value)
        elif name != "BINARY_OP" and value != "len":
            return None
    return None


_LOOPS_BY_CODE: weakref.WeakKeyDictionary[types.CodeType, _Loops] = weakref.WeakKeyDictionary()


def _loops_in(code: types.CodeType) -> _Loops:
    """Return the instructions of a code object by loop depth, found once."""
    result = _LOOPS_BY_CODE.get(code)
    if result is None:
        result = _LOOPS_BY_CODE[code] = _Loops(code)
    return result


class _Reach:
    """The values that a call may reach by arguments, names and attributes, and the largest sizes among them.

    `size` is the largest length, and `integer` the largest absolute value of an integer; it counts as a size if
    `integers_bound_loops`. `has_numbers_only` is true if all arguments are numbers.
    """

    def __init__(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.size = self.integer = 0
        self.has_floats = self.has_while = self.integers_bound_loops = self.is_recursive = False
        self._classes: dict[type, None] = {}
        self._visited: set[int] = set()
        self._work: dict[types.CodeType, Polynomial] = {}
        receiver = (function.__self__,) if type(function) is types.MethodType else ()
        python_function = _underlying(function)
        names = () if python_function is None else python_function.__code__.co_varnames
        self._arguments = {**dict(zip(names, (*receiver, *args), strict=False)), **kwargs}
        values = (*receiver, *args, *kwargs.values())
        self.has_numbers_only = all(issubclass(type(value), _NUMBERS) for value in values)
        self._has_number_argument = any(issubclass(type(value), _NUMBERS) and value is not None for value in values)
        self._note_integers(values)
        self._add(values)

    def _add(self, values: Iterable[Any]) -> None:
        """Note values, and what they contain."""
        worklist = list(values)
        while worklist:
            value = worklist.pop()
            class_ = type(value)
            if issubclass(class_, _NUMBERS):
                if issubclass(class_, (float, complex, np.inexact)):
                    self.has_floats = True
            elif id(value) not in self._visited:
                self._visited.add(id(value))
                if len(self._visited) > _MAX_REACHED:
                    raise Unbounded
                worklist.extend(self._parts(value, class_))

    @property
    def value_count(self) -> int:
        """The number of values within reach."""
        return len(self._visited)

    def _note_integers(self, values: Iterable[Any]) -> None:
        """Note integers that may bound loops: arguments, named values and attributes, but not items of containers."""
        self.integer = max(self.integer, *_absolute_integers(values), 0)

    def _parts(self, value: Any, class_: type) -> Iterator[Any]:
        """Yield some parts of a value, and note its size and class."""
        if issubclass(class_, np.ndarray) or _is_class_of_package(class_):
            if not getattr(value, "__autoconv_function__", False):
                raise Unbounded
        elif issubclass(class_, _SIZED):
            base: Any = next(base for base in _SIZED if issubclass(class_, base))
            self.size = max(self.size, base.__len__(value))
            if issubclass(class_, dict):
                yield from itertools.islice(dict.values(value), _MAX_SAMPLE)
                yield from itertools.islice(dict.keys(value), _MAX_SAMPLE)
            elif not issubclass(class_, (str, bytes, bytearray)) and class_ in _SIZED:
                yield from itertools.islice(value, _MAX_SAMPLE)
        elif class_ is range:
            start, stop = value.start, value.stop  # they also bound the items, which may be ends of further ranges
            self.size = max(self.size, min(max(abs(start), abs(stop), abs(stop - start)), sys.maxsize) if value else 0)
        elif not issubclass(class_, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
            if hooks_attributes(class_):
                raise Unbounded
            self._classes[class_] = None
            if type(type.__getattribute__(class_, "__dict__").get("__dict__")) is types.GetSetDescriptorType:
                attributes = tuple(instance_attributes(value).values())
                self._note_integers(attributes)
                yield from attributes

    def work(self, function: Any, callers: tuple[types.CodeType, ...]) -> Polynomial:
        """Return the instructions of a call of `function`, with those of the functions that its code names."""
        function = _underlying(function)
        if function is None:
            return Counter()
        names = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=False))
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        self._note_integers(defaults)
        self._add(defaults)
        return self._work_of_code(function.__code__, function.__globals__, names, callers)

    def _work_of_code(
        self, code: types.CodeType, globals_: dict[str, Any], cells: dict[str, Any], callers: tuple[types.CodeType, ...]
    ) -> Polynomial:
        """Return the instructions of a run of `code`, as `work` does; a recursive call adds none."""
        if len(callers) > _MAX_CALLERS or (code in callers and self._has_number_argument):
            raise Unbounded
        if code in callers:
            self.is_recursive = True
            return Counter()
        if code in self._work:
            return self._work[code]
        loops = _loops_in(code)
        self._note_loops(loops, is_first=not callers)
        callers = (*callers, code)
        total = loops.counts.copy()
        for inner, depth in loops.codes:
            _accumulate(total, self._work_of_code(inner, globals_, cells, callers), depth)
        for name, depth in loops.names:
            for callee in self._callees(name, globals_, cells):
                _accumulate(total, self.work(callee, callers), depth)
        self._work[code] = total
        return total

    def _note_loops(self, loops: _Loops, is_first: bool) -> None:
        """Note what bounds the loops of a code object; only of the function called first, the arguments are known."""
        self.has_while |= loops.has_while
        for operands in loops.ranges:
            if operands is None or not is_first:
                self.integers_bound_loops = True
            else:
                values = [self._arguments.get(value) if isinstance(value, str) else value for value in operands]
                self.size = max(self.size, *_absolute_integers(values), 0)
        self.integers_bound_loops |= loops.has_while
        self.integer = max(self.integer, *loops.integers, 0)

    def _callees(self, name: str, globals_: dict[str, Any], cells: dict[str, Any]) -> Iterator[Any]:
        """Yield the functions that a name may refer to, as a name or as a method, and note other values."""
        value: Any = globals_.get(name)
        if name in cells:
            try:
                value = cells[name].cell_contents
            except ValueError:  # the cell is empty
                value = None
        class_ = type(value)
        owners = list(self._classes)
        if _is_of_package(value):
            raise Unbounded
        if issubclass(class_, type):
            owners, self._classes[value] = [*owners, value], None
            yield from _members(value, "__init__")
        elif class_ is types.FunctionType or _is_class_of_package(class_):
            yield _plain_function(value)
        elif value is not None:
            self._note_integers((value,))
            self._add((value,))
        for owner in owners:
            yield from _members(owner, name)


def _absolute_integers(values: Iterable[Any]) -> Iterator[int]:
    """Yield the absolute values of the integers, Python's and NumPy's, among the values."""
    for value in values:
        if issubclass(type(value), int):
            yield int.__abs__(value)  # a subclass may have methods of the program
        elif issubclass(type(value), np.integer):
            yield abs(int(value))


def _is_of_package(value: Any) -> bool:
    """Return whether a name refers to a module, class or function of this package, other than converted code's `ag__`.
    """
    if type(value) is types.ModuleType:
        return value.__name__ != "autoconv.operators" and value.__name__.partition(".")[0] == "autoconv"
    if issubclass(type(value), type):
        return _is_class_of_package(value)
    is_function = type(value) in (types.FunctionType, types.BuiltinFunctionType)
    return is_function and str(value.__module__).partition(".")[0] == "autoconv"


def _is_class_of_package(class_: type) -> bool:
    """Return whether a class is one of this package; no code of a metaclass runs."""
    return str(type.__getattribute__(class_, "__module__")).partition(".")[0] == "autoconv"


def _underlying(function: Any) -> types.FunctionType | None:
    """Return the Python function of a function or method; None for other callables, whose attributes are not read."""
    function = function.__func__ if type(function) is types.MethodType else function
    return function if type(function) is types.FunctionType else None


def _accumulate(total: Polynomial, instructions: Polynomial, depth: int) -> None:
    """Add instructions inside of `depth` loops."""
    for inner_depth, count in instructions.items():
        if depth + inner_depth > _MAX_DEPTH:
            raise Unbounded
        total[depth + inner_depth] += count


def _members(class_: type, name: str) -> Iterator[Any]:
    """Yield the function of a method or property of a class."""
    for base in type.__getattribute__(class_, "__mro__"):
        member = type.__getattribute__(base, "__dict__").get(name)
        if member is not None:
            if type(member) in (staticmethod, classmethod):
                member = member.__func__
            elif type(member) in (property, functools.cached_property):
                member = member.fget if type(member) is property else member.func
            yield _plain_function(member)
            return


def _plain_function(value: Any) -> Any:
    """Return the Python function of a compiled function; other values themselves, without reading attributes."""
    return value.python_function if is_compiled_function(value) else value


def is_compiled_function(value: Any) -> bool:
    """Return whether a value is a compiled function of this package."""
    return _is_class_of_package(type(value)) and getattr(value, "__autoconv_function__", False)
