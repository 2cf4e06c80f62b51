"""Guards: the values that a trace read outside its arguments, and checks that they are unchanged."""

from __future__ import annotations

import builtins
import contextlib
import functools
import linecache
import sys
import time
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.lazy_dataclass import dataclass, field
from autoconv.operators.calls.call import is_user_code
from autoconv.runtime.recording import journal
from autoconv.runtime.support.attributes import attributes_of
from autoconv.runtime.support.structure import raw_items
from autoconv.tracing.guards.attribute_reads import AttributeReads, iterate_names, names_in_code, reachable_classes
from autoconv.tracing.guards.fingerprint_differences import describe_difference
from autoconv.tracing.guards.fingerprints import (
    MAX_DEPTH,
    Fingerprints,
    Unguardable,
    has_to_be_input,
    is_large,
    is_user_module,
)
from autoconv.tracing.guards.guard_codegen import Binding, Check, OutsideValue, generate_checker
from autoconv.tracing.guards.hooked_objects import refuse_hooked_names, refuse_hooked_objects
from autoconv.tracing.guards.reachable_locations import locations_in
from autoconv.tracing.guards.trace_restrictions import RunPlain

_SEARCH_DEPTH = 6  # depth to which objects and lists are searched for possible inputs
_MAX_SEARCHED_LOCATIONS = 2_000  # locations that are searched for values that have to be inputs
_CHECKER_ATTEMPTS = (2, 4, 8)  # a checker is generated at these numbers of consecutive comparisons of fingerprints
_SLOW_CHECK_SECONDS = 200e-6  # seconds of a check, above which it is avoided
_MAX_PRESUMED_CHECKS = 256  # checks in a row that are left out
_INPUT_TYPES = (np.ndarray, int, float)  # classes of values that become inputs if they change from call to call


