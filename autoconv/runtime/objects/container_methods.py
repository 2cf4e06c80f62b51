"""Methods of traced lists, dicts and sets: Python's own while the contents are static, else nodes of the graph."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any

from autoconv.errors import StagingError
from autoconv.graph.python_operators import COMPARISONS, OPERATOR_BY_NAME
from autoconv.ops.program_errors import errors_of_program
from autoconv.runtime.objects.containers import (
    TRACED_CLASS_BY_PLAIN,
    TRACED_TO_PLAIN,
    TracedDict,
    TracedList,
    contents,
    has_optional_keys,
    has_static_contents,
    heap_of,
    items_of,
    materialise,
    plain_class,
    record_container_change,
    traced_result,
)
from autoconv.runtime.objects.dict_views import SET_LIKE_VIEWS, VIEWS, DictView
from autoconv.runtime.objects.symbol_search import holds_symbols
from autoconv.runtime.objects.symbolic_objects import SymbolicObject, apply_object, build_object, record_object
from autoconv.runtime.recording.regions import current_contract, current_region
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor_methods import raise_if_python_refuses

_CONTAINER_OPERATORS = [OPERATOR_BY_NAME[name] for name in ("add", "mul", "or", "and", "sub", "xor")]
_COMPARISON_METHODS = [comparison.method for comparison in COMPARISONS]
_IN_PLACE_METHODS = frozenset(f"__{binary.in_place}__" for binary in _CONTAINER_OPERATORS)
_MUTATING_METHODS = frozenset(
    {
        "append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "add", "discard", "update",
        "setdefault", "popitem", "intersection_update", "difference_update", "symmetric_difference_update",
        "__setitem__", "__delitem__", *_IN_PLACE_METHODS,
    }
)  # fmt: skip
_OPERATOR_BY_METHOD = {
    **{f"__{name}__": name for name in ("getitem", "setitem", "delitem", "reversed")},
    **{binary.method: binary.name for binary in (*_CONTAINER_OPERATORS, *COMPARISONS)},
    **{f"__{binary.in_place}__": binary.in_place for binary in _CONTAINER_OPERATORS},
}
_OPERATOR_BY_REFLECTED_METHOD = {binary.reflected: binary.name for binary in _CONTAINER_OPERATORS}
# Methods that Python calls itself and that need static contents -> the use, for the error.
_REFUSED_METHODS = {
    "__len__": "passed to len()", "__contains__": "searched", "__str__": "converted to text",
    "__repr__": "converted to text", "__format__": "converted to text",
}  # fmt: skip
# Methods that compare items: with symbolic operands they have to be nodes.
_COMPARING_METHODS = frozenset({"sort", "index", "count", "remove", *_COMPARISON_METHODS})
# Methods that store or copy items without looking at them: symbolic operands do not move the list into the graph.
_STORING_METHODS = frozenset(
    {"append", "extend", "setdefault", "add", "update", "__iadd__", "__add__", "__radd__", "__iter__"}
)
_MERGING_METHODS = frozenset({"update", "__or__", "__ior__", "__ror__"})  # of dicts, with another dict
_ITERATING_METHODS = frozenset({"extend", "__iadd__", "__add__", "__radd__"})  # these iterate over their argument


def _forwarding_method(plain_class: type, name: str) -> Callable[..., Any]:
    """Return a method of a traced container: Python's own while the contents are static, else a node of the graph."""
    plain_method = getattr(plain_class, name)

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call Python's own method on static contents, or record a node that calls it."""
        # ---- lists and dicts under `function`, whose contents depend on tensors
        if self._items is not None or _needs_tensor_list(self, name, args):
            return (items_of(self) or self.move_to_graph()).call(self, name, args, kwargs)
        if 0 < len(args) <= _SEARCH_ARGUMENT_LIMITS.get(name, 0) and _is_symbolic_search(self, args):
            return self.search(name, args)
        if plain_class is dict and has_optional_keys(self):
            return self.call_with_optional_keys(name, args, kwargs)
        # ---- containers that stay out of the graph, or move into it for this method
        if self._heap is None and name == "__add__" and _is_symbolic_iterable(args[0]):
            return apply_object("add", build_object("list", list.__iter__(self)), args[0])  # this list stays static
        if self._heap is None and _needs_graph(self, name, args):
            materialise(self)
        if self._heap is None:
            if name == "__add__" and _is_added_by_other(args[0], self):
                return NotImplemented
            if name == "__iter__":
                return _iterate_static(self, plain_method(self))
            if plain_class is dict and name in VIEWS:
                return DictView(self, name)
            if name in _MUTATING_METHODS:
                record_container_change(self)
            if name == "append":
                _record_append(self, args)
            with errors_of_program(LookupError, ValueError):
                return traced_result(plain_method(self, *args, **kwargs))
        if name == "__iter__":
            return self._heap.unpack_for(sys._getframe(1))
        return _record_method(self, name, args, kwargs)

    method.__name__ = name
    return method


