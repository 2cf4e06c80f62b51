"""Native code on disk, by the digest of its graph: a graph that an earlier process compiled is not translated again.

An entry has the keys of the object files, the names that they import, and a recipe for each object of the table.
Functions that call kernels or add spans to errors are made by translating the graph, once one of them is called.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import marshal
import os
import sys
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends.call_form import CallForm
from autoconv.backends.llvm.analysis.symbolic_sizes import OpenSizes
from autoconv.backends.llvm.codegen.object_table import Address
from autoconv.backends.llvm.entry.wrapper import GeneralCode
from autoconv.backends.llvm.graph_digest import GraphDigest, NotDigestible, find_named, importable_name
from autoconv.backends.llvm.jit.engine import declarations_of, object_file_keys, stored_object_files
from autoconv.backends.llvm.runtime.library import MEMORY_HANDLER
from autoconv.backends.llvm.target.machine import Target, current_target
from autoconv.backends.llvm.translation import Translation
from autoconv.code_cache import GRAPHS
from autoconv.config import SETTINGS
from autoconv.config.package_version import files_key
from autoconv.graph.dimensions import ComputedSize, Minimum, Quotient, Sum
from autoconv.graph.dtypes import as_dtype
from autoconv.graph.graph import Graph, Span
from autoconv.graph.types import Symbol
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.values.list_value import ListValue

_FOLDERS = ("backends", "graph", "ops")  # folders of the package whose code decides about native code
_MAX_ARRAY_BYTES = 1 << 16  # bytes of the largest array that an entry has
_SYMBOL_CLASSES: dict[str, type[Symbol]] = {cls.__name__: cls for cls in (Symbol, Sum, ComputedSize, Quotient, Minimum)}
Recipe = tuple[Any, ...]


class _NotStorable(Exception):
    """Raised for an object that an entry cannot describe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCode:
    """The entry of a graph: the keys of its object files in the disk cache, and their contents.

    `declarations` are the lines of the texts that declare imported names. The other attributes are as in Translation,
    with recipes in place of the items.
    """

    keys: Sequence[str]
    object_files: Sequence[bytes]
    declarations: str
    recipes: Sequence[Recipe]
    exports: Sequence[str]
    sizes: OpenSizes
    kernels: Sequence[tuple[str, Span | None]]
    holds_no_arguments: bool
    has_general_code: bool


def digest_of(graph: Graph, form: CallForm | None, may_assume: bool) -> GraphDigest | None:
    """Return the digest of a graph; None if its code cannot be stored, or if nothing is stored."""
    if GRAPHS.folder() is None:
        return None
    try:
        return GraphDigest(graph, form, f"{_circumstances(current_target())} {may_assume} {SETTINGS.llvm_level}")
    except NotDigestible:
        return None


@functools.lru_cache(maxsize=8)
def _circumstances(target: Target) -> str:
    """Return the facts beside a graph on which its code depends: versions, the system, and the target.

    Objects of another version of Python or NumPy lie otherwise in memory, and two versions may share a checkout.
    """
    target_facts = sorted(target.features), replace(target, features=frozenset())
    versions = files_key(_FOLDERS), np.__version__, sys.implementation.cache_tag
    return repr((*versions, sys.platform, *target_facts))


def load(digest: GraphDigest) -> StoredCode | None:
    """Return the entry of a digest; None if there is none, or if an object file of it is missing."""
    data = GRAPHS.load(digest.key)
    if data is None:
        return None
    try:
        keys, declarations, recipes, exports, symbols, nonnegative_sizes, kernels, *flags = marshal.loads(data)
        holds_no_arguments, has_general_code = flags
    except (EOFError, ValueError, TypeError):
        return None
    object_files = stored_object_files(keys)
    if object_files is None:
        return None
    sizes = OpenSizes(tuple(map(_symbol_of, symbols)), tuple(map(_symbol_of, nonnegative_sizes)))
    return StoredCode(
        keys=keys, object_files=object_files, declarations=declarations, recipes=recipes, exports=exports, sizes=sizes,
        kernels=[(name, None if span is None else digest.objects[span]) for name, span in kernels],
        holds_no_arguments=holds_no_arguments, has_general_code=has_general_code,
    )  # fmt: skip


