"""Every code block of README and docs runs and prints the output block after it.

The Python blocks of a page are one program in one namespace, in a folder of the page's own. A block with a title is a
file of this folder; if it is a Python file, it runs by itself. A `console` block runs the lines behind `$` in the
folder. `...` in an output stands for any text; an exception that leaves a block prints its last line.
`pytest tests/docs --update` writes the outputs.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import textwrap
import traceback
import types
from collections.abc import Callable
from pathlib import Path

import pytest
from autoconv.cli import main
from click.testing import CliRunner
from site_generator.markdown import ROOT, Block, blocks, written_pages

import autoconv

LANGUAGES = {"python", "pycon", "console", "ipython", "sh", "text", "c", "cpp"}
# Blocks of commands that install or test: .ci/run runs them.
RUN_BY_CI = {"README.md": 2, "CONTRIBUTING.md": 1}
# Pages whose programs need packages that the tests do without.
NEEDS = {"docs/guides/cluster.md": ("ray",), "docs/guides/workers.md": ("dask", "xarray", "joblib")}
PAGES = [str(path.relative_to(ROOT)) for path in written_pages()]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_print_the_output_after_them(page, tmp_path, monkeypatch, update):
    for package in NEEDS.get(page, ()):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    text = (ROOT / page).read_text(encoding="utf-8")
    page_blocks = blocks(text)
    printed: dict[Block, str] = {}
    imported = set(sys.modules)
    script = _Script(tmp_path, page_blocks)
    try:
        for block in page_blocks:
            printed[block] = re.sub(r"[ \t]+$", "", script.run(block), flags=re.MULTILINE).strip("\n")
            assert update or _output_matches(block, printed[block]), _message(page, block, printed[block])
    finally:
        for name in set(sys.modules) - imported:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]
        autoconv.config.run_functions_eagerly(False)
        autoconv.compat.v1.enable_v2_behavior()
        linecache.checkcache()
    if update:
        (ROOT / page).write_text(_update_outputs(text, printed), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_of_a_language_that_runs(page):
    page_blocks = blocks((ROOT / page).read_text(encoding="utf-8"))
    assert {block.language for block in page_blocks} <= LANGUAGES
    assert sum(block.language == "sh" for block in page_blocks) == RUN_BY_CI.get(page, 0)


def _output_matches(block: Block, printed: str) -> bool:
    return doctest.OutputChecker().check_output((block.output or "").strip("\n"), printed, doctest.ELLIPSIS)


def _message(page: str, block: Block, printed: str) -> str:
    return f"{page}:{block.line} prints\n{printed}\n\nand the page has\n{block.output}"


def _update_outputs(text: str, printed: dict[Block, str]) -> str:
    """Return the page with the outputs of its blocks; outputs that match, with `...` for any text, do not change."""
    for block in sorted(printed, key=lambda block: block.end, reverse=True):
        if not _output_matches(block, printed[block]):
            assert block.output is not None, f"line {block.line} prints something, and no `text` block follows it"
            text = f"{text[:block.end - len(block.output)]}{printed[block]}\n{text[block.end:]}"
    return text


class _Script:
    """The Python blocks of a page without a title, as one file `example.py`."""

    def __init__(self, folder: Path, page_blocks: list[Block]) -> None:
        self.file = folder / "example.py"
        self.module = types.ModuleType("example")
        self.module.__file__ = str(self.file)
        sys.modules["example"] = self.module
        self.shell = _Shell(vars(self.module))
        self.starts: dict[Block, int] = {}
        text = ""
        for block in page_blocks:
            if block.language in ("python", "c", "cpp") and block.title:
                (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
                (folder / block.title).write_text(block.text)
            elif block.language == "python":
                self.starts[block] = text.count("\n")
                text += block.text + "\n"
        self.file.write_text(text)

    def run(self, block: Block) -> str:
        """Run a block, and return what it prints."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            if block.language == "console":
                _run_commands(block.text, out)
            elif block.language == "pycon":
                _run_prompt(block.text, out)
            elif block.language == "ipython":
                self.shell.run(block.text, f"<cell {block.line}>")
            elif block.language == "python" and block.title.endswith(".py"):
                _run_python(block.text, block.title, {"__name__": "__main__", "__file__": block.title}, out)
            elif block.language == "python":
                source = "\n" * self.starts[block] + block.text
                _run_python(source, str(self.file), vars(self.module), out)
        return out.getvalue().replace(f"{self.file.parent}{os.sep}", "")


class _Shell:
    """A stand-in for the parts of IPython's shell that the extension uses; test_notebook.py uses the real one."""

    def __init__(self, names: dict[str, object]) -> None:
        self.names = names
        self.magics: dict[str, Callable[[str, str], object]] = {}
        self.ast_transformers: list[ast.NodeTransformer] = []
        self.file = ""

    def register_magic_function(self, function: Callable[[str, str], object], kind: str, name: str) -> None:
        self.magics[name] = function

    def transform_cell(self, cell: str) -> str:
        return cell

    def run(self, text: str, file: str) -> None:
        self.file = file
        first, _, rest = text.partition("\n")
        if first.startswith("%load_ext"):
            importlib.import_module(first.split()[1]).load_ipython_extension(self)
        elif first.startswith("%%"):
            name, _, line = first[2:].partition(" ")
            self.magics[name](line, rest)
        else:
            self.run_cell(text)

    def run_cell(self, cell: str) -> None:
        linecache.cache[self.file] = (len(cell), None, cell.splitlines(True), self.file)
        tree = ast.parse(cell)
        for transformer in self.ast_transformers:
            tree = transformer.visit(tree)
        exec(compile(tree, self.file, "exec", dont_inherit=True), self.names)


def _run_python(source: str, file: str, names: dict[str, object], out: io.StringIO) -> None:
    try:
        exec(compile(source, file, "exec", dont_inherit=True), names)
    except Exception as error:
        out.write("".join(traceback.format_exception_only(error)))


def _run_prompt(text: str, out: io.StringIO) -> None:
    """Run lines at Python's prompt, and write those whose output differs."""
    test = doctest.DocTestParser().get_doctest(textwrap.dedent(text), {"autoconv": autoconv}, "block", None, 0)
    doctest.DocTestRunner().run(test, out=out.write)


def _run_commands(text: str, out: io.StringIO) -> None:
    """Run the lines after `$`, autoconv's in this process, and write them with their output as in a terminal."""
    for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        out.write(f"$ {line}\n")
        if line.startswith("autoconv ") and "|" not in line and ">" not in line:
            out.write(CliRunner().invoke(main, shlex.split(line)[1:]).output)
        else:
            environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
            completed = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False)
            out.write(completed.stdout + completed.stderr)
