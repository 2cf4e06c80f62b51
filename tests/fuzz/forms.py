"""Forms of fixtures/numpy, of fixtures/programs and of the samples of ops for each runtime, and how far results differ.

    python tests/fuzz/forms.py [--programs] [--samples] [--only NAME]

Each program runs as native code of this process, as a StableHLO module by XLA, as an ONNX model by ONNX Runtime, and as
a C library. Its results, and what it leaves in its arguments, are compared: those of fixtures/numpy with plain NumPy's,
those of fixtures/programs with the ones of plain Python or of ops that run one by one. The distance of two arrays is
that of their furthest elements, in units in the last place of the largest element. Beyond 1,000 of them, and beyond the
tolerance that a program states, a result is wrong. XLA is told to contract no products and sums. What has no form is
listed with its reason.
"""

from __future__ import annotations

import argparse
import copy
import functools
import importlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import autoconv as ac
from autoconv.backends.onnx import to_onnx
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.errors import AutoconvError
from autoconv.operators.regions.marshalling import rebuild

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
portable = importlib.import_module("tests.backends.portable_samples")
exports = importlib.import_module("exports")
calling = importlib.import_module("tests.clibrary.calling")
clibraries = importlib.import_module("clibraries")
four_ways = importlib.import_module("tests.programs.test_four_ways")

FOLDERS = ("numpy", "programs")
Run = Callable[[Any, Sequence[np.ndarray]], tuple[list[Any], int, list[int], int]]


@dataclass
class Program:
    """A program with the arguments of its calls, and the results of plain Python and NumPy."""

    name: str
    function: Any
    contract: str
    tolerance: float
    cases: list[tuple[Any, ...]]
    expected: list[Any]

    @functools.cached_property
    def compiled(self) -> Any:
        return ac.compile(self.function) if self.contract == "compile" else ac.function(self.function)

    def arguments(self, number: int) -> list[Any]:
        return copy.deepcopy(list(self.cases[number]))

    def after(self, number: int) -> list[Any]:
        """What plain Python leaves in the arguments."""
        left = self.arguments(number)
        self.function(*left)
        return left


def numpy_programs() -> list[Program]:
    found = []
    for path in sorted((portable.FIXTURES / "numpy").glob("*.py")):
        if path.stem != "__init__":
            module = four_ways.load(path)
            expected = module.program(*module.make(0))
            found.append(Program(path.stem, module.program, "compile", module.TOLERANCE, [module.make(0)], [expected]))
    return found


def numeric_programs() -> list[Program]:
    found = []
    for path in four_ways.PROGRAMS:
        module, expected = four_ways.original_of(path)
        ops = module.KIND == "ops"
        given = four_ways.as_tensors if ops else four_ways.as_inputs
        cases = [tuple(map(given, case)) for case in module.CASES]
        contract = "function" if ops else "compile"
        found.append(Program(path.stem, getattr(module, module.ENTRY), contract, module.TOLERANCE, cases, expected))
    return found


