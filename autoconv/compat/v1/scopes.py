"""Scopes with the parameters of version 1, and switches that have no effect here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from autoconv.api import scopes
from autoconv.api.control.graphs import graph_being_built
from autoconv.compat.v1.variables import AUTO_REUSE, variable_scope
from autoconv.runtime.recording.name_scopes import name_scope as _name_scope


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Any = None) -> Iterator[str]:
    """Prefix the names of nodes made in the block; `default_name` replaces a name that is None.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.name_scope(None, "layer") as scope:
    ...     scope
    'layer/'
    """
    with _name_scope(default_name if name is None else name) as scope:
        yield scope


op_scope = name_scope


@contextmanager
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: str | None = None, **options: Any
) -> Iterator[Any]:
    """An earlier form of `variable_scope`.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.variable_op_scope([], "layer") as scope:
    ...     scope.name
    'layer'
    """
    with variable_scope(name_or_scope, default_name, **options) as scope:
        yield scope


def device(device_name_or_function: Any) -> AbstractContextManager[None]:
    """Name the device on which ops inside run, as `autoconv.device`; a function from ops to devices has no effect.

    >>> with autoconv.compat.v1.device(lambda op: "/CPU:0"):
    ...     x = autoconv.constant(1)
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    is_function = callable(device_name_or_function)
    return nullcontext() if is_function else scopes.device(device_name_or_function)


@contextmanager
def colocate_with(op: Any, ignore_existing: bool = False) -> Iterator[None]:
    """Do nothing: there is one device.

    >>> with autoconv.compat.v1.colocate_with(None):
    ...     pass
    """
    yield


def make_template(
    name_: str, func_: Callable[..., Any], create_scope_now_: bool = False, unique_name_: str | None = None,
    custom_getter_: Any = None, **kwargs: Any,
) -> Callable[..., Any]:  # fmt: skip
    """Return a function that creates its variables at its first call and shares them with later calls.

    Their scope is made at the first call as well, or with `create_scope_now_` at once.

    >>> def scaled(x):
    ...     return x * autoconv.compat.v1.get_variable("w", [])
    >>> with autoconv.Graph().as_default():
    ...     template = autoconv.compat.v1.make_template("scale", scaled)
    ...     a, b = template(1.0), template(2.0)
    ...     len(autoconv.compat.v1.global_variables())
    1
    """
    created_scopes: list[Any] = []

    def create_scope() -> None:
        with variable_scope(unique_name_, name_, custom_getter=custom_getter_) as scope:
            created_scopes.append(scope)

    if create_scope_now_:
        create_scope()

    def template(*args: Any, **options: Any) -> Any:
        if not created_scopes:
            create_scope()
        with variable_scope(created_scopes[0], reuse=AUTO_REUSE):
            return func_(*args, **kwargs, **options)

    return template


def executing_eagerly_outside_functions() -> bool:
    """Return whether ops outside of functions run eagerly: False while a graph is built, True in functions elsewhere.

    >>> autoconv.compat.v1.executing_eagerly_outside_functions()
    True
    """
    return graph_being_built() is None


def enable_resource_variables() -> None:
    """Do nothing: variables read their value where the program reads it.

    >>> autoconv.compat.v1.enable_resource_variables()
    """


def enable_control_flow_v2() -> None:
    """Do nothing: branches and loops are always ops with regions.

    >>> autoconv.compat.v1.enable_control_flow_v2()
    """


def control_flow_v2_enabled() -> bool:
    """Return True: branches and loops are ops with regions.

    >>> autoconv.compat.v1.control_flow_v2_enabled()
    True
    """
    return True


def disable_resource_variables() -> None:
    """Do nothing: variables read their value where the program reads it.

    >>> autoconv.compat.v1.disable_resource_variables()
    """


def resource_variables_enabled() -> bool:
    """Return True: variables read their value where the program reads it.

    >>> autoconv.compat.v1.resource_variables_enabled()
    True
    """
    return True
