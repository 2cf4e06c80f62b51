"""Forms of fixtures/numpy, of fixtures/programs and of the samples of ops for each runtime, compared with NumPy.

    python tests/fuzz/forms.py [--programs] [--samples] [--only NAME]

Each program runs as native code of this process, as a StableHLO module by XLA, as an ONNX model by ONNX Runtime, and as
a C library. Its results and its arguments after the call are compared: those of fixtures/numpy with plain NumPy's,
those of fixtures/programs with the ones of plain Python or of ops that run one by one. The distance of two arrays is
the largest difference of their elements, in units in the last place of the largest element. A result is wrong when its
distance exceeds both 1,000 units and the tolerance that the program states. XLA must not contract products and sums. A
program without a form is listed with the reason.
"""

from __future__ import annotations

import argparse
import copy
import functools
import importlib
import itertools
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
from autoconv.errors import AutoconvError, UnsupportedError
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

    def arguments_after_call(self, number: int) -> list[Any]:
        """Return the arguments of a case after a call in plain Python, which may write to them."""
        arguments = self.arguments(number)
        self.function(*arguments)
        return arguments


def numpy_programs() -> list[Program]:
    programs = []
    for path in sorted((portable.FIXTURES / "numpy").glob("*.py")):
        if path.stem != "__init__":
            module = four_ways.load(path)
            expected = module.program(*module.make(0))
            cases = [module.make(0)]
            programs.append(Program(path.stem, module.program, "compile", module.TOLERANCE, cases, [expected]))
    return programs


def numeric_programs() -> list[Program]:
    programs = []
    for path in four_ways.PROGRAMS:
        module, expected = four_ways.original_of(path)
        ops = module.KIND == "ops"
        convert = four_ways.as_tensors if ops else four_ways.as_inputs
        cases = [tuple(map(convert, case)) for case in module.CASES]
        contract = "function" if ops else "compile"
        programs.append(Program(path.stem, getattr(module, module.ENTRY), contract, module.TOLERANCE, cases, expected))
    return programs


