"""Functions of Python's library and of NumPy as Python code, which is converted: iterators, reductions, copies.

`convert_library_function` runs the converted function where an argument is part of the graph. What these functions do
not cover raises StagingError, so that the call runs as plain Python.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from autoconv.errors import StagingError
from autoconv.operators.support.generator_expressions import TracedGenerator
from autoconv.operators.support.signature_check import call_for_program
from autoconv.ops.program_errors import mark_program_error
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.recording.program_reads import treat_as_program
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.support.trace_callables import called_unconverted
from autoconv.runtime.tensors.symbolic import SymbolicTensor


def convert_library_function(
    function: Any, convert: Callable[[Any], Any], unconverted_form: Callable[[Any], Any]
) -> Callable[..., Any] | None:
    """Return a function of the library that is converted where its arguments are part of the graph; None for others.

    Functions in `_UNCONVERTED_ON_PLAIN_VALUES` run as `unconverted_form(function)` if no argument holds a value of the
    graph, or is a generator expression of the program. All others are always converted.
    """
    source = SOURCE_BY_FUNCTION.get(function) if isinstance(function, Hashable) else None
    if source is None:
        return None

    def apply(*args: Any, **kwargs: Any) -> Any:
        """Call the unconverted form on plain values, else the converted code."""
        values = (*args, *kwargs.values())
        has_plain_values = not holds_symbols(values) and not any(type(x) is TracedGenerator for x in values)
        if has_plain_values and function in _UNCONVERTED_ON_PLAIN_VALUES:
            return unconverted_form(function)(*args, **kwargs)
        try:
            inspect.signature(source).bind(*args, **kwargs)
        except TypeError:
            return call_for_program(function, *args, **kwargs)  # raises Python's error
        return convert(source)(*args, **kwargs)

    return apply


@called_unconverted
def refuse(reason: str) -> None:
    """Raise StagingError for a form of a call that is not converted."""
    raise StagingError(reason, current_place())


@called_unconverted
def program_error(error_class: type[Exception], message: str) -> Exception:
    """Make an error that the program can catch."""
    return mark_program_error(error_class(message))


@called_unconverted
def _is_array(value: object) -> bool:
    return isinstance(value, (np.ndarray, SymbolicArray, SymbolicTensor))


def accumulate(
    iterable: Iterable[Any], func: Callable[[Any, Any], Any] | None = None, *, initial: object = None
) -> Iterator[Any]:
    """Implement itertools.accumulate."""
    if initial is None and _is_array(iterable):
        rows: Any = iterable
        if len(rows):
            total = rows[0]
            yield total
            for i in range(1, len(rows)):
                total = total + rows[i] if func is None else func(total, rows[i])
                yield total
    else:
        total, has_total = initial, initial is not None
        if has_total:
            yield total
        for item in iterable:
            if not has_total:
                total, has_total = item, True
            else:
                total = total + item if func is None else func(total, item)
            yield total


def chain(*iterables: Iterable[Any]) -> Iterator[Any]:
    """Implement itertools.chain."""
    for iterable in iterables:
        yield from iterable


def chain_from_iterable(iterable: Iterable[Iterable[Any]], /) -> Iterator[Any]:
    """Implement itertools.chain.from_iterable."""
    for items in iterable:
        yield from items


def combinations(iterable: Iterable[Any], r: int) -> Iterator[tuple[Any, ...]]:
    """Implement itertools.combinations of two or three items."""
    pool = list(iterable)
    if r not in (2, 3):
        refuse("itertools.combinations of another number of items than two or three")

    def generate() -> Iterator[tuple[Any, ...]]:
        """Yield the combinations in the order of their positions."""
        for i in range(len(pool)):
            for j in range(i + 1, len(pool)):
                if r == 2:
                    yield pool[i], pool[j]
                else:
                    for k in range(j + 1, len(pool)):
                        yield pool[i], pool[j], pool[k]

    return generate()


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """Implement itertools.compress."""
    for item, selector in zip(data, selectors, strict=False):
        if selector:
            yield item


def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    """Implement itertools.count."""
    number = start
    while True:
        yield number
        number = number + step


def cycle(iterable: Iterable[Any], /) -> Iterator[Any]:
    """Implement itertools.cycle."""
    items = []
    for item in iterable:
        yield item
        items.append(item)
    while items:
        for item in items:
            yield item


def dropwhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """Implement itertools.dropwhile."""
    is_dropping = True
    for item in iterable:
        if is_dropping and predicate(item):
            continue
        is_dropping = False
        yield item


def filterfalse(predicate: Callable[[Any], Any] | None, iterable: Iterable[Any], /) -> Iterator[Any]:
    """Implement itertools.filterfalse."""
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def groupby(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Implement itertools.groupby.

    A group is yielded once all its items were read from `iterable`, and is emptied before the next one is yielded.
    """
    current, group, has_group = None, [], False
    for item in iterable:
        value = item if key is None else key(item)
        if has_group and value in (current,):  # the same object or an equal one, such as a nan
            group.append(item)
        else:
            if has_group:
                yield current, (member for member in group)
                group.clear()
            current, group, has_group = value, [item], True
    if has_group:
        yield current, (member for member in group)
        group.clear()


