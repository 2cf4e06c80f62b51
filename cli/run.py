"""`autoconv run`: convert and run a script; the modules under its folder are converted as they are imported."""

from __future__ import annotations

import builtins
import importlib
import os
import re
import sys
from pathlib import Path
from types import ModuleType

import click

from autoconv._start import LOADED_BEFORE_AUTOCONV
from autoconv.config import SETTINGS
from autoconv.errors import SourceError, TargetError
from autoconv.importing import ImportHook, convert_script

from .sources import parse, read_source
from .targets import python_files, uncompilable_name
from .tracebacks import show_user_traceback

# Modules that the script shares with the runtime, even if its folder has others of the same names.
SHARED_MODULES = frozenset({"autoconv", "numpy", "__main__"})


def _refuse_files(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse `--compile FILE`, which lacks the function's name: the error would be that FILE is missing."""
    for name in names:
        if name.endswith(".py") and Path(name).is_file():
            raise click.BadParameter(f"{name} is a file; write --compile NAME {name}, with the name of a function.")
    return names


@click.command(
    short_help="Convert a script and the modules under its folder, and run it.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--compile",
    "compile_names",
    multiple=True,
    metavar="NAME",
    callback=_refuse_files,
    help="Put function NAME (f, Class.method, or package.module:f) under @autoconv.compile; may be repeated.",
)
@click.option("--keep-going", is_flag=True, help="Keep functions that cannot be converted, and run them unchanged.")
@click.argument("file", type=click.Path(readable=False))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def run(compile_names: tuple[str, ...], keep_going: bool, file: str, arguments: tuple[str, ...]) -> None:
    """Run FILE like `python FILE ARGS`, with FILE and the modules under its folder converted.

    Nothing is written except a cache beside the bytecode (in __pycache__). Options of autoconv come before FILE,
    those of the script after it. Tracebacks show the script's own lines.

    \b
    Examples:
      autoconv run simulate.py --steps 100
      autoconv run --compile step simulate.py --steps 100
      autoconv run --compile solver.newton:solve simulate.py
    """
    path = Path(file)
    if path.is_dir():
        raise TargetError(f"{file} is a folder; name a script")
    if not os.path.lexists(path):
        raise TargetError(f"{file}: no such file")
    tree = parse(read_source(path), file)  # raises errors of the text before anything runs
    for name in compile_names:
        if ":" not in name and not SETTINGS.disabled and (error := uncompilable_name(name, [tree], file)) is not None:
            raise error
    folder = Path(os.path.realpath(path)).parent
    hook = ImportHook(folder=folder, compile=compile_names, keep_going=keep_going)
    absolute_path = Path(os.path.abspath(path))  # Python's form of the path in tracebacks and in __file__
    code = convert_script(absolute_path, hook)
    _load_runtime()
    module = ModuleType("__main__")
    module.__dict__.update(__file__=str(absolute_path), __builtins__=builtins, __cached__=None)
    _set_up_process(module, [file, *arguments], folder)
    hook.install()
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        status = show_user_traceback(error)
        raise SystemExit(status) from None


def _set_up_process(module: ModuleType, arguments: list[str], folder: Path) -> None:
    """Set up `sys.modules`, `sys.argv` and `sys.path` as if Python had started the script."""
    sys.modules["__main__"] = module
    command_folder = os.path.dirname(os.path.realpath(sys.argv[0])) if sys.argv and sys.argv[0] else ""
    if sys.path and command_folder and os.path.realpath(sys.path[0]) == command_folder:
        del sys.path[0]  # the folder of the console script
    sys.argv = arguments
    sys.path.insert(0, str(folder))
    _unload_shadowed_modules(folder)


def _load_runtime() -> None:
    """Import everything that converted code needs, including late imports, before the script's folder is on the path.

    A module of the same name beside the script must not replace a library.
    """
    for name in ("autoconv.operators", "astunparse", "gast", "platformdirs"):
        importlib.import_module(name)


def _unload_shadowed_modules(folder: Path) -> None:
    """Remove modules that autoconv has imported if the script imports one of the same name from its folder."""
    script_modules = {
        entry.stem for entry in folder.iterdir() if entry.suffix == ".py" or (entry / "__init__.py").exists()
    }
    candidates = script_modules - SHARED_MODULES - LOADED_BEFORE_AUTOCONV
    shadowed = {name for name in candidates if name in sys.modules}
    if not shadowed:
        return
    import_statement = re.compile(rf"^\s*(?:import|from)\b[^#\n]*\b({'|'.join(sorted(shadowed))})\b", re.MULTILINE)
    imported_names = set()
    for path in python_files(folder):
        try:
            imported_names.update(import_statement.findall(read_source(path)))
        except SourceError:
            continue
    for name in list(sys.modules):
        if name.partition(".")[0] in imported_names:
            del sys.modules[name]
