"""Pickling of functions: by reference if a module has them under their name, otherwise by source.

Lambdas and nested functions are pickled by source. The pickle holds the text of their file, their position in it, and
the values of their cells and defaults. If their module cannot be imported, it also holds the globals that they use.
Functions of the main script are pickled by reference and by source: the process that loads the pickle, such as a worker
of joblib, may have another main module.
Like any pickle, such a pickle may run code when it is loaded, so load only trusted ones.
"""

from __future__ import annotations

import copyreg
import importlib
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autoconv.emit.locate import source_lines
from autoconv.errors import AutoconvError
from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.recording.tracebacks import present_errors
from autoconv.tracing.guards.attribute_reads import iterate_names


class NoValue:
    """Placeholder for the value of an empty cell."""


def is_importable(value: Any, module: str | None, qualified_name: str) -> bool:
    """Return whether `qualified_name` in the module named `module` is bound to the value itself."""
    owner: Any = sys.modules.get(module or "")
    for part in qualified_name.split("."):
        owner = getattr(owner, part, None) if part != "<locals>" else None
    return owner is value


class Pickling:
    """Mixin that makes objects picklable that are built from a `python_function` and further `options`."""

    python_function: Callable[..., Any]

    @property
    def constructor_options(self) -> tuple[Any, ...]:
        raise NotImplementedError

    @present_errors
    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return what a pickle stores: a reference, the instance and name of a method, or the source; never traces."""
        function: Any = self.python_function
        if isinstance(function, types.MethodType):
            return getattr, (function.__self__, function.__func__.__name__)
        name = str(getattr(self, "__qualname__", ""))
        if is_importable(self, self.__module__, name):
            source = _source_of_script(function) if self.__module__ in _MAIN else None
            state = source, self.constructor_options
            return name if source is None else (_find_or_make_object, (type(self), name), state)
        if isinstance(function, types.FunctionType) and not _is_function_importable(function):
            function = pack(function)
        return copyreg.__newobj__, (type(self),), (function, self.constructor_options)  # type: ignore[attr-defined]

    def __setstate__(self, state: Any) -> None:
        if hasattr(self, "python_function"):  # `_find_or_make_object` found it in the main script of this process
            return
        function, options = state
        _ = importlib.import_module("autoconv").function  # imports the modules that are loaded with the public names
        self.__init__(unpack(function) if isinstance(function, Source) else function, *options)  # type: ignore[misc]


def _find_or_make_object(cls: type[Pickling], name: str) -> Pickling:
    """Return the object of that name in the main module; if there is none, a new one for `__setstate__`."""
    value: Any = sys.modules.get("__main__")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value if isinstance(value, cls) else cls.__new__(cls)


_MAIN = ("__main__", "__mp_main__")  # names of the main script; the second in a process that multiprocessing started
# For functions of the main script, the largest values of globals and cells that are pickled with them:
_ARRAY_BYTE_LIMIT = 1 << 20  # bytes of an array
_MAX_ITEMS = 1000  # items of a container
_MAX_DEPTH = 8  # functions of the script, each of which refers to the next


def _source_of_script(function: Any) -> Source | None:
    """Return a function of the main script as data, with its globals unless they are large.

    Return None if its source cannot be found.
    """
    if not isinstance(function, types.FunctionType):
        return None
    try:
        return pack(function, _make_replacer(frozenset([function])))
    except AutoconvError:
        return None


@dataclass(slots=True)
class Source:
    """A Python function as data: `pack` makes it, `unpack` turns it into a function again.

    `text` is the text of the file; the qualified `name`, `line` and `column` identify the function in it.
    `globals_used` is None if the module can be imported.
    """

    file: str
    text: str
    name: str
    line: int
    column: int | None
    module: str
    attributes: dict[str, Any] = field(default_factory=dict)
    defaults: Any = None
    keyword_defaults: Any = None
    cells: tuple[Any, ...] = ()
    globals_used: dict[str, Any] | None = None


def pack(function: types.FunctionType, replace: Callable[[Any], Any] | None = None) -> Source:
    """Turn a function into data; raises AutoconvError if its source cannot be found.

    `replace` maps a global, or the content of a cell, to the value to store; by default it is `_replace_modules`.
    """
    replace = replace or _replace_modules
    code = function.__code__
    lines = source_lines(code, function.__globals__)
    if not lines:
        raise AutoconvError(
            f"{function!r} is in no module under its name, and its source cannot be found either, so that it cannot be "
            "pickled",
            remedy="a function at the top of a module",
        )
    module = function.__module__ or "__main__"
    text = sys.intern("".join(lines))  # one object, which a pickle stores once
    result = Source(code.co_filename, text, code.co_qualname, code.co_firstlineno, _column(code), module)
    result.attributes = dict(function.__dict__)
    result.defaults, result.keyword_defaults = function.__defaults__, function.__kwdefaults__
    result.cells = tuple(_cell_content(cell, replace) for cell in function.__closure__ or ())
    if module in _MAIN or not _has_globals_of(module, function):
        used_names = sorted(set(iterate_names(code)) & function.__globals__.keys())
        result.globals_used = {name: replace(function.__globals__[name]) for name in used_names}
    return result


def unpack(source: Source) -> types.FunctionType:
    """Return the function, in a namespace of its own if its module cannot be imported."""
    if not linecache.getlines(source.file):  # for example a notebook's cell; errors and conversion need the text
        linecache.cache[source.file] = (len(source.text), None, source.text.splitlines(True), source.file)
    module_code = compile(source.text, source.file, "exec", dont_inherit=True)
    position = source.name, source.line, source.column
    codes = _nested_codes(module_code)
    code = next(code for code in codes if (code.co_qualname, code.co_firstlineno, _column(code)) == position)
    if source.globals_used is None:
        namespace = vars(importlib.import_module(source.module))
    else:
        namespace = {"__builtins__": __builtins__, "__name__": source.module}
        globals_of_source = {name: _unpack_value(value) for name, value in source.globals_used.items()}
        namespace.update({name: value for name, value in globals_of_source.items() if not isinstance(value, NoValue)})
    cells = tuple(map(_make_cell, source.cells))
    function = types.FunctionType(code, namespace, code.co_name, source.defaults, cells)
    function.__kwdefaults__ = source.keyword_defaults
    function.__dict__.update(source.attributes)
    return function


def _is_function_importable(function: types.FunctionType) -> bool:
    """Return whether the function's module has it under its name."""
    return is_importable(function, function.__module__, function.__qualname__)