def islice(iterable: Iterable[Any], /, *bounds: Any) -> Iterator[Any]:
    """Implement itertools.islice for bounds that are ints."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]  # the step is 1 unless given
    if not isinstance(start, int) or not isinstance(stop, int) or step != 1:
        refuse("itertools.islice is given a step, or bounds that are no ints")
    if start < 0 or stop < 0:
        names = "Stop argument" if stop == -1 else "Indices"  # to CPython, -1 is a failed conversion
        raise program_error(ValueError, f"{names} for islice() must be None or an integer: 0 <= x <= sys.maxsize.")

    def generate() -> Iterator[Any]:
        """Yield the items from `start` to `stop`."""
        item_count = max(start, stop)  # items before `start` are skipped even if `stop` is smaller
        if item_count > 0:
            for i, item in enumerate(iterable):
                if start <= i < stop:
                    yield item
                if i + 1 >= item_count:
                    return

    return generate()


def pairwise(iterable: Iterable[Any], /) -> Iterator[tuple[Any, Any]]:
    """Implement itertools.pairwise."""
    if _is_array(iterable):
        rows: Any = iterable
        for i in range(1, len(rows)):
            yield rows[i - 1], rows[i]
    else:
        previous, has_previous = None, False
        for item in iterable:
            if has_previous:
                yield previous, item
            previous, has_previous = item, True


def product(*iterables: Iterable[Any], repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    """Implement itertools.product of at most three iterables."""
    pools = [list(iterable) for iterable in iterables] * repeat
    if not 1 <= len(pools) <= 3:
        refuse("itertools.product of none, or of more than three iterables")

    def generate() -> Iterator[tuple[Any, ...]]:
        """Yield the tuples; the last iterable is advanced first."""
        for first in pools[0]:
            if len(pools) == 1:
                yield (first,)
            else:
                for second in pools[1]:
                    if len(pools) == 2:
                        yield first, second
                    else:
                        for third in pools[2]:
                            yield first, second, third

    return generate()


def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], /, *initial: object) -> Any:
    """Implement functools.reduce."""
    if initial:
        (result,) = initial
        for item in iterable:
            result = function(result, item)
        return result
    items: Any = iterable if _is_array(iterable) else list(iterable)
    if not len(items):
        raise program_error(TypeError, "reduce() of empty iterable with no initial value")
    result = items[0]
    for i in range(1, len(items)):
        result = function(result, items[i])
    return result


def starmap(function: Callable[..., Any], iterable: Iterable[Iterable[Any]], /) -> Iterator[Any]:
    """Implement itertools.starmap."""
    for arguments in iterable:
        yield function(*arguments)


def takewhile(predicate: Callable[[Any], Any], iterable: Iterable[Any], /) -> Iterator[Any]:
    """Implement itertools.takewhile."""
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dict_fromkeys(iterable: Iterable[Any], value: object = None, /) -> dict[Any, Any]:
    """Implement dict.fromkeys."""
    return {key: value for key in iterable}  # noqa: C420 - that would be a call of dict.fromkeys


def replace(instance: Any, /, **changes: object) -> Any:
    """Implement dataclasses.replace for classes whose fields are all arguments of the constructor."""
    names: Any = _names_of_kept_fields(instance, *changes)
    if names is None:
        refuse("dataclasses.replace is given other objects than dataclasses, or names that are no arguments")
    return instance.__class__(**{name: getattr(instance, name) for name in names}, **changes)


@called_unconverted
def _names_of_kept_fields(instance: Any, *changes: str) -> list[str] | None:
    """Return the names of a dataclass' fields without `changes`; None for what `replace` does not cover."""
    if _field_names(instance) is None:
        return None
    names = [field.name for field in dataclasses.fields(instance) if field.init]
    is_replaceable = [*instance.__dataclass_fields__] == names and {*changes} <= {*names}
    return [name for name in names if name not in changes] if is_replaceable else None


