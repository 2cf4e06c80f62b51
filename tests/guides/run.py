"""Run programs in the manner of TensorFlow's public guides over autoconv and over TensorFlow, cell by cell.

    python tests/guides/run.py [PROGRAM ...] [--tensorflow PYTHON] [--show] [--keep]

A program is a file of `programs`, whose cells begin with `# %%` and run in order in one namespace. Over TensorFlow its
`import autoconv as tf` becomes `import tensorflow as tf`; nothing else is changed. A cell prints the same when its
output agrees but for the library's name, addresses, seconds, and floats in their sixth digit. PYTHON is an interpreter
with tensorflow; without it the outputs are those kept in `outputs`, which `--keep` writes. The last lines are a table:
the cells of a program that run over TensorFlow, how many of them run here, and how many print the same.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIMIT = 600  # seconds for a program
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*(?:e[-+]?\d+)?|\d+e[-+]?\d+)")


def cells(path: Path) -> list[str]:
    """Return the texts of the cells, each with the empty lines before it that keep its line numbers."""
    found: list[list[str]] = []
    head: list[str] = []
    for number, line in enumerate(path.read_text().splitlines()):
        if line.startswith("# %%"):
            found.append([""] * number if found else head)
        (found[-1] if found else head).append(line)
    return ["\n".join(lines) + "\n" for lines in found]


def outputs(path: Path, library: str) -> list[dict[str, str]]:
    """Run the cells over the library in this process; return what each prints, and the error that ends it."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for cell in cells(path):
        cell = cell.replace("import autoconv as tf\n", f"import {library} as tf\n")
        printed, error = io.StringIO(), ""
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(cell, str(path), "exec", dont_inherit=True), names)
            except Exception as raised:
                error = f"{type(raised).__name__}: {raised}".replace(f"{path.parent}{os.sep}", "")
        found.append({"printed": printed.getvalue(), "error": error})
    return found


def run(path: Path, library: str, python: str = sys.executable) -> list[dict[str, str]]:
    """Return the result of `outputs` in a new process of that interpreter."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    command = [python, str(Path(__file__).resolve()), "--child", library, str(path)]
    completed = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=LIMIT)
    if not completed.stdout.strip():
        raise RuntimeError(f"{path.name} over {library}: {completed.stderr[-2000:]}")
    found: list[dict[str, str]] = json.loads(completed.stdout.splitlines()[-1])
    return found


def read_outputs(path: Path) -> list[dict[str, str]]:
    outputs_by_cell: list[dict[str, str]] = json.loads((HERE / "outputs" / f"{path.stem}.json").read_text())
    return outputs_by_cell


def agree(left: str, right: str) -> bool:
    """Return whether two outputs are the same but for names of the library, addresses, and last digits."""
    first, second = _plain(left), _plain(right)
    if _NUMBER.sub("#", first) != _NUMBER.sub("#", second):
        return False
    return all(
        math.isclose(float(a), float(b), rel_tol=2e-6, abs_tol=1e-7)
        for a, b in zip_longest(_NUMBER.findall(first), _NUMBER.findall(second), fillvalue="nan")
    )


def _plain(text: str) -> str:
    text = re.sub(r"\b(?:autoconv|tensorflow|tf)\b(?:\.python(?:\.\w+)*\.)?", "tf", text)
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    text = re.sub(r'File "[^"]*/', 'File "', text)
    text = re.sub(r"[ \n]+", " ", text)  # NumPy breaks lines depending on the width of the text before them
    text = re.sub(r"(?<=\[) | (?=\])", "", text)  # and pads numbers to the width of the longest
    return re.sub(r"\d+(?:\.\d+)?m?s\b", "s", text).strip()


def compare(path: Path, expected: list[dict[str, str]], show: bool = False) -> tuple[int, int, int]:
    """Return how many cells run over TensorFlow, run over autoconv, and print the same."""
    found = run(path, "autoconv")
    counts = [0, 0, 0]
    for number, (expected_output, own_output) in enumerate(zip(expected, found, strict=True), 1):
        if expected_output["error"]:
            continue
        is_same = not own_output["error"] and agree(expected_output["printed"], own_output["printed"])
        counts = [counts[0] + 1, counts[1] + (not own_output["error"]), counts[2] + is_same]
        if show and not is_same:
            print(f"--- {path.stem}, cell {number}\n{expected_output['printed']}", end="")
            print(f"+++ {own_output['error']}\n{own_output['printed']}")
    return counts[0], counts[1], counts[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="names of programs; all without")
    parser.add_argument("--tensorflow", metavar="PYTHON", help="an interpreter with tensorflow")
    parser.add_argument("--show", action="store_true", help="print the cells that differ")
    parser.add_argument("--keep", action="store_true", help="keep what TensorFlow printed")
    parser.add_argument("--child", nargs=2, metavar=("LIBRARY", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(outputs(Path(options.child[1]), options.child[0])))
        return 0
    paths = sorted((HERE / "programs").glob("*.py"))
    rows = []
    for path in [path for path in paths if not options.programs or path.stem in options.programs]:
        expected = run(path, "tensorflow", options.tensorflow) if options.tensorflow else read_outputs(path)
        if options.keep:
            (HERE / "outputs").mkdir(exist_ok=True)
            (HERE / "outputs" / f"{path.stem}.json").write_text(json.dumps(expected, indent=1) + "\n")
        rows.append((path.stem, *compare(path, expected, options.show)))
    rows.append(("all", *(sum(row[column] for row in rows) for column in (1, 2, 3))))
    print("| program | cells | run | print the same |\n| --- | --- | --- | --- |")
    for name, total, ran, same_count in rows:
        print(f"| {name} | {total} | {ran} | {same_count} |")
    return 0 if rows[-1][1] == rows[-1][3] else 1


if __name__ == "__main__":
    sys.exit(main())
