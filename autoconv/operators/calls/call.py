"""Calls under trace: convert the callee, or replace it by its equivalent on tensors."""

from __future__ import annotations

import abc
import builtins
import dataclasses
import functools
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.config import SETTINGS
from autoconv.config.paths import is_own_file
from autoconv.emit.converted import convert_function, convert_generator, converted_text, is_converted, note_unconverted
from autoconv.emit.unchanged import is_unchanged
from autoconv.errors import ConversionError, StagingError
from autoconv.operators.calls import object_operators as _object_operators  # noqa: F401 - registers hooks
from autoconv.operators.calls.created_exceptions import exception_initialiser, move_exception_into_graph
from autoconv.operators.calls.dataclass_fields import call_factories, trace_defaults
from autoconv.operators.calls.iterable_consumers import wrap_extend
from autoconv.operators.calls.key_functions import wrap_sort
from autoconv.operators.calls.known_containers import find_copy_function
from autoconv.operators.calls.methods_by_name import refuse_graph_values, refuse_special
from autoconv.operators.calls.object_calls import graph_call, wrap_for_objects
from autoconv.operators.calls.operator_functions import STATEMENT_OVERRIDES
from autoconv.operators.calls.special_methods import convert_special_methods
from autoconv.operators.control.coroutines import refuse_coroutine
from autoconv.operators.control.generators import wrap_generator_function
from autoconv.operators.control.recursion_detection import is_tracked, track_calls
from autoconv.operators.control.variants import distribute, require_defined
from autoconv.operators.numpy.arrays import array_function
from autoconv.operators.numpy.callbacks import convert_callback_function
from autoconv.operators.numpy.calls import numpy_call, refuse_array_writes
from autoconv.operators.regions.layout import Variant
from autoconv.operators.support.debuggers import debugger_name
from autoconv.operators.support.held_iterators import bind_iterator
from autoconv.operators.support.protected_names import is_absent
from autoconv.operators.support.signature_check import require_fitting_arguments
from autoconv.operators.support.warnings import WARN, warn
from autoconv.operators.values.builtins import CALL, override_for
from autoconv.operators.values.instances import DESCRIPTOR_METHODS, is_user_defined, move_eagerly
from autoconv.operators.values.items import record_method_call
from autoconv.operators.values.library_functions import convert_library_function
from autoconv.ops.python.objects import LIBRARY_NAMES
from autoconv.runtime.objects.containers import TRACED_TO_PLAIN, has_graph_object, items_of
from autoconv.runtime.objects.number_methods import refuse_number
from autoconv.runtime.objects.symbolic_objects import is_object
from autoconv.runtime.recording.contracts import EAGER, Contract
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.support.articles import with_article
from autoconv.runtime.support.logs import log_verbose
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor

FRAMEWORKS = frozenset({"jax", "keras", "optree", "tensorflow", "torch"})  # packages whose functions run unconverted
# All packages whose functions run unconverted, except NumPy's polynomials: Python code that calls functions with ops.
_UNCONVERTED_PACKAGES = FRAMEWORKS | {"autoconv", "numpy", "numba", "pytest", "_pytest"} | sys.stdlib_module_names
_DO_NOT_CONVERT = "__autoconv_do_not_convert__"


def call(function: object) -> Any:
    """Return the callable to use in place of `function`: the function itself while nothing is traced."""
    region = current_region()
    if region is None:
        return function if function is not WARN else warn
    return convert_callee(function, region)


def call_untraced(function: Callable[..., Any]) -> Any:
    """Return the callable to use in place of `function` while no thread traces; there is no region to look up."""
    return function if function is not WARN else warn


