"""Refusal of options that this package does not implement."""

from __future__ import annotations

from autoconv.errors import UnimplementedError


def refuse_options(function: str, **options: object) -> None:
    """Raise UnimplementedError for an option of a public function with another value than None, False, () or ""."""
    for name, value in options.items():
        if not isinstance(value, (bool, str, tuple, list, type(None))) or value:
            raise UnimplementedError(f"{function}: the option {name}={value!r} is not implemented; leave it out")
