"""Undo log: the changes of Python objects by a run of a graph, so that they can be rolled back.

A run that computes an int beyond 64 bits is repeated as plain Python, from the state before the run. The kernels of
`objects.py` log how to undo each change, and how many characters were printed: the repetition does not print these
again. At an irreversible change (an iterator's next, a method of an unknown class), a strict log abandons the run. Any
other log is discarded (`lose`), and the run goes on, but can no longer be undone.
"""

from __future__ import annotations

import collections
import functools
import threading
import types
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from autoconv.errors import IntegerLimitError, NotInGraphError, OtherKindError
from autoconv.graph.python_operators import BINARY

# After these errors a call may rerun as plain Python.
UNDONE_ERRORS = (IntegerLimitError, OtherKindError, NotInGraphError)
_IMMUTABLE_CLASSES = (
    str, bytes, int, float, bool, complex, tuple, frozenset, range, slice, types.NoneType, np.generic,
)  # fmt: skip
_READING_METHODS: dict[type, set[str]] = {
    list: {"copy", "count", "index"},
    dict: {"copy", "get", "items", "keys", "values"},
    set: {"copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset", "symmetric_difference",
          "union"},
    collections.deque: {"copy", "count", "index"},
}  # fmt: skip
# Methods of arrays that change the array.
ARRAY_MUTATORS = frozenset(
    {"byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort"}
)
_IN_PLACE = frozenset(record.in_place for record in BINARY)
# The functions that change their first operand are these, in-place operators, and those of `changes_whole_list`.
_MUTATING_FUNCTIONS = frozenset({"setitem", "delitem", "next"})
ITERATOR_MAKERS = frozenset({"enumerate", "iter", "reversed", "zip"})  # keys of FUNCTIONS in `objects.py`
HEAP_MUTATORS = ("heapify", "heappop", "heappush", "heappushpop", "heapreplace")
_ATTRIBUTE_SETTERS = (object.__setattr__, type.__setattr__, BaseException.__setattr__)
_ATTRIBUTE_DELETERS = (object.__delattr__, type.__delattr__, BaseException.__delattr__)
_ORDERED_CLASSES = (collections.OrderedDict, collections.Counter)
# Factories of a defaultdict that run no user code.
_PLAIN_FACTORIES = (None, int, float, complex, str, list, tuple, dict, set, frozenset)
_MISSING = object()
_ITEMS_PER_WRITE = 32  # a list or dict with at most this many items per counted write is logged as a whole
_MAX_ENTRIES = 100_000  # logged changes, of a few hundred bytes each


class _Active(threading.local):
    """The log that each thread writes."""

    log: Log | None = None  # of the current run in this thread; None if no run is logged


class Log:
    """The undo functions of the changes of a run, in the order of the changes.

    The owner of a change is the changed container, array or instance. Of several changes to one item or attribute, only
    the first is logged. Logged owners are kept alive, so that their ids stay unique.
    """

    def __init__(self, is_strict: bool = False) -> None:
        self.entries: list[tuple[Any, Callable[[], Any]]] = []
        self.logged_keys: set[Any] = set()  # (id, key), or the id of an owner logged as a whole
        self.byte_counts: dict[int, int] = {}  # logged bytes, by the id of an array
        self.write_counts: dict[int, int] = {}  # number of item writes, by the id of a list or dict
        self.own_iterators: dict[int, Any] = {}  # by id: iterators that the run made, whose advance needs no undo
        self.is_lost = False  # some change is not logged, so that the run cannot be undone
        self.is_strict = is_strict  # an irreversible change abandons the run
        self.printed_count = 0  # characters

    def add(self, owner: Any, key: Any, undo: Callable[[], Any]) -> None:
        """Log a change of what `key` identifies, which `undo()` reverts; later changes of it are not logged."""
        self.logged_keys.add(key)
        self.entries.append((owner, undo))
        if len(self.entries) > _MAX_ENTRIES:
            self.lose()

    def lose(self) -> None:
        """Discard a log that would be incomplete; if it is strict, raise NotInGraphError instead."""
        if self.is_strict:
            raise NotInGraphError("a value that a graph cannot hold may come after a change that cannot be undone")
        self.is_lost = True
        self.entries.clear()
        self.logged_keys.clear()
        self.own_iterators.clear()

    def undo(self) -> None:
        """Revert the logged changes, the last one first."""
        for _, undo in reversed(self.entries):
            undo()
        self.entries.clear()


