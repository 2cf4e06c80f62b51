"""Random array programs as StableHLO modules and ONNX models, run by XLA and ONNX Runtime, against plain NumPy.

    python tests/fuzz/exports.py --programs 200 [--seed 0] [--format stablehlo|onnx]

The programs are those of `arrays.py`. Compared are the results, what the arguments hold afterwards, and the error word:
where plain Python returns it has to be 0, where plain Python raises it must not be. The summary counts the calls that
agree, those whose graph has no form, by op and reason, and those that set the error word without need, as rules may.
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
import onnxruntime

import autoconv as ac
from autoconv.backends.onnx import to_onnx
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.errors import AutoconvError
from autoconv.operators.regions.marshalling import rebuild

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
array_programs = importlib.import_module("arrays")
portable = importlib.import_module("tests.backends.portable_samples")


def by_stablehlo(graph, arrays):
    """The values, how many of them are results, the positions of written arguments, and the error word."""
    try:
        module = to_stablehlo(graph)
    except GraphUnfit:
        module = to_stablehlo(graph, numbers=portable.integers_of(arrays))
    found, word = portable.executed(module.text, arrays, module.types)
    return found, module.results, module.written, word


def by_onnx(graph, arrays):
    model = to_onnx(graph)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    feeds = {value.name: x for value, x in zip(model.graph.input, arrays, strict=True)}
    *found, word = session.run(None, feeds)
    names = [value.name for value in graph.parameters]
    results = [value.name for value in model.graph.output]
    count = sum(name.startswith("result_") for name in results)
    return found, count, [names.index(name.removeprefix("new_")) for name in results[count:-1]], int(word)


FORMATS = {"stablehlo": by_stablehlo, "onnx": by_onnx}


def check(source: str, number: int, dtype: str, run) -> collections.Counter[str]:
    """What became of the calls of one program; of a wrong one the text has the details."""
    name = f"<exported program {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    plain = array_programs._define(array_programs.copying(source), name)
    compiled = ac.compile(array_programs._define(source, name))
    counts: collections.Counter[str] = collections.Counter()
    for turn, numbers in enumerate(array_programs.NUMBERS):
        given = [*array_programs.arguments(dtype, turn, False), *numbers]
        expected = [*array_programs.arguments(dtype, turn, False), *numbers]
        try:
            concrete = compiled.get_concrete_function(*given)
        except AutoconvError as error:
            counts[f"not staged: {type(error).__name__}"] += 1
            continue
        try:
            with np.errstate(all="ignore"):
                result = plain(*expected)
            raised = None
        except Exception as error:
            result, raised = None, error
        counts[outcome(concrete, given, expected, result, raised, run)] += 1
    return counts


def outcome(concrete, given, expected, result, raised, run) -> str:
    graph, arrays = portable.graph_and_arrays(concrete, given)
    try:
        found, count, written, word = run(graph, [x.copy() for x in arrays])
    except GraphUnfit as error:
        return f"no form: {error.failed_op}: {error.reason}"
    except Exception as error:
        return f"WRONG {given[3:]}: refused by the runtime: {error}"
    if raised is not None:
        return "agrees" if word else f"WRONG {given[3:]}: {raised!r} was not noticed"
    if word:
        return "error word without need"
    results = rebuild(concrete.layout, iter([np.asarray(x) for x in found[:count]]))
    parts = result if isinstance(result, tuple) else (result,)
    others = results if isinstance(results, tuple) else (results,)
    for i, (one, other) in enumerate(zip(parts, others, strict=True)):
        if not is_close(other, one):
            return f"WRONG {given[3:]}: result {i}: expected {one!r}, found {other!r}"
    for position, value in zip(written, found[count:], strict=True):
        if not is_close(value, expected[position]):
            return f"WRONG {given[3:]}: argument {position}: expected {expected[position]!r}, found {value!r}"
    unchanged = [i for i in range(3) if i not in written]
    before = array_programs.arguments(str(given[0].dtype), array_programs.NUMBERS.index(tuple(given[3:])), False)
    if any(not is_close(before[i], expected[i]) for i in unchanged):
        return f"WRONG {given[3:]}: a change of an argument is no result"
    return "agrees"


def is_close(found, expected) -> bool:
    if expected is None:
        return found is None
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or (found.dtype != expected.dtype and expected.ndim):
        return False
    if expected.dtype.kind != "f":
        return np.array_equal(found, expected)
    tolerance = 1e-5 if expected.dtype == np.float32 else 1e-12
    with np.errstate(all="ignore"):
        return np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", choices=FORMATS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {array_programs.EXACT}"
    wrong = 0
    for name in [options.format] if options.format else FORMATS:
        counts: collections.Counter[str] = collections.Counter()
        for number in range(options.seed, options.seed + options.programs):
            generator = array_programs.Generator(number)
            source = generator.program()
            found = check(source, number, generator.dtype, FORMATS[name])
            for kind, count in found.items():
                if kind.startswith("WRONG"):
                    print(f"--- program {number}, {name}, {generator.dtype}\n{source}\n{kind}\n", flush=True)
                counts[kind.partition(" ")[0] if kind.startswith("WRONG") else kind] += count
        print(f"{name}: {', '.join(f'{kind}: {count}' for kind, count in counts.most_common())}")
        wrong += counts["WRONG"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
