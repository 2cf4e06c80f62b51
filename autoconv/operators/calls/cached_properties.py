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
    """Replacement in the class for the property `original`, whose converted function is `run`."""

    def __init__(self, original: functools.cached_property[Any], run: Callable[[Any], Any]) -> None:
        self.original = original
        self.run = run

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        region = current_region()
        if instance is None or region is None:
            return self.original.__get__(instance, owner)
        name = self.original.attrname
        is_conditional = region.parent is not None
        if is_conditional or name is None:
            raise StagingError(
                f"the cached property {name!r} of {with_article(type(instance))} is read for the first time under a "
                "condition on a tensor", current_place(), "a read in front of the branch or loop",
            )  # fmt: skip
        value = self.run(instance)
        set_attr(instance, name, value)
        return value
