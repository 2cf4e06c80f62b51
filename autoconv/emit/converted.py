"""Cache of converted functions: in this process, and on disk across processes.

The key on disk consists of everything that determines a conversion: the text of the whole file, the position of the
function in it, and the version of the converter. A hit imports neither gast nor the passes. The stored value is
marshalled Python code; `autoconv.code_cache` states when its folder is trusted.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import marshal
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from autoconv.code_cache import FUNCTIONS
from autoconv.config import SETTINGS
from autoconv.emit.converter import converter_key
from autoconv.emit.locate import SOURCE_ATTRIBUTE, FunctionSource, source_lines
from autoconv.emit.relocate import is_class_body
from autoconv.errors import ConversionError, Place
from autoconv.forks import CONVERSION, new_lock
from autoconv.hooks import Hook

OPERATORS = "ag__"
OUTLINE_CODE = Hook("autoconv.emit.outline")  # `emit.outline.outline_code`, whose module imports gast


class _ConvertedCode(NamedTuple):
    """Converted code, and the outer names whose list or dict it changes without reading it."""

    code: types.CodeType
    mutated_names: frozenset[str]


class OutlinedCode(NamedTuple):
    """The code of a function and of the functions made of its loops.

    main: the function's code, in which each loop is a call; None if no loop can be outlined
    loops: the code of each loop's function, by its name
    sources: the located source of each loop's function, by its name
    """

    main: types.CodeType | None
    loops: dict[str, types.CodeType]
    sources: dict[str, FunctionSource]


# (file, to_consumer) -> converted code. `to_consumer`: whether a generator function was converted to pass its values to
# a consumer. Code objects of two files compare equal if the functions and their lines are the same, so the file is in
# the key.
_ConversionsByFile = dict[tuple[str, bool], _ConvertedCode]
_CONVERSIONS: weakref.WeakKeyDictionary[types.CodeType, _ConversionsByFile] = weakref.WeakKeyDictionary()
# By id, not by equality: where there is nothing to convert, the converted code equals the original.
_CONVERTED_CODES: weakref.WeakValueDictionary[int, types.CodeType] = weakref.WeakValueDictionary()
# Id of a string -> the string: a qualified name in the code of a class statement, which the class shares.
_CLASS_NAMES: dict[int, str] = {}
_DIGESTS: dict[str, tuple[list[str], str]] = {}  # by file name: its lines and their digest
_LOCK = new_lock(order=CONVERSION)
BEFORE_CONVERSION: list[Callable[[], object]] = []  # called before a conversion, which may take long
_UNCONVERTED: weakref.WeakSet[types.CodeType] = weakref.WeakSet()  # arguments of `note_unconverted` so far


def convert_function(function: types.FunctionType, operators: Any) -> types.FunctionType:
    """Return the converted function, with the same globals, cells, defaults and attributes.

    `operators` is the value of the name `ag__` in it. Raises ConversionError when there is no source, or when something
    in it cannot be converted.
    """
    if is_converted(function):
        return function
    return bind_code(function, _converted_code(function, to_consumer=False), {OPERATORS: operators})


def note_unconverted(function: types.FunctionType) -> None:
    """Call BEFORE_CONVERSION for a function that runs unconverted, if no earlier process has run the function.

    Its trace is new then and has to be compiled, which the callbacks prepare.
    """
    code = function.__code__
    if not BEFORE_CONVERSION or code in _UNCONVERTED:
        return
    _UNCONVERTED.add(code)
    identity = sys.version, code.co_filename, code.co_firstlineno, code.co_code
    key = hashlib.sha256(repr(identity).encode("utf-8", "surrogatepass")).hexdigest()
    if FUNCTIONS.load(key) is None:
        for callback in tuple(BEFORE_CONVERSION):
            callback()
        FUNCTIONS.store(key, b"")


def convert_generator(function: types.FunctionType, operators: Any) -> types.FunctionType | None:
    """Return a generator function converted to pass its values to a consumer, its first argument (see `generators`).

    None where that is impossible, or where its source is not found.
    """
    try:
        return bind_code(function, _converted_code(function, to_consumer=True), {OPERATORS: operators})
    except ConversionError:
        return None


def outline_loops(
    function: types.FunctionType, decorate: Callable[[types.FunctionType], Any]
) -> types.FunctionType | None:
    """Return a function that calls its loops, which are functions that `decorate` was applied to.

    If `function` was itself made of a loop, only the loops inside of that loop are outlined. Return None if no loop
    can be outlined, or if there is no source.
    """
    outlined = functools.cache(lambda: OUTLINE_CODE(function))
    key = _cache_key(function, "outlined")
    codes = None if key is None else _load(key)
    if not isinstance(codes, tuple):
        try:
            codes = outlined()[:2]
        except ConversionError:
            return None
        if key is not None:
            FUNCTIONS.store(key, marshal.dumps(codes))
    main_code, loop_codes = codes
    if main_code is None:
        return None
    decorated_loops = {}
    for name, code in loop_codes.items():
        loop_function = bind_code(function, _with_sets_of(function.__code__, code), {})
        loop_function.__defaults__ = loop_function.__kwdefaults__ = None
        vars(loop_function)[SOURCE_ATTRIBUTE] = functools.partial(_locate_loop, loop_function, outlined, name)
        decorated_loops[name] = decorate(loop_function)
    return bind_code(function, _with_sets_of(function.__code__, main_code), decorated_loops)


def _locate_loop(function: types.FunctionType, outlined: Callable[[], OutlinedCode], name: str) -> FunctionSource:
    """Return the source of a loop's function, whose code may come from the cache on disk."""
    code = outlined().loops.get(name)
    if code is None or code.co_code != function.__code__.co_code:
        place = Place(function.__code__.co_filename, function.__code__.co_firstlineno)
        raise ConversionError("the file of this loop was changed after it was imported", place)
    return outlined().sources[name]


