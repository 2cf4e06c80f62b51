"""The gallery: the numeric programs of fixtures/programs, each with a call and its result."""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
from pathlib import Path
from typing import Any

import numpy as np

import autoconv

HEAD = """\
# Gallery

Numeric programs with loops and branches that depend on data. The tests run each of them as plain Python, converted,
op by op, and as one graph; the results have to agree. The constants at the top are for the tests. Programs with
`KIND = "ops"` take tensors and call ops; the others are plain Python. The page is generated from `fixtures/programs`.

To compile one, decorate its entry function, or convert the file:
`autoconv convert fixtures/programs/newton.py --compile newton`.

"""


def gallery_page(folder: Path) -> str:
    """Return the page of all programs in `folder`."""
    return HEAD + "".join(_section(program) for program in sorted(folder.glob("*.py")))


def _section(program: Path) -> str:
    source = program.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    with contextlib.redirect_stdout(io.StringIO()):
        names = runpy.run_path(str(program))
        entry, case = names["ENTRY"], names["CASES"][0]
        result = names[entry](*(_as_tensors(value) if names["KIND"] == "ops" else value for value in case))
    call = f"{entry}({', '.join(map(_shorten, case))})"
    title = program.stem.replace("_", " ").capitalize()
    return (
        f"## {title}\n\n{docstring}\n\nThe call `{call}` gives:\n\n```text\n{_shorten(result, 400)}\n```\n\n"
        f"```python title=\"{program.name}\"\n{source.strip()}\n```\n\n"
    )


def _as_tensors(value: Any) -> Any:
    """Return numbers and nested lists as tensors of 64 bits."""
    return autoconv.constant(np.array(value))


def _shorten(value: Any, width: int = 60) -> str:
    """Return the text of a value on one line, with arrays and long texts shortened."""
    shown = autoconv.nest.map_structure(lambda leaf: leaf.numpy() if autoconv.is_tensor(leaf) else leaf, value)
    with np.printoptions(threshold=8, precision=6, linewidth=10_000):
        text = " ".join(repr(shown).split())
    return text if len(text) <= width else f"{text[:width - 2]} …"
