"""Special methods and properties of user-defined classes, replaced by converted ones while a trace runs."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, NoReturn

from autoconv.errors import StagingError
from autoconv.graph.graph import Node, is_recursive
from autoconv.graph.python_operators import BINARY, COMPARISONS, UNARY
from autoconv.graph.types import TensorType
from autoconv.operators.calls.cached_properties import CachedProperty
from autoconv.operators.calls.object_operators import apply_to_second_operand
from autoconv.operators.control.conditionals import is_staged, not_
from autoconv.operators.regions.tracing_signals import Suspended
from autoconv.operators.support.held_iterators import HeldIterator
from autoconv.operators.support.read_only_methods import only_reads, only_returns_iter, writes
from autoconv.operators.values.instances import is_user_defined
from autoconv.operators.values.not_implemented import wrap_undecided_method
from autoconv.runtime.recording.deferred_stores import is_catchable
from autoconv.runtime.recording.journal import MISSING
from autoconv.runtime.recording.regions import Trace, current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.spans import current_place

# Methods that Python calls for an expression or a statement, or when a dataclass is created. Methods that create, copy
# or describe other objects are left alone.
_SYNTAX_NAMES = "pos divmod rdivmod getitem setitem delitem contains len bool round call post_init set delete"
_SYNTAX_METHODS = frozenset(
    {f"__{name}__" for name in _SYNTAX_NAMES.split()}
    | {entry.method for entry in (*BINARY, *COMPARISONS, *UNARY)}
    | {method for entry in BINARY for method in (entry.reflected, f"__{entry.in_place}__")}
)
# Methods that Python calls for a builtin and whose result must be known at trace time.
_KNOWN_RESULT_NAMES = "str repr format hash index int float complex bytes trunc floor ceil next getattr iter"
_METHODS_WITH_KNOWN_RESULTS = frozenset(f"__{name}__" for name in _KNOWN_RESULT_NAMES.split())
# By method: the exception that Python takes for a result, namely for the end of an iterator or a missing attribute.
_RESULT_ERROR_BY_METHOD: dict[str, type[Exception]] = {"__next__": StopIteration, "__getattr__": AttributeError}
# Methods that are called when objects are created or classes defined, and methods that other modules of this package
# replace.
_NAMES_ELSEWHERE = "init new del init_subclass set_name prepare getattribute setattr delattr enter exit aenter aexit"
_METHODS_HANDLED_ELSEWHERE = frozenset(f"__{name}__" for name in _NAMES_ELSEWHERE.split())
_METHODS_CALLED_BY_NAME = frozenset({"keys"})  # called by name for `dict(x)` and `**x`


def convert_special_methods(
    trace: Trace, cls: type, is_user_code: Callable[[Any], bool], convert: Callable[[Any], Any]
) -> None:
    """Replace the special methods of a class and its bases by converted ones for this trace."""
    for base in cls.__mro__:
        if base in trace.patched_classes or not is_user_code(base) or not _can_replace_methods(base):
            continue
        replaced_values: dict[str, Any] = {}
        for name, value in list(vars(base).items()):
            replacement = _convert_class_attribute(name, _plain_special_method(trace, name, value), convert)
            if replacement is not value:
                replaced_values[name] = value
                type.__setattr__(base, name, replacement)
        # The method of `object` would test the truth of what `__eq__` returns.
        if "__eq__" in replaced_values and base.__ne__ is object.__ne__:
            replaced_values["__ne__"] = MISSING
            type.__setattr__(base, "__ne__", _not_equal)
        if isinstance(vars(base).get("__getitem__"), types.FunctionType) and not hasattr(cls, "__iter__"):
            replaced_values["__iter__"] = MISSING
            iterate: Any = _iterate_by_position
            type.__setattr__(base, "__iter__", _convert_special_method("__iter__", iterate, convert))
        trace.patched_classes[base] = replaced_values
        trace.converted_methods.update(((base, name), vars(base)[name]) for name in replaced_values)


def _plain_special_method(trace: Trace, name: str, value: Any) -> Any:
    """Return the Python function of a special method that is decorated with @autoconv.compile; other values unchanged.

    This holds in a trace of the same contract. Checks of classes, such as for descriptors, find only Python functions.
    """
    if not getattr(type(value), "__autoconv_function__", False) or name[:2] != "__" or name == "__call__":
        return value
    contracts = trace.contract, getattr(value, "_contract", None)
    return value.python_function if all(getattr(contract, "runs_plain", False) for contract in contracts) else value


def _can_replace_methods(cls: type) -> bool:
    """Return whether methods of a class can be replaced: not where its metaclass comes from an extension module."""
    setter = type(cls).__setattr__
    return setter is type.__setattr__ or isinstance(setter, types.FunctionType)


def _iterate_by_position(self: Any) -> Any:
    """Iterate over an object with `__getitem__` and no `__iter__`, as Python does."""
    position = 0
    while True:
        try:
            item = self[position]
        except IndexError:
            return
        yield item
        position += 1


_iterate_by_position.__module__ = ""  # so that it is converted with the class that gets it


def _convert_special_method(name: str, method: types.FunctionType, convert: Callable[[Any], Any]) -> Any:
    """Convert a method that Python itself calls; raise StagingError for a result known only at run time."""
    converted_method = functools.cache(lambda: convert(method))

    @functools.wraps(method)
    def run(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run the converted method; refuse a result that Python would need while tracing."""
        region = current_region()
        if region is None:
            return method(self, *args, **kwargs)
        was_called_by_python, region.trace.is_called_by_python = region.trace.is_called_by_python, True
        try:
            call = functools.partial(converted_method(), self, *args, **kwargs)
            result, may_raise = _run_watched(call, _RESULT_ERROR_BY_METHOD.get(name))
        finally:
            region.trace.is_called_by_python = was_called_by_python
        if may_raise or (name in _METHODS_WITH_KNOWN_RESULTS and is_staged(result)):
            _refuse_result(self, name)
        return result._iterator if type(result) is HeldIterator else result

    run.__autoconv_original__ = method  # type: ignore[attr-defined]
    if inspect.isgeneratorfunction(method):
        run.__autoconv_iterates__ = converted_method  # type: ignore[attr-defined]
    return run


