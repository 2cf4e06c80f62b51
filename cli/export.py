"""`autoconv export`: write a function as a StableHLO module or an ONNX model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from autoconv.errors import AutoconvError, TargetError

from .diagnostics import say
from .output import OutputTransaction, exit_on_sigterm, refuse_existing
from .show_graph import check_arguments, function_of
from .tracebacks import with_position


@click.command(short_help="Write a function for another runtime: StableHLO or ONNX. Imports its module.")
@click.argument("target")
@click.option("--spec", "type_text", default="", metavar="TYPES", help="The arguments: 'float32[n,3] int32[] 2.5'.")
@click.option(
    "--format", "format_name", type=click.Choice(["stablehlo", "onnx"]), default="stablehlo", show_default=True,
    help="The format to write.",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to write; - is standard output.")
@click.option("--capacity", default=64, show_default=True, help="Largest length of a list that grows in the graph.")
@click.option("--compile", "under_compile", is_flag=True, help="Put the function under @autoconv.compile.")
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def export(
    target: str, type_text: str, format_name: str, output: Path | None, capacity: int, under_compile: bool, force: bool
) -> None:
    """Write the graph of TARGET in a form that other runtimes read.

    TARGET names a function as for show-code. Its module is imported, and the function runs once to be traced; an
    undecorated function is put under @autoconv.function. Sizes given as ? or by name stay open in the file. An op
    without a form in that format is refused, with its line. StableHLO goes to standard output unless -o names a file.

    \b
    Examples:
      autoconv export newton.py:solve --spec 'float32[1000] float32[]' -o solve.mlir
      autoconv export model.py:predict --spec 'float32[?,784]' --format onnx -o predict.onnx
    """
    from autoconv.tracing.api.argument_types import parse_types  # imported on demand: loads NumPy

    arguments = parse_types(type_text)  # reports errors in them before the module runs
    function = function_of(target)
    check_arguments(target, function, arguments)
    is_stdout = output is None or str(output) == "-"
    if format_name == "onnx" and is_stdout:
        raise click.UsageError("an ONNX model is not text; name a file with -o")
    if output is not None and not is_stdout:
        refuse_existing(output, force=force)
        if not output.parent.is_dir():
            raise TargetError(f"{output.parent} is not a folder; make it first, or name another file with -o")
    try:
        data = _exported_bytes(function, arguments, format_name, capacity, "compile" if under_compile else "function")
    except AutoconvError:
        raise
    except Exception as error:
        located_error = with_position(error)
        if located_error is not None:
            raise located_error from error
        raise
    if is_stdout:
        say(data.decode(), newline=False)
        return
    assert output is not None
    try:
        with exit_on_sigterm(), OutputTransaction() as transaction:
            transaction.add_data(output, data)
            transaction.commit()
    except OSError as error:
        raise TargetError(f"cannot write {output}: {error.strerror or error}") from error
    say(f"{output}: {len(data)} bytes")


def _exported_bytes(function: Any, arguments: list[Any], format_name: str, capacity: int, contract: str) -> bytes:
    """Return the contents of the file; `capacity` is the largest length of a list that grows in the graph."""
    if format_name == "onnx":
        from autoconv import onnx
        from autoconv.onnx.checksum import add_checksum

        return add_checksum(onnx.export(function, *arguments, capacity=capacity, contract=contract).SerializeToString())
    from autoconv import stablehlo

    return stablehlo.export(function, *arguments, capacity=capacity, contract=contract).text.encode()
