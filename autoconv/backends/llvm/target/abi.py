"""Binary interface to CPython and NumPy: addresses of functions, and memory layouts of objects."""

from __future__ import annotations

import builtins
import collections
import ctypes
import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

# Offsets in bytes in PyObject and PyArrayObject on 64-bit machines, checked by `_check_layout` at the first use.
TYPE_OFFSET = 8
DATA, RANK, DIMENSIONS, STRIDES, BASE, DESCRIPTOR, FLAGS = 16, 24, 32, 40, 48, 56, 64
ANY_NUMBER = -(2**63)  # wildcard among the expected sizes or strides of an array
FLOAT_VALUE = CELL_CONTENTS = SCALAR_VALUE = 16  # offsets in a Python float, in a cell and in a NumPy scalar
REAL_PART, IMAGINARY_PART = 16, 24  # offsets in a Python complex
# Offsets in PyByteArrayObject: size, allocated size, start of the allocation, start of the bytes.
BYTE_COUNT, BYTE_CAPACITY, BYTE_MEMORY, BYTE_START = 16, 24, 32, 40
LIST_COUNT, LIST_ITEMS = 16, 24  # offsets in a list: number of items, address of the items
_DICT_VERSION = 24  # offset of the number that each change of a dict replaces, in the versions of Python that have it
# Flags of arrays, as in NumPy's C API.
PLAIN_FLAGS = 0x0001 | 0x0100  # C-contiguous and aligned
ORDER_FLAGS = 0x0001 | 0x0002 | 0x0100  # C-contiguous, Fortran-contiguous, aligned
CONTIGUOUS_FLAGS = 0x0001 | 0x0002  # C-contiguous, Fortran-contiguous
COLUMN_FLAGS = 0x0002 | 0x0100  # Fortran-contiguous and aligned
READ_ONLY_FLAGS = 0x0100  # aligned
WRITABLE_FLAGS = 0x0100 | 0x0400  # aligned and writable
OWNED_FLAGS = 0x0004 | 0x0400  # owns its memory, writable

