"""Whether what guards look at is as it was, asked by Python that is written for the very values.

Fingerprints say it too, made anew on every call, which takes ten times as long. A checker looks at the same values one
by one and stops at the first that is not what it was; where it says no, fingerprints decide, as two values that it
tells apart may mean the same.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autoconv.operators.calls import is_user_code
from autoconv.tracing.fingerprints import Fingerprints, Unguardable, is_by_identity, is_large

_MOST_LINES = 500  # of a checker
_MOST_ITEMS = 64  # of a list, tuple or dict that are looked at one by one
_PLAIN = (int, str, bytes, float, complex)
_EXACT = (str, int, bytes)  # keys of these are equal where they are the same
_HOLDING = (list, tuple, dict, set, frozenset, range, functools.partial, np.ndarray, np.generic)

Place = tuple[Any, str | None]


class _TooLong(Exception):
    """The checker would have too many lines."""


def checker(
    checks: Iterable[tuple[str, Callable[[], Any], Any, Place | None]], skip: frozenset[Any], strict: bool
) -> Callable[[], bool] | None:
    """A function that answers True only while all values are what they are now; None where they are too many.

    The arguments are as those of `Guards` and `Fingerprints`.
    """
    writer = _Writer(skip, strict)
    try:
        for _, read, _, place in checks:
            writer.look(read(), writer.reading(read, place))
    except (_TooLong, Unguardable):
        return None
    return writer.function()


class _Writer:
    def __init__(self, skip: frozenset[Any], strict: bool) -> None:
        self.skip, self.strict = skip, strict
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {
            "of": lambda value: Fingerprints(skip, strict).of(value),
            "of_class": lambda value: Fingerprints(skip, strict).class_value(value),
        }
        self._met: dict[int, str] = {}  # by id of what holds others, the variable that it is in
        self._classes: set[type] = set()
        self._kept: list[Any] = []  # so that no other object gets the id

    def function(self) -> Callable[[], bool]:
        body = "\n".join(f"        {line}" for line in self.lines or ["pass"])
        text = f"def holds():\n    try:\n{body}\n    except Exception:\n        return False\n    return True\n"
        exec(compile(text, "<checker>", "exec"), self.constants)
        self.constants["kept"] = self._kept
        holds: Callable[[], bool] = self.constants["holds"]
        return holds

    def reading(self, read: Callable[[], Any], place: Place | None) -> str:
        """The expression that reads a value anew."""
        if place is None:
            return f"{self._constant(read)}()"
        container, key = place
        held = self._constant(container)
        return f"{held}.cell_contents" if key is None else f"{held}[{key!r}]"

    def look(self, value: Any, place: str) -> None:
        """Has what is at a place compared with the value."""
        if value is None or value is True or value is False:
            self._require(f"{place} is {value}")
            return
        found = self._variable(place)
        if isinstance(value, _PLAIN):
            self._look_at_plain(value, found)
        elif isinstance(value, types.FunctionType):
            self._look_at_function(value, found)
        elif isinstance(value, type):
            self._same(value, found)
            if is_user_code(value):
                self._look_at_class(value)
        elif isinstance(value, types.MethodType) or type(value) in (list, tuple, dict):
            self._look_at_parts(value, found)
        elif is_by_identity(value):
            self._same(value, found)
        elif type(value) is np.ndarray and not is_large(value) and not value.dtype.hasobject:
            self._look_at_array(value, found)
        elif isinstance(value, _HOLDING) or not is_user_code(type(value)):
            self._by_fingerprint(value, found)
        elif type(getattr(value, "__dict__", None)) is dict:
            self._look_at_object(value, found)
        else:
            self._by_fingerprint(value, found)

    def _look_at_plain(self, value: Any, found: str) -> None:
        held, kind = self._constant(value), self._constant(type(value))
        # Of zeros and what is no number, `==` does not say whether they are the same.
        same = "{0} == {1}" if not isinstance(value, (float, complex)) or abs(value) > 0 else "repr({0}) == repr({1})"
        if isinstance(value, complex):
            same = "repr({0}) == repr({1})"
        self._require(f"({found} is {held} or type({found}) is {kind} and {same.format(found, held)})")

    def _look_at_function(self, value: types.FunctionType, found: str) -> None:
        if not is_user_code(value):
            self._same(value, found)
        elif value.__defaults__ or value.__kwdefaults__ or value.__dict__:
            self._by_fingerprint(value, found)
        else:
            self._same(value, found)
            self._require(f"not ({found}.__defaults__ or {found}.__kwdefaults__ or {found}.__dict__)")

    def _look_at_parts(self, value: Any, found: str) -> None:
        """Of a list, tuple, dict or method."""
        if self._again(value, found):
            return
        self._require(f"type({found}) is {self._constant(type(value))}")
        if isinstance(value, types.MethodType):
            self._same(value.__func__, f"{found}.__func__")
            self.look(value.__self__, f"{found}.__self__")
            return
        keys = list(value) if isinstance(value, dict) else range(len(value))
        if len(keys) > _MOST_ITEMS or not all(type(key) in _EXACT for key in keys):
            self._by_fingerprint(value, found)
            return
        if isinstance(value, dict):
            self._require(f"[*{found}] == {self._constant(keys)}")
        else:
            self._require(f"len({found}) == {len(value)}")
        for key in keys:
            if isinstance(value, dict) or (id(value), key) not in self.skip:
                self.look(value[key], f"{found}[{key!r}]")

    def _look_at_array(self, value: np.ndarray, found: str) -> None:
        self._same(value, found)
        self._require(f"{found}.dtype is {self._constant(value.dtype)} and {found}.shape == {value.shape!r}")
        self._require(f"{found}.tobytes() == {self._constant(value.tobytes())}")

    def _look_at_object(self, value: Any, found: str) -> None:
        if self._again(value, found):
            return
        self._same(value, found)
        attributes = self._variable(f"{found}.__dict__")
        held = value.__dict__.copy()
        self._require(f"len({attributes}) == {len(held)}")
        for name, part in held.items():
            if name.startswith("__autoconv") or (id(value), name) in self.skip:
                self._require(f"{name!r} in {attributes}")
            else:
                self.look(part, f"{attributes}[{name!r}]")
        self._look_at_class(type(value))

    def _look_at_class(self, cls: type) -> None:
        if cls in self._classes:
            return
        self._classes.add(cls)
        for base in filter(is_user_code, cls.__mro__):
            held = dict(vars(base))
            names = [name for name in held if (id(base), name) not in self.skip]
            values = self._constant(vars(base))
            self._require(f"len({values}) == {len(held)}")
            self._kept.append([held[name] for name in names if not isinstance(held[name], np.ndarray)])
            ids = self._constant([id(held[name]) for name in names])
            self._require(f"[*map(id, map({values}.get, {self._constant(names)}))] == {ids}")
            for name in names:
                if isinstance(held[name], _HOLDING) and not (name.startswith("__") and name.endswith("__")):
                    expected = self._constant(self.constants["of_class"](held[name]))
                    self._require(f"of_class({values}[{name!r}]) == {expected}")

    def _by_fingerprint(self, value: Any, found: str) -> None:
        self._require(f"of({found}) == {self._constant(self.constants['of'](value))}")

    def _again(self, value: Any, found: str) -> bool:
        """Whether a value was looked at before, which then is to be the one that it was."""
        before = self._met.setdefault(id(value), found)
        if before == found:
            return False
        self._require(f"{found} is {before}")
        return True

    def _same(self, value: Any, found: str) -> None:
        """Asks for the very object, without keeping it alive where that can be."""
        try:
            self._require(f"{self._constant(weakref.ref(value))}() is {found}")
        except TypeError:
            self._require(f"{found} is {self._constant(value)}")

    def _variable(self, place: str) -> str:
        name = f"v{len(self.lines)}"
        self._write(f"{name} = {place}")
        return name

    def _constant(self, value: Any) -> str:
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def _require(self, condition: str) -> None:
        self._write(f"if not ({condition}): return False")

    def _write(self, line: str) -> None:
        if len(self.lines) >= _MOST_LINES:
            raise _TooLong
        self.lines.append(line)