def store(digest: GraphDigest, translation: Translation, general_code: GeneralCode | None) -> None:
    """Store the entry of a graph, unless an object of its table cannot be described."""
    try:
        recipes = _recipes(digest, translation, general_code)
        symbols, nonnegative_sizes = (
            list(map(_symbol_recipe, sizes))
            for sizes in (translation.sizes.symbols, translation.sizes.nonnegative_sizes)
        )
    except _NotStorable:
        return
    kernels = [(name, None if span is None else digest.position(span)) for name, span in translation.kernels]
    keys = object_file_keys(translation.texts)
    flags = translation.holds_no_arguments, translation.has_general_code
    entry = keys, declarations_of(translation.texts), recipes, list(translation.exports), symbols, nonnegative_sizes
    GRAPHS.store(digest.key, marshal.dumps((*entry, kernels, *flags)))


def verify(
    stored: StoredCode, digest: GraphDigest, translate: Callable[[], Translation], general_code: GeneralCode | None
) -> None:
    """Raise AssertionError if a new translation differs from stored code; only where AUTOCONV_VERIFY is set."""
    if os.environ.get("AUTOCONV_VERIFY", "") not in ("", "0"):
        translation = translate()
        facts = declarations_of(translation.texts), translation.exports, translation.sizes
        stored_facts = stored.declarations, stored.exports, stored.sizes
        assert facts == stored_facts, f"stored code of another graph: {facts} != {stored_facts}"
        assert object_file_keys(translation.texts) == stored.keys, "stored code of another graph: other object files"
        recipes = _recipes(digest, translation, general_code)
        assert recipes == list(stored.recipes), f"stored code of another graph: {recipes} != {stored.recipes}"


def _recipes(digest: GraphDigest, translation: Translation, general_code: GeneralCode | None) -> list[Recipe]:
    """Return the descriptions of the items of a translation."""
    return [_recipe(item, i, digest, general_code) for i, item in enumerate(translation.items)]


# ---- objects of the table


def _recipe(item: Any, position: int, digest: GraphDigest, general_code: GeneralCode | None) -> Recipe:
    """Return the description from which another process makes or finds the item.

    `position` is that of the item in the table; -1 for a member of a tuple, which has none.
    """
    if item is None or type(item) is bool:
        return "plain", item
    if digest.position(item) is not None:
        return "met", digest.position(item)
    if type(item) in (int, float, complex, bytes, str):
        return "plain", item
    if item is NotImplemented:
        return "name", "builtins", "NotImplemented"
    if item is MEMORY_HANDLER:
        return ("memory handler",)
    if isinstance(item, Address):
        return ("busy",)
    if isinstance(item, tuple):
        return "tuple", tuple(_recipe(inner, -1, digest, general_code) for inner in item)
    if isinstance(item, types.MethodType) and item.__self__ is general_code:
        return "general code", item.__name__
    if name := importable_name(item):
        return ("name", *name.split(":"))
    if isinstance(item, (types.FunctionType, functools.partial)) and position >= 0:
        return ("translated",)
    return _data_recipe(item)


def _data_recipe(item: Any) -> Recipe:
    """Return the description of a dtype, of a small array, or of an empty list of a graph."""
    if isinstance(item, np.dtype) and np.dtype(item.str) is item:
        return "dtype", item.str
    if type(item) is np.ndarray and not item.dtype.hasobject:
        if item.size and not any(item.strides) and not item.flags.writeable:  # one number, broadcast
            return "broadcast", item.dtype.str, item.shape, item.flat[0].tobytes()
        if item.flags.carray and item.nbytes <= _MAX_ARRAY_BYTES:
            return "array", item.dtype.str, item.shape, item.tobytes()
    if isinstance(item, ListValue) and not item.length and item.like is None and not item.weak:
        return "empty list", item.dtype.name, None if item.shape is None else tuple(map(_symbol_recipe, item.shape))
    raise _NotStorable


