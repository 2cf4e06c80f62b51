"""`autoconv build`: compile a function to a C library."""

from __future__ import annotations

from pathlib import Path

import click

from autoconv.errors import AutoconvError, TargetError

from .diagnostics import say
from .show_graph import check_arguments, function_of
from .tracebacks import with_position


@click.command(short_help="Compile a function to a C library. Imports its module.")
@click.argument("target")
@click.option(
    "--spec", "type_text", default="", metavar="TYPES",
    help="The arguments: 'float64[n,3] float64[n] int32[] 2.5'. Sizes of one name are equal; values are constants.",
)  # fmt: skip
@click.option("-o", "--output", metavar="PATH", help="Path of the files, without suffix; by default NAME.")
@click.option("--name", metavar="NAME", help="Name of the C function; by default the function's.")
@click.option("--cpu", default="", metavar="CPU", help="x86-64, x86-64-v2, -v3, -v4, or native; by default x86-64.")
@click.option("--target", "triple", default="", metavar="TRIPLE", help="Target machine, such as aarch64-linux-gnu.")
@click.option("--compile", "under_compile", is_flag=True, help="Put the function under @autoconv.compile.")
def build(
    target: str, type_text: str, output: str | None, name: str | None, cpu: str, triple: str, under_compile: bool
) -> None:  # fmt: skip
    """Compile TARGET to a C header, an object file and a shared library, which need no Python.

    TARGET names a function as for show-code. Its module is imported, and the function runs once to be traced. An
    undecorated function is put under @autoconv.function. With --target, no shared library is made.

    \b
    Examples:
      autoconv build newton.py:solve --spec 'float64[n,3] float64[3]' -o build/newton
      autoconv build newton.py:solve --spec 'float64[n,3] float64[3]' --cpu native
      autoconv build newton.py:solve --spec 'float64[100,3] float64[3]' --target aarch64-linux-gnu
    """
    import autoconv  # its library is loaded on demand, with NumPy
    from autoconv.tracing.api.argument_types import parse_types

    arguments = parse_types(type_text)  # reports errors in them before the module runs
    function = function_of(target)
    check_arguments(target, function, arguments)
    path = output or name or target.rpartition(":")[2].rpartition(".")[2]
    if Path(path).suffix in (".h", ".o", ".so", ".a"):
        raise TargetError(f"-o {path}: name the path without a suffix, {Path(path).with_suffix('')}")
    contract = "compile" if under_compile else "function"
    try:
        library = autoconv.clibrary.build(
            function, *arguments, to=path, name=name, cpu=cpu, target=triple, contract=contract
        )
    except AutoconvError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and _is_output(error.filename, path):
            raise TargetError(f"cannot write {error.filename}: {error.strerror}") from error
        located_error = with_position(error)
        if located_error is not None:
            raise located_error from error
        raise
    for file in (library.header, library.object, library.shared):
        if file is not None:
            say(str(file))


def _is_output(named_file: object, output: str) -> bool:
    """Return whether an error names a file in the folder of the outputs, that folder itself, or one above it."""
    folder = Path(output).absolute().parent
    absolute_path = None if not isinstance(named_file, str) else Path(named_file).absolute()
    return absolute_path is not None and (absolute_path.parent == folder or absolute_path in (folder, *folder.parents))


__all__ = ["build"]
