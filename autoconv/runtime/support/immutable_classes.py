"""Classes of the standard library whose objects cannot change, so that an object's identity guards all of it.

Decimals are not among them: their arithmetic reads and writes the thread's decimal context.
"""

from __future__ import annotations

import sys
from typing import Any

# Module -> the names of its immutable classes. A program that has no such object need not import the module.
_NAMES_BY_MODULE = {
    "datetime": frozenset({"date", "datetime", "time", "timedelta", "timezone"}),
    "zoneinfo": frozenset({"ZoneInfo"}),
    "fractions": frozenset({"Fraction"}),
    "pathlib": frozenset({"PurePath", "PurePosixPath", "PureWindowsPath", "Path", "PosixPath", "WindowsPath"}),
    "uuid": frozenset({"UUID"}),
    "ipaddress": frozenset({"IPv4Address", "IPv6Address"}),
}
# Methods that read the machine's time zone, which a program may set, or the language of its locale.
_METHODS_THAT_READ_SETTINGS = frozenset({"strftime", "timestamp", "astimezone", "__format__"})


def is_immutable_object(value: Any) -> bool:
    """Return whether the value is an object of exactly such a class, and consists of such objects alone.

    >>> import datetime
    >>> is_immutable_object(datetime.date(2024, 2, 29)), is_immutable_object([])
    (True, False)
    """
    cls = type(value)
    module = cls.__module__
    if module not in _NAMES_BY_MODULE or cls.__name__ not in _NAMES_BY_MODULE[module]:
        return False
    if getattr(sys.modules.get(module), cls.__name__, None) is not cls:
        return False
    time_zone = getattr(value, "tzinfo", None) if module == "datetime" else None
    return time_zone is None or is_immutable_object(time_zone)


def is_method_without_effects(owner: Any, name: str) -> bool:
    """Return whether the built-in method depends on its immutable owner and its arguments alone."""
    return name not in _METHODS_THAT_READ_SETTINGS and is_immutable_object(owner)
