"""Calls under trace: convert the callee, or replace it by its equivalent on tensors."""

from __future__ import annotations

import builtins
import dataclasses
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.emit.converted import (
    convert_function,
    convert_generator,
    converted_text,
    is_converted,
    note_unconverted,
)
from autoconv.emit.unchanged import is_unchanged
from autoconv.errors import ConversionError, StagingError
from autoconv.operators.calls import object_operators as _by_class  # noqa: F401 - registers the operators of objects
from autoconv.operators.calls.dataclass_fields import call_factories, trace_defaults
from autoconv.operators.calls.iterable_consumers import extending
from autoconv.operators.calls.methods_by_name import of_known_values, refuse_special
from autoconv.operators.calls.object_calls import graph_call, is_in_graph, on_objects
from autoconv.operators.calls.operator_functions import AS_STATEMENTS
from autoconv.operators.calls.special_methods import convert_special_methods
from autoconv.operators.control.coroutines import refuse_coroutine
from autoconv.operators.control.generators import generating, is_generator_function
from autoconv.operators.control.recursion_detection import is_noted, with_noted_calls
from autoconv.operators.control.variants import defined, distribute, is_absent
from autoconv.operators.numpy.arrays import array_function
from autoconv.operators.numpy.calls import numpy_call, only_reading
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.debuggers import debugger_in
from autoconv.operators.support.held_iterators import held
from autoconv.operators.support.signature_check import fitting
from autoconv.operators.support.warnings import WARN, warn
from autoconv.operators.values.builtins import CALL, called, override_for
from autoconv.operators.values.instances import DESCRIBING, is_user_defined, move_eagerly
from autoconv.operators.values.items import about_to_call
from autoconv.ops.python.objects import LIBRARY
from autoconv.runtime.objects.containers import PLAIN, items_of
from autoconv.runtime.objects.number_methods import refuse_number
from autoconv.runtime.objects.symbolic_objects import is_object
from autoconv.runtime.recording.contracts import EAGER, Contract
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.logs import log_verbose
from autoconv.runtime.support.spans import current_place, is_own_file
from autoconv.runtime.tensors.symbolic import SymbolicTensor

# Frameworks whose code is not converted, and whose objects are taken as they are.
FRAMEWORKS = frozenset({"jax", "keras", "optree", "tensorflow", "torch"})
# Modules whose functions are called unconverted.
_NOT_ENTERED = FRAMEWORKS | {"autoconv", "numpy", "numba", "pytest", "_pytest"}
_DO_NOT_CONVERT = "__autoconv_do_not_convert__"


def call(function: object) -> Any:
    """Return the callable to use in place of `function`: the function itself while nothing is traced."""
    region = current_region()
    if region is None:
        return function if function is not WARN else warn
    return converted(function, region)


def call_untraced(function: Callable[..., Any]) -> Any:
    """Return the callable as `call` does while no thread traces, without looking up the region."""
    return function if function is not WARN else warn


def converted(function: Any, region: Any = None) -> Any:
    """Return the callable to run under trace: a graph equivalent, the converted function, or the unchanged one.

    `region.contract.before_call` raises for an unchanged one that must not run under trace.
    """
    if type(function) is Variant:
        return lambda *args, **kwargs: distribute(lambda f: call(f)(*args, **kwargs), function)
    if type(function) is SymbolicTensor and function.weak and region is not None and region.contract.python_numbers:
        return lambda *args, **kwargs: refuse_number(function, "{!r} object is not callable")
    equivalent = None if has_user_equality(function) else _graph_equivalent(function, region)
    if equivalent is not None:
        return equivalent
    contract = EAGER if region is None else region.contract
    if isinstance(function, types.FunctionType):
        in_library = contract.objects_in_graph and function in LIBRARY
        return on_objects(function) if in_library else _with_noted_calls(function, contract, region)
    if isinstance(function, types.MethodType):
        return _method(function, contract, region)
    if type(function) is functools.partial:
        return functools.partial(converted(function.func, region), *function.args, **function.keywords)
    if isinstance(function, type):
        return _class(function, contract)
    if isinstance(function, (types.BuiltinFunctionType, types.BuiltinMethodType, types.MethodWrapperType)):
        return _builtin(function, contract, region)
    if hasattr(type(function), "__autoconv_function__") or hasattr(type(function), "__autoconv_tensor__"):
        return function
    method = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(method, types.FunctionType):
        if region is not None:
            _meet_object(region, function)
        return types.MethodType(_with_noted_calls(method, contract, region), function)
    contract.before_call(function)
    is_special = isinstance(function, types.WrapperDescriptorType)
    return of_known_values(function) if is_special and contract.objects_in_graph else function


