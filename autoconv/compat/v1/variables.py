"""Variables of version 1, and variable scopes, which name variables and share them."""

from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from autoconv.api.control.graph_variable import GraphVariable
from autoconv.api.control.graphs import graph_being_built
from autoconv.compat.v1.collections import GraphKeys
from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.compat.v1.initializers import glorot_uniform_initializer, zeros_initializer
from autoconv.config.refused_options import refuse_options
from autoconv.graph.dtypes import as_dtype, float32
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.objects.variable import Variable as EagerVariable
from autoconv.runtime.recording.name_scopes import current_scope, name_scope
from autoconv.runtime.support.shape import TensorShape, as_shape
from autoconv.runtime.tensors.conversion import as_tensor


class _VariableType(type):
    """The metaclass of `Variable`: variables of version 2 are instances of that class, too."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, EagerVariable)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, EagerVariable)


class Variable(metaclass=_VariableType):
    """A variable of the enclosing block's graph; outside of blocks, a variable that is initialised immediately.

    The parameters are those of version 1: `collections` are the names of the collections to which the variable is
    added. Raises ValueError without an initial value.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.Session() as session:
    ...     v = autoconv.compat.v1.Variable([1.0, 2.0], name="v")
    ...     session.run(v.initializer)
    ...     session.run(2.0 * v)
    array([2., 4.], dtype=float32)
    """

    def __new__(  # type: ignore[misc]
        cls, initial_value: Any = None, trainable: bool | None = None, collections: Any = None,
        validate_shape: bool = True, caching_device: object = None, name: str | None = None,
        variable_def: object = None, dtype: DTypeLike | None = None, expected_shape: object = None,
        import_scope: object = None, constraint: Any = None, use_resource: bool | None = None,
        synchronization: object = None, aggregation: object = None, shape: Any = None,
    ) -> Any:  # fmt: skip
        refuse_options("Variable", variable_def=variable_def)
        graph = graph_being_built()
        if graph is None:
            options = {"dtype": dtype, "constraint": constraint, "shape": shape, "synchronization": synchronization}
            options["aggregation"] = aggregation
            make_variable = functools.partial(EagerVariable, initial_value, trainable, validate_shape, **options)
            if _CURRENT_STORE.attachments is None:
                return make_variable(name=name)
            return _numbered_variable(_CURRENT_STORE.attachments, make_variable, name)
        return GraphVariable(
            initial_value, trainable, validate_shape, name=name, dtype=dtype, constraint=constraint,
            synchronization=synchronization, aggregation=aggregation, shape=shape, graph=graph, collections=collections,
        )  # fmt: skip


class VariableStore:
    """Variables by name, which `get_variable` and layers create at the first call and share with later calls.

    A store replaces a graph's collections for code of version 1 in a `function`, or with eager execution.

    >>> variables = autoconv.compat.v1.VariableStore()
    >>> @autoconv.function
    ... def scaled(x):
    ...     with variables.as_default():
    ...         return x * autoconv.compat.v1.get_variable("w", initializer=3.0)
    >>> scaled(1.0).numpy(), scaled(autoconv.constant([2.0])).numpy(), len(variables.variables)
    (np.float32(3.0), array([6.], dtype=float32), 1)
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Any] = {}

    @property
    def variables(self) -> list[Any]:
        """The variables, in the order of their creation."""
        return list(self._by_name.values())

    @property
    def trainable_variables(self) -> list[Any]:
        return [variable for variable in self.variables if variable.trainable]

    @contextmanager
    def as_default(self) -> Iterator[VariableStore]:
        """Use the variables of the store in the block, in which the default names of layers are counted from 0."""
        previous_store = _CURRENT_STORE.attachments
        _CURRENT_STORE.attachments = {"by_name": self._by_name, "store": self}
        try:
            yield self
        finally:
            _CURRENT_STORE.attachments = previous_store


class _CurrentStore(threading.local):
    """The attachments of the store whose block a thread is in; None outside of such blocks.

    Their keys: "by_name", the variables; "scope", the open variable scope; "scopes", the used names of scopes;
    "counts", how often each name of a variable was requested; "store", the store. A graph has the keys "by_name",
    "scope" and "scopes" only.
    """

    attachments: dict[Any, Any] | None = None


_CURRENT_STORE = _CurrentStore()


def _current_attachments() -> dict[Any, Any]:
    """Return the attachments of the enclosing block's store, or else of the default graph."""
    if _CURRENT_STORE.attachments is not None and graph_being_built() is None:
        return _CURRENT_STORE.attachments
    result: dict[Any, Any] = get_default_graph().attachments
    return result


class _ReuseMode(enum.Enum):
    """The class of `AUTO_REUSE`, which requests that a scope shares an existing variable, or else creates it."""

    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


