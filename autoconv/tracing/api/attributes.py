"""The attributes of decorated functions: the package's own, and those that the program sets."""

from __future__ import annotations

from typing import Any

# The attributes of the package in the dictionary of a decorated function; `record_package_attributes` adds to them.
_PACKAGE_NAMES = {"__wrapped__", "__func__", "__self__"}


class FunctionAttributes(dict[str, Any]):
    """The `__dict__` of a decorated function; an update by another such dict takes only the program's attributes.

    `functools.wraps` updates the `__dict__` of a wrapper by that of the function. If it copied the package's attributes
    too, a decorated wrapper of a decorated function would behave as that function.
    """

    __slots__ = ()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add the items of dicts and the keywords; of a FunctionAttributes only those that the program has set."""
        sources = [
            {name: source[name] for name in source if name not in _PACKAGE_NAMES}
            if type(source) is FunctionAttributes
            else source
            for source in args
        ]
        super().update(*sources, **kwargs)


def record_package_attributes(function: Any) -> None:
    """Add the names of the attributes that the package has set in a new decorated function to `_PACKAGE_NAMES`.

    Attributes that were copied from the Python function (by `functools.update_wrapper`) are the program's.
    """
    _PACKAGE_NAMES.update(vars(function).keys() - getattr(function.python_function, "__dict__", {}).keys())