def converted_text(function: types.FunctionType) -> str:
    """Return the converted source of one function; raises ConversionError like `convert_function`."""
    from autoconv.emit.function import rewrite_definition  # lazily: imports gast
    from autoconv.emit.unparse import unparse  # lazily: imports astunparse

    return unparse(ast.Module([rewrite_definition(function).definition], []))


def mutated_names(function: types.FunctionType) -> frozenset[str]:
    """Return the outer names whose list or dict a converted function changes without reading it.

    `autoconv.analysis.write_only_names` finds them.
    """
    code = function.__code__
    conversions = _CONVERSIONS.get(code, {})
    conversion = conversions.get((code.co_filename, False)) or conversions.get((code.co_filename, True))
    return conversion.mutated_names if conversion is not None else frozenset()


def is_converted(function: Any) -> bool:
    """Return whether a function's code is the result of a conversion, at run time or as part of a converted module."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    if _CONVERTED_CODES.get(id(code)) is code:
        return True
    return "__autoconv__" in getattr(function, "__globals__", {}) and not hasattr(function, SOURCE_ATTRIBUTE)


def register_code(code: types.CodeType) -> None:
    """Mark the code, and the code nested in it, as converted."""
    _CONVERTED_CODES[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            register_code(constant)
        elif constant == code.co_qualname and is_class_body(code):
            _CLASS_NAMES[id(constant)] = constant


def is_of_converted_class_statement(cls: type) -> bool:
    """Return whether a class statement in converted code has made the class.

    The class's `__qualname__` is then the same string object as the constant in that code.
    """
    return _CLASS_NAMES.get(id(cls.__qualname__)) is cls.__qualname__


def _converted_code(function: types.FunctionType, to_consumer: bool) -> types.CodeType:
    """Return the function's converted code, the same object each time."""
    code = function.__code__
    with _LOCK:
        conversions = _CONVERSIONS.setdefault(code, {})
        key = code.co_filename, to_consumer
        conversion = conversions.get(key)
        if conversion is None:
            loaded = _load_or_convert(function, to_consumer)
            conversion = loaded._replace(code=_with_sets_of(code, loaded.code))
            conversions[key] = conversion
            register_code(conversion.code)
    return conversion.code


def _with_sets_of(original: types.CodeType, code: types.CodeType) -> types.CodeType:
    """Return the code with the frozensets among the constants of the original, which iterate in their own order.

    Python makes frozensets of set displays. Equal ones have another order if the code was loaded from a file.
    """
    return _replace_sets(code, dict(_constant_sets(original)))