ACTIVE = _Active()


def with_undo(
    run: Callable[..., Any],
    is_strict: bool = False,
    save: Callable[..., list[tuple[Any, Callable[[], Any]]]] | None = None,
) -> Callable[..., Any]:
    """Wrap `run` to undo its changes if it raises one of `UNDONE_ERRORS`.

    The error then has `_autoconv_undone`, and `_autoconv_printed`, the number of printed characters. All other
    errors leave the earlier changes, as in Python.

    `save(*arguments)` returns the log's first entries, which restore states whose changes are not logged. With
    `is_strict`, an irreversible change raises NotInGraphError.
    """

    def run_with_log(*arguments: Any) -> Any:
        """Run with a new log, whose entries undo the changes after such an error, or else go to the outer log."""
        outer_log, log = ACTIVE.log, Log(is_strict)
        log.entries += [] if save is None else save(*arguments)
        ACTIVE.log = log
        try:
            return run(*arguments)
        except UNDONE_ERRORS as error:
            if not log.is_lost:
                ACTIVE.log = None
                log.undo()
                error._autoconv_undone = True  # type: ignore[union-attr]
                error._autoconv_printed = log.printed_count  # type: ignore[union-attr]
            raise
        finally:
            ACTIVE.log = outer_log
            if outer_log is not None:
                outer_log.printed_count += log.printed_count
            if outer_log is not None and not outer_log.is_lost:
                outer_log.entries += log.entries
                if log.is_lost:
                    outer_log.lose()

    return run_with_log


def may_change_operand(function: str) -> bool:
    """Return whether a function of `objects.py` may change its first operand; False for in-place operators as well."""
    return function in _MUTATING_FUNCTIONS or changes_whole_list(function)


def changes_whole_list(function: str) -> bool:
    """Return whether a function of the standard library changes the list that is its first operand."""
    return function.startswith(("heapq.heap", "bisect.insort"))


def changes_container(function: str) -> bool:
    """Return whether an operator or builtin of `objects.py` may change the items of its first operand."""
    return function in ("setitem", "delitem") or function in _IN_PLACE or changes_whole_list(function)


def method_needs_log(class_: type, name: str) -> bool:
    """Return whether the method of a list, dict, set or deque may change the object, so that its calls are logged."""
    return name not in _READING_METHODS[class_]


def reads_only(name: str) -> bool:
    """Return whether a list, dict, set or deque has a method of that name that changes nothing."""
    return any(name in names for names in _READING_METHODS.values())


def owner_needs_no_log(owner: Any) -> bool:
    """Return whether no later change of the object in the run needs logging: there is no log, or all is logged."""
    log = ACTIVE.log
    return log is None or log.is_lost or id(owner) in log.logged_keys


def appends_need_no_log(owner: Any) -> bool:
    """Return whether appends to the list need no logging in the rest of the run."""
    log = ACTIVE.log
    return owner_needs_no_log(owner) or (log is not None and (id(owner), "length") in log.logged_keys)


def attribute_needs_no_log(owner: Any, name: str) -> bool:
    """Return whether a change of the attribute needs no logging in the rest of the run."""
    log = ACTIVE.log
    return log is None or log.is_lost or (id(owner), name) in log.logged_keys


