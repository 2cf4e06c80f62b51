"""Module: an object with access to the variables in its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from autoconv.operators.calls.call import call as callable_for
from autoconv.runtime.objects.trackable import Trackable
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording.name_scopes import name_scope
from autoconv.runtime.support.structure import flat_leaves

Method = TypeVar("Method", bound=Callable[..., Any])


class Module(Trackable):
    """A container of variables, other modules, and methods that use them.

    Attributes, and lists, tuples and dicts in them, are searched in the order of their names. `name` is an identifier,
    by default the class's name in snake case; raises ValueError for any other string.

    >>> class Scale(autoconv.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = autoconv.Variable(2.0)
    >>> [variable.numpy() for variable in Scale().variables]
    [np.float32(2.0)]
    """

    # Attributes that are not searched for variables and modules; subclasses add theirs.
    _TF_MODULE_IGNORED_PROPERTIES: ClassVar[frozenset[str]] = frozenset({"_name", "_name_scope"})

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = _snake_case(type(self).__name__)
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers."
            )
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self) -> str:
        """The name of the module itself, without surrounding scopes."""
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope in which to create variables; it starts with the module's name."""
        return self._name_scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable of this module and its submodules, each once."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable)))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable) and value.trainable))

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Variable) and not value.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """Every module inside this one, at any depth."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    @classmethod
    def with_name_scope(cls, method: Method) -> Method:
        """Decorator that runs the method inside the module's name scope."""

        @functools.wraps(method)
        def run_in_scope(self: Module, /, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return callable_for(method)(self, *args, **kwargs)

        return run_in_scope  # type: ignore[return-value]

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """Return the attributes by name; if the `__setattr__` of the class tracks some of them, only these."""
        tracked_children = super()._trackable_children(save_type, **kwargs)
        if tracked_children and type(self).__setattr__ is not object.__setattr__:
            return tracked_children
        attributes = {name: value for name, value in vars(self).items() if name != "_name_scope"}
        return {**attributes, **tracked_children}

    def _flatten(
        self, recursive: bool = True, predicate: Callable[[Any], bool] | None = None
    ) -> Iterator[Any]:
        """Yield the values of attributes that satisfy `predicate`, those of this module before those of submodules."""
        return _find_values(self, recursive, predicate or (lambda value: True), set())


def _find_values(
    module: Module, recursive: bool, predicate: Callable[[Any], bool], visited_ids: set[int]
) -> Iterator[Any]:
    """Yield the values that satisfy the predicate, each once; `visited_ids` collects the ids of all values."""
    submodules = []
    for name in sorted(vars(module)):
        if name in module._TF_MODULE_IGNORED_PROPERTIES or name.startswith("__autoconv"):
            continue
        for leaf in flat_leaves(vars(module)[name]):
            if id(leaf) in visited_ids:
                continue
            visited_ids.add(id(leaf))
            if predicate(leaf):
                yield leaf
            if recursive and isinstance(leaf, Module) and leaf is not module:
                submodules.append(leaf)
    for submodule in submodules:
        yield from _find_values(submodule, recursive, predicate, visited_ids)


def _snake_case(name: str) -> str:
    """Return the name of a class in lower case, with underscores between its words."""
    with_underscores = re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name)
    return with_underscores.lower()