def _copy_of_fields(function: Callable[..., Any], container: type) -> Callable[..., Any]:
    """Return the implementation of `function`, dataclasses.asdict or astuple, for fields without dicts and tuples.

    `container` is the class of its results, dict or tuple.
    """

    def copy_of_fields(instance: object, **factory: object) -> Any:
        """Return the copies of the fields of a dataclass, in a `container`."""
        def copy_of(value: Any) -> object:
            """Return the copy of a value in a field."""
            if _field_names(value) is not None:
                return function(value)
            if _is_list(value):
                return [copy_of(item) for item in value]
            if isinstance(value, (list, tuple, dict)):
                refuse("a field of a dataclass holds a tuple, a dict or a list of another class")
            return copy.deepcopy(value)

        names = _field_names(instance)
        if factory or names is None:
            refuse("dataclasses.asdict or astuple is given a factory, or another object than a dataclass")
        if container is dict:
            return {name: copy_of(getattr(instance, name)) for name in names}
        return tuple([copy_of(getattr(instance, name)) for name in names])

    return copy_of_fields


@called_unconverted
def _is_list(value: object) -> bool:
    """Return whether a value is a list of Python's own class."""
    return isinstance(value, list) and TRACED_TO_PLAIN.get(type(value), type(value)) is list


@called_unconverted
def _field_names(instance: Any) -> Any:
    """Return the names of an object's fields; None unless it is a dataclass."""
    if not dataclasses.is_dataclass(instance) or isinstance(instance, type) or type(instance) is not instance.__class__:
        return None
    return [field.name for field in dataclasses.fields(instance)]


def ndindex(*shape: Any) -> Iterator[tuple[int, ...]]:
    """Implement numpy.ndindex for at most three dimensions."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    if not 1 <= len(sizes) <= 3:
        refuse("numpy.ndindex of no dimensions, or of more than three")

    def generate() -> Iterator[tuple[int, ...]]:
        """Yield the indices in row-major order."""
        for i in range(sizes[0]):
            if len(sizes) == 1:
                yield (i,)
            else:
                for j in range(sizes[1]):
                    if len(sizes) == 2:
                        yield i, j
                    else:
                        for k in range(sizes[2]):
                            yield i, j, k

    return generate()


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Implement numpy.ndenumerate for at most three dimensions."""
    array = np.asarray(arr)

    def generate() -> Iterator[tuple[tuple[int, ...], Any]]:
        for index in np.ndindex(array.shape):
            yield index, array[index]

    return generate()


treat_as_program(__file__)
# Python code that computes what each function of the library computes.
SOURCE_BY_FUNCTION: dict[Any, Callable[..., Any]] = {
    itertools.accumulate: accumulate, itertools.chain: chain, itertools.chain.from_iterable: chain_from_iterable,
    itertools.combinations: combinations, itertools.compress: compress, itertools.count: count,
    itertools.cycle: cycle, itertools.dropwhile: dropwhile, itertools.groupby: groupby,
    itertools.filterfalse: filterfalse, itertools.islice: islice, itertools.pairwise: pairwise,
    itertools.product: product, itertools.starmap: starmap, itertools.takewhile: takewhile,
    functools.reduce: reduce, dict.fromkeys: dict_fromkeys, dataclasses.replace: replace,
    dataclasses.asdict: _copy_of_fields(dataclasses.asdict, dict),
    dataclasses.astuple: _copy_of_fields(dataclasses.astuple, tuple),
    np.ndindex: ndindex, np.ndenumerate: ndenumerate,
}  # fmt: skip
# Functions that need no conversion if no argument is part of the graph.
_UNCONVERTED_ON_PLAIN_VALUES = frozenset(
    {
        itertools.accumulate, itertools.chain, itertools.combinations, itertools.islice, itertools.product,
        functools.reduce,
    }
)  # fmt: skip