def ulp_distance(actual: Any, expected: Any) -> float:
    """Return the distance of two arrays; infinity where their shapes differ, or arrays that are not floats differ."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape:
        return np.inf
    if expected.dtype.kind not in "fc":
        return 0.0 if np.array_equal(actual, expected) else np.inf
    if np.array_equal(actual, expected, equal_nan=True):
        return 0.0
    largest = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    return float(np.max(np.abs(actual - expected)) / np.spacing(largest))


def max_distance(actual: Sequence[Any], expected: Sequence[Any]) -> float:
    return max([0.0, *itertools.starmap(ulp_distance, zip(actual, expected, strict=True))])


def run_native(program: Program, folder: str) -> tuple[str, float]:
    """Run a program as native code of this process; return the reason that it has no form, or "", and its distance."""
    distance = 0.0
    for number, expected in enumerate(program.expected):
        arguments = program.arguments(number)
        actual = clibraries.leaves(program.compiled(*arguments))
        distance = max(distance, max_distance(actual, clibraries.leaves(expected)))
        if program.contract == "compile":
            distance = max(distance, max_distance(*map(arrays_of, (arguments, program.arguments_after_call(number)))))
    plain_reasons = [line.strip() for line in program.compiled.explain().splitlines() if "plain Python:" in line]
    return (plain_reasons[0] if plain_reasons else ""), distance


def format_runner(run: Run) -> Callable[[Program, str], tuple[str, float]]:
    """Return a function like `run_native`, for a format that `run` writes and runs."""

    def run_format(program: Program, folder: str) -> tuple[str, float]:
        distance = 0.0
        for number, expected in enumerate(program.expected):
            concrete = program.compiled.get_concrete_function(*program.arguments(number))
            try:
                fixes_integers = False
                graph, arrays = portable.graph_and_arrays(concrete, program.arguments(number))
            except UnsupportedError:  # integers may be sizes, which are parts of the model
                fixes_integers = True
                graph, arrays = portable.graph_and_arrays(concrete, program.arguments(number), fixes_integers)
            try:
                actual_arrays, result_count, written, error_word = run(graph, arrays)
            except GraphUnfit as error:
                return f"{error.failed_op}: {error.reason}", 0.0
            if error_word:
                return "", np.inf
            results = rebuild(concrete.layout, iter([np.asarray(x) for x in actual_arrays[:result_count]]))
            distance = max(distance, max_distance(clibraries.leaves(results), clibraries.leaves(expected)))
            if written:
                after = portable.graph_and_arrays(concrete, program.arguments_after_call(number), fixes_integers)[1]
                expected_arrays = [after[position] for position in written]
                distance = max(distance, max_distance(actual_arrays[result_count:], expected_arrays))
        return "", distance

    return run_format


def run_library(program: Program, folder: str) -> tuple[str, float]:
    """Build a C library of a program and call it; its result is that of `run_native`."""
    to, contract, sizes = f"{folder}/{program.name}", program.contract, set()
    try:
        try:
            library = ac.clibrary.build(program.function, *argument_specs(program.cases), to=to, contract=contract)
        except AutoconvError:  # integers may be sizes, which are parts of the library
            if len(program.cases) > 1:
                raise
            sizes = {i for i, x in enumerate(program.cases[0]) if isinstance(x, int)}
            specs = zip(argument_specs(program.cases), program.cases[0], strict=True)
            values = [x if i in sizes else spec for i, (spec, x) in enumerate(specs)]
            library = ac.clibrary.build(program.function, *values, to=to, contract=contract)
    except (AutoconvError, TypeError) as error:
        return clibraries.refusal_reason(error), 0.0
    call, distance = calling.Caller(library), 0.0
    for number, expected in enumerate(program.expected):
        arguments = program.arguments(number)
        open_arguments = [plain_argument(x) for i, x in enumerate(arguments) if i not in sizes]
        call_arguments = [x for x in open_arguments if isinstance(x, np.ndarray) or np.isscalar(x)]
        distance = max(distance, max_distance(clibraries.leaves(call(*call_arguments)), clibraries.leaves(expected)))
        if program.contract == "compile":
            distance = max(distance, max_distance(*map(arrays_of, (arguments, program.arguments_after_call(number)))))
    return "", distance


def plain_argument(value: Any) -> Any:
    return value.numpy() if ac.is_tensor(value) else value


def arrays_of(arguments: Sequence[Any]) -> list[np.ndarray]:
    return [argument for argument in arguments if isinstance(argument, np.ndarray)]


def argument_specs(cases: Sequence[Sequence[Any]]) -> list[Any]:
    """Return the specs of the arguments: sizes that differ between cases have names, the same name where equal."""
    names: dict[tuple[int, ...], str] = {}
    specs: list[Any] = []
    for values in zip(*cases, strict=True):
        if not all(isinstance(x, np.ndarray) or ac.is_tensor(x) or np.isscalar(x) for x in values):
            specs.append(values[0])
            continue
        sizes = zip(*(np.shape(x) for x in values), strict=True)
        shape = [
            str(by_case[0]) if len(set(by_case)) == 1 else names.setdefault(by_case, f"n{len(names)}")
            for by_case in sizes
        ]
        dtype = values[0].dtype.name if ac.is_tensor(values[0]) else np.asarray(values[0]).dtype.name
        specs.append(f"{dtype}[{','.join(shape)}]")
    return specs


RUNTIMES = {
    "native": run_native,
    "StableHLO": format_runner(exports.run_by_stablehlo),
    "ONNX": format_runner(exports.run_by_onnx),
    "C": run_library,
}


def check_programs(only: str | None) -> bool:
    all_right = True
    for folder, candidates in zip(FOLDERS, (numpy_programs(), numeric_programs()), strict=True):
        chosen = [program for program in candidates if only in (None, program.name)]
        with tempfile.TemporaryDirectory() as scratch:
            for runtime, run in RUNTIMES.items():
                run_in_folder = functools.partial(run, folder=scratch)
                all_right &= print_summary(f"{runtime}, fixtures/{folder}", chosen, run_in_folder)
    return all_right


def print_summary(title: str, chosen: Sequence[Program], run: Callable[[Program], tuple[str, float]]) -> bool:
    """Run the programs; print the number of those with a form, the largest distance, and the reasons of the others."""
    all_right, form_count, worst, without_form = True, 0, (0.0, ""), []
    for program in chosen:
        try:
            reason, distance = run(program)
        except Exception as error:
            reason, distance = "", np.inf
            print(f"{title}: {program.name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        if reason:
            without_form.append(f"{program.name} ({reason})")
            continue
        form_count += 1
        worst = max(worst, (distance, program.name))
        if distance > 1000.0 and distance * np.finfo(np.float64).eps > program.tolerance:
            all_right = False
            print(f"{title}: {program.name}: WRONG, {distance:.3g} units", flush=True)
    print(f"{title}: {form_count} of {len(chosen)}, furthest {worst[1]} by {worst[0]:.3g} units")
    if without_form:
        print("  no form: " + "; ".join(without_form), flush=True)
    return all_right


def check_samples() -> bool:
    """Check samples with a form of StableHLO or ONNX; tests/clibrary/test_samples.py checks those of C libraries."""
    all_right, sample_count = True, len(list(portable.numeric_samples()))
    runtimes = ("StableHLO", to_stablehlo, exports.run_by_stablehlo), ("ONNX", to_onnx, exports.run_by_onnx)
    for runtime, write, run in runtimes:
        samples, worst = portable.samples_with_form(write), (0.0, "")
        for start in range(0, len(samples), 64):
            batch = samples[start : start + 64]
            graph = portable.graph_of(*(row[1:] for row in batch))
            values = iter(run(graph, [np.asarray(x) for row in batch for x in copy.deepcopy(row[2].inputs)])[0])
            for name, op, sample in batch:
                expected = portable.kernel_results(op, sample)
                distance = max([0.0, *(ulp_distance(next(values), value) for value in expected)])
                worst = max(worst, (distance, name))
                if distance > 100.0:
                    all_right = False
                    print(f"{runtime} {name}: WRONG, {distance:.3g} units", flush=True)
        names = {name.rpartition("-")[0] for name, _, _ in samples}
        print(f"{runtime}: {len(samples)} of {sample_count} samples of {len(names)} ops, furthest {worst}", flush=True)
    return all_right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", action="store_true", help="check only the programs")
    parser.add_argument("--samples", action="store_true", help="check only the samples")
    parser.add_argument("--only", help="the name of one program")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {exports.array_programs.EXACT_XLA_FLAG}"
    all_right = options.samples or check_programs(options.only)
    return 0 if (options.programs or check_samples()) and all_right else 1


if __name__ == "__main__":
    sys.exit(main())
