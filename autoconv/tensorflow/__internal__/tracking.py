"""Objects whose parts are saved in checkpoints."""

from __future__ import annotations

import functools
from abc import ABCMeta
from collections.abc import Callable
from typing import Any, TypeVar

from autoconv.api.control.module import Module
from autoconv.runtime.objects.resource import TrackableResource
from autoconv.runtime.objects.variable import Variable
from autoconv.train.deferred import restore_attribute
from autoconv.train.object_graph import is_trackable

Method = TypeVar("Method", bound=Callable[..., Any])


class _VirtualInstanceMeta(ABCMeta):
    """The metaclass of Trackable, whose `register` declares other classes as virtual subclasses."""


class Trackable(metaclass=_VirtualInstanceMeta):
    """An object with named parts; modules, variables and tables count as instances too."""

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Add a part under a name; raises ValueError for a name that another part has, unless `overwrite`."""
        parts = self.__dict__.setdefault("_tracked_parts", {})
        if not overwrite and parts.get(name, trackable) is not trackable:
            raise ValueError(f"Called Trackable._track_trackable() with name='{name}', which another part has already.")
        parts[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restore the values of a checkpoint that was read before the part existed."""
        restore_attribute(self, name, trackable)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        return dict(self.__dict__.get("_tracked_parts", {}))


for _class in (Module, Variable, TrackableResource):
    Trackable.register(_class)


class AutoTrackable(Trackable):
    """An object whose attributes are its parts."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self.__dict__.get("_self_setattr_tracking", True) and is_trackable(value):
            self._track_trackable(value, name, overwrite=True)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self.__dict__.get("_tracked_parts", {}).pop(name, None)


def no_automatic_dependency_tracking(method: Method) -> Method:
    """Decorate a method so that attributes set in it do not become parts."""

    @functools.wraps(method)
    def run_untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        was_tracking = self.__dict__.get("_self_setattr_tracking", True)
        self.__dict__["_self_setattr_tracking"] = False
        try:
            return method(self, *args, **kwargs)
        finally:
            self.__dict__["_self_setattr_tracking"] = was_tracking

    return run_untracked  # type: ignore[return-value]