_PYTHON_FUNCTIONS = (
    "PyErr_CheckSignals", "PyErr_Clear", "PyErr_SetString", "PyErr_NoMemory", "PyMem_Malloc", "PyMem_Free",
    "PyObject_Vectorcall", "PyObject_CallObject", "PyTuple_New", "PyTuple_SetItem", "PyTuple_GetItem",
    "_Py_Dealloc", "PyErr_Occurred", "PyEval_SaveThread", "PyEval_RestoreThread", "PyDict_GetItemWithError",
    "PyLong_AsLongLong", "PyLong_AsLongLongAndOverflow", "PyLong_FromLongLong", "PyLong_FromVoidPtr",
    "PyFloat_FromDouble",
    "PyType_GenericAlloc", "PyThreadState_Get", "PyComplex_FromDoubles",
    "PyErr_Fetch", "PyErr_Restore", "PyErr_NormalizeException", "PyException_SetTraceback",
    "PyByteArray_FromStringAndSize",
    "PyByteArray_Resize",
    # functions on objects
    "PyNumber_Add", "PyNumber_Subtract", "PyNumber_Multiply", "PyNumber_TrueDivide", "PyNumber_FloorDivide",
    "PyNumber_Remainder", "PyNumber_Lshift", "PyNumber_Rshift", "PyNumber_And", "PyNumber_Or", "PyNumber_Xor",
    "PyNumber_InPlaceAdd", "PyNumber_InPlaceSubtract", "PyNumber_InPlaceMultiply", "PyNumber_InPlaceTrueDivide",
    "PyNumber_InPlaceFloorDivide", "PyNumber_InPlaceRemainder", "PyNumber_InPlaceLshift", "PyNumber_InPlaceRshift",
    "PyNumber_InPlaceAnd", "PyNumber_InPlaceOr", "PyNumber_InPlaceXor", "PyNumber_Negative", "PyNumber_Positive",
    "PyNumber_Invert", "PyNumber_Absolute", "PyObject_RichCompare", "PyObject_GetItem", "PyObject_SetItem",
    "PyObject_DelItem", "PySequence_Contains", "PyObject_Size", "PyObject_IsTrue", "PyIter_Next", "PyList_New",
    "PyList_Append", "PyList_SetItem", "PyList_AsTuple", "PyDict_New", "PyDict_SetItem", "PySet_New", "PySet_Add",
    "PyObject_GetIter", "PyObject_VectorcallMethod", "PyObject_GetAttr", "PyObject_SetAttr",
    "PyObject_GenericGetAttr", "PyObject_GenericSetAttr", "_PyType_Lookup", "Py_IncRef", "Py_DecRef",
)  # fmt: skip
# Name of a built-in class -> its symbol in Python's C API.
CLASSES = {
    "int": "PyLong_Type", "float": "PyFloat_Type", "bool": "PyBool_Type", "str": "PyUnicode_Type",
    "NoneType": "_PyNone_Type", "list": "PyList_Type", "tuple": "PyTuple_Type", "dict": "PyDict_Type",
    "set": "PySet_Type", "slice": "PySlice_Type", "range": "PyRange_Type", "bytes": "PyBytes_Type",
    "complex": "PyComplex_Type",
}  # fmt: skip
# Name of a class of NumPy's scalars -> a symbol that only this package uses.
SCALARS = {name: f"numpy_{name}" for name in ("int64", "float64", "bool_", "int32", "float32", "uint8")}
COLLECTIONS = {"deque": "collections_deque"}  # name of a class of `collections` -> a symbol of this package
# Symbol -> object: in Python's C API, or for this package only.
SINGLETONS: dict[str, Any] = {
    "_Py_TrueStruct": True, "_Py_FalseStruct": False, "_Py_NoneStruct": None,
    "PyMemberDescr_Type": types.MemberDescriptorType, "recursion_error": RecursionError,
}  # fmt: skip
# Positions in the table of NumPy's C API.
_NUMPY_POSITIONS = {
    "PyArray_Scalar": 60,
    "PyArray_Return": 76, "PyArray_Resize": 80, "PyArray_NewCopy": 85, "PyArray_Sort": 129, "PyArray_NewFromDescr": 94,
    "PyArray_EquivTypes": 182, "PyArray_Zeros": 183, "PyArray_Empty": 184, "PyArray_SetBaseObject": 282,
    "PyArray_ArgSort": 130, "PyArray_Partition": 296, "PyArray_ArgPartition": 297, "PyDataMem_SetHandler": 304,
}  # fmt: skip
_LIBRARY_SYMBOLS = {
    "cblas_sgemm": "scipy_cblas_sgemm64_", "cblas_dgemm": "scipy_cblas_dgemm64_",
    "cblas_sgemv": "scipy_cblas_sgemv64_", "cblas_dgemv": "scipy_cblas_dgemv64_",
    "blas_get_threads": "scipy_openblas_get_num_threads64_", "blas_set_threads": "scipy_openblas_set_num_threads64_",
} | {
    f"lapack_{name}": f"scipy_{name}_64_"
    for name in (
        "dgetrf", "dgesv", "dpotrf", "dtrtrs", "dgeqrf", "dorgqr", "dsyevd", "dgesdd",
        "zgetrf", "zgesv", "zpotrf", "ztrtrs", "zgeqrf", "zungqr", "zheevd", "zgesdd",
    )
}  # fmt: skip


class UnknownLayout(Exception):
    """Raised if objects of this Python or NumPy do not lie in memory as native code expects."""