def _record_method(container: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Record the node of a method or operator of a container in the graph."""
    heap = container._heap
    if name in _REFUSED_METHODS:
        class_name = TRACED_TO_PLAIN[type(container)].__name__
        raise StagingError(f"a {class_name} known only at run time is {_REFUSED_METHODS[name]} by Python")
    if name in _OPERATOR_BY_METHOD:
        result = apply_object(_OPERATOR_BY_METHOD[name], heap, *args)
        is_changed = name in _IN_PLACE_METHODS and not (plain_class(container) is set and _is_dict_view(args[0]))
        return container if is_changed else result  # `x |= view` of a set and a dict's view gives a new set
    if name in _OPERATOR_BY_REFLECTED_METHOD:
        return apply_object(_OPERATOR_BY_REFLECTED_METHOD[name], *args, heap)
    return record_object("object_method", [heap, *args, *kwargs.values()], name=name, keywords=tuple(kwargs))


def _is_dict_view(value: Any) -> bool:
    """Return whether a value is the view of a dict's keys or items, or the graph's object for one."""
    if type(value) is not SymbolicObject:
        return isinstance(value, SET_LIKE_VIEWS)
    node = value.value_in_graph.node
    return node is not None and node.op.name == "object_method" and node.attributes["name"] in ("keys", "items")


def _is_added_by_other(other: object, container: object) -> bool:
    """Return whether `container + other` calls the `__radd__` of `other`, as Python does for an operand of no list."""
    if type(other) is SymbolicTensor:
        raise_if_python_refuses(operator.add, container, other)
    reflected = getattr(type(other), "__radd__", None)
    return not isinstance(other, list) and reflected is not None and reflected not in _RADD_OF_NUMBERS


_RADD_OF_NUMBERS = (int.__radd__, float.__radd__, complex.__radd__)


def _record_append(container: object, args: tuple[Any, ...]) -> None:
    """Record an append in a region: a list that later moves into the graph may be read before it."""
    region = current_region()
    if region is not None and region.parent is not None and type(container) is TracedList and args:
        region.trace.appended_items.append((container, args[0]))


def _iterate_static(container: object, items: Any) -> Any:
    """Iterate over `items`, and check each time that the container is static: in the graph, Python finds it empty."""
    _check_static(container)
    for item in items:
        yield item
        _check_static(container)


def _check_static(container: object) -> None:
    """Raise StagingError for a container that has moved into the graph while it is iterated over."""
    if not has_static_contents(container):
        class_name = TRACED_TO_PLAIN[type(container)].__name__
        raise StagingError(
            f"a {class_name} moves into the graph while it is iterated", current_place(),
            "a for statement over the container itself, or over a copy",
        )  # fmt: skip


TracedDict.iterate_static = _iterate_static

# Methods with a position or a repeat count as operand.
_METHODS_WITH_POSITION = frozenset({"pop", "insert", "__delitem__", "__mul__", "__rmul__", "__imul__"})
_METHODS_WITH_ANOTHER_LIST = frozenset({"extend", "__add__", "__iadd__", "__eq__", "__ne__"})


_SEARCH_ARGUMENT_LIMITS = {"index": 3, "count": 1, "remove": 1}  # a method that searches a list -> most arguments


def _is_list_in_function(container: object) -> bool:
    """Return whether the container is a list, and a trace of `function` is recorded."""
    return type(container) is TracedList and current_region() is not None and not current_contract().objects_in_graph


def _is_symbolic_search(container: object, args: tuple[Any, ...]) -> bool:
    """Return whether a search in a list compares symbolic values, under `function`."""
    if not _is_list_in_function(container):
        return False
    return holds_symbols(args) or holds_symbols(contents(container))


def _needs_tensor_list(container: object, name: str, args: tuple[Any, ...]) -> bool:
    """Return whether an operation turns a list into tensor lists, under `function`."""
    if not _is_list_in_function(container) or not args:
        return False
    if name in _METHODS_WITH_POSITION or (name == "__getitem__" and type(args[0]) is slice):
        return holds_symbols(args[:1]) or (type(args[0]) is slice and holds_symbols(_bounds(args[0])))
    return name in _METHODS_WITH_ANOTHER_LIST and items_of(args[0]) is not None


def _bounds(slice_: slice) -> tuple[Any, ...]:
    return slice_.start, slice_.stop, slice_.step


def _needs_graph(container: object, name: str, args: tuple[Any, ...]) -> bool:
    """Return whether an operation depends on symbolic values, under `compile`."""
    if not current_contract().objects_in_graph:
        return False
    if name in _COMPARING_METHODS:
        return holds_symbols(args) or holds_symbols(contents(container))
    if name in _ITERATING_METHODS and args:
        is_container = type(args[0]) in TRACED_TO_PLAIN or type(args[0]) is DictView
        return heap_of(args[0]) is not None or (not is_container and holds_symbols((args[0],)))
    if isinstance(container, list):
        if name not in _STORING_METHODS and holds_symbols(args[:1]):
            return True
        iterated_values = args[:1] if name in ("extend", "__iadd__") else ()
        if name == "__setitem__" and type(args[0]) is slice:
            iterated_values = args[1:2]
        return any(map(_is_symbolic_iterable, iterated_values))
    if name in _MERGING_METHODS and args and isinstance(args[0], dict) and isinstance(container, dict):
        return heap_of(args[0]) is not None or has_optional_keys(args[0])  # keys are known; values are not read
    is_static_view = args and type(args[0]) is DictView and heap_of(args[0]) is None
    return holds_symbols(tuple(args[0].current_view()) if is_static_view else args[:1])


def _is_symbolic_iterable(value: object) -> bool:
    """Return whether the items of an iterable are known only at run time."""
    if not current_contract().objects_in_graph:
        return False
    if type(value) in TRACED_TO_PLAIN or type(value) is DictView:
        return heap_of(value) is not None
    return type(value) is SymbolicObject or hasattr(type(value), "__autoconv_box__")


for _plain, _traced in TRACED_CLASS_BY_PLAIN.items():
    _names = [name for name in dir(_plain) if not name.startswith("__") and name != "fromkeys"]
    _special_names = (*_OPERATOR_BY_METHOD, *_OPERATOR_BY_REFLECTED_METHOD, *_REFUSED_METHODS, "__iter__")
    _names += [name for name in _special_names if hasattr(_plain, name)]
    for _name in _names:
        setattr(_traced, _name, _forwarding_method(_plain, _name))