def _run_watched(run: Callable[[], Any], result_error: type[Exception] | None) -> tuple[Any, bool]:
    """Run a converted method; return its result, and whether the graph may raise `result_error`.

    Python takes an error of that class for a result; None if it takes none.
    """
    region = current_region()
    assert region is not None
    start = region.graph.mark()
    result: Any = None
    signal: BaseException | None = None
    try:
        result = run()
    except (Suspended, Exception) as error:  # Suspended: the graph raises, within a `try`: no exception tells Python
        signal = error
    nodes = region.graph.nodes_since(start) if result_error is not None else ()
    may_raise = any(_may_raise(node, result_error) for node in nodes)
    if signal is not None:
        if not may_raise:
            raise signal
        if isinstance(signal, Suspended):
            signal.mark_caught()
    return result, may_raise


def _may_raise(node: Node, kind: Any) -> bool:
    """Return whether a node, or one in its regions, may raise an exception of the class; arithmetic does not."""
    if node.op.name == "raise":
        exception = node.attributes["exception"]
        return issubclass(exception if isinstance(exception, type) else type(exception), kind)
    if node.regions and not is_recursive(node):
        return any(_may_raise(inner, kind) for region in node.regions for inner in region.nodes)
    return is_catchable(node) and not (node.inputs and all(isinstance(x.type, TensorType) for x in node.inputs))


def _refuse_result(instance: object, name: str) -> NoReturn:
    """Raise StagingError for the method `name` of `instance`, whose result depends on a tensor."""
    error = StagingError(
        f"the result of {type(instance).__name__}.{name} depends on a tensor, and Python itself calls it",
        current_place(), "a method with a name of its own",
    )  # fmt: skip
    _register_refusal(error)
    raise error


def _register_refusal(error: StagingError) -> None:
    """Register a refusal so that the trace ends with it even if Python replaces it by another error."""
    region = current_region()
    if region is not None:
        region.trace.refusal = error


def _is_called_by_python(name: str) -> bool:
    """Return whether Python itself calls methods of that name and this module handles them."""
    is_special = name.startswith("__") and name.endswith("__")
    return name in _METHODS_CALLED_BY_NAME or (is_special and name not in _METHODS_HANDLED_ELSEWHERE)


def _convert_lazily(method: Callable[..., Any], convert: Callable[[Any], Any]) -> Any:
    """Return a function that converts the method at its first call under trace, and then calls it."""
    converted_method = functools.cache(lambda: convert(method))

    @functools.wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        return (method if current_region() is None else converted_method())(*args, **kwargs)

    run.__autoconv_original__ = method  # type: ignore[attr-defined]
    return run