def _type_slot_offset(function: Any) -> int:
    """Return the offset in bytes of the slot of a class that contains a function of Python's."""
    words = (ctypes.c_void_p * (UnknownLayout.__sizeof__(UnknownLayout) // 8)).from_address(id(UnknownLayout))
    return 8 * list(words).index(_address(function))


def _address(function: Any) -> int:
    """Return the address of a function of ctypes."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


GETTER_OFFSET = _type_slot_offset(ctypes.pythonapi.PyObject_GenericGetAttr)
SETTER_OFFSET = _type_slot_offset(ctypes.pythonapi.PyObject_GenericSetAttr)


@functools.cache
def symbols() -> dict[str, int]:
    """Map the external symbols of native code to addresses; raises UnknownLayout."""
    _check_layout()
    result = {name: _address(getattr(ctypes.pythonapi, name)) for name in _PYTHON_FUNCTIONS}
    result |= {symbol: id(getattr(types if name == "NoneType" else builtins, name)) for name, symbol in CLASSES.items()}
    result |= {symbol: id(getattr(np, name)) for name, symbol in SCALARS.items()}
    result |= {symbol: id(getattr(collections, name)) for name, symbol in COLLECTIONS.items()}
    result |= {symbol: id(value) for symbol, value in SINGLETONS.items()}
    table = _numpy_table()
    result |= {name: table[position] for name, position in _NUMPY_POSITIONS.items()}
    result |= _blas_addresses()
    libm = ctypes.CDLL(None)
    for name in ("fmod", "fmodf", "log", "exp"):
        result[name] = _address(getattr(libm, name))
    return result


@functools.cache
def frames_left_offset() -> int | None:
    """Return the offset of the number of Python frames left in the thread state; None if it is not found.

    The number is an int of 4 bytes, and the limit follows it.
    """
    get_state = ctypes.pythonapi.PyThreadState_Get
    get_state.restype = ctypes.c_void_p
    word_count = 64  # words of the thread state that are searched

    def words(depth: int) -> list[int]:
        """Return the first words of the thread state, read in a call nested `depth` times."""
        return words(depth - 1) if depth else list((ctypes.c_int32 * word_count).from_address(get_state()))

    limit, words_by_depth = sys.getrecursionlimit(), [words(depth) for depth in range(4)]

    def counts_frames(i: int) -> bool:
        """Return whether word i is lower by 1 in each nested call, and the limit follows it."""
        return all(
            words_of_depth[i + 1] == limit and words_of_depth[i] == words_by_depth[0][i] - depth > 0
            for depth, words_of_depth in enumerate(words_by_depth)
        )

    positions = list(filter(counts_frames, range(word_count - 1)))
    return 4 * positions[0] if len(positions) == 1 else None


@functools.cache
def dict_version_offset() -> int | None:
    """Return the offset of a dict's version, an int of 8 bytes that each change replaces by another (PEP 509).

    Return None if Python has no versions: if one of several changes of a dict leaves the number as it was.
    """
    namespace: dict[str, int] = {"a": 0}
    changes: list[Callable[[], object]] = [
        lambda: namespace.__setitem__("a", 1000),
        lambda: namespace.__setitem__("a", 2000),
        lambda: namespace.__setitem__("b", 0),
        lambda: namespace.__delitem__("a"),
        lambda: namespace.pop("b"),
        lambda: namespace.update(c=1),
        lambda: namespace.setdefault("d", 2),
        namespace.clear,
    ]
    version = ctypes.c_uint64.from_address(id(namespace) + _DICT_VERSION)
    versions = [0, version.value]
    for change in changes:
        change()
        versions.append(version.value)
    return _DICT_VERSION if len(set(versions)) == len(versions) else None


def _numpy_core() -> Any:
    """Return the extension module that exports NumPy's C API."""
    name = "numpy._core._multiarray_umath" if int(np.__version__.split(".")[0]) > 1 else "numpy.core._multiarray_umath"
    return importlib.import_module(name)


def _numpy_table() -> Any:
    """Return the table of functions of NumPy's C API, as addresses."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table_type = ctypes.c_void_p * (max(_NUMPY_POSITIONS.values()) + 1)
    return table_type.from_address(pointer(_numpy_core()._ARRAY_API, None))


def _blas_addresses() -> dict[str, int]:
    """Return the addresses of functions of NumPy's bundled BLAS and LAPACK, with 64-bit sizes.

    Functions that get and set the number of threads are included. The dict is empty if NumPy uses another library.
    """
    library = ctypes.CDLL(_numpy_core().__file__)
    available_symbols = {name: symbol for name, symbol in _LIBRARY_SYMBOLS.items() if hasattr(library, symbol)}
    return {name: _address(getattr(library, symbol)) for name, symbol in available_symbols.items()}


def _check_layout() -> None:
    """Compare the memory of an array at the offsets with the properties that ctypes and NumPy report."""
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    address = id(array)

    def word(offset: int) -> int:
        return int(ctypes.c_int64.from_address(address + offset).value)

    is_expected = (
        word(TYPE_OFFSET) == id(np.ndarray)
        and word(DATA) == array.ctypes.data
        and ctypes.c_int32.from_address(address + RANK).value == 2
        and ctypes.c_int64.from_address(word(DIMENSIONS) + 8).value == 3
        and ctypes.c_int64.from_address(word(STRIDES)).value == 12
        and word(BASE) == id(array.base)
        and word(DESCRIPTOR) == id(np.dtype(np.float32))
        and ctypes.c_int32.from_address(address + FLAGS).value & PLAIN_FLAGS == PLAIN_FLAGS
        and ctypes.sizeof(ctypes.c_void_p) == 8
    )
    if not is_expected:
        raise UnknownLayout("arrays of this NumPy do not lie in memory as native code expects")
    _check_bytes()
    _check_list()
    _check_scalars()
    number = complex(1.25, -2.5)
    parts = [ctypes.c_double.from_address(id(number) + offset).value for offset in (REAL_PART, IMAGINARY_PART)]
    if parts != [number.real, number.imag]:
        raise UnknownLayout("a complex number of this Python does not lie in memory as native code expects")
    new_array = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.py_object, ctypes.c_int
    )(_numpy_table()[_NUMPY_POSITIONS["PyArray_Empty"]])
    descriptor = np.dtype(np.int16)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(descriptor))  # the call takes over a reference
    result = new_array(2, (ctypes.c_int64 * 2)(4, 5), descriptor, 0)
    if type(result) is not np.ndarray or result.shape != (4, 5) or result.dtype != np.int16:
        raise UnknownLayout("NumPy's table of C functions differs from the one that native code expects")


def _check_scalars() -> None:
    """Raise UnknownLayout unless NumPy's scalars lie in memory as expected."""
    for code in "?bhilBHILefdFD":
        scalar = np.array(1).astype(code)[()]
        if ctypes.string_at(id(scalar) + SCALAR_VALUE, scalar.itemsize) != scalar.tobytes():
            raise UnknownLayout("scalars of this NumPy do not lie in memory as native code expects")


def _check_list() -> None:
    """Raise UnknownLayout unless lists lie in memory as expected."""
    sample = ["a", "b", "c"]
    address = id(sample)
    items = ctypes.c_int64.from_address(address + LIST_ITEMS).value
    words = (ctypes.c_int64 * 3).from_address(items)
    if ctypes.c_int64.from_address(address + LIST_COUNT).value != 3 or list(words) != list(map(id, sample)):
        raise UnknownLayout("a list of this Python does not lie in memory as native code expects")


def _check_bytes() -> None:
    """Check the layout of a bytearray whose first bytes were deleted."""
    sample = bytearray(range(100))
    del sample[:7]
    words = (ctypes.c_int64 * 6).from_address(id(sample))
    offsets = BYTE_COUNT, BYTE_CAPACITY, BYTE_MEMORY, BYTE_START
    size, capacity, memory, start = (words[offset // 8] for offset in offsets)
    view = (ctypes.c_char * len(sample)).from_buffer(sample)
    if size != len(sample) or start != ctypes.addressof(view) or not memory <= start <= memory + capacity - size:
        raise UnknownLayout("a bytearray of this Python does not lie in memory as native code expects")
