"""Python objects in a running graph: text, lists of anything, dicts, exceptions.

Objects are mutable, and made, read and changed in program order; two values may alias, as in Python. Operations are
Python's operators and builtins; `object_apply` names them by the keys of `FUNCTIONS`, so that no graph contains a
function of the user's.
"""

from __future__ import annotations

import bisect
import builtins
import cmath
import collections
import heapq
import inspect
import io
import math
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from autoconv.errors import NotInGraphError, OtherKindError
from autoconv.graph.dtypes import DType
from autoconv.graph.effects import Effects
from autoconv.graph.graph import Node, Value
from autoconv.graph.python_operators import BINARY, COMPARISONS, UNARY
from autoconv.graph.types import ObjectType, TensorType, Type, number_kind_order
from autoconv.ops.elementwise.python_numbers import KINDS, bool_type, int_type, to_python_array
from autoconv.ops.index_spec import NUMPY_INDEX_MESSAGE, SLICE_INDEX_MESSAGE
from autoconv.ops.python.attribute_access import refuse_access_running_user_code
from autoconv.ops.python.exception_groups import exception_to_raise, split_group
from autoconv.ops.python.held_output import write_output
from autoconv.ops.python.undo_log import (
    ARRAY_MUTATORS,
    HEAP_MUTATORS,
    log_apply,
    log_attribute,
    log_made_iterator,
    log_method,
)
from autoconv.ops.record import define, no_gradient

NO_GRADIENT = no_gradient(
    "it went through an object of Python's own: a list or dict, or a variable's value for an exception handler"
)
READ_OR_RAISE = Effects.READ | Effects.RAISE
CHANGE_OR_RAISE = Effects.READ | Effects.WRITE | Effects.RAISE


def _has_attribute(x: Any, name: str) -> bool:
    refuse_access_running_user_code(x, name)
    return hasattr(x, name)


def _refuse_call(x: Any) -> Any:
    """Raise the error of calling an object that a graph cannot call."""
    name = type(x).__name__
    if callable(x):
        raise NotInGraphError(f"which {name} is called is known only at run time, and a graph cannot call it")
    raise TypeError(f"{name!r} object is not callable")


# Functions that may return new mutable objects, or change their first operand. Three have no name in Python: "last"
# returns the last item, "last_of_each" a list of the last items of nested lists, "mapping" the dict of `**x`.
_ALLOCATING_OR_MUTATING_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{record.name: record.function for record in (*BINARY, *UNARY)},
    **{record.in_place: record.in_place_function for record in BINARY},
    "pow": builtins.pow, "pos": operator.pos,
    "getitem": operator.getitem, "slice": builtins.slice, "list": builtins.list,
    "tuple": builtins.tuple, "dict": builtins.dict, "set": builtins.set, "frozenset": builtins.frozenset,
    "sorted": builtins.sorted, "reversed": builtins.reversed, "enumerate": builtins.enumerate, "zip": builtins.zip,
    "divmod": builtins.divmod, "sum": builtins.sum, "min": builtins.min, "max": builtins.max,
    "range": builtins.range, "next": builtins.next, "iter": builtins.iter, "bytes": builtins.bytes,
    "split_group": split_group, "exception_to_raise": exception_to_raise,
    "last": operator.itemgetter(-1), "last_of_each": lambda rows: [row[-1] for row in rows],
    "mapping": lambda x: {**x},
}  # fmt: skip
_MUTATING_FUNCTIONS: dict[str, Callable[..., Any]] = {"setitem": operator.setitem, "delitem": operator.delitem}
_READING_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{record.name: record.function for record in COMPARISONS},
    "is": operator.is_, "is_not": operator.is_not, "contains": operator.contains, "str": builtins.str,
    "repr": builtins.repr, "ascii": builtins.ascii, "format": builtins.format, "int": builtins.int,
    "float": builtins.float, "complex": builtins.complex, "bool": builtins.bool, "round": builtins.round,
    "any": builtins.any, "all": builtins.all, "ord": builtins.ord, "chr": builtins.chr, "hex": builtins.hex,
    "bin": builtins.bin, "oct": builtins.oct, "len": builtins.len, "hash": builtins.hash,
    "callable": builtins.callable, "type": builtins.type, "issubclass": builtins.issubclass, "hasattr": _has_attribute,
    "refuse_call": _refuse_call,
}  # fmt: skip
FUNCTIONS = {**_ALLOCATING_OR_MUTATING_FUNCTIONS, **_MUTATING_FUNCTIONS, **_READING_FUNCTIONS}
COLLECTIONS = (collections.deque, collections.Counter, collections.defaultdict, collections.OrderedDict)
# The names in graphs of functions and classes of the standard library, e.g. "heapq.heapify".
LIBRARY_NAMES: dict[Any, str] = {
    **{kind: f"collections.{kind.__name__}" for kind in COLLECTIONS},
    **{getattr(heapq, name): f"heapq.{name}" for name in HEAP_MUTATORS},
    **{getattr(heapq, name): f"heapq.{name}" for name in ("nlargest", "nsmallest")},
    **{getattr(bisect, f"{name}_{side}"): f"bisect.{name}_{side}" for name in ("insort", "bisect")
       for side in ("left", "right")},
}  # fmt: skip
_ALLOCATING_OR_MUTATING_FUNCTIONS.update({name: function for function, name in LIBRARY_NAMES.items()})
FUNCTIONS.update({name: function for function, name in LIBRARY_NAMES.items()})
for _module in (math, cmath):
    _functions = {name: value for name, value in vars(_module).items() if callable(value)}
    FUNCTIONS.update({f"{_module.__name__}.{name}": value for name, value in _functions.items()})

