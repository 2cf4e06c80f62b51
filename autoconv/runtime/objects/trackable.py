"""Objects with named parts, which checkpoints store by these names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from autoconv.hooks import Hook

Part = TypeVar("Part")
RESTORE_ATTRIBUTE = Hook("autoconv.train.deferred")
_PARTS = "__autoconv_parts"  # attribute with the parts by name; modules do not search it for variables


class Trackable:
    """Base of modules, variables, tables, and of objects of libraries that have parts."""

    def _track_trackable(self, trackable: Part, name: str, overwrite: bool = False) -> Part:
        """Add a part under a name; raises ValueError for a name that another part has, unless `overwrite`."""
        parts = self.__dict__.setdefault(_PARTS, {})
        if not overwrite and parts.get(name, trackable) is not trackable:
            raise ValueError(f"Called Trackable._track_trackable() with name='{name}', which another part has already.")
        parts[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _untrack_trackable(self, name: str) -> None:
        self.__dict__.get(_PARTS, {}).pop(name, None)

    def _handle_deferred_dependencies(self, name: str, trackable: object) -> None:
        """Restore the values of a checkpoint that was read before the part existed."""
        RESTORE_ATTRIBUTE(self, name, trackable)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: object) -> dict[str, Any]:
        return dict(self.__dict__.get(_PARTS, {}))

    def _lookup_dependency(self, name: str, cached_dependencies: Mapping[str, object] | None = None) -> object:
        parts = self._trackable_children() if cached_dependencies is None else cached_dependencies
        return parts.get(name)

    def _maybe_initialize_trackable(self) -> None:
        """Do nothing: the table of parts is made with the first one."""

    def _no_dependency(self, value: Part) -> Part:
        return value

    def _add_variable_with_custom_getter(
        self, name: str, shape: object = None, dtype: object = "float32", initializer: object = None,
        getter: Callable[..., object] | None = None, overwrite: bool = False, **kwargs: object,
    ) -> object:  # fmt: skip
        """Return the variable that the getter makes, as a part."""
        assert getter is not None
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs)
        return self._track_trackable(variable, name, overwrite) if isinstance(variable, Trackable) else variable