def convert_callee(function: Any, region: Any = None) -> Any:
    """Return the callable to run under trace: a graph equivalent, the converted function, or the unchanged one.

    `region.contract.before_call` raises if an unchanged callable must not run under trace.
    """
    if type(function) is Variant:
        return lambda *args, **kwargs: distribute(lambda arm: call(arm)(*args, **kwargs), function)
    if is_object(function):
        return function
    is_python_number = type(function) is SymbolicTensor and function.weak
    if is_python_number and region is not None and region.contract.python_numbers:
        return lambda *args, **kwargs: refuse_number(function, "{!r} object is not callable")
    equivalent = None if has_user_equality(function) else _find_graph_equivalent(function, region)
    if equivalent is not None:
        return equivalent
    contract = EAGER if region is None else region.contract
    if isinstance(function, types.FunctionType):
        is_in_library = contract.objects_in_graph and function in LIBRARY_NAMES
        return wrap_for_objects(function) if is_in_library else _convert_and_track(function, contract, region)
    if isinstance(function, types.MethodType):
        return _convert_method(function, contract, region)
    if type(function) is functools.partial:
        return functools.partial(convert_callee(function.func, region), *function.args, **function.keywords)
    if isinstance(function, type):
        return _make_class_constructor(function, contract)
    if isinstance(function, (types.BuiltinFunctionType, types.BuiltinMethodType, types.MethodWrapperType)):
        return _wrap_builtin(function, contract, region)
    if hasattr(type(function), "__autoconv_function__") or hasattr(type(function), "__autoconv_tensor__"):
        return function
    method = getattr(type(function), "__call__", None)  # noqa: B004
    if isinstance(method, types.FunctionType):
        _convert_members_of(region, function)
        return types.MethodType(_convert_and_track(method, contract, region), function)
    contract.before_call(function)
    is_special_method = isinstance(function, types.WrapperDescriptorType)
    return refuse_graph_values(function) if is_special_method and contract.objects_in_graph else function


def has_user_equality(value: object) -> bool:
    """Return whether looking the value up in a table would run user-defined methods (`__hash__`, `__eq__`)."""
    return any(isinstance(method, types.FunctionType) for method in (type(value).__hash__, type(value).__eq__))


def _find_graph_equivalent(function: Callable[..., Any], region: Any) -> Any:
    """Return the graph equivalent of a function; None if there is none."""
    is_compiled = region is not None and region.contract.objects_in_graph
    callback_form = convert_callback_function(function, _convert_source) if is_compiled else None
    if not callback_form and region is not None and region.trace.memory and (array_form := array_function(function)):
        return array_form
    override = override_for(function)
    if override is not None:
        graph_form = wrap_for_objects(function, override) if is_compiled else _distribute_over_arms(function, override)
        return require_fitting_arguments(function, graph_form)
    initialiser = exception_initialiser(function) if is_compiled else None
    copy_form = find_copy_function(function, region.contract.before_call) if is_compiled else None
    library_form = convert_library_function(function, _convert_source, wrap_for_objects) if is_compiled else None
    known_form = initialiser or copy_form or callback_form or library_form
    return known_form or (warn if function is WARN else numpy_call(function, region))


def _convert_source(function: types.FunctionType) -> Callable[..., Any]:
    """Return the converted form of a function whose source is the program's; record the functions nested in it."""
    converted_function, region = convert_function(function, operators_module()), current_region()
    if region is not None:  # the functions nested in the source are made by the trace, and not read from outside
        region.trace.note_inner_codes(converted_function.__code__)
    return wrap_generator_function(converted_function, _convert_to_generator)


def _convert_method(method: types.MethodType, contract: Contract, region: Any) -> Any:
    """Return the callable to run in place of a bound method: its converted function, bound to the same object."""
    owner, underlying = method.__self__, method.__func__
    refuse_special(method, region)
    if type(owner) in TRACED_TO_PLAIN:
        if method.__name__ in ("__iter__", "__reversed__"):
            return lambda *args, **kwargs: bind_iterator(method(*args, **kwargs))
        if method.__name__ == "sort":
            return wrap_sort(method)
        return wrap_extend(method) if method.__name__ == "extend" else method
    _convert_members_of(region, owner)
    if isinstance(underlying, types.FunctionType):
        return types.MethodType(_convert_and_track(underlying, contract, region), owner)
    return functools.partial(convert_callee(underlying, region), owner)  # e.g. np.random.rand


def _wrap_builtin(function: Callable[..., Any], contract: Contract, region: Any) -> Any:
    """Return the callable to run in place of a builtin function or method that has no equivalent in the graph."""
    record_method_call(function)
    contract.before_call(function)
    if contract.numpy_arrays and isinstance(getattr(function, "__self__", None), np.ndarray):
        return wrap_for_objects(function, refuse_array_writes(function))
    if region is None:
        return function
    return wrap_for_objects(function) if contract.objects_in_graph else _refuse_staged_lists(function)


def _distribute_over_arms(function: Callable[..., Any], override: Callable[..., Any]) -> Callable[..., Any]:
    """Return `override`, the replacement of a builtin, distributed over the alternatives of variant arguments."""
    if function in STATEMENT_OVERRIDES or function in (builtins.print, builtins.isinstance):
        return override

    def apply(*args: Any, **kwargs: Any) -> Any:
        args = tuple(require_defined(x) if type(x) is Variant else x for x in args)
        if not any(type(x) is Variant and sum(not is_absent(arm) for arm in x.values) > 1 for x in args):
            return bind_iterator(override(*args, **kwargs))
        return distribute(lambda *alternatives: override(*alternatives, **kwargs), *args)

    return apply


