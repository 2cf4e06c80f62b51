"""`autoconv.clibrary.build`: compile a function to a C library."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import autoconv.numpy  # noqa: F401  (its import registers NumPy's functions)
from autoconv.backends import library_compiler
from autoconv.backends.library_form import NoLibraryCode, WrongTarget
from autoconv.clibrary.header import header_text
from autoconv.clibrary.interface import c_identifier, interface_of
from autoconv.clibrary.link import find_compiler, link, missing_compiler_error, shared_path
from autoconv.clibrary.variants import make_variants
from autoconv.errors import Place, TargetError, UnsupportedError
from autoconv.graph.graph import Span
from autoconv.lazy_dataclass import dataclass
from autoconv.optimise.variables_as_memory import replace_variables
from autoconv.storage.files import replacing
from autoconv.tracing.api.declared_arguments import trace_for_export
from autoconv.tracing.api.exported_movement import write_movement


@dataclass(frozen=True, slots=True)
class Library:
    """The files of a library. `shared` is None for another processor, whose linker has to make it.

    `messages` are those of the function's error codes, the first for the code 1.

    >>> def root(x):
    ...     return autoconv.sqrt(x)
    >>> autoconv.clibrary.build(root, "float64[]", to="/tmp/autoconv-example/root").messages[0]
    'out of memory'
    """

    header: Path
    object: Path
    shared: Path | None
    messages: tuple[str, ...]


def build(
    function: Callable[..., Any],
    *specs: Any,
    to: str | Path,
    name: str | None = None,
    cpu: str = "",
    target: str = "",
    contract: str = "function",
) -> Library:
    """Compile a function to a C header, an object file and a shared library, which need only libc and libm.

    `specs` are the arguments: text such as "float64[n,3]", where sizes of one name are equal and ? is any size;
    TensorSpecs; example arrays, for their types; or other plain values, which are constants. `to` is the path of the
    files without suffix. `name` is that of the C function, by default the Python function's.

    `cpu` is a level (x86-64, x86-64-v2, -v3, -v4) or "native", by default the lowest; `target` a triple such as
    "aarch64-linux-gnu". A function that is not decorated is compiled as under `contract`, "function" or "compile".

    Variables that the function only reads are constants of the library. One that it writes is a further argument, in
    memory of the caller; the header has its elements at the time when the library was built.

    Raises UnsupportedError, with the lines, for a function that needs Python, and TargetError for an unknown processor
    or if there is no C compiler to link with.

    >>> def scaled(x, by):
    ...     return x * by
    >>> library = autoconv.clibrary.build(scaled, "float64[n] float64[]", to="/tmp/autoconv-example/scaled")
    >>> library.header.name, library.object.name
    ('scaled.h', 'scaled.o')
    >>> print(next(line for line in library.header.read_text().splitlines() if line.startswith("int ")))
    int scaled(const autoconv_float64_1 *x, double by, scaled_result *result);
    """
    compiler = library_compiler()
    trace = trace_for_export(function, specs, contract)
    trace = replace(trace, graph=replace_variables(write_movement(trace.graph)))
    path = Path(to)
    c_name = name or c_identifier(trace.concrete.function_name)
    if c_name != c_identifier(c_name):
        raise TargetError(f"{c_name!r} is no name of a function in C")
    interface = interface_of(trace, c_name)
    try:
        code = compiler(interface.form, make_variants(trace, interface), cpu, target)
    except NoLibraryCode as error:
        raise _unsupported_error(c_name, error) from None
    except WrongTarget as error:
        raise TargetError(str(error)) from None
    header = header_text(interface, code.messages).encode()
    return _write_library(path, header, code.data, code.messages, links=not target)


def _write_library(
    path: Path, header: bytes, object_code: bytes, messages: tuple[str, ...], links: bool
) -> Library:
    """Write the files of a library, all of them or none, and link the shared one if `links`.

    Without a C compiler the header and the object file are written, and TargetError is raised if `links`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    header_path, object_path = path.with_name(f"{path.name}.h"), path.with_name(f"{path.name}.o")
    compiler = find_compiler() if links else None
    with contextlib.ExitStack() as stack:
        temporary_header, temporary_object = (
            stack.enter_context(replacing(str(file))) for file in (header_path, object_path)
        )
        Path(temporary_header).write_bytes(header)
        Path(temporary_object).write_bytes(object_code)
        shared = None if compiler is None else shared_path(path)
        if compiler is not None:
            link(compiler, temporary_object, stack.enter_context(replacing(str(shared))))
    if links and compiler is None:
        raise missing_compiler_error(object_path, path)
    return Library(header_path, object_path, shared, messages)


def _unsupported_error(name: str, error: NoLibraryCode) -> UnsupportedError:
    """Return the error that names each op with its line; the error's place is that of the first op with a line."""
    lines = [f"{op} at {span}" if span is not None else op for op, span in error.ops]
    place = next((_place_of_span(span) for _, span in error.ops if span is not None), None)
    return UnsupportedError(
        f"{name} has no code without Python: {'; '.join(lines[:10])}", place,
        remedy="ops with a native form, which `autoconv show-graph --stage native` shows; known sizes; or one name for "
        "sizes that are equal, as in 'float64[n,3] float64[n]'",
    )  # fmt: skip


def _place_of_span(span: Span) -> Place:
    return Place(span.file, span.line, span.column)