def count_item_write(owner: Any) -> bool:
    """Count a write to an item, and return whether it needs no logging.

    After many writes, the whole list or dict is logged, and later writes need no logging.
    """
    log = ACTIVE.log
    if log is None or log.is_lost or id(owner) in log.logged_keys:
        return True
    if type(owner) not in (list, dict):
        return False
    log.write_counts[id(owner)] = count = log.write_counts.get(id(owner), 0) + 1
    if _ITEMS_PER_WRITE * count < len(owner):
        return False
    _log_contents(log, owner)
    return True


def log_apply(function: str, operands: tuple[Any, ...]) -> None:
    """Log the change before an operator or builtin of `objects.py` is applied."""
    log = ACTIVE.log
    if log is None or log.is_lost:
        return
    if function in ("setitem", "delitem"):
        _log_item(log, function, *operands[:2])
    elif function in _IN_PLACE or changes_whole_list(function):
        _log_contents(log, operands[0])
    is_subclass_of_dict = isinstance(operands[0], dict) and type(operands[0]) is not dict
    if function == "getitem" and is_subclass_of_dict:  # it may have `__missing__`
        _log_missing_key(log, operands[0])
    if any(_would_advance_outer_iterator(log, operand) for operand in operands):
        log.lose()


def log_made_iterator(result: Any) -> None:
    """Register an iterator that an operator or builtin returned as made by the run."""
    log = ACTIVE.log
    if log is not None and hasattr(type(result), "__next__"):
        log.own_iterators[id(result)] = result
        if len(log.own_iterators) > _MAX_ENTRIES:
            log.lose()


def _would_advance_outer_iterator(log: Log, iterable: Any) -> bool:
    """Return whether a loop over `iterable` would advance an iterator from before the run."""
    return hasattr(type(iterable), "__next__") and id(iterable) not in log.own_iterators


def log_iteration(iterable: Any) -> None:
    """Call `lose` if `iterable` is an iterator from before the run: iteration cannot be undone."""
    log = ACTIVE.log
    if log is not None and _would_advance_outer_iterator(log, iterable):
        log.lose()