def _constant_sets(code: types.CodeType) -> Iterator[tuple[frozenset[str], frozenset[Any]]]:
    """Yield the frozensets among the constants of the code and of the code nested in it, each after its key."""
    for constant in code.co_consts:
        if isinstance(constant, frozenset):
            yield _set_key(constant), constant
        elif isinstance(constant, types.CodeType):
            yield from _constant_sets(constant)


def _set_key(elements: frozenset[Any]) -> frozenset[str]:
    return frozenset(map(repr, elements))  # unlike 1, True and 1.0, their texts differ


def _replace_sets(code: types.CodeType, sets: dict[frozenset[str], frozenset[Any]]) -> types.CodeType:
    """Return the code with the frozensets of `sets` in place of those with the same keys."""

    def replacement(constant: Any) -> Any:
        if isinstance(constant, types.CodeType):
            return _replace_sets(constant, sets)
        return sets.get(_set_key(constant), constant) if isinstance(constant, frozenset) else constant

    return code.replace(co_consts=tuple(map(replacement, code.co_consts))) if sets else code


def _load_or_convert(function: types.FunctionType, to_consumer: bool) -> _ConvertedCode:
    """Return the function's converted code from the cache on disk, or convert the function and store the code."""
    # For a log of the passes, they have to run: nothing is loaded.
    key = None if "passes" in SETTINGS.logs else _cache_key(function, to_consumer)
    cached_conversion = None if key is None else _load_code(key)
    if cached_conversion is not None:
        return cached_conversion
    for callback in tuple(BEFORE_CONVERSION):
        callback()
    from autoconv.emit.function import convert_code  # lazily: imports gast

    code, mutated_names = convert_code(function, to_consumer)
    if key is not None:
        FUNCTIONS.store(key, marshal.dumps((code, sorted(mutated_names))))
    return _ConvertedCode(code, mutated_names)


def _load_code(key: str) -> _ConvertedCode | None:
    """Return the converted code that the cache on disk has under the key; None if it has none."""
    match _load(key):
        case (types.CodeType() as code, list() as mutated_names):
            return _ConvertedCode(code, frozenset(mutated_names))
    return None


def _load(key: str) -> Any:
    """Return the value that the cache on disk has under the key; None if it has none."""
    data = FUNCTIONS.load(key)
    try:
        return None if data is None else marshal.loads(data)
    except (EOFError, ValueError, TypeError):  # written by a version with another format
        return None


def _cache_key(function: types.FunctionType, form: bool | str) -> str | None:
    """Return a key of everything that a conversion depends on; None if `linecache` has no source.

    `form` is the bool of `_converted_code`, or "outlined".
    """
    code = function.__code__
    lines = source_lines(code, function.__globals__)
    if not lines:
        return None
    dependencies = (
        importlib.util.MAGIC_NUMBER, sys.flags.optimize, converter_key(), code.co_filename,
        _digest(code.co_filename, lines), function.__name__, function.__qualname__, code.co_name, code.co_firstlineno,
        code.co_flags, code.co_freevars, code.co_code, code.co_linetable, code.co_varnames,
        [constant for constant in code.co_consts if not isinstance(constant, (types.CodeType, frozenset))], form,
    )  # fmt: skip
    return hashlib.sha256(repr(dependencies).encode("utf-8", "surrogatepass")).hexdigest()


def _digest(filename: str, lines: list[str]) -> str:
    """Return the digest of a file's lines, computed once for each version of the file."""
    digested_lines, digest = _DIGESTS.get(filename, (None, ""))
    if digested_lines is not lines:  # a new list means a new version of the file
        digest = hashlib.sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
        _DIGESTS[filename] = lines, digest
    return digest


def bind_code(
    function: types.FunctionType, converted_code: types.CodeType, names: dict[str, Any]
) -> types.FunctionType:
    """Make a function of the converted code, with the attributes of the original one; `names` are further cells."""
    code = function.__code__
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells |= {name: types.CellType(value) for name, value in names.items()}
    closure = tuple(cells.get(name) or types.CellType() for name in converted_code.co_freevars)
    result = types.FunctionType(converted_code, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    result.__dict__.update(function.__dict__)
    result.__qualname__, result.__module__, result.__doc__ = (
        function.__qualname__, function.__module__, function.__doc__,
    )  # fmt: skip
    result.__annotations__ = function.__annotations__
    return result
