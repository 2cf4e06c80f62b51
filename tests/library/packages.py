"""Public packages from the registry: their own tests as they are and converted, and their functions under `compile`.

    python tests/library/packages.py [--only NAME] [--folder FOLDER] [--again] [--minutes 10] [--processes 1]

A package is taken from its source archive and installed in an environment of its own under FOLDER (a folder of the
user's cache unless it is given); pytest and autoconv are installed there once. Its tests run three times: as they are,
with the package converted by the import hook, and as they are while calls of its functions are recorded. Each recorded
function is then called three times in a row by copies of those arguments, as plain Python and under
`@autoconv.compile`; results, changed arguments and errors are compared. A fifth of a package's minutes of processor
time goes to the tests as they are, two fifths to the converted ones, two to functions. What is not reached in that
time is not compared, and the table shows it. The tests of all packages run before their functions. Outcomes are kept
in FOLDER, so that a stopped run continues; `--again` discards them. The exit code is 1 where converted code fails a
test that passes as it is, or where a function differs, and EXCEPTIONS has no reason for it.
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
from pathlib import Path
from threading import Lock

import platformdirs
from package_list import EXCEPTIONS, PACKAGES, Package
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PARTS = ("tests", "functions")
MAX_CRASHES = 5  # crashes of the process while functions of a package are compared
WAIT_FACTOR = 20  # limit of the clock, as a multiple of the processor time of a run: the machine may have other work
CONVERSION_SECONDS = 3600  # limit of the conversion of a package
GRACE_SECONDS = 60  # further time in which a run may end by itself
ENVIRONMENT_LOCK = Lock()
TEST_FOLDERS = ("tests", "test", "testing", "t")


def run_package(package: Package, folder: Path, part: str, seconds: int) -> dict:
    """Run a part ("tests" or "functions") of a package; return the outcomes of its tests and functions."""
    package_folder = folder / package.name
    begin = time.monotonic()
    report: dict = {}
    try:
        python, tests = prepare(package, package_folder)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired, LookupError) as error:
        output = getattr(error, "stderr", "") or str(error)
        return {"missing": str(output).strip().splitlines()[-1:]}
    if part == "tests":
        (package_folder / "plain.txt").unlink(missing_ok=True)
        report["plain"] = run_tests(package, python, tests, package_folder, "plain", seconds // 5)
        convert(package, python, tests, package_folder)
        report["converted"] = run_tests(package, python, tests, package_folder, "converted", 2 * seconds // 5)
    else:
        functions = package_folder / "functions.json"
        functions.unlink(missing_ok=True)
        report["recorded"] = run_tests(package, python, tests, package_folder, "recorded", 2 * seconds // 5)
        for _ in range(MAX_CRASHES):
            if not report["recorded"]["ended"]:
                break  # else the next run leaves out the function that ended it
            report["recorded"] = run_tests(package, python, tests, package_folder, "recorded", 2 * seconds // 5)
        report["functions"] = json.loads(functions.read_text()) if functions.exists() else {}
    return report | {f"{part} seconds": round(time.monotonic() - begin)}


def prepare(package: Package, package_folder: Path) -> tuple[Path, list[Path]]:
    """Install a package with what its tests need; return its Python and the folders and files of its tests."""
    python = package_folder / "env" / "bin" / "python"
    common = common_environment(package_folder.parent)
    pip = [str(common), "-m", "pip", "--python", str(python), "--disable-pip-version-check", "-q"]
    stamp = package_folder / "needs.txt"
    source = package_folder / "source"
    if not python.exists() or not (package.installed or source.exists()):
        shutil.rmtree(package_folder, ignore_errors=True)
        package_folder.mkdir(parents=True)
        venv.create(package_folder / "env")
        (packages,) = package_folder.glob("env/lib/python*/site-packages")
        (packages / "common.pth").write_text(f"{common.parent.parent / packages.relative_to(package_folder / 'env')}\n")
        installed = package.name
        if not package.installed:
            run([*pip, "download", "--no-deps", "--no-binary", ":all:", "-d", str(package_folder), package.name])
            (archive,) = [file for file in package_folder.iterdir() if file.name.endswith((".tar.gz", ".zip"))]
            unpack(archive, source)
            installed = str(archive)
        run([*pip, "install", "--force-reinstall", "--no-deps", installed])
        run([*pip, "install", installed])
    if not stamp.exists() or stamp.read_text() != " ".join(package.needs):
        run([*pip, "install", *package.needs, "pytest"])
        stamp.write_text(" ".join(package.needs))
    link = package_folder / "tree" / "autoconv"  # of this checkout, whichever one the environment was made by
    link.parent.mkdir(exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(ROOT / "autoconv")
    (top,) = package_folder.glob("env/lib/python*/site-packages") if package.installed else source.iterdir()
    test_paths = [file for name in package.tests or TEST_FOLDERS for file in sorted(top.glob(name))]
    if not test_paths:
        raise LookupError(f"{package.name} comes without tests ({', '.join(package.tests or TEST_FOLDERS)})")
    return python, test_paths if package.tests else test_paths[:1]


def common_environment(folder: Path) -> Path:
    """Return the Python of an environment with what all packages need: pytest, autoconv and what it imports.

    Their own environments find these modules by its path, behind their own ones.
    """
    python = folder / "common" / "bin" / "python"
    with ENVIRONMENT_LOCK:
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


def run_tests(package: Package, python: Path, tests: list[Path], package_folder: Path, mode: str, seconds: int) -> dict:
    """Run the tests of a package in one mode.

    Return the names of tests that passed and that failed, the number of those that were reached, and how the run ended.
    """
    outcomes = package_folder / f"{mode}.txt"
    outcomes.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", "-q", "-p", "package_plugin", "-p", "no:cacheprovider", "--tb=short"]
    command += ["--import-mode=importlib"] if package.importlib else []
    command += ["--doctest-modules"] if package.doctests else []
    command += ["-k", package.skip] if package.skip else []
    command += [*package.options, *map(str, tests)]
    environment = environment_of(package, package_folder, mode, seconds)
    try:
        completed = subprocess.run(
            command, capture_output=True, text=True, timeout=WAIT_FACTOR * seconds + GRACE_SECONDS, env=environment,
            cwd=package_folder if package.installed else import_root(tests[0].parent), stdin=subprocess.DEVNULL,
            errors="replace",
        )  # fmt: skip
        (package_folder / f"{mode}.log").write_text(completed.stdout + completed.stderr)
        expected_codes = (0, 1, 2)  # 2: it stops once its time is over
        text = completed.stdout + completed.stderr
        ended = "" if completed.returncode in expected_codes else f"exit {completed.returncode}: {text[-400:]}"
    except subprocess.TimeoutExpired:
        ended = f"stopped after {WAIT_FACTOR * seconds + GRACE_SECONDS} s"
    lines = outcomes.read_text().splitlines() if outcomes.exists() else []
    reached = {line.partition(" ")[2]: line.partition(" ")[0] for line in lines}
    return {
        "passed": [name for name, outcome in reached.items() if outcome == "passed"],
        "reached": len(reached),
        "failed": [name for name, outcome in reached.items() if outcome == "failed"],
        "ended": ended,
    }


def convert(package: Package, python: Path, tests: list[Path], package_folder: Path) -> None:
    """Import the package converted, so that its tests find the conversions on disk; large ones take minutes."""
    environment = environment_of(package, package_folder, "converted", 0)
    command = [str(python), "-c", f"import package_plugin, {', '.join(package.modules)}"]
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(
            command, capture_output=True, timeout=CONVERSION_SECONDS, env=environment, stdin=subprocess.DEVNULL,
            cwd=package_folder if package.installed else import_root(tests[0].parent),
        )  # fmt: skip


def environment_of(package: Package, package_folder: Path, mode: str, seconds: int) -> dict[str, str]:
    """Return the environment variables of a process that runs the tests of a package in one mode."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(HERE), str(package_folder / "tree")]),
        "AUTOCONV_STRICT": "1",
        "PYTHONDONTWRITEBYTECODE": "",  # conversions are kept beside the bytecode
        "PACKAGE_MODE": mode,
        "PACKAGE_MODULES": ",".join(package.modules),
        "PACKAGE_CONVERTED": ",".join(package.converted or package.modules),
        "PACKAGE_OUTCOMES": str(package_folder / f"{mode}.txt"),
        "PACKAGE_PLAIN": str(package_folder / "plain.txt"),
        "PACKAGE_FUNCTIONS": str(package_folder / "functions.json"),
        "PACKAGE_SECONDS": str(seconds),
        **dict(package.variables),
    }


