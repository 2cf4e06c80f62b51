"""Objects whose parts are saved in checkpoints.

Parameters of TensorFlow that have no use here are accepted: `save_type` and keywords of `_trackable_children` have no
effect.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from autoconv.runtime.objects.trackable import Trackable as Trackable
from autoconv.runtime.objects.variable import Variable
from autoconv.tensorflow.__internal__.registration import register as register_session_provider  # noqa: F401
from autoconv.train.object_graph import children_of, is_trackable

Method = TypeVar("Method", bound=Callable[..., Any])


class AutoTrackable(Trackable):
    """An object whose attributes are its parts."""

    _restores_attributes = True  # `_track_trackable` restores the value of an attribute (see `train.deferred`)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if self.__dict__.get("_self_setattr_tracking", True) and is_trackable(value):
            self._track_trackable(value, name, overwrite=True)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._untrack_trackable(name)


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


class NoDependency:
    """A wrapper of a value: assigned to an attribute, the value does not become a part of the object."""

    def __init__(self, value: object) -> None:
        self.value = value


class TrackableDataStructure(Trackable):
    """Base of the lists, tuples and dicts in attributes of layers; their weights are those of the items.

    Items that are variables count, and items with weights of their own: layers and containers.
    """

    trainable = True

    @property
    def _parts(self) -> list[Any]:
        return list(self.values()) if isinstance(self, dict) else list(self)  # type: ignore[call-overload]

    @property
    def layers(self) -> list[object]:
        """The layers among the items, and the layers in containers among the items."""
        layers: list[object] = []
        for part in self._parts:
            if isinstance(part, TrackableDataStructure):
                layers += part.layers
            elif hasattr(part, "trainable_weights"):
                layers.append(part)
        return layers

    def _collect(self, name: str) -> list[Any]:
        """Return the values in the lists `name` of all items that have such an attribute."""
        return [value for part in self._parts if hasattr(part, name) for value in getattr(part, name)]

    @property
    def trainable_weights(self) -> list[object]:
        """The trainable weights of the items; empty if the container is not trainable."""
        if not self.trainable:
            return []
        variables = [part for part in self._parts if isinstance(part, Variable) and part.trainable]
        return variables + self._collect("trainable_weights")

    @property
    def non_trainable_weights(self) -> list[object]:
        """The weights of the items that are not in `trainable_weights`."""
        variables = [part for part in self._parts if isinstance(part, Variable)]
        frozen_variables = [variable for variable in variables if not (variable.trainable and self.trainable)]
        frozen_weights = [] if self.trainable else self._collect("trainable_weights")
        return frozen_variables + frozen_weights + self._collect("non_trainable_weights")

    @property
    def weights(self) -> list[object]:
        """All weights of the items."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def losses(self) -> list[object]:
        """The losses of the layers among the items."""
        return self._collect("losses")

    @property
    def updates(self) -> list[object]:
        """The updates of the layers among the items."""
        return self._collect("updates")

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: object) -> dict[str, object]:
        if isinstance(self, dict):
            return {key: value for key, value in self.items() if isinstance(key, str)}
        return {str(position): part for position, part in enumerate(self._parts)}


class ListWrapper(TrackableDataStructure, list):
    """A list in an attribute of a layer."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class _DictWrapper(TrackableDataStructure, dict):
    """A dict in an attribute of a layer."""

    __hash__ = object.__hash__  # type: ignore[assignment]


class _TupleWrapper(TrackableDataStructure, tuple):
    """A tuple in an attribute of a layer."""


_WRAPPERS: dict[type, Any] = {list: ListWrapper, dict: _DictWrapper, tuple: _TupleWrapper}


def wrap(value: object) -> object:
    """Return a list, tuple or dict as a TrackableDataStructure of the same items; any other value as it is."""
    if isinstance(value, NoDependency):
        return value.value
    wrapper = _WRAPPERS.get(type(value))
    if wrapper is None:
        return value
    if isinstance(value, dict):
        return wrapper((key, wrap(part)) for key, part in value.items())
    return wrapper(map(wrap, value))  # type: ignore[call-overload]


wrap_or_unwrap = wrap


def sticky_attribute_assignment(trackable: Trackable, name: str, value: object) -> object:
    """Make a value a part of `trackable`, unless it is a NoDependency; return the value to assign to its attribute."""
    is_part = not isinstance(value, NoDependency)
    value = wrap(value)
    if is_part and is_trackable(value):
        trackable._track_trackable(value, name, overwrite=True)
    return value


class DelegatingTrackableMixin:
    """An object whose parts in checkpoints are those of another object, `trackable_obj`."""

    def __init__(self, trackable_obj: Trackable) -> None:
        self._trackable = trackable_obj

    def _track_trackable(self, trackable: object, name: str, overwrite: bool = False) -> object:
        return self._trackable._track_trackable(trackable, name, overwrite)

    def _handle_deferred_dependencies(self, name: str, trackable: object) -> None:
        self._trackable._handle_deferred_dependencies(name, trackable)

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: object) -> dict[str, object]:
        return children_of(self._trackable)


class CheckpointInitialValue:
    """The class of TensorFlow's values of checkpoints for new variables; it has no instances here.

    Restoration assigns to variables that exist, and lets others wait (see `train.deferred`).
    """


class CheckpointInitialValueCallable(CheckpointInitialValue):
    """The class of functions that return a CheckpointInitialValue; it has no instances here."""
