"""Public packages from the registry: their own tests as they are and converted, and their functions under `compile`.

    python tests/library/packages.py [--only NAME] [--folder FOLDER] [--again] [--minutes 10]

A package is taken from its source archive and installed in an environment of its own under FOLDER (a folder of the
user's cache unless it is given). Its tests run three times: as they are, with the package converted by the import hook,
and as they are while calls of its functions are recorded. Each recorded function is then called three times in a row by
copies of those arguments, as plain Python and under `@autoconv.compile`; results, changed arguments and errors are
compared. What was found for a package is kept in FOLDER, so that a run that was stopped goes on behind it; `--again`
forgets that. The exit code is 1 where converted code fails a test that passes as it is, or where a function differs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import platformdirs
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MOST_DEATHS = 5  # of the process, while functions of a package are compared
TEST_FOLDERS = ("tests", "test", "testing", "t")


@dataclass(frozen=True)
class Package:
    """A package of the registry: `imports` are its top-level packages, `needs` what its tests import besides, `tests`
    where in the archive they are, where that is not one of TEST_FOLDERS, and `skip` names of tests that need what this
    run has not (a network, a terminal)."""

    name: str
    imports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tests: str = ""
    skip: str = ""

    @property
    def modules(self) -> tuple[str, ...]:
        return self.imports or (self.name.replace("-", "_"),)


PACKAGES = (
    Package("toolz", ("toolz", "tlz"), tests="toolz/tests"),
    Package("more-itertools"),
    Package("attrs", ("attr", "attrs"), ("hypothesis", "cloudpickle")),
    Package("sortedcontainers"),
    Package("markdown-it-py", ("markdown_it",), ("pytest-regressions", "linkify-it-py", "requests")),
    Package("pyparsing", needs=("railroad-diagrams", "jinja2"), skip="not matplotlib"),
    Package("networkx", needs=("numpy",), tests="networkx/algorithms/tests"),
    Package("mpmath", tests="mpmath/tests"),
    Package("jinja2", needs=("trio",)),
    Package("packaging", needs=("pretend", "hypothesis")),
    Package("tomli"),
    Package("cachetools"),
    Package("tabulate"),
    Package("boltons"),
    Package("humanize", needs=("freezegun",)),
    Package("parso", needs=("docopt",)),
    Package("lark", needs=("regex", "interegular")),
    Package("itsdangerous", needs=("freezegun",)),
    Package("blinker", needs=("pytest-asyncio",)),
    Package("mistune"),
    Package("funcy", needs=("whatever",)),
    Package("pyrsistent", needs=("hypothesis",)),
    Package("natsort", needs=("hypothesis", "pytest-mock")),
    Package("intervaltree", needs=("sortedcontainers",)),
    Package("idna"),
    Package("wcwidth", needs=("pytest-codspeed",)),
    Package("inflection", tests="test_inflection.py"),
    Package("semver"),
    Package("jmespath"),
    Package("textdistance", needs=("hypothesis",)),
    Package("xmltodict"),
    Package("docstring-parser"),
    Package("portion"),
    Package("webcolors"),
)


def run_package(package: Package, folder: Path, seconds: int) -> dict:
    """Return what running a package came to: the tests that passed by way, and what became of its functions."""
    place = folder / package.name
    found: dict = {"package": package.name}
    try:
        python, tests = prepared(package, place)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired, LookupError) as error:
        output = getattr(error, "stderr", "") or str(error)
        return found | {"missing": str(output).strip().splitlines()[-1:]}
    functions = place / "functions.json"
    functions.unlink(missing_ok=True)
    for way in ("plain", "converted", "recorded"):
        found[way] = run_tests(package, python, tests, place, way, seconds)
    for _ in range(MOST_DEATHS):
        if not found["recorded"]["ended"]:
            break
        found["recorded"] = run_tests(package, python, tests, place, "recorded", seconds)  # which leaves that one out
    found["functions"] = json.loads(functions.read_text()) if functions.exists() else {}
    return found


def prepared(package: Package, place: Path) -> tuple[Path, Path]:
    """Install a package with what its tests need; return its Python and the folder of its tests."""
    python = place / "env" / "bin" / "python"
    source = place / "source"
    if not python.exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        venv.create(place / "env", with_pip=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q"]
        run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(place), package.name])
        (archive,) = [file for file in place.iterdir() if file.name.endswith((".tar.gz", ".zip"))]
        unpack(archive, source)
        run([*pip, "install", "pytest", "-e", str(ROOT), str(archive), *package.needs])
    (top,) = source.iterdir()
    names = (package.tests,) if package.tests else TEST_FOLDERS
    for name in names:
        if (top / name).exists():
            return python, top / name
    raise LookupError(f"the archive of {package.name} has no tests ({', '.join(names)})")


def unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def run_tests(package: Package, python: Path, tests: Path, place: Path, way: str, seconds: int) -> dict:
    """Run the tests of a package one way; return the names of those that passed, and how it ended."""
    report = place / f"{way}.xml"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-q", "-p", "package_plugin", "-p", "no:cacheprovider"]
    command += [f"--junitxml={report}", "--import-mode=importlib" if tests.name.endswith(".py") else "-q", str(tests)]
    command += ["-k", package.skip] if package.skip else []
    environment = os.environ | {
        "PYTHONPATH": str(HERE),
        "PACKAGE_WAY": way,
        "PACKAGE_MODULES": ",".join(package.modules),
        "PACKAGE_FUNCTIONS": str(place / "functions.json"),
        "PACKAGE_SECONDS": str(seconds),
    }
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, env=environment, cwd=tests.parent,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        fine = (0, 1, 2) if way == "recorded" else (0, 1)  # 2: it stops once enough calls are recorded
        ended = "" if done.returncode in fine else f"exit {done.returncode}: {(done.stderr or done.stdout)[-400:]}"
    except subprocess.TimeoutExpired:
        ended = f"stopped after {seconds} s"
    return {"passed": passed(report), "ended": ended}


def passed(report: Path) -> list[str]:
    if not report.exists():
        return []
    cases = ElementTree.parse(report).getroot().iter("testcase")
    return sorted(f"{case.get('classname')}::{case.get('name')}" for case in cases if not len(case))


def problems(found: dict) -> list[str]:
    """Return what differs, a line each."""
    if "missing" in found:
        return []
    lost = sorted({*found["plain"]["passed"]} - {*found["converted"]["passed"]})
    lines = [f"converted: {name} passes as it is" for name in lost]
    if found["converted"]["ended"] and not found["plain"]["ended"]:
        lines.append(f"converted: {found['converted']['ended']}")
    functions = found["functions"].items()
    return lines + [f"{name}: {what}" for name, what in functions if what not in ("same", "varies")]


def table_of(reports: list[dict]) -> Table:
    table = Table("package", "tests plain", "converted", "functions", "same", "wrong", "leaked", "slow", "died", "vary")
    for column in table.columns[1:]:
        column.justify = "right"
    total = [0] * 9
    for found in reports:
        if "missing" in found:
            table.add_row(found["package"], f"not installed: {' '.join(found['missing'])[:80]}")
            continue
        kinds = [what.partition(":")[0] for what in found["functions"].values()]
        row = [len(found["plain"]["passed"]), len(found["converted"]["passed"]), len(kinds)]
        row += [kinds.count(kind) for kind in ("same", "wrong", "leaked", "slow", "died", "varies")]
        total = [a + b for a, b in zip(total, row, strict=True)]
        table.add_row(found["package"], *map(str, row), style="red" if problems(found) else None)
    table.add_section()
    table.add_row("all", *map(str, total))
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a package (repeatable)")
    parser.add_argument("--folder", type=Path, default=Path(platformdirs.user_cache_dir("autoconv-packages")))
    parser.add_argument("--again", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--minutes", type=int, default=10, help="the most that one run of a package's tests may take")
    options = parser.parse_args()
    chosen = [package for package in PACKAGES if not options.only or package.name in options.only]
    reports = []
    for package in chosen:
        kept = options.folder / f"{package.name}.json"
        if options.again or not kept.exists():
            found = run_package(package, options.folder, 60 * options.minutes)
            options.folder.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found))
        reports.append(json.loads(kept.read_text()))
        print(f"{len(reports)} of {len(chosen)}: {package.name}", file=sys.stderr, flush=True)
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table_of(reports))
    lines = [f"{found['package']}: {line}" for found in reports for line in problems(found)]
    for line in lines:
        console.print(line, markup=False)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
