"""Run Keras' own tests, from its wheel, over autoconv and over TensorFlow, and compare the outcomes.

    python tests/keras/run.py [FILE-PART ...] [--tensorflow PYTHON] [--quick] [--folder out/keras-tests] [--again]

PYTHON is an interpreter of an environment with keras, tensorflow-cpu and pytest. Both environments should have what the
tests import besides: jax, pandas, scikit-learn, tensorboard, torch. Outcomes are kept by file and by version, so
that a run which was stopped continues; `--again` runs the files over autoconv anew. `--quick` takes one test of
twenty, the same over both. Nothing of Keras is kept. The last lines give, by folder, how many of the tests that pass
over TensorFlow pass over autoconv; without TensorFlow's outcomes, how many pass at all. They also give that figure for
the tests of sparse and ragged tensors and of export, by the names of tests and files, and for the others.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sampling import UNFINISHED

HERE = Path(__file__).resolve().parent
LIMIT = 3600  # seconds for the tests of one process
LEFT_OUT = ("applications_test.py", "file_utils_test.py")  # tests that need a network
COMPOSITE = "sparse and ragged tensors, export"
# Sparse labels of classes and activations named sparse are dense.
_COMPOSITE = re.compile("export|ragged|sparse(?!_?(categorical|top_?k|plus|sigmoid|max))", re.IGNORECASE)
START = """
import sys
{imports}
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""


def keras_folder(python: str) -> Path:
    """Return the folder of the installed Keras, without importing it."""
    program = "import importlib.util as u; print(u.find_spec('keras').submodule_search_locations[0])"
    return Path(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip())


def version_text(python: str, package: str) -> str:
    program = f"from importlib.metadata import version as v; print(v('keras'), v({package!r}))"
    numbers = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    return f"keras-{numbers[0]}-{package}-{numbers[1]}"


def run_files(python: str, root: Path, files: list[Path], framework: str, step: int) -> dict[str, dict[str, str]]:
    """Run files in one process; return the outcomes of the tests by the name of their file.

    If the process ends early, the files that it did not begin are missing.
    """
    environment = {**os.environ, "PYTHONPATH": str(HERE), "KERAS_TESTS_STEP": str(step), "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment["KERAS_BACKEND"] = framework
    with tempfile.TemporaryDirectory() as folder:
        environment["KERAS_TESTS_OUTCOMES"] = os.path.join(folder, "outcomes.json")
        imports = "import autoconv" if framework == "autoconv" else ""
        options = [
            "-q",
            "-p",
            "sampling",
            "--assert=plain",
            "--tb=line",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            "--rootdir",
            str(root),
        ]
        command = [python, "-c", START.format(imports=imports), *options, *map(str, files)]
        try:
            completed = subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, timeout=LIMIT
            )
            reason = f"failed: {(completed.stdout + completed.stderr).strip()[-300:]}"
        except subprocess.TimeoutExpired:
            reason = f"failed: it took more than {LIMIT} s"
        outcomes = load_outcomes(Path(environment["KERAS_TESTS_OUTCOMES"]))
    unfinished = [tests for tests in outcomes.values() if UNFINISHED in tests.values()]
    for tests in unfinished:
        tests["(file)"] = reason
    if unfinished:
        return outcomes
    return {file.name: outcomes.get(file.name, {} if outcomes else {"(file)": reason}) for file in files}


def load_outcomes(path: Path) -> dict[str, dict[str, str]]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def collect(
    python: str, framework: str, parts: list[str], folder: Path, step: int, again: bool
) -> dict[str, dict[str, str]]:
    name = version_text(python, "autoconv" if framework == "autoconv" else "tensorflow-cpu")
    path = folder / f"{name}-{step}.json"
    outcomes_by_file = {} if again and not parts else load_outcomes(path)
    root = keras_folder(python)
    pending = {
        str(file.relative_to(root)): file for file in sorted(root.rglob("*_test.py")) if file.name not in LEFT_OUT
    }
    pending = {key: file for key, file in pending.items() if not parts or any(part in key for part in parts)}
    pending = {key: file for key, file in pending.items() if again or key not in outcomes_by_file}
    while pending:
        group: dict[str, Path] = {}  # files of one process, which need distinct names
        for key, file in pending.items():
            same_folder = step > 1 or file.parent == next(iter(pending.values())).parent
            if len(group) < 20 and same_folder and file.name not in {other.name for other in group.values()}:
                group[key] = file
        new_outcomes = run_files(python, root, list(group.values()), framework, step)
        group = {key: file for key, file in group.items() if file.name in new_outcomes}
        for key, file in group.items():
            del pending[key]
            outcomes_by_file[key] = new_outcomes[file.name]
        passed = sum(outcome == "passed" for key in group for outcome in outcomes_by_file[key].values())
        count = sum(len(outcomes_by_file[key]) for key in group)
        print(f"{framework:10} {min(group)} … {max(group)}: {passed} of {count}", flush=True)
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(outcomes_by_file, indent=1), "utf-8")
    return {key: tests for key, tests in outcomes_by_file.items() if not parts or any(part in key for part in parts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE-PART")
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--folder", type=Path, default=Path("out/keras-tests"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--reasons", action="store_true", help="print the last line of each failure")
    options = parser.parse_args()
    step = 20 if options.quick else 1
    autoconv_outcomes = collect(sys.executable, "autoconv", options.files, options.folder, step, options.again)
    tensorflow_outcomes = None
    if options.tensorflow:
        tensorflow_outcomes = collect(options.tensorflow, "tensorflow", options.files, options.folder, step, False)
    print_figures(autoconv_outcomes, tensorflow_outcomes, options.reasons)


def print_figures(
    autoconv_outcomes: dict[str, dict[str, str]], tensorflow_outcomes: dict[str, dict[str, str]] | None, by_file: bool
) -> None:
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    totals: dict[str, list[int]] = {"dense": [0, 0], COMPOSITE: [0, 0], "together": [0, 0]}
    reasons: collections.Counter[str] = collections.Counter()
    for key, tests in (tensorflow_outcomes if tensorflow_outcomes is not None else autoconv_outcomes).items():
        for test, outcome in tests.items():
            if outcome == "skipped" or (tensorflow_outcomes is not None and outcome != "passed"):
                continue
            file_outcomes = autoconv_outcomes.get(key, {})
            outcome_here = file_outcomes.get(test, file_outcomes.get("(file)", "failed: not run"))
            kind = COMPOSITE if _COMPOSITE.search(f"{key} {test}") else "dense"
            for count in (counts[key.split("/")[1]], totals[kind], totals["together"]):
                count[0] += outcome_here == "passed"
                count[1] += 1
            if outcome_here != "passed":
                reasons[f"{key}: {outcome_here}" if by_file else outcome_here] += 1
    for part, (passed, total) in [*sorted(counts.items()), *totals.items()]:
        print(f"{part:34} {passed:5} of {total:5}  {100 * passed / max(total, 1):6.2f} %")
    for reason, count in reasons.most_common(200 if by_file else 25):
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