def import_root(folder: Path) -> Path:
    """Return the folder itself, or the one that contains its package, in which modules have their full names."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def exception_of(package: str, name: str) -> str:
    """Return the reason for which a test or function may differ, or ""."""
    reasons = (reason for (of, pattern), reason in EXCEPTIONS.items() if of == package and re.search(pattern, name))
    return next(reasons, "")


def problems(report: dict) -> list[str]:
    """Return what differs, a line each, without what EXCEPTIONS has a reason for."""
    lines = []
    if "converted" in report:
        lost = sorted({*report["plain"]["passed"]} & {*report["converted"]["failed"]})
        lines = [(name, "fails converted, and passes as it is") for name in lost]
        if report["converted"]["ended"] and not report["plain"]["ended"]:
            lines.append(("converted", report["converted"]["ended"]))
        if not report["plain"]["passed"]:
            lines.append(("plain", f"no test passes: {report['plain']['ended']}"))
    lines += [(name, what) for name, what in report.get("functions", {}).items() if what not in ("same", "varies")]
    return [f"{name}: {what}" for name, what in lines if not exception_of(report["package"], name)]


def table_of(reports: list[dict]) -> Table:
    kinds_shown = ("same", "wrong", "leaked", "slow", "died", "varies")
    table = Table("package", "tests", "plain", "converted", "excepted", "functions", *kinds_shown, "seconds")
    for column in table.columns[1:]:
        column.justify = "right"
    total = [0] * (len(table.columns) - 1)
    for report in reports:
        if "missing" in report:
            table.add_row(report["package"], f"not run: {' '.join(report['missing'])[:80]}")
            continue
        row = row_of(report, kinds_shown)
        total = [a + b for a, b in zip(total, row, strict=True)]
        table.add_row(report["package"], *map(str, row), style="red" if problems(report) else None)
    table.add_section()
    table.add_row("all", *map(str, total))
    return table


def row_of(report: dict, kinds_shown: tuple[str, ...]) -> list[int]:
    """Return the figures of a row: tests by outcome, then functions by outcome, in the order of the table's columns."""
    nothing: dict = {"passed": [], "failed": [], "reached": 0}
    plain, converted = {*report.get("plain", nothing)["passed"]}, report.get("converted", nothing)
    reached = plain & {*converted["passed"], *converted["failed"]}
    lost = plain & {*converted["failed"]}
    kinds = [what.partition(":")[0] for what in report.get("functions", {}).values()]
    row = [converted["reached"], len(reached), len(reached) - len(lost)]
    row += [sum(1 for name in lost if exception_of(report["package"], name)), len(kinds)]
    seconds = report.get("tests seconds", 0) + report.get("functions seconds", 0)
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
        part_path = options.folder / f"{package.name}.{part}.json"
        if options.again or not part_path.exists():
            report = run_package(package, options.folder.resolve(), part, int(60 * options.minutes))
            part_path.write_text(json.dumps(report))
            print(f"{jobs.index(job) + 1} of {len(jobs)}: {part} of {package.name}", file=sys.stderr, flush=True)

    options.folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(options.processes) as threads:
        list(threads.map(run_job, jobs))
    reports = [report_of(package, options.folder) for package in chosen]
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table_of(reports))
    lines = [f"{report['package']}: {line}" for report in reports for line in problems(report)]
    for line in lines:
        console.print(line, markup=False)
    return int(bool(lines))


def report_of(package: Package, folder: Path) -> dict:
    """Return the outcomes of all parts."""
    report: dict = {"package": package.name}
    for part in PARTS:
        part_path = folder / f"{package.name}.{part}.json"
        report |= json.loads(part_path.read_text()) if part_path.exists() else {}
    return report


if __name__ == "__main__":
    sys.exit(main())