_CLASSES_WHOSE_METHODS_GRAPHS_CALL: tuple[type, ...] = (
    str, bytes, bytearray, int, float, bool, complex, list, tuple, dict, set, frozenset, range, slice, types.NoneType,
    np.generic, BaseException, type({}.keys()), type({}.values()), type({}.items()),
)  # fmt: skip


def any_object_type(*_: Type, **__: Any) -> ObjectType:
    """Type rule of ops whose result may be of any class."""
    return ObjectType()


def no_results(*_: Type, **__: Any) -> tuple[()]:
    """Type rule of ops without results."""
    return ()


define(
    name="object_constant", graphdef="ObjectConst", result=lambda *, value: ObjectType(type(value).__name__),
    kernel=lambda *, value: (value,), gradient=NO_GRADIENT, effects=Effects.READ,
)  # fmt: skip


def constant_of(value: Value) -> Any:
    """Return the object that an `object_constant` node made; None for the results of other nodes."""
    is_constant = value.node is not None and value.node.op.name == "object_constant"
    return value.node.attributes["value"] if is_constant else None  # type: ignore[union-attr]


def _box(x: Any, *, boxing: str) -> tuple[Any]:
    """Make an object of a tensor.

    `boxing` "number" makes a Python number. So does "looked_up", for floats in a container that the graph searches, but
    it raises OtherKindError for a NaN, which Python finds by its identity only. "array" makes NumPy's scalar or array,
    and "tensor" does the same for tensors of the `function` contract.
    """
    array = np.asarray(x)
    if boxing == "looked_up" and array != array:
        raise OtherKindError(
            "a NaN becomes part of a list, dict or set where a graph looks numbers up, and the identity of a NaN "
            "is not part of a graph"
        )
    if boxing in ("number", "looked_up"):
        return (array.item(),)
    return (array[()] if not array.ndim else array,)


def _box_type(x: TensorType, *, boxing: str) -> ObjectType:
    if boxing not in ("number", "looked_up"):
        return ObjectType()
    return ObjectType(KINDS[number_kind_order(x.dtype)])


define(
    name="object_box", graphdef="ObjectBox", result=_box_type, kernel=_box, gradient=NO_GRADIENT,
    effects=lambda _, attributes: READ_OR_RAISE if attributes["boxing"] == "looked_up" else Effects.READ,
)  # fmt: skip