def _refuse_staged_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the builtin, with a refusal of lists of run-time length: to Python such a list is empty."""

    def run(*args: Any, **kwargs: Any) -> Any:
        """Call the builtin; raise StagingError for a list of run-time length."""
        if any(map(has_graph_object, args)):  # an exception object of the graph, or its class
            return graph_call(function, args, kwargs)
        if function is not id and any(items_of(x) is not None for x in (*args, *kwargs.values())):
            raise StagingError(
                f"{function.__name__} is given a list whose length is known only at run time", current_place(),
                "the list's own methods, a loop over it, or autoconv.stack(list)",
            )  # fmt: skip
        return bind_iterator(function(*args, **kwargs))

    return run


def _convert_and_track(function: types.FunctionType, contract: Contract, region: Any) -> Callable[..., Any]:
    """Return the converted function; during a trace, wrap it so that recursive calls are detected."""
    function = getattr(function, "__autoconv_original__", function)
    if is_tracked(function):
        return function
    target = _convert_function(function, contract)
    runs_package_function = target is function and _is_package_function(function)
    if region is not None and runs_package_function and not contract.objects_in_graph:
        return _distribute_over_arms(function, function)
    may_recurse = target is not function or is_user_code(function)
    return track_calls(function, target) if region is not None and may_recurse else target


def _is_package_function(function: types.FunctionType) -> bool:
    """Return whether the function is one of this package, which takes tensors but no lists that a tensor selects."""
    return (function.__module__ or "").startswith("autoconv.") and not is_converted(function)


def _convert_function(function: types.FunctionType, contract: Contract) -> Callable[..., Any]:
    return wrap_generator_function(_convert_unless_excluded(function, contract), _convert_to_generator)


def _convert_to_generator(function: types.FunctionType) -> Any:
    """Return the form of a converted generator function that passes its values to a consumer; else None."""
    return convert_generator(function, operators_module()) if is_converted(function) else None


def _convert_unless_excluded(function: types.FunctionType, contract: Contract) -> Callable[..., Any]:
    """Return the converted function; the function itself if it is converted already, excluded or not the user's."""
    if contract.runs_plain and debugger_name(function):
        contract.before_call(function)
    refuse_coroutine(function)
    region = current_region()
    if is_converted(function):
        if region is not None:
            region.trace.guard_reads(function, function)
        return function
    if getattr(function, _DO_NOT_CONVERT, False) or not is_user_code(function):
        contract.before_call(function)
        return function
    allows_package_calls = region is not None and not region.contract.objects_in_graph
    if region is not None and "passes" not in SETTINGS.logs and is_unchanged(function, allows_package_calls):
        note_unconverted(function)
        converted_function = function
    else:  # also for a log of the passes, which needs them to run
        converted_function = convert_function(function, operators_module())
    if region is not None:
        region.trace.guard_reads(converted_function, function)
    return _log_calls(function, converted_function) if SETTINGS.verbosity >= 3 else converted_function


def _log_calls(function: types.FunctionType, converted_function: Callable[..., Any]) -> Callable[..., Any]:
    """Log each call of the converted function with its arguments and the converted source."""

    @functools.wraps(converted_function)
    def run(*args: Any, **kwargs: Any) -> Any:
        log_verbose(f"Converted call: {function}\n    args: {args}\n    kwargs: {kwargs}\n\n{converted_text(function)}")
        return converted_function(*args, **kwargs)

    return run


_ITERATING_MODULES = frozenset({"builtins", "array", "collections", "itertools"})  # whose constructors iterate


def _make_class_constructor(cls: type, contract: Contract) -> Any:
    """Return the constructor of a class; a user-defined `__init__` is converted."""
    init: Any = getattr(cls, "__init__", None)
    is_error, has_usual_metaclass = issubclass(cls, BaseException), type(cls) in (type, abc.ABCMeta)
    uses_object_new = has_usual_metaclass and not is_error and cls.__new__ is object.__new__
    has_user_init = isinstance(init, types.FunctionType) and is_user_code(init)
    is_generated = dataclasses.is_dataclass(cls) and has_user_init and init.__code__.co_filename == "<string>"
    if contract.effects_each_call and is_user_defined(getattr(cls, "__del__", None)):
        raise StagingError(
            f"{with_article(cls)} is made, whose __del__ Python calls once nothing refers to it", current_place(),
            "a with statement, or a method with a name of its own",
        )  # fmt: skip
    is_user_exception = is_error and has_usual_metaclass and has_user_init and not is_user_defined(cls.__new__)
    has_convertible_init = has_user_init or (init is object.__init__ and is_user_code(cls))
    if is_user_exception or (uses_object_new and has_convertible_init):
        allocate = cls.__new__ if is_user_exception else lambda cls, *args, **kwargs: object.__new__(cls)
        return _construct_by(cls, allocate, init if has_user_init else None, contract, is_generated)
    return _make_unconverted_constructor(cls, contract)