def _column(code: types.CodeType) -> int | None:
    """Return the column at which the code begins, which distinguishes lambdas on one line; None if it is 0."""
    return next((column for line, _, column, _ in code.co_positions() if line is not None and column), None)


def _nested_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield the code objects of the functions that a code object defines, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _nested_codes(constant)


def _has_globals_of(module_name: str, function: Callable[..., Any]) -> bool:
    """Return whether the imported module of that name has the function's globals as its own."""
    module = sys.modules.get(module_name)
    return module is not None and vars(module) is function.__globals__  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class _Module:
    """A module, pickled by its name."""

    name: str


def _replace_modules(value: Any) -> Any:
    """Replace modules by their names, and functions that no module has by their source."""
    if isinstance(value, types.ModuleType):
        return _Module(value.__name__)
    if isinstance(value, types.FunctionType) and not _is_function_importable(value):
        return pack(value)
    return value


def _make_replacer(in_progress: frozenset[types.FunctionType]) -> Callable[[Any], Any]:
    """Return the function `replace` for `pack`, for functions of the main script.

    Modules are stored by name, other functions of the script by source, unless they are in `in_progress`: functions
    that are being packed. Values that may be large, or that a pickle cannot contain, are left out.
    """

    def replace(value: Any) -> Any:
        """Return the value to store in place of a global or the content of a cell; NoValue for one that is left out."""
        is_of_script = isinstance(value, types.FunctionType) and value.__module__ in _MAIN
        if is_of_script and value not in in_progress and len(in_progress) < _MAX_DEPTH:
            try:
                return pack(value, _make_replacer(in_progress | {value}))
            except AutoconvError:
                return value
        value = _replace_modules(value)
        if isinstance(value, (*_PICKLED_TYPES, _Module, Source, Pickling)):
            return value
        if isinstance(value, np.ndarray):
            return value if value.dtype.kind != "O" and value.nbytes <= _ARRAY_BYTE_LIMIT else NoValue()
        if type(value) in (tuple, list, set, frozenset, dict) and len(value) <= _MAX_ITEMS:
            items = [*value, *(value.values() if isinstance(value, dict) else ())]
            # A container is stored as it is, or left out if an item would have to be replaced.
            return NoValue() if any(replace(item) is not item for item in items) else value
        return NoValue()

    return replace


_PICKLED_TYPES = (
    bool, int, float, complex, str, bytes, types.NoneType, type, types.FunctionType, types.BuiltinFunctionType,
    np.generic, np.ufunc,
)  # fmt: skip


def _cell_content(cell: Any, replace: Callable[[Any], Any]) -> Any:
    """Return the replaced content of a closure's cell; NoValue for an empty cell."""
    try:
        return replace(cell.cell_contents)
    except ValueError:
        return NoValue()


def _make_cell(value: Any) -> types.CellType:
    """Return a closure's cell with the unpacked content; an empty cell for NoValue."""
    return types.CellType() if isinstance(value, NoValue) else types.CellType(_unpack_value(value))


def _unpack_value(value: Any) -> Any:
    """Return the object that a packed value stands for."""
    if isinstance(value, _Module):
        return importlib.import_module(value.name)
    return unpack(value) if isinstance(value, Source) else value