def _convert_getter(method: Callable[..., Any], convert: Callable[[Any], Any], position: int = 0) -> Any:
    """Return a function that converts `method`, which reads an attribute of `args[position]`, at its first call.

    Where a missing attribute has a value, by `__getattr__` or for `hasattr`, the graph must not raise AttributeError.
    """
    converted_method = functools.cache(lambda: convert(method))

    @functools.wraps(method)
    def run(*args: Any) -> Any:
        """Read the attribute; refuse a read whose AttributeError the graph would raise."""
        region = current_region()
        if region is None:
            return method(*args)
        instance = args[position]
        is_function = isinstance(inspect.getattr_static(type(instance), "__getattr__", None), types.FunctionType)
        if not is_function and not region.trace.is_missing_attribute_result:
            return converted_method()(*args)
        result, may_raise = _run_watched(functools.partial(converted_method(), *args), AttributeError)
        if may_raise:
            _refuse_result(instance, method.__name__)
        return result

    run.__autoconv_original__ = method  # type: ignore[attr-defined]
    return run


def _not_equal(self: Any, other: object) -> Any:
    """`self != other` by the class's `__eq__`, as `object.__ne__` computes it."""
    equals: Any = type(self).__eq__
    result = equals(self, other)
    return result if result is NotImplemented else not_(result)


def _refuse_iteration(method: types.FunctionType, convert: Callable[[Any], Any]) -> Any:
    """Return the replacement of an `__iter__` that writes: it raises when Python calls it.

    A for statement calls the converted method instead, `__autoconv_iterates__`.
    """

    @functools.wraps(method)
    def run(self: Any) -> Any:
        """Raise StagingError, with which the trace ends even if Python replaces it by another error."""
        error = StagingError(
            f"the __iter__ of {with_article(type(self))} writes to attributes or outer names, and Python "
            "itself calls it",
            current_place(), "a for statement over the object",
        )  # fmt: skip
        _register_refusal(error)
        raise error

    run.__autoconv_iterates__ = functools.cache(lambda: convert(method))  # type: ignore[attr-defined]
    return run


def _refuse_getattribute(method: types.FunctionType) -> Any:
    """Return the replacement of a `__getattribute__`: it raises under trace, as Python calls it for every attribute."""

    @functools.wraps(method)
    def run(self: Any, name: str) -> Any:
        """Call the method outside of traces; under trace, raise StagingError."""
        if current_region() is None:
            return method(self, name)
        class_name = method.__qualname__.rpartition(".")[0].rpartition(".")[2]
        error = StagingError(
            f"{class_name} defines __getattribute__, which Python itself calls",
            current_place(), "properties, or methods with names of their own",
        )  # fmt: skip
        _register_refusal(error)
        raise error

    return run


def restore_special_methods(trace: Trace) -> None:
    """Restore the class attributes that `convert_special_methods` and stand-ins for attributes replaced.

    A method that the program has assigned since then stays.
    """
    for (cls, name), value in trace.replaced_class_attributes.items():
        _restore_attribute(cls, name, value)
    trace.replaced_class_attributes.clear()
    for base, replaced_values in trace.patched_classes.items():
        for name, value in replaced_values.items():
            if vars(base).get(name) is trace.converted_methods[base, name]:
                _restore_attribute(base, name, value)
    trace.patched_classes.clear()
    trace.converted_methods.clear()


def _restore_attribute(cls: type, name: str, value: object) -> None:
    if value is MISSING:
        type.__delattr__(cls, name)
    else:
        type.__setattr__(cls, name, value)


def _convert_class_attribute(name: str, value: Any, convert: Callable[[Any], Any]) -> Any:
    """Return the replacement of a class's attribute for the time of a trace, or its value."""
    if name == "__iter__" and isinstance(value, types.FunctionType) and writes(value):
        return _refuse_iteration(value, convert)
    if isinstance(value, types.FunctionType) and name == "__get__" and is_user_defined(value):
        return _convert_getter(value, convert, position=1)
    if isinstance(value, types.FunctionType) and name in _SYNTAX_METHODS and is_user_defined(value):
        return wrap_undecided_method(name, value, _convert_lazily(value, convert), apply_to_second_operand)
    if isinstance(value, types.FunctionType) and _is_called_by_python(name) and is_user_defined(value):
        is_trivial = name == "__iter__" and only_returns_iter(value)
        return value if is_trivial else _convert_special_method(name, value, convert)
    if name == "__getattribute__" and is_user_defined(value) and not only_reads(value):
        return _refuse_getattribute(value)
    if isinstance(value, functools.cached_property):
        return CachedProperty(value, _convert_getter(value.func, convert))
    if isinstance(value, property):
        accessors: list[tuple[Any, Callable[..., Any]]]
        accessors = [(value.fget, _convert_getter), (value.fset, _convert_lazily), (value.fdel, _convert_lazily)]
        getter, setter, deleter = (
            convert_accessor(accessor, convert) if isinstance(accessor, types.FunctionType) else accessor
            for accessor, convert_accessor in accessors
        )
        return property(getter, setter, deleter, value.__doc__)
    return value
