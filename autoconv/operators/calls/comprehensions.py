"""List, set and dict comprehensions and generator expressions, in Python or as loops of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autoconv.operators.control.conditionals import test
from autoconv.operators.control.loops import for_source, is_symbolic_iterable, iterate
from autoconv.operators.support.generator_expressions import Source, TracedGenerator
from autoconv.operators.values.items import new
from autoconv.runtime.recording.regions import current_region

Function = Callable[..., Any]


def list_of(iterable: Iterable[Any], element: Function, *conditions: Function, into: str = "") -> Any:
    """`[element for into in iterable if conditions]`"""
    return collect_list(Source(iterable, element, conditions, into))


def set_of(iterable: Iterable[Any], element: Function, *conditions: Function, into: str = "") -> Any:
    """`{element for into in iterable if conditions}`"""
    return collect_set(Source(iterable, element, conditions, into))


def dict_of(iterable: Iterable[Any], element: Function, *conditions: Function, into: str = "") -> Any:
    """`{key: value for into in iterable if conditions}`, where `element` returns (key, value)."""

    def add(result: Any, pair: Any) -> None:
        key, value = pair
        result[key] = value

    return _fill_container({}, Source(iterable, element, conditions, into), add)


def generator(iterable: Any, element: Function, *conditions: Function, into: str = "") -> Any:
    """`(element for into in iterable if conditions)`"""
    if not is_symbolic_iterable(iterable):
        iterable = iter(iterable)
    source = Source(iterable, element, conditions, into)
    return iterate_values(source) if current_region() is None else TracedGenerator(source, iterate_values)


def nested_clause(iterable: Iterable[Any], element: Function, *conditions: Function, into: str = "") -> Source:
    """Return a further clause `for into in iterable if conditions` of a comprehension."""
    return Source(iterable, element, conditions, into)


def collect_list(source: object) -> Any:
    """Collect the values of `source` in a list."""
    return _fill_container([], source, lambda result, item: result.append(item))


def collect_set(source: object) -> Any:
    """Collect the values of `source` in a set."""
    return _fill_container(set(), source, lambda result, item: result.add(item))


def _fill_container(empty_container: Any, source: Any, add: Callable[[Any, Any], Any]) -> Any:
    """Return a new container with the values of `source`, filled by a graph loop during a trace, else by Python."""
    region = current_region()
    result = new(empty_container)

    def body(item: object) -> tuple[()]:
        add(result, item)
        return ()

    if region is not None:
        for_source(source, body)
        return result
    if type(source) is Source:
        _visit_values(source, lambda item: add(result, item))
        return result
    for item in iterate(source):
        add(result, item)
    return result


def _visit_values(source: Any, add: Callable[[Any], Any]) -> None:
    """Call `add` with each value of the source, in Python.

    Unlike the generator `iterate_values`, it does not turn a StopIteration of the program into another error.
    """
    for item in iterate(source.iterable):
        target_values = source.unpack(item)
        for condition in source.conditions:
            if not test(condition(*target_values)):
                break
        else:
            value = source.element(*target_values)
            if type(value) is Source:
                _visit_values(value, add)
            else:
                add(value)


def iterate_values(source: Source) -> Iterator[Any]:
    """Yield the values one by one, in Python."""
    for item in iterate(source.iterable):
        target_values = source.unpack(item)
        for condition in source.conditions:
            if not test(condition(*target_values)):
                break
        else:
            value = source.element(*target_values)
            if type(value) is Source:
                yield from iterate_values(value)
            else:
                yield value
