"""Random array programs as StableHLO modules and ONNX models, run by XLA and ONNX Runtime, against plain NumPy.

    python tests/fuzz/exports.py --programs 200 [--seed 0] [--format stablehlo|onnx]

The programs are those of `arrays.py`. The results and the arguments after the call are compared. The error word must be
0 if and only if plain Python returns. The summary counts the calls that agree, those whose graph has no form, by op and
reason, and those with an unnecessary error word, which the rules of an op permit.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import linecache
import os
import sys
import warnings
from pathlib import Path

import numpy as np

import autoconv as ac
from autoconv.backends.onnx import to_onnx
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.errors import AutoconvError
from autoconv.operators.regions.marshalling import rebuild

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
array_programs = importlib.import_module("arrays")
portable = importlib.import_module("tests.backends.portable_samples")


def run_by_stablehlo(graph, arrays):
    """Return the values, the number of results among them, the positions of written arguments, and the error word."""
    try:
        module = to_stablehlo(graph)
    except GraphUnfit:
        module = to_stablehlo(graph, numbers=portable.integers_of(arrays))
    values, word = portable.run_module(module, arrays)
    return values, module.results, module.written, word


def run_by_onnx(graph, arrays):
    model = to_onnx(graph)
    values, word = portable.run_onnx(model, arrays)
    names = [value.name for value in graph.parameters]
    results = [value.name for value in model.graph.output]
    count = sum(name.startswith("result_") for name in results)
    return values, count, [names.index(name.removeprefix("new_")) for name in results[count:-1]], word


FORMATS = {"stablehlo": run_by_stablehlo, "onnx": run_by_onnx}


def check(source: str, number: int, dtype: str, run) -> collections.Counter[str]:
    """Count the outcomes of the calls of one program; the text of a wrong outcome has the details."""
    name = f"<exported program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain = array_programs.define_program(array_programs.copy_assigned_views(source), name)
    compiled = ac.compile(array_programs.define_program(source, name))
    counts: collections.Counter[str] = collections.Counter()
    for call_number, numbers in enumerate(array_programs.NUMBERS):
        arguments = [*array_programs.arguments(dtype, call_number, False), *numbers]
        expected = [*array_programs.arguments(dtype, call_number, False), *numbers]
        try:
            concrete = compiled.get_concrete_function(*arguments)
        except AutoconvError as error:
            counts[f"not staged: {type(error).__name__}"] += 1
            continue
        try:
            with np.errstate(all="ignore"):
                result = plain(*expected)
            expected_error = None
        except Exception as error:
            result, expected_error = None, error
        counts[outcome(concrete, arguments, expected, result, expected_error, run)] += 1
    return counts


def outcome(concrete, arguments, expected, result, expected_error, run) -> str:
    graph, arrays = portable.graph_and_arrays(concrete, arguments)
    try:
        values, count, written, word = run(graph, [x.copy() for x in arrays])
    except GraphUnfit as error:
        return f"no form: {error.failed_op}: {error.reason}"
    except Exception as error:
        return f"WRONG {arguments[3:]}: refused by the runtime: {error}"
    if expected_error is not None:
        return "agrees" if word else f"WRONG {arguments[3:]}: {expected_error!r} was not noticed"
    if word:
        return "error word without need"
    results = rebuild(concrete.layout, iter([np.asarray(x) for x in values[:count]]))
    parts = result if isinstance(result, tuple) else (result,)
    actual_parts = results if isinstance(results, tuple) else (results,)
    for i, (expected_part, actual_part) in enumerate(zip(parts, actual_parts, strict=True)):
        if not is_close(actual_part, expected_part):
            return f"WRONG {arguments[3:]}: result {i}: expected {expected_part!r}, found {actual_part!r}"
    for position, value in zip(written, values[count:], strict=True):
        if not is_close(value, expected[position]):
            return f"WRONG {arguments[3:]}: argument {position}: expected {expected[position]!r}, found {value!r}"
    unchanged = [i for i in range(3) if i not in written]
    call_number = array_programs.NUMBERS.index(tuple(arguments[3:]))
    original = array_programs.arguments(str(arguments[0].dtype), call_number, False)
    if any(not is_close(original[i], expected[i]) for i in unchanged):
        return f"WRONG {arguments[3:]}: the write to an argument is not among the outputs"
    return "agrees"


def is_close(actual, expected) -> bool:
    if expected is None:
        return actual is None
    actual, expected = np.asarray(actual), np.asarray(expected)
    if actual.shape != expected.shape or (actual.dtype != expected.dtype and expected.ndim):
        return False
    if expected.dtype.kind != "f":
        return np.array_equal(actual, expected)
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
    with np.errstate(all="ignore"):
        return np.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=FORMATS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {array_programs.EXACT_XLA_FLAG}"
    wrong = 0
    for name in [options.format] if options.format else FORMATS:
        counts: collections.Counter[str] = collections.Counter()
        for number in range(options.seed, options.seed + options.programs):
            generator = array_programs.Generator(number)
            source = generator.program()
            program_counts = check(source, number, generator.dtype, FORMATS[name])
            for kind, count in program_counts.items():
                if kind.startswith("WRONG"):
                    print(f"--- program {number}, {name}, {generator.dtype}\n{source}\n{kind}\n", flush=True)
                counts[kind.partition(" ")[0] if kind.startswith("WRONG") else kind] += count
        print(f"{name}: {', '.join(f'{kind}: {count}' for kind, count in counts.most_common())}")
        wrong += counts["WRONG"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
