"""Run the programs of fixtures/errors in the places that they name, and return what a user would see."""

from __future__ import annotations

import code
import contextlib
import dataclasses
import importlib.util
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
from autoconv.cli import main
from click.testing import CliRunner

import autoconv
from autoconv.config import SETTINGS
from autoconv.emit.conversion import Options
from autoconv.emit.module import convert_source

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "errors"
SHOWN = "fixtures/errors"
_PLACE = re.compile(r"^# run: (\w+) *(.*)$", re.MULTILINE)


def run_and_capture(program: Path, scratch: Path) -> str:
    """Return what the program prints, standard output and then its traceback, with the folder named fixtures/errors."""
    place, arguments = (*_PLACE.findall(program.read_text()), ("script", ""))[0]
    out = io.StringIO()
    before, variables, hook = dataclasses.replace(SETTINGS), dict(os.environ), sys.excepthook
    sys.excepthook = sys.__excepthook__  # libraries of other tests may have set one
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            PLACES[place](program, arguments, scratch, out)
    finally:
        sys.excepthook = hook
        os.environ.clear()
        os.environ.update(variables)
        for setting in dataclasses.fields(SETTINGS):
            setattr(SETTINGS, setting.name, getattr(before, setting.name))
        linecache.checkcache()
    text = out.getvalue().replace(str(scratch), SHOWN).replace(str(FOLDER), SHOWN)
    text = re.sub(r"\b0x[0-9a-f]{6,}", "0x…", text)  # addresses, and the numbers of traces
    text = re.sub(r"\b(__inference_\w+)_\d+", r"\1_N", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)


def _script(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run it as `python program.py`, in this process."""
    with _traceback_shown(out):
        exec(compile(program.read_text(), str(program), "exec", dont_inherit=True), _names(str(program), scratch))


def _process(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run `python program.py` in a new process, with the options after `# run: process`."""
    command = [sys.executable, *shlex.split(arguments), str(program)]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    out.write(f"{completed.stdout}{completed.stderr}(exit code {completed.returncode})\n")


def _command(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run `autoconv ARGUMENTS`, in which FILE is the program."""
    out.write(f"$ autoconv {arguments.replace('FILE', SHOWN + '/' + program.name)}\n")
    completed = CliRunner().invoke(main, [part.replace("FILE", str(program)) for part in shlex.split(arguments)])
    out.write(f"{completed.output}(exit code {completed.exit_code})\n")


def _commands(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run the program, and then each line `# $ autoconv ARGUMENTS`, in a folder of their own."""
    with contextlib.chdir(scratch):
        exec(compile(program.read_text(), str(program), "exec", dont_inherit=True), _names(str(program), scratch))
        for command in re.findall(r"^# \$ autoconv (.*)$", program.read_text(), re.MULTILINE):
            completed = CliRunner().invoke(main, shlex.split(command))
            out.write(f"$ autoconv {command}\n{completed.output}(exit code {completed.exit_code})\n\n")


def _repl(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run it line by line at Python's prompt, whose file is `<stdin>`."""
    lines = iter([line for line in program.read_text().splitlines() if not line.startswith("#")])

    class Console(code.InteractiveConsole):
        def raw_input(self, prompt: str = "") -> str:
            for line in lines:
                out.write(f"{prompt}{line}\n")
                return line
            raise EOFError

        def write(self, data: str) -> None:
            out.write(data)

    Console(_names(), filename="<stdin>").interact(banner="", exitmsg="")


def _notebook(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Run it cell by cell, split at `# %%`; each cell has a name of its own in linecache."""
    names = _names()
    for number, cell in enumerate(program.read_text().split("# %%\n")[1:], 1):
        name = f"<ipython-input-{number}-{program.stem}>"
        linecache.cache[name] = (len(cell), None, cell.splitlines(True), name)
        with _traceback_shown(out):
            exec(compile(cell, name, "exec", dont_inherit=True), names)


def _module(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Convert a copy of the program to a file beside it, import that, and call its `main()`."""
    source = scratch / program.name
    source.write_text(program.read_text())
    converted = scratch / f"{program.stem}_graph.py"
    converted.write_text(convert_source(source.read_text(), str(source), Options(source_path=source.name)).text)
    with _traceback_shown(out):
        _imported(converted).main()


def _imports(program: Path, arguments: str, scratch: Path, out: io.StringIO) -> None:
    """Import the program through the hook that converts, and call its `main()`."""
    (scratch / program.name).write_text(program.read_text())
    sys.path.insert(0, str(scratch))
    try:
        with _traceback_shown(out), autoconv.importing.converted(program.stem):
            __import__(program.stem).main()
    finally:
        sys.path.remove(str(scratch))
        sys.modules.pop(program.stem, None)


PLACES: dict[str, Callable[[Path, str, Path, io.StringIO], None]] = {
    "script": _script,
    "process": _process,
    "command": _command,
    "commands": _commands,
    "repl": _repl,
    "notebook": _notebook,
    "module": _module,
    "imports": _imports,
}


@contextlib.contextmanager
def _traceback_shown(out: io.StringIO) -> Iterator[None]:
    """Print an exception of the block as Python does at the end of a program, without the frames of this file."""
    try:
        yield
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        out.write("".join(traceback.format_exception(error.with_traceback(trace))))


def _names(file: str = "", scratch: Path | None = None) -> dict[str, object]:
    names: dict[str, object] = {"__name__": "__main__", "__builtins__": __builtins__, "__file__": file}
    return names if scratch is None else {**names, "scratch": scratch}


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return module


@pytest.fixture
def run_program() -> Callable[[Path, Path], str]:
    """Return `run_program(program, scratch)`, the text that a program of fixtures/errors shows."""
    return run_and_capture
