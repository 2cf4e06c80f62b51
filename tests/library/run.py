"""Plain Python stays plain Python: CPython's own tests of pure-Python modules of the standard library, run against
the modules as they are and converted.

    python tests/library/run.py [--only MODULE] [--skip MODULE] [--jobs N] [--quick]

`autoconv convert` converts the modules. Their tests run three times: as they are, converted, and converted with every
statement going through its operator, as it does inside of a trace. The table has for each module the tests that passed
each time, the control-flow statements of its functions that were rewritten, the part of these that became functional
(see `autoconv convert --explain`), and the slow-down of the tests. A statement counts as rewritten, too, if its test or
iterable goes through an operator. The exit code is 1 when a converted module fails a test that passed before, or when
less than 99% of its statements were rewritten."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from click.testing import CliRunner
from rich.console import Console
from rich.table import Table

from autoconv import cli

HERE = Path(__file__).resolve().parent
WAYS = ("as they are", "converted", "rewritten")
STATEMENTS = ("if", "while", "for", "async for")


@dataclass(frozen=True)
class Case:
    """Modules that are converted together, and CPython's tests of them.

    `quick` are the tests of the quick subset, which may be none. Tests whose names contain `long` take too long, or
    cannot run, through operators.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    quick: tuple[str, ...] = ()
    long: str = ""

    @property
    def name(self) -> str:
        return ", ".join(self.modules)


DATETIME = "_pydatetime" if sys.version_info >= (3, 12) else "datetime"
CASES = (
    Case(
        ("heapq",),
        ("test.test_heapq",),
        ("test.test_heapq.TestHeapPython", "test.test_heapq.TestErrorHandlingPython"),
    ),
    Case(("textwrap",), ("test.test_textwrap",), ("test.test_textwrap",)),
    Case(
        ("json", "json.decoder", "json.scanner", "json.encoder"),
        ("test.test_json",),
        ("test.test_json.test_decode", "test.test_json.test_fail", "test.test_json.test_scanstring"),
    ),
    Case(
        ("statistics",),
        ("test.test_statistics",),
        ("test.test_statistics.TestMean", "test.test_statistics.TestMedian", "test.test_statistics.TestMode"),
    ),
    Case(
        ("shlex", "bisect", "graphlib"),
        ("test.test_shlex", "test.test_bisect", "test.test_graphlib"),
        ("test.test_shlex", "test.test_bisect", "test.test_graphlib"),
    ),
    Case(("fractions",), ("test.test_fractions",), ("test.test_fractions",)),
    Case(("difflib",), ("test.test_difflib",)),
    Case(("configparser",), ("test.test_configparser",)),
    Case(("argparse",), ("test.test_argparse",)),
    Case(("calendar",), ("test.test_calendar",)),
    Case(("tomllib._re", "tomllib._parser", "tomllib"), ("test.test_tomllib",)),
    Case(("dataclasses",), ("test.test_dataclasses",)),
    Case(("contextlib",), ("test.test_contextlib", "test.test_contextlib_async")),
    Case((DATETIME,), ("test.test_datetime",), long="ZoneInfoTest["),  # three tests, for each of 144 time zones
    Case(("ipaddress",), ("test.test_ipaddress",)),
    Case(("string",), ("test.test_string",)),
    Case(("csv",), ("test.test_csv",)),
    Case(("copy",), ("test.test_copy",)),
    Case(("functools",), ("test.test_functools",)),
    Case(("collections",), ("test.test_collections", "test.test_ordered_dict", "test.test_userdict")),
    Case(("colorsys",), ("test.test_colorsys",), ("test.test_colorsys",)),
    Case(("html", "_markupbase", "html.parser"), ("test.test_html", "test.test_htmlparser"), ("test.test_htmlparser",)),
    Case(("ast",), ("test.test_ast",)),
    Case(("random",), ("test.test_random",)),
    Case(("_pydecimal",), ("test.test_decimal",)),
    Case(("pprint",), ("test.test_pprint",)),
    Case(("fnmatch", "glob"), ("test.test_fnmatch", "test.test_glob")),
    Case(("reprlib", "operator"), ("test.test_reprlib", "test.test_operator")),
    Case(("optparse", "getopt"), ("test.test_optparse", "test.test_getopt")),
    Case(("pickle",), ("test.test_pickle",)),
    Case(("urllib.parse",), ("test.test_urlparse",)),
    Case(("enum",), ("test.test_enum",)),
    Case(("re._parser", "re._compiler"), ("test.test_re",)),
    Case(("quopri", "base64"), ("test.test_quopri", "test.test_base64")),
    Case(("plistlib", "http.cookies"), ("test.test_plistlib", "test.test_http_cookies")),
    Case(("bdb",), ("test.test_bdb",), long="test_bdb."),  # a tracer of lines stops in the operators too
    Case(("_strptime",), ("test.test_strptime",)),
    Case(("tokenize",), ("test.test_tokenize.TokenizeTest", "test.test_tokenize.UntokenizeTest")),
)