def restore_items(
    stored: StoredCode, digest: GraphDigest, form: CallForm | None, general_code: GeneralCode | None,
    translated: Callable[[int], Callable[..., Any]],
) -> list[Any]:  # fmt: skip
    """Return the objects of the table. `translated(position)` returns the function that a translation has there."""
    return [
        _restore(recipe, position, digest, form, general_code, translated)
        for position, recipe in enumerate(stored.recipes)
    ]


def _restore(
    recipe: Recipe, position: int, digest: GraphDigest, form: CallForm | None, general_code: Any,
    translated: Callable[[int], Callable[..., Any]],
) -> Any:  # fmt: skip
    """Return the object of a recipe."""
    match recipe:
        case ("plain", value):
            return sys.intern(value) if type(value) is str else value  # names of attributes are compared by identity
        case ("met", met_position):
            return digest.objects[met_position]
        case ("name", module, name):
            return find_named(module, name) if module in _BUILTIN_MODULES else _import_named(module, name)
        case ("memory handler",):
            return MEMORY_HANDLER
        case ("busy",):
            assert form is not None
            return Address(ctypes.addressof(form.busy))
        case ("tuple", recipes):
            return tuple(_restore(inner, -1, digest, form, general_code, translated) for inner in recipes)
        case ("dtype", text):
            return np.dtype(text)
        case ("array", text, shape, data):
            return np.frombuffer(bytearray(data), text).reshape(shape)
        case ("broadcast", text, shape, data):
            return np.broadcast_to(np.frombuffer(data, text)[0], shape)
        case ("empty list", name, shape):
            return ListValue(dtype=as_dtype(name), shape=None if shape is None else tuple(map(_symbol_of, shape)))
        case ("general code", name):
            return getattr(general_code, name)
        case _:
            return translated(position)


_BUILTIN_MODULES = ("builtins", "math", "_operator")


def _import_named(module: str, name: str) -> Any:
    importlib.import_module(module)  # a module of this package or of NumPy: see `importable_name`
    return find_named(module, name)


# ---- symbols


def _symbol_recipe(symbol: Any) -> Any:
    """Return the name of a symbol's class and its fields, in which symbols are such recipes too; ints and None stay."""
    if symbol is None or isinstance(symbol, int):
        return symbol
    match symbol:
        case Sum():
            terms = tuple((tuple(map(_symbol_recipe, factors)), count) for factors, count in symbol.terms)
            return "Sum", symbol.name, terms
        case Quotient():
            return "Quotient", symbol.name, _symbol_recipe(symbol.dividend), _symbol_recipe(symbol.divisor)
        case Minimum():
            return "Minimum", symbol.name, _symbol_recipe(symbol.first), _symbol_recipe(symbol.second)
    if type(symbol) in (Symbol, ComputedSize):
        return type(symbol).__name__, symbol.name
    raise _NotStorable


def _symbol_of(recipe: Any) -> Any:
    """Return the symbol, the int or the None of a recipe; raises ValueError for anything else."""
    match recipe:
        case int() | None:
            return recipe
        case ("Sum", name, terms):
            return Sum(name, tuple((tuple(map(_symbol_of, factors)), count) for factors, count in terms))
        case ("Quotient" | "Minimum" as kind, name, first, second):
            return _SYMBOL_CLASSES[kind](name, _symbol_of(first), _symbol_of(second))  # type: ignore[call-arg]
        case (kind, name):
            return _SYMBOL_CLASSES[kind](name)
    raise ValueError(recipe)
