"""Calls of TensorFlow's public functions and operators, over TensorFlow and over autoconv.

    python tests/fuzz/tensorflow_calls.py --tensorflow PYTHON [--calls 40] [--function] [--only PART] [--again]

PYTHON is an interpreter of an environment with TensorFlow. For each public function of `math`, `linalg`, `nn`,
`strings`, `image`, `signal`, `sparse`, `ragged`, `bitwise`, `random`, and for the operators of tensors, calls that
TensorFlow accepts are searched; these are varied by dtypes, pairs of dtypes, ranks, empty and scalar operands, NumPy's
arrays and Python's numbers. A call has to have the same result (dtype, shape, values), or an exception of the same
class. With `--function`, each call runs inside of `function`, which takes the tensors as arguments.

Outcomes are kept in `out/`, so that a run that was stopped continues; `--again` runs the calls over autoconv anew,
`--differing` those that differ.
Differences are printed by their kind, the function and the classes of exceptions.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import math
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from called.variations import cases

WORKER = Path(__file__).resolve().parent / "called" / "worker.py"
PATIENCE = 120  # seconds that a call may take
KINDS = {
    "accepted": "accepted here, refused by TensorFlow",
    "dtype": "other dtypes or kinds of results",
    "shape": "other shapes",
    "value": "other values",
    "refused": "refused here, accepted by TensorFlow",
    "exception": "other classes of exceptions",
    "ended": "the process ended, or the call took too long",
}
TOLERANCES = {"float16": 2e-2, "bfloat16": 6e-2, "float64": 1e-6, "complex128": 1e-6}


def main() -> None:
    options = _arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    templates_path = options.folder / "templates.jsonl"
    if not templates_path.exists():
        partial = templates_path.with_suffix(".partial")
        command = [options.tensorflow, str(WORKER), "tensorflow", "search", "-", str(partial)]
        while subprocess.run(command, stderr=subprocess.DEVNULL).returncode:  # some calls end TensorFlow's process
            print("the search goes on after the function that ended the process", file=sys.stderr)
        partial.rename(templates_path)
    templates = [json.loads(line) for line in templates_path.read_text("utf-8").splitlines()]
    templates = [template for template in templates if "text" in template]
    by_text: dict[str, list[Case]] = collections.defaultdict(list)
    for case in cases(templates):
        if options.only in shown(case):
            by_text[case[0]].append(case)
    selected = [case for group in by_text.values() for case in drawn(group, options.calls)]
    mode = "function" if options.function else "eager"
    expected = collect(selected, "tensorflow", options.tensorflow, mode, options)
    actual = collect(selected, "autoconv", sys.executable, mode, options)
    if options.differing:
        differing = [case for case in selected if difference(expected[shown(case)], actual[shown(case)])[0]]
        options.again = True
        actual |= collect(differing, "autoconv", sys.executable, mode, options)
    report(selected, expected, actual, options)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", metavar="PYTHON", required=True)
    parser.add_argument("--calls", type=int, default=40, metavar="N", help="calls drawn of each function; 0 for all")
    parser.add_argument("--function", action="store_true")
    parser.add_argument("--only", default="", metavar="PART")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--differing", action="store_true", help="run the calls that differ over autoconv anew")
    parser.add_argument("--show", type=int, default=2, metavar="N", help="calls to print for each row")
    parser.add_argument("--kind", choices=KINDS, help="print differences of this kind alone")
    parser.add_argument("--folder", type=Path, default=Path("out/tensorflow-calls"))
    return parser.parse_args()


Case = tuple[str, list[str]]


def drawn(group: list[Case], count: int) -> list[Case]:
    """Return `count` calls of a function, the same in each run."""
    generator = random.Random(group[0][0])
    return generator.sample(group, min(count or len(group), len(group)))


def shown(case: Case) -> str:
    text, operands = case
    return text.format(*operands)


def collect(
    selected: list[Case], framework: str, python: str, mode: str, options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Run the calls that have no outcome yet; return the outcomes by the texts of calls."""
    path = options.folder / f"{framework}-{mode}.jsonl"
    outcomes: dict[str, dict[str, Any]] = {}
    if path.exists():
        outcomes = dict(json.loads(line) for line in path.read_text("utf-8").splitlines())
    texts = {shown(case) for case in selected}
    if framework == "autoconv" and options.again:
        outcomes = {text: outcome for text, outcome in outcomes.items() if text not in texts}
        path.write_text("".join(json.dumps(row) + "\n" for row in outcomes.items()), "utf-8")
    pending = [case for case in selected if shown(case) not in outcomes]
    while pending:
        part, pending = pending[:1000], pending[1000:]
        new = run_part(part, framework, python, mode, options.folder)
        pending = [case for case in part if shown(case) not in new] + pending
        outcomes |= new
        with path.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in new.items())
        print(f"{framework}: {len(pending)} calls left", file=sys.stderr, flush=True)
    return outcomes