def _make_unconverted_constructor(cls: type, contract: Contract) -> Any:
    """Return the callable for a class whose instances Python creates itself."""
    if contract.objects_in_graph and cls in LIBRARY_NAMES:
        return wrap_for_objects(cls)
    contract.before_call(cls)
    if cls.__module__ in ("builtins", "itertools") and contract.objects_in_graph and not issubclass(cls, BaseException):
        return wrap_for_objects(cls)
    if cls.__module__ in _ITERATING_MODULES and current_region() is not None and not contract.objects_in_graph:
        return cls if issubclass(cls, BaseException) else _refuse_staged_lists(cls)
    return cls


def _construct_by(cls: Any, allocate: Any, init: Any, contract: Contract, is_generated: bool) -> Callable[..., Any]:
    """Return a constructor that registers new objects; `is_generated` is true if `dataclasses` generated `init`."""

    def construct(*args: Any, **kwargs: Any) -> Any:
        """Create an instance as `cls(*args, **kwargs)` does, and record that the trace created it."""
        result: Any = allocate(cls, *args, **kwargs)
        _register_created_object(result)
        if is_generated:
            kwargs = {**call_factories(cls, args, kwargs, call), **kwargs}
        if init is not None:
            (init if is_generated else _convert_function(init, contract))(result, *args, **kwargs)
        if is_generated:
            trace_defaults(result, args, kwargs)
        move_eagerly(result)
        return move_exception_into_graph(result)

    return construct


def _register_created_object(created_object: Any) -> None:
    """Record that the trace created the object; writes to it are therefore not visible outside."""
    region = current_region()
    if region is not None and region.trace.created_objects is not None:
        region.trace.created_objects[id(created_object)] = created_object, region
        convert_members(region, type(created_object), is_outer=False)


def _convert_members_of(region: Any, value: object) -> None:
    if region is not None:
        convert_members(region, type(value), is_outer=id(value) not in (region.trace.created_objects or ()))


def convert_members(region: Any, cls: type, is_outer: bool = True) -> None:
    """Convert the operators and properties of a user-defined class until the trace ends.

    An outer class may have instances that the trace did not create.
    """
    if is_outer:
        region.trace.outer_classes.update(cls.__mro__)
    if region.trace.converts and cls not in region.trace.patched_classes and is_user_code(cls):
        convert_special_methods(
            region.trace, cls, is_user_code, lambda function: _convert_special_method(function, region.contract)
        )
        for base in cls.__mro__ if type(cls) in (type, abc.ABCMeta) else ():
            for value in list(vars(base).values()):
                if any(map(is_user_defined, (getattr(type(value), name, None) for name in DESCRIPTOR_METHODS))):
                    convert_members(region, type(value))


def _convert_special_method(function: Any, contract: Contract) -> Any:
    """Return the converted method; the method itself if it has no source."""
    try:
        return _convert_function(function, contract)
    except ConversionError:  # e.g. a method that `dataclasses` generated
        return function


@functools.cache
def _is_convertible_module(name: str) -> bool:
    return name.partition(".")[0] not in _UNCONVERTED_PACKAGES or name.startswith("numpy.polynomial.")


def is_user_code(function: object) -> bool:
    """Return whether a function or class may be converted: False in Python's library and in unconverted packages."""
    module = getattr(function, "__module__", None) or ""  # functions of an `exec` may have none
    if not isinstance(module, str):  # in classes of C, `__module__` may be a descriptor for their instances
        module = "builtins"
    if module == "__main__" or not module:
        return True
    code = None if isinstance(function, type) else getattr(function, "__code__", None)  # a metaclass may compute it
    is_of_package = isinstance(code, types.CodeType) and is_own_file(code.co_filename)
    return not is_of_package and _is_convertible_module(module)


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
    def unconverted(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    setattr(unconverted, _DO_NOT_CONVERT, True)
    return unconverted


CALL.set(call)
