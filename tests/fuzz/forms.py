"""What of fixtures/numpy and of the samples of ops has a form for other runtimes, and how far their results are apart.

    python tests/fuzz/forms.py [--programs] [--samples]

Each program runs as a StableHLO module by XLA, as an ONNX model by ONNX Runtime, and as a C library; its results and
what it leaves in its arguments are compared with plain NumPy's. The distance of two arrays is that of their furthest
elements, in units in the last place of the largest element. What has no form is listed with its reason.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import autoconv as ac
from autoconv.backends.onnx import to_onnx
from autoconv.backends.portable import GraphUnfit
from autoconv.backends.stablehlo import to_stablehlo
from autoconv.errors import AutoconvError

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
portable = importlib.import_module("tests.backends.portable_samples")
exports = importlib.import_module("exports")
calling = importlib.import_module("tests.clibrary.calling")
clibraries = importlib.import_module("clibraries")

NAMES = sorted(path.stem for path in (portable.FIXTURES / "numpy").glob("*.py") if path.stem != "__init__")


def distance(found, expected) -> float:
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


def by_format(name: str, run) -> tuple[str, float]:
    """("" or why there is no form, distance) of a program as a module or a model."""
    _, graph, arrays, expected, after = portable.numpy_program(name)
    try:
        found, count, written, word = run(graph, [x.copy() for x in arrays])
    except GraphUnfit as error:
        return f"{error.failed_op}: {error.reason}", 0.0
    if word:
        return "", np.inf
    far = [min((distance(x, value) for x in found[:count] if x.shape == value.shape), default=np.inf)
           for value in expected]  # fmt: skip
    changed = zip(written, found[count:], strict=True)
    return "", max([0.0, *far, *(distance(value, after[position]) for position, value in changed)])


def by_library(name: str, folder: str) -> tuple[str, float]:
    module = portable.numpy_program(name)[0]
    mine, its = list(module.make(0)), list(module.make(0))
    specs = [x if isinstance(x, np.ndarray) else ac.TensorSpec([], np.asarray(x).dtype) if np.isscalar(x) else x
             for x in mine]  # fmt: skip
    try:
        call = calling.Caller(ac.clibrary.build(module.program, *specs, to=f"{folder}/{name}", contract="compile"))
    except (AutoconvError, ValueError, TypeError) as error:
        return clibraries.reason(error), 0.0
    given = [x for x in mine if isinstance(x, np.ndarray) or np.isscalar(x)]
    found, expected = clibraries.leaves(call(*given)), clibraries.leaves(module.program(*its))
    pairs = [*zip(found, expected, strict=True), *zip(mine, its, strict=True)]
    return "", max([0.0, *(distance(one, other) for one, other in pairs if isinstance(other, (np.ndarray, np.number)))])


def programs() -> bool:
    well = True
    runs = {"StableHLO": lambda name, _: by_format(name, exports.by_stablehlo),
            "ONNX": lambda name, _: by_format(name, exports.by_onnx), "C": by_library}  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        for runtime, run in runs.items():
            fitting, furthest, none = 0, (0.0, ""), []
            for name in NAMES:
                try:
                    why, far = run(name, folder)
                except Exception as error:
                    why, far = "", np.inf
                    print(f"{runtime} {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                if why:
                    none.append(f"{name} ({why})")
                    continue
                fitting += 1
                furthest = max(furthest, (far, name))
                if far > 1000.0:
                    well = False
                    print(f"{runtime} {name}: WRONG, {far:.3g} units", flush=True)
            print(f"{runtime}: {fitting} of {len(NAMES)} programs, furthest {furthest[1]} by {furthest[0]:.3g} units")
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
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    well = options.samples or programs()
    return 0 if (options.programs or samples()) and well else 1


if __name__ == "__main__":
    sys.exit(main())
