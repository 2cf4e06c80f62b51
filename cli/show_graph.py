"""`autoconv show-graph`: print the graph of a function, stage by stage."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import click

from autoconv.errors import TargetError

from .diagnostics import say
from .targets import find_target
from .tracebacks import with_position


def _list_stages(context: click.Context, option: click.Parameter, stage: str | None) -> str | None:
    """Print the stages and exit for `--stage help`; return any other stage."""
    if stage == "help" and not context.resilient_parsing:
        from autoconv.tracing.api.stages import STAGES  # imported on demand: loads NumPy

        say("\n".join(STAGES))
        context.exit()
    return stage


@click.command("show-graph", short_help="Print the graph of a function, stage by stage. Imports its module.")
@click.argument("target")
@click.option("--spec", "type_text", default="", metavar="TYPES", help="The arguments: 'float32[2,3] int32[] 2.5'.")
@click.option(
    "--stage", metavar="STAGE", is_eager=True, callback=_list_stages,
    help="Print that stage only; --stage help lists the stages.",
)
@click.option("--compile", "under_compile", is_flag=True, help="Put the function under @autoconv.compile.")
@click.option("--spans", "with_spans", is_flag=True, help="Print with each node the source line that it comes from.")
def show_graph(target: str, type_text: str, stage: str | None, under_compile: bool, with_spans: bool) -> None:
    """Print the graph of TARGET as recorded, after each optimisation that changed it, and as native code.

    The native stage shows which ops share a loop, and which call their kernels. TARGET names a function as for
    show-code. Its module is imported, and the function runs once to be traced. An undecorated function is put under
    @autoconv.function. Types are those of tensors; under @autoconv.compile those of NumPy's arrays and of numbers.

    \b
    Examples:
      autoconv show-graph newton.py:solve --spec 'float32[1000] float32[]'
      autoconv show-graph newton.py:solve --spec 'float64[] 50' --compile --stage native
    """
    import autoconv  # imported on demand: loads NumPy
    import autoconv.tracing.api.stages as stages_module
    from autoconv.tracing.api.argument_types import parse_types

    if stage is not None and stage not in stages_module.STAGES:
        stages_module.find_stage(stage, ())  # raises the error that lists the stages
    arguments = parse_types(type_text)  # reports errors in them before the module runs
    function = function_of(target)
    check_arguments(target, function, arguments)
    try:
        if not hasattr(function, "get_concrete_function"):
            function = autoconv.compile(function) if under_compile else autoconv.function(function)
        stages = stages_module.stages(function, type_text, with_spans)
    except Exception as error:
        located_error = with_position(error)
        if located_error is error:
            raise
        if located_error is not None:
            raise located_error from error
        if isinstance(error, TypeError) and getattr(function, "input_signature", None) is not None:
            raise TargetError(str(error)) from error  # types that its input_signature does not allow
        raise
    if stage is not None:
        say(stages_module.find_stage(stage, stages).text, newline=False)
        return
    for recorded_stage in stages:
        say(f"# {recorded_stage.name}" if recorded_stage.changed else f"# {recorded_stage.name}: no change")
        if recorded_stage.changed:
            say(recorded_stage.text)


def check_arguments(target: str, function: Any, arguments: list[Any]) -> None:
    """Raise TargetError if --spec names too few or too many arguments for the function."""
    if not arguments and getattr(function, "input_signature", None) is not None:
        return
    try:
        signature = inspect.signature(getattr(function, "python_function", function))
    except (TypeError, ValueError):  # no signature available
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        spec_summary = "--spec names no arguments" if not arguments else f"--spec names {len(arguments)}"
        raise TargetError(f"{target} takes {signature}, and {spec_summary}: {error}") from None


def function_of(target: str) -> Any:
    """Import the module of TARGET and return the function."""
    resolved_target = find_target(target)
    if not resolved_target.name:
        raise TargetError(f"{target} is a file; name a function in it, as in {target.rstrip(':')}:func")
    member: Any = _import_file(resolved_target.path)
    location = f"{resolved_target.path}:{resolved_target.name}"
    for attribute in resolved_target.name.split("."):
        if not hasattr(member, attribute):
            raise TargetError(f"{location} is not defined after the import; name a function of a module or class")
        member = getattr(member, attribute)
    if isinstance(member, type):
        raise TargetError(f"{location} is a class; name a method of it, or a function that calls it")
    if not callable(member):
        raise TargetError(f"{location} is no function after the import of its module, but a {type(member).__name__}")
    return member


def _import_file(path: Path) -> Any:
    """Import the module in a file, under its full name if it is in a package."""
    absolute_path = path.resolve()
    name, folder = absolute_path.stem, absolute_path.parent
    while (folder / "__init__.py").exists():
        name, folder = f"{folder.name}.{name}", folder.parent
    sys.path.insert(0, os.fspath(folder))
    try:
        spec = importlib.util.spec_from_file_location(name.removesuffix(".__init__"), absolute_path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == os.fspath(absolute_path)]
        location = f"{path}:{lines[-1]}" if lines else path
        raise TargetError(f"{location}: the import fails: {type(error).__name__}: {error}") from error
    return module
