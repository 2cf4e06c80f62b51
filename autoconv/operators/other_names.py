"""The layouts of what a loop carries, where a list, dict or set has other names than the one that the loop binds anew:
what is taken apart and put together again is another one, and a change of the one would not be seen in the other."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.types import ObjectType
from autoconv.operators.copies import copied
from autoconv.operators.joining import join_layouts, settled_lists
from autoconv.operators.layout import NEVER, Arms, Layout, Leaf, Variant, is_container, layout_of
from autoconv.runtime.attributes import attributes_of
from autoconv.runtime.containers import PLAIN
from autoconv.runtime.objects import as_object
from autoconv.runtime.recording import COMPILE, Region
from autoconv.runtime.spans import current_place, is_own_file, is_region, is_start
from autoconv.runtime.structure import is_structure, mutable_parts, structure_parts

_DEPTH = 6


def joined_state(
    parent: Region,
    region: Region,
    layouts: Sequence[Layout],
    initial: Sequence[Any],
    after: Sequence[Any],
    names: Sequence[str],
) -> list[Layout]:
    """The layouts that hold the variables of a loop before it and after an iteration, which `region` is."""
    shared = {id(part) for values in (initial, after) for part in _several_times(values)}
    joined = []
    for layout, before, value, name in zip(layouts, initial, after, names, strict=True):
        later = NEVER if value is NEVER else layout_of(value, region)
        wider = _settled(join_layouts(layout, later, name, region.contract), name, region)
        known = [part for part in _containers(value, wider) if parent.is_inside(part._home)]
        copies = [*_containers(before, wider), *known]
        apart = [part for part in copies if id(part) in shared]
        apart = apart or [part for part in copies if _is_held(part, names)]
        joined.append(_apart(layout, later, (before, value), name, region) if apart else wider)
    return joined


def shared_by(values: Sequence[Any]) -> frozenset[int]:
    """The positions of the values that are, or hold, a container that another one is, or holds, as well."""
    several = {id(part) for part in _several_times(values)}
    return frozenset(n for n, value in enumerate(values) if any(id(part) in several for part in mutable_parts(value)))


def _settled(layout: Layout, name: str, region: Region) -> Layout:
    return layout if region.contract == COMPILE else settled_lists(layout, name, region.contract)


def _apart(layout: Layout, later: Layout, values: Sequence[Any], name: str, region: Region) -> Layout:
    """A layout in which the containers that were there before the loop are themselves."""
    if region.contract == COMPILE:
        return Leaf(ObjectType(), as_object)
    arms = [arm for each in (layout, later) for arm in (each.arms if isinstance(each, Arms) else (each,))]
    containers = dict.fromkeys(filter(is_container, arms))
    if not containers:
        raise StagingError(
            f"a loop gives {name!r} another value, and a list in it has another name", current_place(),
            "a copy before the loop: copy.deepcopy(value)",
        )  # fmt: skip
    rest: Layout = NEVER
    for arm in arms:
        if not is_container(arm):
            rest = join_layouts(rest, arm, name, region.contract)
    rest = _settled(rest, name, region)
    others = rest.arms if isinstance(rest, Arms) else () if rest is NEVER else (rest,)
    return Arms((*containers, *others))


def _several_times(values: Sequence[Any]) -> Iterator[Any]:
    """The containers that more than one of the values is, or holds."""
    found = [{id(part): part for part in mutable_parts(value) if type(part) in PLAIN} for value in values]
    counts = Counter(key for parts in found for key in parts)
    for parts in found:
        yield from (part for key, part in parts.items() if counts[key] > 1)


def _containers(value: Any, layout: Layout) -> Iterator[Any]:
    return (part for part in copied(value, layout) if type(part) in PLAIN)


def _is_held(container: Any, names: Collection[str]) -> bool:
    """Whether a variable of the functions that are being traced, other than the loop's own, is it or holds it."""
    seen: set[int] = set()

    def holds(value: Any, depth: int) -> bool:
        if value is container:
            return True
        if depth == 0 or id(value) in seen:
            return False
        seen.add(id(value))
        return any(holds(part, depth - 1) for part in _parts(value))

    return any(holds(value, _DEPTH) for value in _variables(names))


def _variables(names: Collection[str]) -> Iterator[Any]:
    """What the variables of the functions that are being traced hold, without the loop's own of those names."""
    frame: FrameType | None = sys._getframe(1)
    is_its = True  # whether the frame is of the function that the loop stands in, or of a part of it
    while frame is not None and not is_start(frame.f_code):
        if not is_own_file(frame.f_code.co_filename):
            for name, value in frame.f_locals.items():
                if not (is_its and name in names) and not _is_part(value):
                    yield value
            is_its = is_its and is_region(frame.f_code)
        frame = frame.f_back


def _is_part(value: Any) -> bool:
    """Whether this is a part of a function that conversion made: what it captures, the function has."""
    return isinstance(value, FunctionType) and is_region(value.__code__)


def _parts(value: Any) -> Iterator[Any]:
    """What a value holds: items, attributes, what a function captures or is bound to."""
    if type(value) is Variant:
        yield from value.values
    elif is_structure(value):
        yield from structure_parts(value)
    elif isinstance(value, FunctionType):
        yield from value.__defaults__ or ()
        for cell in value.__closure__ or ():
            yield from _held_by(cell)
    elif isinstance(value, MethodType):
        yield value.__self__
    elif not isinstance(value, (type, ModuleType)) and not type(value).__module__.startswith("autoconv."):
        yield from attributes_of(value).values()


def _held_by(cell: Any) -> Iterator[Any]:
    try:
        yield cell.cell_contents
    except ValueError:  # not assigned
        return


__all__ = ["joined_state"]