class VariableScope:
    """The options of `get_variable` in a block: a prefix of names, an initializer, and whether variables are shared.

    >>> with autoconv.Graph().as_default(), autoconv.compat.v1.variable_scope("layer") as scope:
    ...     scope.name, scope.reuse
    ('layer', False)
    """

    def __init__(self, reuse: object, name: str = "", **defaults: Any) -> None:
        self.name = name
        self.reuse = reuse
        self.original_name_scope = f"{name}/" if name else ""
        self.initializer = defaults.get("initializer")
        self.regularizer = defaults.get("regularizer")
        self.custom_getter = defaults.get("custom_getter")
        self.constraint = defaults.get("constraint")
        self.dtype = defaults.get("dtype") or float32
        self.use_resource: bool | None = None
        self.caching_device = self.partitioner = None  # variables lie on one device, in one part

    def reuse_variables(self) -> None:
        """Share existing variables in this scope from now on."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        self.regularizer = regularizer

    def global_variables(self) -> list[Any]:
        return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, self.name and f"{self.name}/")

    def trainable_variables(self) -> list[Any]:
        return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, self.name and f"{self.name}/")

    def get_variable(self, name: str, **options: Any) -> Any:
        return get_variable(name, **options)


def get_variable_scope() -> VariableScope:
    """Return the enclosing variable scope.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.get_variable_scope().name
    ''
    """
    result: VariableScope = _current_attachments().setdefault("scope", VariableScope(reuse=False))
    return result


@contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, values: Any = None, initializer: Any = None,
    regularizer: Any = None, caching_device: object = None, partitioner: object = None, custom_getter: Any = None,
    reuse: object = None, dtype: DTypeLike | None = None, use_resource: bool | None = None, constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:  # fmt: skip
    """Prefix the names of variables that `get_variable` returns in the block, and set its options.

    `name_or_scope` is a name below the enclosing scope, or a scope to enter again. With `reuse` True, existing
    variables are shared; with `AUTO_REUSE`, missing ones are created. `default_name` replaces a name that is None. It
    is made unique by a number unless `reuse` is given. Numbers start anew in each block of the enclosing scope, so that
    layers without names can share the variables of an earlier block. Raises ValueError without a name.

    >>> with autoconv.Graph().as_default():
    ...     for _ in range(2):
    ...         with autoconv.compat.v1.variable_scope("layer", reuse=autoconv.compat.v1.AUTO_REUSE):
    ...             w = autoconv.compat.v1.get_variable("w", [2])
    ...     w.name, len(autoconv.compat.v1.global_variables())
    ('layer/w:0', 1)
    """
    outer_scope = get_variable_scope()
    attachments = _current_attachments()
    used_names: dict[str, int] = attachments.setdefault("scopes", {})
    prefix = f"{outer_scope.name}/" if outer_scope.name else ""
    if isinstance(name_or_scope, VariableScope):
        base_scope, full_name, local_name = name_or_scope, name_or_scope.name, name_or_scope.name.rpartition("/")[2]
    elif name_or_scope is not None:
        base_scope, full_name, local_name = outer_scope, prefix + name_or_scope, name_or_scope
    elif default_name is not None:
        local_name = default_name if reuse else _unique_name(used_names, prefix, default_name)
        base_scope, full_name = outer_scope, prefix + local_name
    else:
        raise ValueError("If default_name is None then name_or_scope is required")
    used_names.setdefault(full_name, 1)
    names_before = dict(used_names)
    inner_scope = VariableScope(
        (base_scope.reuse or outer_scope.reuse) if reuse is None else reuse, full_name,
        initializer=initializer or base_scope.initializer, regularizer=regularizer or base_scope.regularizer,
        custom_getter=custom_getter or base_scope.custom_getter, constraint=constraint or base_scope.constraint,
        dtype=base_scope.dtype if dtype is None else as_dtype(dtype),
    )  # fmt: skip
    if base_scope is name_or_scope:
        inner_scope.original_name_scope = base_scope.original_name_scope
    attachments["scope"] = inner_scope
    try:
        if auxiliary_name_scope and local_name:
            with name_scope(local_name) as scope:
                if base_scope is not name_or_scope:  # a scope that is entered again keeps its name scope
                    inner_scope.original_name_scope = scope
                yield inner_scope
        else:
            yield inner_scope
    finally:
        attachments["scope"] = outer_scope
        if base_scope is not name_or_scope:  # names inside are free again, for a block that enters the scope by name
            names_before = {name: count for name, count in used_names.items() if not name.startswith(f"{full_name}/")}
        used_names.clear()
        used_names.update(names_before)


def get_variable(
    name: str, shape: Any = None, dtype: DTypeLike | None = None, initializer: Any = None, regularizer: Any = None,
    trainable: bool | None = None, collections: Any = None, caching_device: object = None, partitioner: object = None,
    validate_shape: bool = True, use_resource: bool | None = None, custom_getter: Any = None, constraint: Any = None,
    synchronization: object = None, aggregation: object = None,
) -> Any:  # fmt: skip
    """Return a new variable of this name in the enclosing variable scope, or the existing one if the scope shares.

    `initializer` is a tensor or array with the initial value, or a function of a shape and dtype; by default the
    scope's, or else glorot_uniform for floats and zeros for other dtypes. Raises ValueError for an existing variable if
    the scope does not share, and for a missing one if `reuse` of the scope is True. Raises ValueError also if the
    existing variable has another shape or dtype.

    >>> with autoconv.Graph().as_default():
    ...     autoconv.compat.v1.get_variable("w", [2, 3])
    <autoconv.Variable 'w:0' shape=(2, 3) dtype=float32>
    """
    scope = get_variable_scope()
    getter = custom_getter or scope.custom_getter
    options = {
        "shape": shape, "dtype": dtype, "initializer": initializer, "regularizer": regularizer, "trainable": trainable,
        "collections": collections, "validate_shape": validate_shape, "constraint": constraint,
        "synchronization": synchronization, "aggregation": aggregation,
    }  # fmt: skip
    full_name = f"{scope.name}/{name}" if scope.name else name
    if getter is None:
        return _get_or_create_variable(full_name, **options)
    return getter(_get_or_create_variable, name=full_name, **options)


def _get_or_create_variable(
    name: str, shape: Any = None, dtype: DTypeLike | None = None, initializer: Any = None, regularizer: Any = None,
    trainable: bool | None = None, collections: Any = None, validate_shape: bool = True, constraint: Any = None,
    synchronization: object = None, aggregation: object = None, **ignored: Any,
) -> Any:  # fmt: skip
    """Return the variable of this full name, shared or new; see `get_variable`."""
    scope = get_variable_scope()
    variable_dtype = scope.dtype if dtype is None else as_dtype(dtype)
    variables: dict[str, Any] = _current_attachments().setdefault("by_name", {})
    is_in_graph = graph_being_built() is not None
    has_store = "store" in _current_attachments()
    result = variables.get(name) if is_in_graph or has_store else None  # eager code shares variables by a store only
    if result is not None:
        if is_in_graph and not scope.reuse:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        if shape is not None and not result.shape.is_compatible_with(as_shape(shape)):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {TensorShape(as_shape(shape))} and found shape "
                f"{result.shape}."
            )
        if dtype is not None and result.dtype is not variable_dtype:
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {variable_dtype.name} and found dtype "
                f"{result.dtype.name}."
            )
        return result
    if is_in_graph and scope.reuse is True:
        raise ValueError(
            f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to set "
            "reuse=tf.AUTO_REUSE in VarScope?"
        )
    chosen_initializer = scope.initializer if initializer is None else initializer
    initial_value = _initial_value(name, shape, variable_dtype, chosen_initializer)
    with name_scope(""), _outside_of_store():
        variable = Variable(
            initial_value, trainable, collections, validate_shape, name=name, constraint=constraint or scope.constraint,
            dtype=variable_dtype if dtype is not None or callable(initial_value) else None,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
    variables[name] = variable
    regularize = regularizer or scope.regularizer
    if regularize is not None:
        with name_scope(f"{name}/Regularizer/"):
            loss = regularize(variable)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return variable


def _initial_value(name: str, shape: Any, dtype: Any, initializer: Any) -> Any:
    """Return the initial value of a variable, or a function of no arguments that returns it."""
    if isinstance(initializer, type):
        initializer = initializer()
    if initializer is None:
        initializer = glorot_uniform_initializer() if dtype.is_floating else zeros_initializer()
    if not callable(initializer) or as_tensor(initializer) is not None:
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        return initializer
    sizes = as_shape(shape) if shape is not None else None
    if sizes is None or not all(isinstance(size, int) for size in sizes):
        raise ValueError(f"Shape of a new variable ({name}) must be fully defined, but instead was {shape}.")
    return _initial_value_function(
        initializer, [int(size) for size in sizes], dtype  # type: ignore[call-overload, arg-type]
    )


def _initial_value_function(initializer: Callable[..., Any], shape: list[int], dtype: Any) -> Callable[[], Any]:
    """Return a function of no arguments that calls the initializer."""

    def value() -> Any:
        try:
            return initializer(shape, dtype=dtype)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            return initializer()  # a function of no arguments that returns the value

    return value


@contextmanager
def _outside_of_store() -> Iterator[None]:
    """Leave the current store in the block: `_numbered_variable` would add numbers to the names of variables."""
    previous_store, _CURRENT_STORE.attachments = _CURRENT_STORE.attachments, None
    try:
        yield
    finally:
        _CURRENT_STORE.attachments = previous_store


def _numbered_variable(attachments: dict[Any, Any], make_variable: Callable[..., Any], name: str | None) -> Any:
    """Return the n-th variable of a name for the n-th request of the name in the block; create a missing one."""
    counts: dict[str, int] = attachments.setdefault("counts", {})
    full_name = current_scope() + (name or "Variable")
    number = counts[full_name] = counts.get(full_name, -1) + 1
    suffix = f"_{number}" if number else ""
    key = full_name + suffix
    if key not in attachments["by_name"]:
        attachments["by_name"][key] = make_variable(name=(name or "Variable") + suffix)
    return attachments["by_name"][key]


def _unique_name(counts: dict[str, int], prefix: str, name: str) -> str:
    """Return the name, with the lowest free number if prefix + name is in use."""
    if prefix + name not in counts:
        return name
    number = 1
    while f"{prefix}{name}_{number}" in counts:
        number += 1
    return f"{name}_{number}"