# Tests that have to differ through operators, with reasons.
EXPECTED_DIFFERENCES = {
    f"test_exit_exception_traceback (test.test_contextlib{place}.test_exit_exception_traceback)": (
        "a region that raises is an entry of its own in the traceback until the error leaves the trace"
    )
    for place in (".TestExitStack", "_async.TestAsyncExitStack")
}


@dataclass
class Report:
    """The outcome of running a case.

    `passed`, `regressed` (tests that only the original passes) and `seconds` of processor time are by WAYS.
    `left_out` is the number of tests that did not run through operators, `expected` the ones that have to differ there.
    """

    case: Case
    tests: int = 0
    passed: dict[str, int] = field(default_factory=dict)
    regressed: dict[str, list[str]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    left_out: int = 0
    expected: list[str] = field(default_factory=list)
    statements: int = 0
    rewritten: int = 0
    functional: int = 0

    @property
    def has_passed(self) -> bool:
        return not any(self.regressed.values()) and self.rewritten >= 0.99 * self.statements


def run_case(case: Case, quick: bool = False) -> Report:
    """Convert the modules of a case and run its tests every way."""
    report = Report(case)
    with tempfile.TemporaryDirectory() as folder:
        outputs = {name: Path(folder, f"{name}.py") for name in case.modules}
        for name, output in outputs.items():
            for form in convert(name, output):
                report.statements += 1
                report.functional += form == "functional"
                report.rewritten += form in ("functional", "statement")
        outcomes = {way: run_tests(case, outputs, way, quick) for way in WAYS}
    report.tests = outcomes["as they are"]["tests"]
    for way in WAYS:
        report.seconds[way] = outcomes[way]["seconds"]
        report.passed[way] = outcomes[way]["run"] - outcomes[way]["skipped"] - len(outcomes[way]["failed"])
        report.regressed[way] = sorted(outcomes[way]["failed"].keys() - outcomes["as they are"]["failed"].keys())
        if outcomes[way]["run"] + outcomes[way]["left out"] != outcomes["as they are"]["run"]:
            report.regressed[way].append(f"ran {outcomes[way]['run']} tests")
    report.left_out = outcomes["rewritten"]["left out"]
    report.expected = [name for name in report.regressed["rewritten"] if name in EXPECTED_DIFFERENCES]
    report.regressed["rewritten"] = [name for name in report.regressed["rewritten"] if name not in EXPECTED_DIFFERENCES]
    return report


def convert(name: str, output: Path) -> Iterator[str]:
    """Convert a module by the command, and yield the form of each control-flow statement in its functions."""
    spec = importlib.util.find_spec(name)
    assert spec is not None and spec.origin is not None
    command = ["convert", spec.origin, "-o", str(output), "--json"]
    completed = CliRunner().invoke(cli.main, command, catch_exceptions=False)
    assert completed.exit_code == 0, completed.output
    (file,) = json.loads(completed.stdout)["files"]
    for construct in file["constructs"]:
        is_outside = construct["reason"].startswith("outside of functions")
        if construct["kind"] in STATEMENTS and not is_outside:
            yield construct["form"]


def run_tests(case: Case, outputs: dict[str, Path], way: str, quick: bool) -> dict:
    command = [sys.executable, "-W", "ignore", str(HERE / "run_converted.py")]
    command += [f"--module={name}={output}" for name, output in outputs.items() if way != "as they are"]
    command += [f"--test={name}" for name in (case.quick if quick else case.tests)]
    command += ["--rewritten", f"--leave-out={case.long}"] if way == "rewritten" else []
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
    with tempfile.TemporaryDirectory() as folder:
        completed = subprocess.run(
            command, capture_output=True, text=True, timeout=1500, env=environment, cwd=folder, stdin=subprocess.DEVNULL
        )
    if completed.returncode:
        failed = {completed.stderr[-3000:]: ""}
        return {"tests": 0, "run": 0, "skipped": 0, "left out": 0, "seconds": 0.0, "failed": failed}
    return json.loads(completed.stdout[completed.stdout.rindex("\n{") :])


def table_of(reports: list[Report]) -> Table:
    headings = ("modules", "tests", *(f"pass {way}" for way in WAYS))
    table = Table(*headings, "statements", "rewritten", "functional", "slower")
    for column in table.columns[1:]:
        column.justify = "right"
    total = Report(Case(("all",), ()))
    for report in reports:
        table.add_row(*row_of(report), style=None if report.has_passed else "red")
        total.tests += report.tests
        for way in WAYS:
            total.passed[way] = total.passed.get(way, 0) + report.passed[way]
            total.seconds[way] = total.seconds.get(way, 0) + report.seconds[way]
        for name in ("statements", "rewritten", "functional"):
            setattr(total, name, getattr(total, name) + getattr(report, name))
    table.add_section()
    table.add_row(*row_of(total))
    return table


def row_of(report: Report) -> list[str]:
    shares = [
        f"{count / report.statements:.1%}" if report.statements else "-"
        for count in (report.rewritten, report.functional)
    ]
    counts = [report.tests, *(report.passed[way] for way in WAYS), report.statements]
    counts[3] = f"{counts[3]} (of {report.tests - report.left_out})" if report.left_out else counts[3]
    before, after, _ = (report.seconds[way] for way in WAYS)
    return [report.case.name, *map(str, counts), *shares, f"{after / before:.2f}" if before else "-"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="the cases one of whose modules has this in its name")
    parser.add_argument("--skip", action="append", default=[], help="a module whose case is left out (repeatable)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)")
    parser.add_argument("--quick", action="store_true", help="the subset that pytest runs")
    options = parser.parse_args()
    cases = [case for case in CASES if any(options.only in name for name in case.modules)]
    cases = [case for case in cases if not set(options.skip) & set(case.modules)]
    if options.quick:
        cases = [case for case in cases if case.quick]
    with ThreadPoolExecutor(options.jobs) as pool:
        reports = []
        for report in pool.map(lambda case: run_case(case, options.quick), cases):
            reports.append(report)
            print(f"{len(reports)} of {len(cases)}: {report.case.name}", file=sys.stderr, flush=True)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table_of(reports))
    for report in reports:
        for way, names in report.regressed.items():
            for name in names:
                console.print(f"{report.case.name}, {way}: {name}", markup=False)
        for name in report.expected:
            reason = EXPECTED_DIFFERENCES[name]
            console.print(f"{report.case.name}, rewritten, as expected: {name}: {reason}", markup=False)
    return int(not all(report.has_passed for report in reports))


if __name__ == "__main__":
    sys.exit(main())
