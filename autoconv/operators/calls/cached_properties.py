"""`functools.cached_property` during a trace: its function is converted, and storing its result is a write."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.operators.values.attributes import set_attr
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place


class CachedProperty:
    """The replacement of the property `original` in its class during a trace (see `convert_special_methods`).

    `run` is the converted function of the property.
    """

    def __init__(self, original: functools.cached_property[Any], run: Callable[[Any], Any]) -> None:
        self.original = original
        self.run = run

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        region = current_region()
        name = self.original.attrname
        if instance is None or region is None or name is None:  # without a name, Python raises TypeError
            return self.original.__get__(instance, owner)
        is_conditional = region.parent is not None
        if is_conditional:
            raise StagingError(
                f"the cached property {name!r} of {with_article(type(instance))} is read for the first time under a "
                "condition on a tensor", current_place(), "a read in front of the branch or loop",
            )  # fmt: skip
        value = self.run(instance)
        set_attr(instance, name, value)
        return value