@dataclass(eq=False)
class Guards:
    """The names that traced functions read, with fingerprints of their values.

    `unguarded` describes values that cannot be guarded; `arrays` are the reachable arrays, by id. If `runs_plain` is
    true, a call runs plain where tracing itself would change a value, such as an iterator. `input_keys` are the keys of
    locations that are inputs of the trace and are not guarded; `restart_with_inputs` restarts the trace with further
    inputs. `on_class_read` is called with the class of an object before its methods run; its second argument is true
    if instances may exist outside the trace.
    """

    runs_plain: bool = False
    function: Any = None  # the traced function if it is a `types.FunctionType`, otherwise None
    input_keys: frozenset[Any] = frozenset()
    restart_with_inputs: Callable[[list[journal.Location]], Any] = lambda locations: None
    on_class_read: Callable[[type, bool], Any] = lambda cls, has_outside_instances: None
    compared_classes: set[type] = field(default_factory=set)  # classes of the values that are read
    object_classes: set[type] = field(default_factory=set)  # classes with instances outside the trace
    checks: list[Check] = field(default_factory=list)
    unguarded: list[str] = field(default_factory=list)
    arrays: dict[int, np.ndarray] = field(default_factory=dict)
    check_numerics: bool = field(default_factory=lambda: SETTINGS.check_numerics)
    _keys: set[Any] = field(default_factory=set)
    _pending: list[OutsideValue] = field(default_factory=list)  # those of the checks, until fingerprints are taken
    _unexamined: list[OutsideValue] = field(default_factory=list)  # those that `check_new_values` has not searched yet
    _locations: list[journal.Location] = field(default_factory=list)
    _included_guards: list[Any] = field(default_factory=list)
    _one_element_arrays: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # pairs of array and copy
    unnamed_frozensets: bool = False  # true if a frozenset is read, and a file of the trace lacks "frozenset"
    _hook_free_objects: dict[int, Any] = field(default_factory=dict)  # by id, until the trace ends
    reached_values: list[Any] = field(default_factory=list)  # values reachable from the names at the trace's end
    _files: set[str] = field(default_factory=set)  # file names of the traced functions
    _modules: list[OutsideValue] = field(default_factory=list)  # the examined values that are modules
    _searched_module_attributes: frozenset[str] = frozenset()  # names of attributes at the last search of `_modules`
    reads: AttributeReads | None = None  # the attributes that count; None: all
    _checker: Callable[[], bool] | None = None  # the generated checker
    _fingerprint_checks: int = 0  # consecutive checks that needed fingerprints
    _latest_change: str = ""  # the result of the latest check
    _slow_changes: int = 0  # slow checks in a row that found a change
    _presumed_checks: int = 0  # further checks that are left out
    _latest_seconds: float = 0.0  # the time of the latest check, 0 if it may have generated a checker
    is_slow: bool = False  # true if the latest two checks took long: callers then compare keys before they check

    def __post_init__(self) -> None:
        self.reads = AttributeReads() if self.runs_plain else None

    def add_function(self, function: types.FunctionType, only_written: frozenset[str] = frozenset()) -> None:
        """Guard the globals and closure cells that a function reads.

        `only_written` are names that the function writes or appends to, and does not read.
        """
        code = function.__code__
        key = code, id(function.__globals__), id(function.__closure__)
        if key in self._keys:
            return
        self._keys.add(key)
        if self.runs_plain:
            refuse_hooked_names(function, self._hook_free_objects)
        self._files.add(code.co_filename)
        if self.reads is not None:
            self.reads.add(function)
        used_names = set(iterate_names(code))
        code_names = names_in_code(code)
        if self.runs_plain:
            _refuse_name_readers(code_names.globals, function)
        for name in sorted(code_names.globals):
            if not (name in only_written and self._has_write_only_methods(function.__globals__.get(name))):
                self._guard_global(name, function.__globals__, used_names)
        for name in sorted(code_names.modules):
            self._watch(name, functools.partial(sys.modules.get, name, journal.MISSING), (name,))
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            if name in only_written and self._has_write_only_methods(_cell_content(cell)):
                continue
            if name not in ("ag__", "__class__"):
                self._locations.append(journal.cell_location(cell, name))
                self._watch(name, functools.partial(_cell_content, cell), (id(cell),), (cell, None))

    def _has_write_only_methods(self, value: Any) -> bool:
        """Return whether a value that is only written needs no guard.

        That holds under `function` for containers and streams: `append` and the like do not depend on the contents.
        """
        return not self.runs_plain and (value is None or type(value).__module__ in ("builtins", "collections", "_io"))

    def include(self, other: Guards) -> None:
        """Guard the reads of another trace that becomes part of this one."""
        for value, _ in other.checks:
            if (id(other), value.name, id(value.read)) not in self._keys:
                self._keys.add((id(other), value.name, id(value.read)))
                self._pending.append(value)
        if self.reads is not None:
            self.reads = None if other.reads is None else self.reads.include(other.reads)
        self.unguarded += [text for text in other.unguarded if not self.runs_plain and text not in self.unguarded]
        self._included_guards.append(other)  # keeps its functions `read` alive, which are identified by id

    def add_value(self, name: str, value: Any) -> None:
        """Guard the contents of an object, such as an argument, by a weak reference."""
        if self.runs_plain:
            refuse_hooked_objects((value,), examined=self._hook_free_objects)
        self._locations.append(journal.Location((id(value), name), name, read=lambda: value, write=lambda _: None))
        try:
            self._watch(name, weakref.ref(value), (id(value), name))
        except TypeError:
            self._watch(name, lambda: value, (id(value), name))

    def _guard_global(self, name: str, namespace: dict[str, Any], used_names: set[str]) -> None:
        """Guard a global name; for a name without a global, guard that it stays so, and the builtin of that name.

        `used_names` are the names of globals and attributes in the function's code.
        """
        value = namespace.get(name, journal.MISSING)
        if value is not journal.MISSING:
            self._locations.append(journal.global_location(namespace, name))
        elif namespace is not vars(builtins) and self.runs_plain:
            self._guard_global(name, vars(builtins), used_names)
        read = functools.partial(namespace.get, name, journal.MISSING)
        self._watch(name, read, (id(namespace), name), (namespace, name))
        # Under `function`; the fingerprint of a module under `compile` has its attributes.
        if isinstance(value, types.ModuleType) and is_user_module(value) and not self.runs_plain:
            for attribute in sorted(used_names & vars(value).keys()):
                read = functools.partial(getattr, value, attribute, journal.MISSING)
                self._watch(f"{name}.{attribute}", read, (id(value), attribute))

    def _watch(self, name: str, read: Callable[[], Any], key: tuple[Any, ...], binding: Binding | None = None) -> None:
        """Guard the value that `read` returns, once for each key, unless the key is that of an input."""
        if key in self._keys:
            return
        self._keys.add(key)
        if key in self.input_keys:
            return
        value = OutsideValue(name, read, binding)
        self._pending.append(value)
        self._unexamined += [value] if self.runs_plain else []

    def release(self) -> None:
        """Release the references to the trace's recording, because guards live longer."""
        del self.on_class_read, self.restart_with_inputs, self._hook_free_objects

    def check_new_values(self) -> None:
        """Check the values found so far, before any code that uses them runs.

        The call runs plain if it reads a value that cannot be guarded, such as an iterator, which it would advance.
        """
        module_attributes = self.reads.module_names if self.reads is not None else frozenset()
        modules_to_search = self._modules if module_attributes != self._searched_module_attributes else []
        self._searched_module_attributes = module_attributes
        self._modules = self._modules + [x for x in self._unexamined if isinstance(x.read(), types.ModuleType)]
        has_searched_inputs, attribute_reads = False, None
        for name, read, _ in [*self._unexamined, *modules_to_search]:
            fingerprints = Fingerprints(self.input_keys, module_attributes=module_attributes)
            try:
                fingerprints.of(read(), name)
            except Unguardable as description:
                if not has_searched_inputs:  # once, as no code of the program runs in between
                    locations = islice(self.locations(), _MAX_SEARCHED_LOCATIONS)
                    other_locations = (location for location in locations if location.key not in self.input_keys)
                    inputs = [location for location in other_locations if has_to_be_input(location.read())]
                    if inputs:
                        self.restart_with_inputs(inputs)
                    has_searched_inputs, attribute_reads = True, self.current_reads()
                if self._may_be_read(read(), attribute_reads):
                    raise RunPlain(f"{description} is read, and a change of it would not be noticed") from None
                fingerprints = Fingerprints(self.input_keys, strict=False, module_attributes=module_attributes)
                fingerprints.of(read())
            self.compared_classes |= fingerprints.compared_classes
            self.object_classes |= fingerprints.object_classes
            arrays = [array for array in fingerprints.arrays.values() if array.size == 1 and array.flags.writeable]
            self._one_element_arrays += [(array, array.copy()) for array in arrays]
        self._unexamined.clear()
        if not self.compared_classes <= self.object_classes:  # objects may be nested deeper than the search goes
            self.object_classes |= reachable_classes(self.values())
        for cls in self.compared_classes:
            self.on_class_read(cls, cls in self.object_classes)

    def current_reads(self) -> AttributeReads | None:
        """Return the reads of the functions found so far, from the current values; None if they are unknown."""
        return None if self.reads is None else self.reads.with_reachable_classes([*self.values()])

    def _may_be_read(self, value: Any, reads: AttributeReads | None) -> bool:
        """Return whether code may read a part of the value that cannot be guarded, by the attributes in `reads`."""
        if reads is None:
            return True
        try:
            Fingerprints(self.input_keys, reads=reads).of(value)
        except Unguardable:
            return True
        return False

    def is_watched(self, key: Any) -> bool:
        """Return whether the name with that key is guarded or an input; such a name existed before the trace."""
        return key in self._keys

    def locations(self) -> Iterator[journal.Location]:
        """Iterate over the locations from which the trace may have read a value.

        These are the names and, in the objects and lists reachable from them, attributes and arrays that are items.
        """
        seen_ids: set[int] = set()
        for location in self._locations:
            yield location
            yield from locations_in(location.read(), seen_ids, _SEARCH_DEPTH)

    def reachable_arrays(self) -> Iterable[np.ndarray]:
        """Return the arrays that are reachable from the names now; valid until `take_fingerprints`."""
        fingerprints = Fingerprints(self.input_keys, strict=False)
        for value in self.values():
            fingerprints.of(value)
        return fingerprints.arrays.values()

    def values(self) -> Iterator[Any]:
        """Iterate over the current values of the names; valid until `take_fingerprints`."""
        return (outside_value.read() for outside_value in self._pending)

    def take_fingerprints(self) -> None:
        """Take the fingerprints of the current values, after the trace's own writes."""
        if self.restore_arrays():
            raise RunPlain("an array of one element is changed in place, which has to happen on every call")
        if self.reads is not None:
            self.reached_values = self.reads.add_reachable_classes([*self.values()])
            self.unnamed_frozensets = any(type(value) is frozenset for value in self.reached_values) and any(
                not any("frozenset" in line for line in linecache.getlines(file)) for file in self._files
            )
        for value in self._pending:
            fingerprints = Fingerprints(self.input_keys, self.runs_plain, self.unguarded, self.arrays, self.reads)
            try:
                self.checks.append(Check(value, fingerprints.of(value.read(), value.name)))
            except Unguardable as description:
                self.unguarded.append(str(description))
        self._pending.clear()
        self._locations.clear()

    def restore_arrays(self) -> bool:
        """Undo in-place changes that tracing made to arrays of one element; return whether there were any.

        The analysis takes a name that decides a branch for a number. It therefore does not see that `x += 1` changes
        an array of one element in place (see `analysis.syntactic_types.possibly_aliased_names`).
        """
        pairs = [(array, copy) for array, copy in self._one_element_arrays if array.tobytes() != copy.tobytes()]
        for array, copy in pairs:
            array[...] = copy
        self._one_element_arrays.clear()
        return bool(pairs)

    def changed_inputs(self) -> Iterator[tuple[journal.Location, Any]]:
        """Iterate over the arrays and numbers that changed, as (location of the name or attribute, new value)."""
        for (name, read, binding), expected in self.checks:
            value = read()
            if binding is None or not isinstance(value, _INPUT_TYPES):
                yield from self._changed_parts(value, expected, MAX_DEPTH)
            elif self._differs(value, expected):
                owner, key = binding
                location = journal.cell_location(owner, name) if key is None else journal.global_location(owner, key)
                yield location, value

    def _changed_parts(self, value: Any, expected: Any, depth: int) -> Iterator[tuple[journal.Location, Any]]:
        """Iterate over the changed parts of an object or list as `changed_inputs` does.

        `expected` is the former fingerprint of the object or list.
        """
        # The forms of fingerprints are those that the module `fingerprints` describes.
        items = [*raw_items(value)] if isinstance(value, (list, tuple)) else []
        if items and expected[0] is type(value) and len(expected[1]) == len(items):
            for position, (item, before) in enumerate(zip(items, expected[1], strict=True)):
                if isinstance(item, np.ndarray):
                    if before is not None and type(value) is list and self._differs(item, before):
                        yield journal.item_location(value, position), item
                elif isinstance(before, tuple) and depth:
                    yield from self._changed_parts(item, before, depth - 1)
        attributes = attributes_of(value) if is_user_code(type(value)) else {}
        if not attributes or len(expected) != 3 or not depth:  # not the fingerprint of an object
            return
        for name, before in expected[1]:
            part = attributes.get(name)
            if isinstance(part, _INPUT_TYPES):
                if (id(value), name) not in self.input_keys and self._differs(part, before):
                    yield journal.attribute_location(value, name), part
            elif isinstance(before, tuple):
                yield from self._changed_parts(part, before, depth - 1)

    def _differs(self, value: Any, expected: Any) -> bool:
        """Return whether a value may have changed and is still of the same class; a large array always may."""
        if isinstance(value, np.ndarray):
            return expected[0] is np.ndarray and (is_large(value) or self._fingerprints().of(value) != expected)
        return expected[0] is type(value) and self._fingerprints().of(value) != expected

    def _fingerprints(self) -> Fingerprints:
        """Return an object that computes fingerprints as those in `checks` were computed."""
        return Fingerprints(self.input_keys, self.runs_plain, reads=self.reads)

    def refresh(self) -> None:
        """Take the fingerprints of the current values once more."""
        self._checker, self._fingerprint_checks = None, 0
        for position, (value, _) in enumerate(self.checks):
            with contextlib.suppress(Unguardable):  # if it cannot be guarded, it counts as changed
                self.checks[position] = Check(value, self._fingerprints().of(value.read()))

    def find_change(self) -> str:
        """Return the name of the first value whose fingerprint changed; "" if there is none.

        Slow checks that keep finding changes become rarer; in between, the latest change is presumed to last.
        """
        if self.check_numerics is not SETTINGS.check_numerics:
            return "debugging.enable_check_numerics"
        if self._presumed_checks:
            self._presumed_checks -= 1
            return self._latest_change
        start, checks_before = time.perf_counter(), self._fingerprint_checks
        is_unchanged = self._checker is not None and self._checker()
        self._latest_change = "" if is_unchanged else self._find_changed_fingerprint()
        may_generate = self._fingerprint_checks != checks_before and self._fingerprint_checks in _CHECKER_ATTEMPTS
        seconds = 0.0 if may_generate else time.perf_counter() - start
        self.is_slow = min(seconds, self._latest_seconds) > _SLOW_CHECK_SECONDS  # one may have been interrupted
        self._latest_seconds = seconds
        self._slow_changes = self._slow_changes + 1 if self._latest_change and self.is_slow and self.runs_plain else 0
        self._presumed_checks = min(2**self._slow_changes // 2, _MAX_PRESUMED_CHECKS) if self._slow_changes > 1 else 0
        return self._latest_change

    def _find_changed_fingerprint(self) -> str:
        """Return what `find_change` returns; after some calls in vain, generate a checker for the next ones."""
        self._fingerprint_checks += 1
        for (name, read, _), expected in self.checks:
            try:
                fingerprint = self._fingerprints().of(read())
                if fingerprint != expected:
                    return f"{name}{describe_difference(expected, fingerprint)}"
            except Unguardable:
                return name
        if self._fingerprint_checks in _CHECKER_ATTEMPTS:  # use the checker only if it agrees with the fingerprints
            new_checker = generate_checker((value for value, _ in self.checks), self._fingerprints)
            self._checker = new_checker if new_checker is not None and new_checker() else None
        elif self._fingerprint_checks > _CHECKER_ATTEMPTS[-1]:
            self._checker = None  # the checker failed repeatedly: each call has other, equal objects
        return ""


_NAME_READERS = (eval, exec, globals, __import__)


def _refuse_name_readers(names: frozenset[str], function: types.FunctionType) -> None:
    """Raise RunPlain if a function names `eval` or the like, which may read names that are not in its code."""
    for name in sorted(names):
        value = function.__globals__.get(name, getattr(builtins, name, None))
        if any(value is reader for reader in _NAME_READERS):
            raise RunPlain(f"{name} is called, which may read and write any name")


def _cell_content(cell: Any) -> Any:
    """Return the content of a closure's cell; MISSING for an empty cell."""
    try:
        return cell.cell_contents
    except ValueError:  # the cell is empty
        return journal.MISSING