def log_method(owner: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Log the change before a method call."""
    log = ACTIVE.log
    if log is None or log.is_lost:
        return
    if any(_would_advance_outer_iterator(log, argument) for argument in arguments):
        log.lose()
    elif _changes_nothing(type(owner), name):
        return
    elif type(owner) is list and name == "append":
        _log_length(log, owner)
    elif type(owner) is np.ndarray:
        log.lose()
    else:
        _log_contents(log, owner)


def _changes_nothing(class_: type, method: str) -> bool:
    """Return whether the method is known to change nothing."""
    return method not in ARRAY_MUTATORS if class_ is np.ndarray else method in _READING_METHODS.get(class_, ())


def log_attribute(owner: Any, name: str) -> None:
    """Log the change before an attribute is set or deleted."""
    log = ACTIVE.log
    if log is None or log.is_lost:
        return
    key = id(owner), name
    if key in log.logged_keys:
        return
    class_ = type(owner)
    descriptor: Any = getattr(class_, name, None)
    is_slot = isinstance(descriptor, (types.MemberDescriptorType, types.GetSetDescriptorType))
    has_own_methods = class_.__setattr__ not in _ATTRIBUTE_SETTERS or class_.__delattr__ not in _ATTRIBUTE_DELETERS
    if has_own_methods or (hasattr(descriptor, "__set__") and not is_slot):
        log.lose()
        return
    try:
        if is_slot:
            before = descriptor.__get__(owner, class_)
        else:  # read so that no `__getattr__` of the program runs
            before = object.__getattribute__(owner, "__dict__").get(name, _MISSING)
    except (AttributeError, ValueError):  # an empty slot or cell
        before = _MISSING

    def undo() -> None:
        if before is not _MISSING:
            setattr(owner, name, before)
            return
        with suppress(AttributeError):  # the write may have failed
            delattr(owner, name)

    log.add(owner, key, undo)


def _log_item(log: Log, function: str, owner: Any, key: Any) -> None:
    """Log what a write of an item will change."""
    if id(owner) in log.logged_keys:
        return
    if type(owner) is dict and function == "setitem":
        _log_dict_entry(log, owner, key)
    elif type(owner) is list and type(key) is int and function == "setitem":
        _log_list_item(log, owner, key)
    elif type(owner) is np.ndarray:
        _log_array_items(log, owner, key)
    else:
        _log_contents(log, owner)


def _log_dict_entry(log: Log, owner: dict[Any, Any], key: Any) -> None:
    """Log the value of a key, or its absence, before the key is set."""
    try:
        if (id(owner), key) in log.logged_keys:
            return
        before = owner.get(key, _MISSING)
    except Exception:
        return  # an invalid key: the write raises the same error
    undo = (lambda: owner.pop(key, None)) if before is _MISSING else (lambda: owner.__setitem__(key, before))
    log.add(owner, (id(owner), key), undo)


def _log_list_item(log: Log, owner: list[Any], key: int) -> None:
    key += len(owner) * (key < 0)
    if not 0 <= key < len(owner) or (id(owner), key) in log.logged_keys:
        return
    before = owner[key]
    log.add(owner, (id(owner), key), lambda: owner.__setitem__(key, before))


def _log_length(log: Log, owner: list[Any]) -> None:
    """Log the length of a list before an append."""
    if id(owner) not in log.logged_keys and (id(owner), "length") not in log.logged_keys:
        length = len(owner)
        log.add(owner, (id(owner), "length"), lambda: owner.__delitem__(slice(length, None)))


def _log_missing_key(log: Log, owner: Any) -> None:
    """Log the contents before a lookup in a dict of a class that may insert the missing key."""
    has_plain_factory = type(owner) is collections.defaultdict and owner.default_factory in _PLAIN_FACTORIES
    if type(owner) in _ORDERED_CLASSES or has_plain_factory:
        _log_contents(log, owner)
    else:
        log.lose()


def _log_array_items(log: Log, owner: np.ndarray, key: Any) -> None:
    """Log the elements that a write will change, or the whole array once more bytes are logged than the array has."""
    if not owner.flags.writeable:
        return
    try:
        before = np.array(owner[key])
    except Exception:
        return  # the write raises the same error
    logged_bytes = log.byte_counts[id(owner)] = log.byte_counts.get(id(owner), 0) + before.nbytes
    if logged_bytes > owner.nbytes:
        _log_contents(log, owner)
    else:
        unique_key = id(owner), len(log.entries)
        log.add(owner, unique_key, lambda: owner.__setitem__(key, before))


def _log_contents(log: Log, owner: Any) -> None:
    """Log the whole contents of the owner."""
    if isinstance(owner, _IMMUTABLE_CLASSES) or id(owner) in log.logged_keys:
        return
    if type(owner) is np.ndarray and not owner.flags.writeable:
        return  # no write succeeds, and none has to be undone
    if type(owner) is list:
        items = owner.copy()
        log.add(owner, id(owner), lambda: owner.__setitem__(slice(None), items))
    elif type(owner) in (dict, set):
        contents = owner.copy()
        log.add(owner, id(owner), lambda: (owner.clear(), owner.update(contents)))
    elif type(owner) is collections.deque:
        log.add(owner, id(owner), functools.partial(collections.deque.__init__, owner, owner.copy(), owner.maxlen))
    elif type(owner) in _ORDERED_CLASSES or type(owner) is collections.defaultdict:
        entries = list(owner.items())
        log.add(owner, id(owner), lambda: (owner.clear(), [owner.__setitem__(*entry) for entry in entries]))
    elif type(owner) is np.ndarray:
        values = owner.copy()
        log.add(owner, id(owner), lambda: owner.__setitem__(..., values))
    else:
        log.lose()