def run_part(part: list[Case], framework: str, python: str, mode: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Run calls in one process until it ends; the call in which it ended early has that as its outcome."""
    cases_path, outcomes_path = folder / f"cases-{framework}-{mode}", folder / f"outcomes-{framework}-{mode}"
    cases_path.write_text("".join(json.dumps([n, *case]) + "\n" for n, case in enumerate(part)), "utf-8")
    outcomes_path.write_text("", "utf-8")
    process = subprocess.Popen(
        [python, str(WORKER), framework, mode, str(cases_path), str(outcomes_path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None:
        time.sleep(0.2)
        if time.time() - outcomes_path.stat().st_mtime > PATIENCE:
            process.kill()
    lines = [json.loads(line) for line in outcomes_path.read_text("utf-8").splitlines() if line.endswith("]")]
    if not lines:
        raise SystemExit(f"{framework} cannot be imported by {python}")
    return {shown(part[number]): outcome or {"ended": True} for number, outcome in lines}


def report(
    selected: list[Case],
    expected: dict[str, dict[str, Any]],
    actual: dict[str, dict[str, Any]],
    options: argparse.Namespace,
) -> None:
    rows: dict[str, dict[str, list[str]]] = {kind: collections.defaultdict(list) for kind in KINDS}
    equal = compared = 0
    for case in selected:
        text = shown(case)
        if "operand" in expected[text] or "ended" in expected[text]:
            continue
        compared += 1
        kind, details = difference(expected[text], actual[text])
        equal += not kind
        if kind:
            rows[kind][f"{case[0]}: {details}"].append(text)
    for kind, by_row in rows.items():
        if options.kind in (None, kind) and by_row:
            print(f"\n{KINDS[kind]}: {sum(map(len, by_row.values()))}")
            for row, texts in sorted(by_row.items(), key=lambda item: -len(item[1])):
                print(f"{len(texts):5} {row}")
                for text in texts[: options.show]:
                    print(f"          {text[:300]}")
    print("\n" + ", ".join(f"{kind} {sum(map(len, by_row.values()))}" for kind, by_row in rows.items()))
    print(f"{equal} of {compared} calls are equal, {100 * equal / max(compared, 1):.2f} %")


def difference(expected: dict[str, Any], actual: dict[str, Any]) -> tuple[str, str]:
    """Return the kind of the difference and its details; "" for equal outcomes."""
    if "ended" in actual:
        return "ended", ""
    if "operand" in actual:
        return "refused", "an operand"
    if "error" in expected:
        if "error" not in actual:
            return "accepted", f"{expected['error'][0]}: {expected['text'][:120]}".splitlines()[0]
        same = expected["error"][0] in actual["error"]
        return ("", "") if same else ("exception", f"{expected['error'][0]} / {actual['error'][0]}")
    if "error" in actual:
        return "refused", f"{actual['error'][0]}: {actual['text'][:120]}".splitlines()[0]
    return result_difference(expected["result"], actual["result"])


def result_difference(expected: list[Any], actual: list[Any]) -> tuple[str, str]:
    if expected[0] != actual[0] or len(expected) != len(actual):
        return "dtype", f"{expected[0]} / {actual[0]}"
    if expected[0] in ("tensor", "ndarray") or (len(expected) == 4 and isinstance(expected[1], str)):
        if expected[1] != actual[1]:
            return "dtype", f"{expected[1]} / {actual[1]}"
        if expected[2] != actual[2]:
            return "shape", f"{expected[2]} / {actual[2]}"
        tolerance = TOLERANCES.get(expected[1], 1e-3)
        return ("", "") if same_values(expected[3], actual[3], tolerance) else ("value", "")
    for first, second in itertools.zip_longest(expected[1:], actual[1:]):
        if isinstance(first, list) and isinstance(second, list):
            kind, details = result_difference(first, second)
            if kind:
                return kind, details
        elif first != second:
            return "value", f"{first} / {second}"
    return "", ""


def same_values(expected: Any, actual: Any, tolerance: float) -> bool:
    if isinstance(expected, list):
        return len(expected) == len(actual) and all(
            same_values(one, other, tolerance) for one, other in zip(expected, actual, strict=True)
        )
    if isinstance(expected, float):
        return (math.isnan(expected) and math.isnan(actual)) or math.isclose(
            expected, actual, rel_tol=tolerance, abs_tol=tolerance * 1e-2
        )
    return bool(expected == actual)


if __name__ == "__main__":
    main()