def distance(found: Any, expected: Any) -> float:
    """How far the arrays are apart; infinity where they have another shape, or differ and are no floats."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape:
        return np.inf
    if expected.dtype.kind not in "fc":
        return 0.0 if np.array_equal(found, expected) else np.inf
    if np.array_equal(found, expected, equal_nan=True):
        return 0.0
    largest = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return float(np.max(np.abs(found - expected)) / np.spacing(largest))


def furthest(found: Sequence[Any], expected: Sequence[Any]) -> float:
    return max([0.0, *(distance(one, other) for one, other in zip(found, expected, strict=True))])


def by_native(program: Program, folder: str) -> tuple[str, float]:
    """("" or why there is no form, distance) of a program as native code of this process."""
    far = 0.0
    for number, expected in enumerate(program.expected):
        given = program.arguments(number)
        found = clibraries.leaves(program.compiled(*given))
        far = max(far, furthest(found, clibraries.leaves(expected)))
        if program.contract == "compile":
            far = max(far, furthest(*map(arrays_of, (given, program.after(number)))))
    plain = [line.strip() for line in program.compiled.explain().splitlines() if "plain Python:" in line]
    return (plain[0] if plain else ""), far


def by_format(run: Run) -> Callable[[Program, str], tuple[str, float]]:
    """As `by_native`, for a format that `run` writes and runs."""

    def of_program(program: Program, folder: str) -> tuple[str, float]:
        far = 0.0
        for number, expected in enumerate(program.expected):
            concrete = program.compiled.get_concrete_function(*program.arguments(number))
            graph, arrays = portable.graph_and_arrays(concrete, program.arguments(number))
            try:
                found, count, written, word = run(graph, arrays)
            except GraphUnfit as error:
                return f"{error.failed_op}: {error.reason}", 0.0
            if word:
                return "", np.inf
            results = rebuild(concrete.layout, iter([np.asarray(x) for x in found[:count]]))
            far = max(far, furthest(clibraries.leaves(results), clibraries.leaves(expected)))
            if written:
                after = portable.parameters_of(concrete, program.after(number))
                far = max(far, furthest(found[count:], [after[position] for position in written]))
        return "", far

    return of_program


def by_library(program: Program, folder: str) -> tuple[str, float]:
    """As `by_native`, for a C library."""
    try:
        made = ac.clibrary.build(
            program.function, *specs_of(program.cases), to=f"{folder}/{program.name}", contract=program.contract
        )
    except (AutoconvError, TypeError) as error:
        return clibraries.refusal_reason(error), 0.0
    call, far = calling.Caller(made), 0.0
    for number, expected in enumerate(program.expected):
        given = program.arguments(number)
        passed = [x for x in map(as_passed, given) if isinstance(x, np.ndarray) or np.isscalar(x)]
        far = max(far, furthest(clibraries.leaves(call(*passed)), clibraries.leaves(expected)))
        if program.contract == "compile":
            far = max(far, furthest(*map(arrays_of, (given, program.after(number)))))
    return "", far


def as_passed(value: Any) -> Any:
    return value.numpy() if ac.is_tensor(value) else value


def arrays_of(arguments: Sequence[Any]) -> list[np.ndarray]:
    return [one for one in arguments if isinstance(one, np.ndarray)]


def specs_of(cases: Sequence[Sequence[Any]]) -> list[Any]:
    """The arguments of all cases as specs: sizes that are equal in each case have one name."""
    names: dict[tuple[int, ...], str] = {}
    specs: list[Any] = []
    for values in zip(*cases, strict=True):
        if not all(isinstance(x, np.ndarray) or ac.is_tensor(x) or np.isscalar(x) for x in values):
            specs.append(values[0])
            continue
        sizes = zip(*(np.shape(x) for x in values), strict=True)
        shape = [
            str(each[0]) if len(set(each)) == 1 else names.setdefault(each, f"n{len(names)}") for each in sizes
        ]
        dtype = values[0].dtype.name if ac.is_tensor(values[0]) else np.asarray(values[0]).dtype.name
        specs.append(f"{dtype}[{','.join(shape)}]")
    return specs


RUNTIMES = {
    "native": by_native, "StableHLO": by_format(exports.by_stablehlo), "ONNX": by_format(exports.by_onnx),
    "C": by_library,
}  # fmt: skip


def programs(only: str | None) -> bool:
    well = True
    for folder, all_ in zip(FOLDERS, (numpy_programs(), numeric_programs()), strict=True):
        chosen = [one for one in all_ if only in (None, one.name)]
        with tempfile.TemporaryDirectory() as scratch:
            for runtime, run in RUNTIMES.items():
                well &= summary(f"{runtime}, fixtures/{folder}", chosen, functools.partial(run, folder=scratch))
    return well


def summary(title: str, chosen: Sequence[Program], run: Callable[[Program], tuple[str, float]]) -> bool:
    """Run the programs, and print how many have a form, the furthest results, and the reasons of the others."""
    well, fitting, farthest, none = True, 0, (0.0, ""), []
    for program in chosen:
        try:
            why, far = run(program)
        except Exception as error:
            why, far = "", np.inf
            print(f"{title}: {program.name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        if why:
            none.append(f"{program.name} ({why})")
            continue
        fitting += 1
        farthest = max(farthest, (far, program.name))
        if far > 1000.0 and far * np.finfo(np.float64).eps > program.tolerance:
            well = False
            print(f"{title}: {program.name}: WRONG, {far:.3g} units", flush=True)
    print(f"{title}: {fitting} of {len(chosen)}, furthest {farthest[1]} by {farthest[0]:.3g} units")
    if none:
        print("  no form: " + "; ".join(none), flush=True)
    return well


def samples() -> bool:
    """Samples that have a form, by StableHLO and ONNX; those of C libraries are in tests/clibrary/test_samples.py."""
    well, all_ = True, len(list(portable.numeric_samples()))
    for runtime, write, run in (("StableHLO", static, exports.by_stablehlo), ("ONNX", to_onnx, exports.by_onnx)):
        fits, furthest = portable.fitting(write), (0.0, "")
        for start in range(0, len(fits), 64):
            part = fits[start : start + 64]
            graph = portable.graph_of(*(row[1:] for row in part))
            found = iter(run(graph, [np.asarray(x) for row in part for x in copy.deepcopy(row[2].inputs)])[0])
            for name, op, sample in part:
                far = max([0.0, *(distance(next(found), value) for value in portable.wanted(op, sample))])
                furthest = max(furthest, (far, name))
                if far > 100.0:
                    well = False
                    print(f"{runtime} {name}: WRONG, {far:.3g} units", flush=True)
        names = {name.rpartition("-")[0] for name, _, _ in fits}
        print(f"{runtime}: {len(fits)} of {all_} samples of {len(names)} ops, furthest {furthest}", flush=True)
    return well


def static(graph):
    """Write a graph; shapes that are values are valid text, which XLA does not take."""
    module = to_stablehlo(graph)
    if "dynamic_broadcast_in_dim" in module.text or "dynamic_reshape" in module.text:
        raise GraphUnfit("shape", "a size depends on a value")
    return module


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", action="store_true", help="only the programs")
    parser.add_argument("--samples", action="store_true", help="only the samples")
    parser.add_argument("--only", help="the name of one program")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {exports.array_programs.EXACT}"
    well = options.samples or programs(options.only)
    return 0 if (options.programs or samples()) and well else 1


if __name__ == "__main__":
    sys.exit(main())