def _unbox(x: Any, *, type: TensorType, index: str = "") -> np.ndarray:
    """Return a number or array as a tensor of the type.

    `index` is "item" for a position in an array's index, "bound" for a bound of a slice, and "" for other numbers.
    """
    if type.weak and type.dtype.is_integer and not isinstance(x, (int, np.integer)):
        if index and isinstance(x, (float, complex, str, np.number)):
            raise IndexError(NUMPY_INDEX_MESSAGE) if index == "item" else TypeError(SLICE_INDEX_MESSAGE)
        name = x.__class__.__name__
        raise OtherKindError(f"a {name} comes where this graph was recorded for an int; @autoconv.compile takes both")
    if index == "item" and isinstance(x, bool):  # NumPy takes a bool as a mask, not as a position
        raise OtherKindError("a bool comes where this graph was recorded for an int; @autoconv.compile takes both")
    if type.weak:
        return to_python_array(x, type.dtype.is_complex)
    array = np.asarray(x, type.dtype.numpy)
    if type.shape == () and array.ndim:
        raise ValueError("setting an array element with a sequence.")
    return array


define(
    name="object_unbox", graphdef="ObjectUnbox", result=lambda x, *, type, index="": type, kernel=_unbox,
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip


def _element(x: Any, *, dtype: DType) -> np.ndarray:
    """Return x as an element of an array of the dtype, converted as by an assignment."""
    result = np.zeros((), dtype.numpy)
    with np.errstate(all="ignore"):
        result[()] = x
    return result


define(
    name="object_element", graphdef="ObjectElement", result=lambda x, *, dtype: TensorType(dtype), kernel=_element,
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip


def _build(*items: Any, class_name: str) -> tuple[Any]:
    """Make a container; the items of a dict are key, value, key, value …"""
    if class_name == "dict":
        return (dict(zip(items[::2], items[1::2], strict=True)),)
    return ({"list": list, "tuple": tuple, "set": set}[class_name](items),)


def _build_effects(_: Any, attributes: Any) -> Effects:
    """Return effects with RAISE only for dicts and sets, whose items may be unhashable."""
    return CHANGE_OR_RAISE if attributes["class_name"] in ("dict", "set") else CHANGE_OR_RAISE & ~Effects.RAISE


define(
    name="object_build", graphdef="ObjectBuild", result=lambda *_, class_name: ObjectType(class_name), kernel=_build,
    gradient=NO_GRADIENT, effects=_build_effects, allocates=True,
)  # fmt: skip


def _make(*values: Any, class_: type, names: tuple[str, ...]) -> tuple[Any]:
    """Make an instance of the user's class without calling its constructor; the attributes `names` are `values`."""
    instance: Any = object.__new__(class_)
    vars(instance).update(zip(names, values, strict=True))
    return (instance,)


define(
    name="object_make", graphdef="ObjectMake", result=lambda *_, class_, names: ObjectType(class_.__name__),
    kernel=_make, gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE & ~Effects.RAISE, allocates=True,
)  # fmt: skip


def _apply(*operands: Any, function: str, keywords: tuple[str, ...] = ()) -> tuple[Any]:
    """Apply the operator or function of that name; the last operands are arguments with the names in `keywords`."""
    log_apply(function, operands)
    result = _call(FUNCTIONS[function], operands, keywords)
    log_made_iterator(result)
    return (result,)


def _call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: tuple[str, ...]) -> Any:
    """Call a function with positional arguments, followed in `arguments` by those with the names in `keywords`."""
    positional_count = len(arguments) - len(keywords)
    keyword_arguments = dict(zip(keywords, arguments[positional_count:], strict=True))
    return function(*arguments[:positional_count], **keyword_arguments)


def _apply_effects(_: Any, attributes: Any) -> Effects:
    may_change = attributes["function"] in (_ALLOCATING_OR_MUTATING_FUNCTIONS | _MUTATING_FUNCTIONS)
    return CHANGE_OR_RAISE if may_change else READ_OR_RAISE


define(
    name="object_apply", graphdef="ObjectApply", result=any_object_type, kernel=_apply, gradient=NO_GRADIENT,
    effects=_apply_effects,
)  # fmt: skip


# In-place operators are named after the operator, as "iadd" after "add".
_IN_PLACE = frozenset(name for name in FUNCTIONS if name.startswith("i") and name[1:] in FUNCTIONS)


def may_change_array(node: Node) -> bool:
    """Return whether a node may write to an array that is an object of the graph, such as an item of a list.

    Writes to some attributes, such as `real`, change the array too.
    """
    if not node.inputs or node.inputs[0].type not in (ObjectType(), ObjectType("ndarray")):  # of any class, or an array
        return False
    if node.op.name == "object_method":
        return node.attributes["name"] in ARRAY_MUTATORS
    if node.op.name == "object_set_attribute":
        return node.attributes["name"] in ("shape", "dtype", "strides", "real", "imag", "flat")
    function = node.attributes.get("function", "") if node.op.name == "object_apply" else ""
    return function == "setitem" or function in _IN_PLACE


define(
    name="object_truth", graphdef="ObjectTruth", result=bool_type, kernel=lambda x: np.array(bool(x)),
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip
define(
    name="object_length", graphdef="ObjectLength", result=int_type, kernel=lambda x: np.array(len(x)),
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip
define(
    name="object_index", graphdef="ObjectIndex", result=int_type,
    kernel=lambda x: to_python_array(operator.index(x)), gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip


def _method(x: Any, *arguments: Any, name: str, keywords: tuple[str, ...] = ()) -> tuple[Any]:
    """Call a method of a built-in class, a collection, or NumPy; the last arguments have the names in `keywords`.

    A method that a subclass of the program's own defines in Python is refused.
    """
    is_written_in_python = isinstance(inspect.getattr_static(type(x), name, None), types.FunctionType)
    may_be_called = isinstance(x, (*_CLASSES_WHOSE_METHODS_GRAPHS_CALL, np.ndarray)) and not is_written_in_python
    if not may_be_called and type(x) not in COLLECTIONS:
        raise NotInGraphError(
            f"the {type(x).__name__} whose method {name!r} is called is known only at run time, and a graph cannot "
            "call it"
        )
    method = getattr(x, name)
    log_method(x, name, arguments)
    return (_call(method, arguments, keywords),)


def _method_effects(types: Any, attributes: Any) -> Effects:
    """Return effects without RAISE for an append to a known list."""
    is_append_to_list = types[0] == ObjectType("list") and attributes["name"] == "append" and len(types) == 2
    return CHANGE_OR_RAISE & ~Effects.RAISE if is_append_to_list else CHANGE_OR_RAISE


define(
    name="object_method", graphdef="ObjectMethod", result=any_object_type, kernel=_method, gradient=NO_GRADIENT,
    effects=_method_effects,
)  # fmt: skip


def _get_attribute(x: Any, *, name: str) -> tuple[Any]:
    refuse_access_running_user_code(x, name)
    return (getattr(x, name),)


def _set_attribute(x: Any, value: Any, *, name: str) -> tuple[()]:
    refuse_access_running_user_code(x, name, writes=True)
    log_attribute(x, name)
    setattr(x, name, value)
    return ()


def _delete_attribute(x: Any, *, name: str) -> tuple[()]:
    refuse_access_running_user_code(x, name, writes=True)
    log_attribute(x, name)
    delattr(x, name)
    return ()


define(
    name="object_get_attribute", graphdef="ObjectGetAttribute", result=any_object_type, kernel=_get_attribute,
    gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip
define(
    name="object_set_attribute", graphdef="ObjectSetAttribute", result=no_results, kernel=_set_attribute,
    gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
)  # fmt: skip
define(
    name="object_delete_attribute", graphdef="ObjectDeleteAttribute", result=no_results, kernel=_delete_attribute,
    gradient=NO_GRADIENT, effects=CHANGE_OR_RAISE,
)  # fmt: skip


define(
    name="object_isinstance", graphdef="ObjectIsinstance", result=bool_type,
    kernel=lambda x, *, kinds: np.array(isinstance(x, kinds)), gradient=NO_GRADIENT, effects=READ_OR_RAISE,
)  # fmt: skip


def _print(*values: Any, sep: Any, end: Any, flush: bool = False) -> tuple[()]:
    """Print the values; if a value's `__str__` raises, those before it are printed, as by Python."""
    text = io.StringIO()
    try:
        print(*values, sep=sep, end=end, file=text)
    finally:
        write_output(text.getvalue(), flush)
    return ()


define(
    name="object_print", graphdef="PrintV2", result=no_results, kernel=_print, gradient=NO_GRADIENT,
    effects=Effects.OUTPUT | READ_OR_RAISE, prints=True,
)  # fmt: skip
