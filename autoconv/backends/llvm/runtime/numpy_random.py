"""NumPy's own functions for random numbers, from the static library that NumPy installs for C programs.

The library is an archive of object files, as Unix linkers take them. Its functions take the address of a generator's
interface (`bitgen_t` of NumPy's C API) first.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from autoconv.backends.llvm.jit.engine import load_object_files

PREFIX = '@"random_'  # beginning of the functions' names in native code
_MAGIC, _HEADER_SIZE = b"!<arch>\n", 60
_NAME, _SIZE = slice(0, 16), slice(48, 58)  # fields of a member's header
_TABLES = (b"/", b"//", b"/SYM64/")  # members that are tables of names
# Function that native code calls -> (type of the result, types of the parameters after the interface).
SIGNATURES: dict[str, tuple[str, str]] = {
    **{f"random_{name}": ("double", "") for name in (
        "standard_uniform", "standard_normal", "standard_exponential", "standard_cauchy",
    )},
    **{f"random_{name}": ("double", "double") for name in (
        "exponential", "rayleigh", "standard_gamma", "chisquare", "standard_t",
    )},
    **{f"random_{name}": ("double", "double, double") for name in (
        "normal", "uniform", "laplace", "logistic", "gumbel", "gamma", "beta", "f", "wald",
    )},
    "random_poisson": ("i64", "double"),
    "random_bounded_uint64_fill": ("void", "i64, i64, i64, i32, ptr"),
}  # fmt: skip


def is_available() -> bool:
    """Return whether this version of NumPy has installed the library, with all these functions."""
    return bool(addresses())


@functools.cache
def addresses() -> dict[str, int]:
    """Load the library, once, and return the addresses of its functions by name; none where it cannot be loaded."""
    try:
        code = load_object_files([*_object_files(_library().read_bytes())], {}, list(SIGNATURES))
        result = {name: code.address(name) for name in SIGNATURES}
    except (OSError, ValueError, LookupError, RuntimeError):  # no library, another format, or a missing function
        return {}
    _LOADED.append(code)
    return result


_LOADED: list[object] = []  # kept as long as the process


def _library() -> Path:
    """Return the path of the library in NumPy's package."""
    return Path(np.random.__file__).parent / "lib" / "libnpyrandom.a"


def _object_files(archive: bytes) -> Iterator[bytes]:
    """Yield the object files of an archive; none of another format."""
    position = len(_MAGIC) if archive.startswith(_MAGIC) else len(archive)
    while position + _HEADER_SIZE <= len(archive):
        header = archive[position : position + _HEADER_SIZE]
        start, size = position + _HEADER_SIZE, int(header[_SIZE])
        if header[_NAME].strip() not in _TABLES:
            yield archive[start : start + size]
        position = start + size + size % 2