def has_user_equality(value: object) -> bool:
    """Return whether looking the value up in a table would run user-defined methods (`__hash__`, `__eq__`)."""
    kind = type(value)
    return isinstance(kind.__hash__, types.FunctionType) or isinstance(kind.__eq__, types.FunctionType)


def _graph_equivalent(function: Callable[..., Any], region: Any) -> Any:
    """Return the graph equivalent of a function; None if there is none."""
    compiles = region is not None and region.contract.objects_in_graph
    if region is not None and region.trace.memory:
        array_form = array_function(function)
        if array_form is not None:
            return array_form
    if is_object(function):
        return function
    override = override_for(function)
    if override is not None:
        return fitting(function, on_objects(function, override) if compiles else _in_arms(function, override))
    return warn if function is WARN else numpy_call(function, region)


def _method(method: types.MethodType, contract: Contract, region: Any) -> Any:
    owner, inner = method.__self__, method.__func__
    refuse_special(method, region)
    if type(owner) in PLAIN:
        if method.__name__ in ("__iter__", "__reversed__"):
            return lambda *args, **kwargs: held(method(*args, **kwargs))
        if method.__name__ == "sort":
            return _sorting(method)
        return extending(method) if method.__name__ == "extend" else method
    if region is not None:
        _meet_object(region, owner)
    if isinstance(inner, types.FunctionType):
        return types.MethodType(_with_noted_calls(inner, contract, region), owner)
    return functools.partial(converted(inner, region), owner)  # e.g. np.random.rand


def _sorting(method: types.MethodType) -> Callable[..., Any]:
    """Return the method `sort` of a tracked list; it converts the key function."""

    def sort(*args: Any, **how: Any) -> Any:
        key = how.get("key")
        return method(*args, **how) if key is None else method(*args, **{**how, "key": called(key)})

    return sort


def _builtin(function: Callable[..., Any], contract: Contract, region: Any) -> Any:
    about_to_call(function)
    contract.before_call(function)
    if contract.numpy_arrays and isinstance(getattr(function, "__self__", None), np.ndarray):
        return on_objects(function, only_reading(function))
    if region is None:
        return function
    return on_objects(function) if contract.objects_in_graph else _without_lists(function)


def _in_arms(function: Callable[..., Any], override: Callable[..., Any]) -> Callable[..., Any]:
    """Distribute a builtin over the alternatives of variant arguments."""
    if function in AS_STATEMENTS or function in (builtins.print, builtins.isinstance):
        return override

    def apply(*args: Any, **kwargs: Any) -> Any:
        args = tuple(defined(x) if type(x) is Variant else x for x in args)
        if not any(type(x) is Variant and sum(not is_absent(v) for v in x.values) > 1 for x in args):
            return held(override(*args, **kwargs))
        return distribute(lambda *each: override(*each, **kwargs), *args)

    return apply


