"""Hashes of the texts that go to the native compiler: of every op's samples, and of the workloads of the benchmarks.

    python tests/backends/ir_snapshot.py write FILE      before a change that must not alter native code
    python tests/backends/ir_snapshot.py compare FILE    after it: prints what differs, exits with 1 if anything does
    python tests/backends/ir_snapshot.py renamed FILE    the same, where names of registers and labels may differ
    python tests/backends/ir_snapshot.py texts FOLDER    writes the texts, with such names numbered: for `diff -r`

A refactoring of the backend that leaves all hashes equal generates the same machine code.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "backends")]
os.environ["AUTOCONV_CACHE"] = "off"  # a graph that is on the disk would not be translated

import test_native_ops as samples  # noqa: E402

from autoconv.backends import llvm  # noqa: E402
from autoconv.backends.llvm.ir.module import ModuleText  # noqa: E402
from autoconv.bench.worker import Bench  # noqa: E402
from autoconv.graph.graph import Graph  # noqa: E402

_FUNCTION = re.compile(r"^define .*?^}", re.DOTALL | re.MULTILINE)
_LOCAL = re.compile(r"(?<=%)[\w.]+|^[\w.]+(?=:$)", re.MULTILINE)  # a register, or a label


def number_names(text: str) -> str:
    """Number the registers and labels of each function in the order of their first occurrence; sort declarations."""

    def number_function(function: re.Match[str]) -> str:
        names: dict[str, str] = {}
        return _LOCAL.sub(lambda name: names.setdefault(name[0], f"n{len(names)}"), function[0])

    text = re.sub(" +", " ", _FUNCTION.sub(number_function, text)).replace(" \n", "\n").replace('"', "")
    lines = text.split("\n")
    declared = sorted(line for line in lines if line.startswith("declare "))
    return "\n".join([*(line for line in lines if not line.startswith("declare ")), *declared])


class _TextRecorded(Exception):
    """Raised to end a compilation once its text is written."""


class Recorder:
    """A replacement of `ModuleText.texts` that hashes each text, under the label of the graph that is compiled."""

    def __init__(self) -> None:
        self.module: Any = ModuleText
        self._texts = self.module.texts
        self.label, self.stops = "", False
        self.hashes: dict[str, list[list[str]]] = {}  # hashes of each text, as it is and with numbered names
        self.folder: Path | None = None
        recorder = self

        def texts(module: Any) -> dict[str, int]:
            found: dict[str, int] = recorder._texts(module)
            recorder.record_text("\n".join(f"{level}\n{text}" for text, level in found.items()))
            if recorder.stops:
                raise _TextRecorded
            return found

        self.module.texts = texts

    def record_text(self, text: str) -> None:
        found = self.hashes.setdefault(self.label, [])
        forms = text, number_names(text)
        found.append([hashlib.sha256(form.encode()).hexdigest()[:16] for form in forms])
        if self.folder is not None:
            name = f"{self.label.replace('/', '_')}.{len(found)}.ll"
            (self.folder / name).write_text(forms[1], encoding="utf-8")

    def samples(self) -> None:
        """Write the texts of the samples of every op, alone and between other ops."""
        self.stops = True
        for surrounded in (False, True):
            for parameter in samples.groups():
                op, group = parameter.values
                self.label = f"{parameter.id} {'surrounded' if surrounded else 'alone'}"
                graph = Graph("ops")
                for _, sample, dtype in group:
                    inputs = samples.converted(sample, dtype)
                    graph.outputs = graph.outputs + samples.add_op(graph, op, inputs, sample.attributes, surrounded)
                with contextlib.suppress(_TextRecorded):
                    llvm.compile_graph(graph)
        self.stops = False

    def workloads(self) -> None:
        """Call each workload once, and hash its texts in the order of compilation."""
        for file in workloads():
            self.label = f"{file.parent.name}/{file.stem}"
            bench = Bench(str(file), "autoconv", True)
            bench._call_once(tuple(map(bench.convert_argument, bench.inputs(0))))


def workloads() -> Iterator[Path]:
    for suite in ("bench", "numpy"):
        yield from sorted((ROOT / "fixtures" / suite).glob("*.py"))


def main() -> int:
    command, file = sys.argv[1], Path(sys.argv[2])
    recorder = Recorder()
    if command == "texts":
        file.mkdir(parents=True, exist_ok=True)
        recorder.folder = file
    recorder.samples()
    recorder.workloads()
    if command == "write":
        file.write_text(json.dumps(recorder.hashes, indent=1), encoding="utf-8")
        print(f"{len(recorder.hashes)} compilations written to {file}")
        return 0
    if command == "texts":
        return 0
    form = command == "renamed"
    before = json.loads(file.read_text(encoding="utf-8"))
    labels = sorted(before.keys() | recorder.hashes.keys())

    def hashes_of(hashes: dict[str, list[list[str]]], label: str) -> list[str]:
        return [item[form] for item in hashes.get(label, ())]

    differing = [label for label in labels if hashes_of(before, label) != hashes_of(recorder.hashes, label)]
    for label in differing:
        print("differs:", label)
    print(f"{len(labels)} compilations, {len(differing)} differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
