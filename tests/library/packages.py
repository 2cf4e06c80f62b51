"""Public packages from the registry: their own tests as they are and converted, and their functions under `compile`.

    python tests/library/packages.py [--only NAME] [--folder FOLDER] [--again] [--minutes 10] [--processes 1]

A package is taken from its source archive and installed in an environment of its own under FOLDER (a folder of the
user's cache unless it is given); pytest and autoconv are installed there once. Its tests run three times: as they are,
with the package converted by the import hook, and as they are while calls of its functions are recorded. Each recorded
function is then called three times in a row by copies of those arguments, as plain Python and under
`@autoconv.compile`; results, changed arguments and errors are compared. A fifth of a package's minutes of processor
time goes to the tests as they are, two fifths to the converted ones, two to functions; what is not reached in that
time is not compared, and the table shows it. All tests come first, functions afterwards. What was found is kept in
FOLDER, so that a run that was stopped goes on behind it; `--again` forgets that. The exit code is 1 where converted
code fails a test that passes as it is, or where a function differs, and EXCEPTIONS has no reason for it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import venv
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import platformdirs
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ("tests", "functions")
MOST_DEATHS = 5  # crashes of the process while functions of a package are compared
WAITING = 20  # times as long as the seconds that a run may compute: others may want the processors as well
CONVERTING = 3600  # seconds for a package to be converted, once
GRACE = 60  # seconds for a run to come to its end by itself
PREPARING = Lock()
TEST_FOLDERS = ("tests", "test", "testing", "t")


@dataclass(frozen=True)
class Package:
    """A package of the registry: `imports` are its top-level packages, `needs` what its tests import besides, `tests`
    where in the archive they are (globs), where that is not one of TEST_FOLDERS, and `skip` names of tests that need
    what this run has not (a network, a terminal). `installed`: the tests are those that it is installed with;
    `importlib`: pytest imports the files of tests by their paths; `doctests`: the tests are in the docstrings of those
    files; `options` are more of pytest's, `variables` of the
    environment; `converted`: what the import hook converts, where that is not all of `imports`."""

    name: str
    imports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    skip: str = ""
    installed: bool = False
    importlib: bool = False
    doctests: bool = False
    options: tuple[str, ...] = ()
    converted: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        return self.imports or (self.name.replace("-", "_"),)


PACKAGES = (
    Package("toolz", ("toolz", "tlz"), tests=("toolz/tests",)),
    Package("more-itertools"),
    Package("attrs", ("attr", "attrs"), ("hypothesis", "cloudpickle")),
    Package("sortedcontainers", tests=("sortedcontainers/sorted*.py",), doctests=True),
    Package("markdown-it-py", ("markdown_it",), ("pytest-regressions", "linkify-it-py", "requests")),
    Package("pyparsing", needs=("railroad-diagrams", "jinja2"), skip="not matplotlib"),
    Package("networkx", needs=("numpy",), tests=("networkx/algorithms/tests",)),
    Package("mpmath", tests=("mpmath/tests",), needs=("hypothesis", "pexpect"), skip="not test_round_bulk"),
    Package("jinja2", needs=("trio",)),
    Package("packaging", needs=("pretend", "hypothesis", "tomli_w")),
    Package("sqlparse"),
    Package("cachetools"),
    Package("tabulate"),
    Package("boltons"),
    Package("humanize", needs=("freezegun",)),
    Package("parso", needs=("docopt",)),
    Package("lark", needs=("regex", "interegular")),
    Package("itsdangerous", needs=("freezegun",)),
    Package("blinker", needs=("pytest-asyncio",), options=("-o", "asyncio_default_fixture_loop_scope=function")),
    Package("mistune"),
    Package("funcy", needs=("whatever",)),
    Package("pyrsistent", needs=("hypothesis",)),
    Package("natsort", needs=("hypothesis", "pytest-mock")),
    Package("intervaltree", needs=("sortedcontainers",)),
    Package("idna", needs=("hypothesis",)),
    Package(
        "wcwidth",
        needs=("pytest-codspeed", "pytest-cov"),
        options=("--no-cov",),
        variables=(("WCWIDTH_PYTHON", "1"),),
    ),
    Package("inflection", tests=("test_inflection.py",), importlib=True),
    Package("semver", needs=("pytest-cov",), options=("--no-cov",)),
    Package("isodate"),
    Package("textdistance", needs=("hypothesis",)),
    Package("xmltodict"),
    Package("markdown", needs=("pyyaml",), options=("-o", "filterwarnings=ignore", "-o", "python_classes=Unittests")),
    Package("portion", needs=("pytest-benchmark",)),
    Package("webcolors"),
    Package("click"),
    Package("python-dateutil", ("dateutil",), ("hypothesis", "freezegun", "pytest-subtests"), options=("-W", "ignore")),
    Package("anytree", needs=("pytest-cov", "rich", "test2ref"), options=("--no-cov",)),
    Package("arrow", needs=("python-dateutil", "pytz", "simplejson", "dateparser", "pytest-cov", "pytest-mock")),
    Package("asteval", needs=("pytest-cov", "numpy"), options=("--no-cov",)),
    Package("ftfy"),
    Package("marshmallow", needs=("simplejson",)),
    Package("pycparser"),
    Package("rfc3986", needs=("idna",)),
    Package("geographiclib", tests=("geographiclib/test/test_*.py",)),
    Package("jsonpath-ng", needs=("hypothesis", "pytest-benchmark")),
    Package("jsonpointer", tests=("tests.py",), importlib=True),
    Package("parse", needs=("pytest-cov",), options=("--no-cov",)),
    Package("pathspec"),
    Package("prettytable", needs=("pytest-lazy-fixtures",)),
    Package("pyasn1"),
    Package("python-slugify", ("slugify",)),
    Package("simpleeval"),
    Package("soupsieve", needs=("beautifulsoup4", "html5lib", "lxml")),
    Package("texttable", tests=("tests.py",), importlib=True),
    Package("tinycss2", needs=("webencodings",)),
    Package("tomlkit", needs=("pyyaml",)),
    Package("uncertainties", needs=("numpy",)),
    Package("uritemplate"),
    Package(
        "sympy", needs=("hypothesis",), importlib=True,
        tests=tuple(f"sympy/{part}/tests" for part in ("core", "ntheory", "sets")),
    ),
    Package(
        "numpy",
        ("numpy.polynomial", "numpy.ma", "numpy.lib", "numpy.linalg", "numpy.fft", "numpy.testing", "numpy._core"),
        ("hypothesis", "pytest-timeout"),
        ("numpy/polynomial/tests", "numpy/lib/tests", "numpy/linalg/tests", "numpy/ma/tests", "numpy/fft/tests"),
        skip="not slow",
        installed=True,
        converted=("numpy.polynomial", "numpy.ma"),
    ),
    Package(
        "scipy",
        needs=("hypothesis", "pytest-timeout"),
        tests=tuple(f"scipy/{part}/tests" for part in ("optimize", "integrate", "signal", "interpolate", "cluster")),
        skip="not slow and not xslow",
        installed=True,
    ),
)

# Reasons of tests and functions that may differ, by package and pattern of names.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("boltons", r"ObjectInputType\.(guess_headers|get_entry)$"): (
        "lists `__weakref__` among the attributes of an object, which is None until something refers to it weakly"
    ),
    ("pyparsing", r"Forward\.(__init__|__lshift__)$"): (
        "keeps the frame of its caller, and the call of a compiled function has frames of its own"
    ),
    ("arrow", r"Arrow\.humanize$"): "tells how long ago a time was, by a clock that goes on between calls",
    ("markdown", r"(recursionlimit\.__init__|_get_stack_depth)$"): (
        "counts the frames on the stack, where the call of a compiled function has frames of its own"
    ),
}


def run_package(package: Package, folder: Path, part: str, seconds: int) -> dict:
    """Run a part ("tests" or "functions") of a package; return the outcomes of its tests and functions."""
    place = folder / package.name
    begin = time.monotonic()
    found: dict = {}
    try:
        python, tests = prepare(package, place)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired, LookupError) as error:
        output = getattr(error, "stderr", "") or str(error)
        return {"missing": str(output).strip().splitlines()[-1:]}
    if part == "tests":
        (place / "plain.txt").unlink(missing_ok=True)
        found["plain"] = run_tests(package, python, tests, place, "plain", seconds // 5)
        convert(package, python, tests, place)
        found["converted"] = run_tests(package, python, tests, place, "converted", 2 * seconds // 5)
    else:
        functions = place / "functions.json"
        functions.unlink(missing_ok=True)
        found["recorded"] = run_tests(package, python, tests, place, "recorded", 2 * seconds // 5)
        for _ in range(MOST_DEATHS):
            if not found["recorded"]["ended"]:
                break  # else the next run leaves out the function that ended it
            found["recorded"] = run_tests(package, python, tests, place, "recorded", 2 * seconds // 5)
        found["functions"] = json.loads(functions.read_text()) if functions.exists() else {}
    return found | {f"{part} seconds": round(time.monotonic() - begin)}


def prepare(package: Package, place: Path) -> tuple[Path, list[Path]]:
    """Install a package with what its tests need; return its Python and the folders and files of its tests."""
    python = place / "env" / "bin" / "python"
    common = common_environment(place.parent)
    pip = [str(common), "-m", "pip", "--python", str(python), "--disable-pip-version-check", "-q"]
    stamp = place / "needs.txt"
    source = place / "source"
    if not python.exists() or not (package.installed or source.exists()):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        venv.create(place / "env")
        (packages,) = place.glob("env/lib/python*/site-packages")
        (packages / "common.pth").write_text(f"{common.parent.parent / packages.relative_to(place / 'env')}\n")
        installed = package.name
        if not package.installed:
            run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(place), package.name])
            (archive,) = [file for file in place.iterdir() if file.name.endswith((".tar.gz", ".zip"))]
            unpack(archive, source)
            installed = str(archive)
        run([*pip, "install", "--force-reinstall", "--no-deps", installed])
        run([*pip, "install", installed])
    if not stamp.exists() or stamp.read_text() != " ".join(package.needs):
        run([*pip, "install", *package.needs, "pytest"])
        stamp.write_text(" ".join(package.needs))
    link = place / "tree" / "autoconv"  # of this checkout, whichever one the environment was made by
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / "autoconv")
    (top,) = place.glob("env/lib/python*/site-packages") if package.installed else source.iterdir()
    found = [file for name in package.tests or TEST_FOLDERS for file in sorted(top.glob(name))]
    if not found:
        raise LookupError(f"{package.name} comes without tests ({', '.join(package.tests or TEST_FOLDERS)})")
    return python, found if package.tests else found[:1]


def common_environment(folder: Path) -> Path:
    """Return the Python of an environment with what all packages need: pytest, autoconv and what it imports.

    Their own environments find these modules by its path, behind their own ones.
    """
    python = folder / "common" / "bin" / "python"
    with PREPARING:
        if not (folder / "common" / "ready").exists():
            shutil.rmtree(folder / "common", ignore_errors=True)
            venv.create(folder / "common", with_pip=True)
            run([str(python), "-m", "pip", "-q", "install", "--upgrade", "pip"])
            run([str(python), "-m", "pip", "-q", "install", "pytest", "-e", str(ROOT)])
            (folder / "common" / "ready").touch()
    return python


def unpack(archive: Path, folder: Path) -> None:
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
    else:
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def run_tests(package: Package, python: Path, tests: list[Path], place: Path, way: str, seconds: int) -> dict:
    """Run the tests of a package one way; return the names of those that passed, of those that were reached, and how
    the run ended."""
    outcomes = place / f"{way}.txt"
    outcomes.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-q", "-p", "package_plugin", "-p", "no:cacheprovider", "--tb=short"]
    command += ["--import-mode=importlib"] if package.importlib else []
    command += ["--doctest-modules"] if package.doctests else []
    command += ["-k", package.skip] if package.skip else []
    command += [*package.options, *map(str, tests)]
    environment = environment_of(package, place, way, seconds)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=WAITING * seconds + GRACE, env=environment,
            cwd=place if package.installed else outside(tests[0].parent), stdin=subprocess.DEVNULL, errors="replace",
        )  # fmt: skip
        (place / f"{way}.log").write_text(done.stdout + done.stderr)
        fine = (0, 1, 2)  # 2: it stops once its time is over
        ended = "" if done.returncode in fine else f"exit {done.returncode}: {(done.stdout + done.stderr)[-400:]}"
    except subprocess.TimeoutExpired:
        ended = f"stopped after {WAITING * seconds + GRACE} s"
    lines = outcomes.read_text().splitlines() if outcomes.exists() else []
    reached = {line.partition(" ")[2]: line.partition(" ")[0] for line in lines}
    return {
        "passed": [name for name, outcome in reached.items() if outcome == "passed"],
        "reached": len(reached),
        "failed": [name for name, outcome in reached.items() if outcome == "failed"],
        "ended": ended,
    }


def convert(package: Package, python: Path, tests: list[Path], place: Path) -> None:
    """Import the package converted, for as long as that takes: the tests then find the conversions on disk.

    Large packages take minutes to convert, in which no test would run.
    """
    environment = environment_of(package, place, "converted", 0)
    command = [str(python), "-c", f"import package_plugin, {', '.join(package.modules)}"]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command, capture_output=True, timeout=CONVERTING, env=environment, stdin=subprocess.DEVNULL,
            cwd=place if package.installed else outside(tests[0].parent),
        )  # fmt: skip


def environment_of(package: Package, place: Path, way: str, seconds: int) -> dict[str, str]:
    """Return the environment variables of a process that runs the tests of a package one way."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(HERE), str(place / "tree")]),
        "AUTOCONV_STRICT": "1",
        "PYTHONDONTWRITEBYTECODE": "",  # conversions are kept beside the bytecode
        "PACKAGE_WAY": way,
        "PACKAGE_MODULES": ",".join(package.modules),
        "PACKAGE_CONVERTED": ",".join(package.converted or package.modules),
        "PACKAGE_OUTCOMES": str(place / f"{way}.txt"),
        "PACKAGE_PLAIN": str(place / "plain.txt"),
        "PACKAGE_FUNCTIONS": str(place / "functions.json"),
        "PACKAGE_SECONDS": str(seconds),
        **dict(package.variables),
    }