def _without_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a builtin so that it refuses lists of run-time length, whose Python counterparts are empty."""

    def run(*args: Any, **kwargs: Any) -> Any:
        if any(map(is_in_graph, args)):  # an exception object of the graph, or its class
            return graph_call(function, args, kwargs)
        if function is not id and any(items_of(x) is not None for x in (*args, *kwargs.values())):
            raise StagingError(
                f"{function.__name__} is given a list whose length is known only at run time", current_place(),
                "the list's own methods, a loop over it, or autoconv.stack(list)",
            )  # fmt: skip
        return held(function(*args, **kwargs))

    return run


def _with_noted_calls(function: types.FunctionType, contract: Contract, region: Any) -> Callable[..., Any]:
    """Return the converted function; during a trace, wrap it so that recursive calls are detected."""
    function = getattr(function, "__autoconv_asked__", function)
    if is_noted(function):
        return function
    target = _function(function, contract)
    if region is not None and target is function and not contract.objects_in_graph and _is_own(function):
        return _in_arms(function, function)
    is_converted = target is not function or is_user_code(function)
    return with_noted_calls(function, target) if region is not None and is_converted else target


def _is_own(function: types.FunctionType) -> bool:
    """Return whether the function is one of this package, which takes tensors, and no list that a tensor chooses."""
    return (function.__module__ or "").startswith("autoconv.") and not is_converted(function)


def _function(function: types.FunctionType, contract: Contract) -> Callable[..., Any]:
    plain = _plain_function(function, contract)
    return generating(plain, _handing) if is_generator_function(plain, current_region()) else plain


def _handing(function: types.FunctionType) -> Any:
    return convert_generator(function, operators_module()) if is_converted(function) else None


def _plain_function(function: types.FunctionType, contract: Contract) -> Callable[..., Any]:
    if contract.runs_plain and debugger_in(function):
        contract.before_call(function)
    refuse_coroutine(function)
    if is_converted(function):
        return function
    if getattr(function, _DO_NOT_CONVERT, False) or not is_user_code(function):
        contract.before_call(function)
        return function
    region = current_region()
    watched = "passes" in SETTINGS.logs  # a log of the passes needs them to run
    if region is not None and not watched and is_unchanged(function, with_calls=not region.contract.objects_in_graph):
        note_unconverted(function)
        converted_function = function
    else:
        converted_function = convert_function(function, operators_module())
    if region is not None:
        region.contract.on_converted(function)
    return _log_calls(function, converted_function) if SETTINGS.verbosity >= 3 else converted_function


def _log_calls(function: types.FunctionType, converted_function: Callable[..., Any]) -> Callable[..., Any]:
    """Log each call of the converted function with its arguments and the converted source."""

    @functools.wraps(converted_function)
    def run(*args: Any, **kwargs: Any) -> Any:
        text = f"Converted call: {function}\n    args: {args}\n    kwargs: {kwargs}\n\n{converted_text(function)}"
        log_verbose(text)
        return converted_function(*args, **kwargs)

    return run


# Modules whose classes iterate over their arguments.
_LOOKING_INTO = frozenset({"builtins", "array", "collections", "itertools"})


def _class(cls: type, contract: Contract) -> Any:
    """Return the constructor of a class; a user-defined `__init__` is converted."""
    init: Any = getattr(cls, "__init__", None)
    plain = type(cls) is type and cls.__new__ is object.__new__ and not issubclass(cls, BaseException)
    own = isinstance(init, types.FunctionType) and is_user_code(init)
    written = own and not (dataclasses.is_dataclass(cls) and init.__code__.co_filename == "<string>")
    if contract.effects_each_call and is_user_defined(getattr(cls, "__del__", None)):
        raise StagingError(
            f"a {cls.__name__} is made, whose __del__ Python calls once nothing refers to it", current_place(),
            "a with statement, or a method with a name of its own",
        )  # fmt: skip
    exception = type(cls) is type and issubclass(cls, BaseException) and own and not is_user_defined(cls.__new__)
    if exception or (plain and (own or (init is object.__init__ and is_user_code(cls)))):
        make = cls.__new__ if exception else lambda cls, *args, **kwargs: object.__new__(cls)
        return _constructor(cls, make, init if own else None, contract if written else None)
    return _class_of_others(cls, contract)


def _class_of_others(cls: type, contract: Contract) -> Any:
    """Return what is called in place of a class whose objects Python makes."""
    if contract.objects_in_graph and cls in LIBRARY:
        return on_objects(cls)
    contract.before_call(cls)
    if cls.__module__ in ("builtins", "itertools") and contract.objects_in_graph and not issubclass(cls, BaseException):
        return on_objects(cls)
    if cls.__module__ in _LOOKING_INTO and current_region() is not None and not contract.objects_in_graph:
        return cls if issubclass(cls, BaseException) else _without_lists(cls)
    return cls


def _constructor(cls: Any, make: Callable[..., Any], init: Any, contract: Contract | None) -> Callable[..., Any]:
    """Return the constructor of a class whose objects belong to the trace.

    `init` is its `__init__` in Python, None for one of Python's own. It is converted under the contract, and was
    generated by `dataclasses` where there is none.
    """
    is_generated = init is not None and contract is None

    def construct(*args: Any, **kwargs: Any) -> Any:
        result: Any = make(cls, *args, **kwargs)
        _register(result)
        if is_generated:
            kwargs = {**call_factories(cls, args, kwargs, call), **kwargs}
        if init is not None:
            (init if contract is None else _function(init, contract))(result, *args, **kwargs)
        if is_generated:
            trace_defaults(result, args, kwargs)
        move_eagerly(result)
        return result

    return construct


def _register(object_: Any) -> None:
    """Record that the trace created the object; writes to it are therefore not visible outside."""
    region = current_region()
    owned = region.trace.owned if region is not None else None
    if region is not None and owned is not None:
        owned[id(object_)] = object_, region
        meet_class(region, type(object_), False)


def _meet_object(region: Any, value: object) -> None:
    meet_class(region, type(value), id(value) not in (region.trace.owned or ()))


def meet_class(region: Any, cls: type, is_outer: bool = True) -> None:
    """Convert the operators and properties of a user-defined class until the trace ends.

    An outer class may have instances that the trace did not create.
    """
    if is_outer:
        region.trace.outer_classes.update(cls.__mro__)
    if region.trace.converts and cls not in region.trace.patched and is_user_code(cls):
        convert_special_methods(
            region.trace, cls, is_user_code, lambda function: _handled_specially(function, region.contract)
        )
        for base in cls.__mro__ if type(cls) is type else ():
            for value in list(vars(base).values()):
                if any(map(is_user_defined, (getattr(type(value), name, None) for name in DESCRIBING))):
                    meet_class(region, type(value))


def _handled_specially(function: Any, contract: Contract) -> Any:
    try:
        return _function(function, contract)
    except ConversionError:  # a method without source, e.g. of a dataclass, stays unconverted
        return function


@functools.cache
def _module_entered(name: str) -> bool:
    root = name.partition(".")[0]
    return root not in _NOT_ENTERED and root not in sys.stdlib_module_names


def is_user_code(function: object) -> bool:
    """Return whether a function or class may be converted: not of Python's library or a package of _NOT_ENTERED."""
    module = getattr(function, "__module__", None) or ""  # functions of an `exec` may have none
    if not isinstance(module, str):  # classes of C may have a descriptor for that of their objects
        module = "builtins"
    if module == "__main__" or not module:
        return True
    code = None if isinstance(function, type) else getattr(function, "__code__", None)  # a metaclass may compute it
    if isinstance(code, types.CodeType) and is_own_file(code.co_filename):
        return False
    return _module_entered(module)


def operators_module() -> Any:
    return sys.modules["autoconv.operators"]


def do_not_convert(function: Callable[..., Any] | None = None) -> Any:
    """Exempt a function from conversion; usable as a decorator or around a function where it is called.

    >>> @autoconv.autograph.experimental.do_not_convert
    ... def label(n):
    ...     return f"n is {n}"
    >>> label(3)
    'n is 3'
    """
    if function is None:
        return do_not_convert
    target = function.__func__ if isinstance(function, types.MethodType) else function

    @functools.wraps(target)
    def as_it_is(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    setattr(as_it_is, _DO_NOT_CONVERT, True)
    return as_it_is


__all__ = ["call", "call_untraced", "converted", "do_not_convert", "is_user_code"]


CALL.set(call)