def outside(folder: Path) -> Path:
    """Return the folder itself, or that of its package: modules of a package are not found by their short names."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def exception_of(package: str, name: str) -> str:
    """Return the reason for which a test or function may differ, or ""."""
    found = (reason for (of, pattern), reason in EXCEPTIONS.items() if of == package and re.search(pattern, name))
    return next(found, "")


def problems(found: dict) -> list[str]:
    """Return what differs, a line each, without what EXCEPTIONS has a reason for."""
    lines = []
    if "converted" in found:
        lost = sorted({*found["plain"]["passed"]} & {*found["converted"]["failed"]})
        lines = [(name, "fails converted, and passes as it is") for name in lost]
        if found["converted"]["ended"] and not found["plain"]["ended"]:
            lines.append(("converted", found["converted"]["ended"]))
        if not found["plain"]["passed"]:
            lines.append(("plain", f"no test passes: {found['plain']['ended']}"))
    lines += [(name, what) for name, what in found.get("functions", {}).items() if what not in ("same", "varies")]
    return [f"{name}: {what}" for name, what in lines if not exception_of(found["package"], name)]


def table_of(reports: list[dict]) -> Table:
    kinds_shown = ("same", "wrong", "leaked", "slow", "died", "varies")
    table = Table("package", "tests", "plain", "converted", "excepted", "functions", *kinds_shown, "seconds")
    for column in table.columns[1:]:
        column.justify = "right"
    total = [0] * (len(table.columns) - 1)
    for found in reports:
        if "missing" in found:
            table.add_row(found["package"], f"not run: {' '.join(found['missing'])[:80]}")
            continue
        row = row_of(found, kinds_shown)
        total = [a + b for a, b in zip(total, row, strict=True)]
        table.add_row(found["package"], *map(str, row), style="red" if problems(found) else None)
    table.add_section()
    table.add_row("all", *map(str, total))
    return table


def row_of(found: dict, kinds_shown: tuple[str, ...]) -> list[int]:
    """Return the figures of a package: of its tests those that both ways reached, that passed as they are and
    converted, and that differ for a reason; and what became of its functions."""
    nothing: dict = {"passed": [], "failed": [], "reached": 0}
    plain, converted = {*found.get("plain", nothing)["passed"]}, found.get("converted", nothing)
    reached = plain & {*converted["passed"], *converted["failed"]}
    lost = plain & {*converted["failed"]}
    kinds = [what.partition(":")[0] for what in found.get("functions", {}).values()]
    row = [converted["reached"], len(reached), len(reached) - len(lost)]
    row += [sum(1 for name in lost if exception_of(found["package"], name)), len(kinds)]
    seconds = found.get("tests seconds", 0) + found.get("functions seconds", 0)
    return [*row, *(kinds.count(kind) for kind in kinds_shown), seconds]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a package (repeatable)")
    parser.add_argument("--part", choices=PARTS, action="append", help="tests or functions alone")
    parser.add_argument("--folder", type=Path, default=Path(platformdirs.user_cache_dir("autoconv-packages")))
    parser.add_argument("--again", action="store_true", help="forget what earlier runs found")
    parser.add_argument(
        "--minutes", type=float, default=10, help="the most that a package may take, but for installing"
    )
    parser.add_argument("--processes", type=int, default=1, help="packages at a time")
    options = parser.parse_args()
    chosen = [package for package in PACKAGES if not options.only or package.name in options.only]
    jobs = [(package, part) for part in options.part or PARTS for package in chosen]

    def run_job(job: tuple[Package, str]) -> None:
        package, part = job
        kept = options.folder / f"{package.name}.{part}.json"
        if options.again or not kept.exists():
            found = run_package(package, options.folder.resolve(), part, int(60 * options.minutes))
            kept.write_text(json.dumps(found))
            print(f"{jobs.index(job) + 1} of {len(jobs)}: {part} of {package.name}", file=sys.stderr, flush=True)

    options.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.processes) as threads:
        list(threads.map(run_job, jobs))
    reports = [report_of(package, options.folder) for package in chosen]
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table_of(reports))
    lines = [f"{found['package']}: {line}" for found in reports for line in problems(found)]
    for line in lines:
        console.print(line, markup=False)
    return int(bool(lines))


def report_of(package: Package, folder: Path) -> dict:
    """Return the outcomes of all parts."""
    found: dict = {"package": package.name}
    for part in PARTS:
        kept = folder / f"{package.name}.{part}.json"
        found |= json.loads(kept.read_text()) if kept.exists() else {}
    return found


if __name__ == "__main__":
    sys.exit(main())
