"""Run the tests of public TensorFlow libraries, unmodified, over autoconv and over TensorFlow; compare outcomes.

    python tests/clients/run.py [LIBRARY ...] [--tensorflow PYTHON] [--only PART] [--again] [--source LIBRARY=DIR]

A library is taken from the registry with its tests and unpacked; nothing of it is changed, and nothing is kept in the
repository. Over autoconv its `import tensorflow` is renamed by `autoconv.importing.rename`. PYTHON is an interpreter of
the same version, in an environment with tensorflow. `--source` names a folder for a library whose archive has no tests.

Outcomes are kept test by test, by the versions of the library and of what it ran over, so that a run which was stopped
continues; `--again` runs the tests over autoconv anew, `--only` limits them to those with PART in their names. A
library has ten minutes, or `--limit` seconds; a test one. The last lines are failures by reason, and how many of the
tests that pass over TensorFlow pass over autoconv, a library a row; without TensorFlow's outcomes, how many pass.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from importlib.metadata import version
from pathlib import Path

from libraries import LIBRARIES, Library

HERE = Path(__file__).resolve().parent
START = """
import sys
{setup}
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""
RENAME = "import autoconv.importing; autoconv.importing.rename('tensorflow', packages={packages!r})"
TEST_TOOLS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def main() -> None:
    options = _arguments()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.libraries or LIBRARIES:
        library = LIBRARIES[name]
        library_folder = unpack_library(name, library, options.folder, options.source.get(name))
        autoconv_outcomes = collect(name, library, library_folder, "autoconv", sys.executable, options)
        tensorflow_outcomes = None
        if options.tensorflow:
            tensorflow_outcomes = collect(name, library, library_folder, "tensorflow", options.tensorflow, options)
        rows.append((name, *compare(name, autoconv_outcomes, tensorflow_outcomes, options.reasons)))
    for name, passed, total in rows:
        print(f"{name:15} {passed:5} of {total:5}  {100 * passed / max(total, 1):5.1f} %")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"of {', '.join(LIBRARIES)}; all by default")
    parser.add_argument("--tensorflow", metavar="PYTHON")
    parser.add_argument("--only", default="", metavar="PART")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--failed", action="store_true", help="run what failed over autoconv anew")
    parser.add_argument("--source", action="append", default=[], metavar="LIBRARY=DIR")
    parser.add_argument("--limit", type=int, default=600, metavar="SECONDS", help="of a library over a framework")
    parser.add_argument("--folder", type=Path, default=Path("out/client-tests"))
    parser.add_argument("--reasons", type=int, default=25, metavar="N", help="print the N most frequent reasons")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.source = {name: Path(path).resolve() for name, _, path in (text.partition("=") for text in options.source)}
    return options


def unpack_library(name: str, library: Library, folder: Path, source_folder: Path | None) -> Path:
    """Return the folder of the library's packages and tests, and install what it needs in the folder `needs`."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    needs_folder = folder / "needs"
    missing = [need for need in (*TEST_TOOLS, *library.needs) if not (needs_folder / ".installed" / need).exists()]
    if missing:
        subprocess.run([*pip, "install", "--no-deps", "--upgrade", "--target", str(needs_folder), *missing], check=True)
        (needs_folder / ".installed").mkdir(exist_ok=True)
        for need in missing:
            (needs_folder / ".installed" / need).touch()
    if source_folder is not None:
        return source_folder
    library_folder = folder / name
    if not library_folder.exists():
        archives = folder / "archives" / name
        binary = ["--no-binary", ":all:"] if library.from_source else []
        subprocess.run([*pip, "download", "--no-deps", *binary, "-d", str(archives), library.requirement], check=True)
        (archive,) = archives.iterdir()
        unpacked = folder / "unpacked" / name
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(unpacked)
        else:
            with tarfile.open(archive) as opened:
                opened.extractall(unpacked, filter="data")
            (unpacked,) = unpacked.iterdir()
        unpacked.rename(library_folder)
    return library_folder


def collect(
    name: str, library: Library, library_folder: Path, framework: str, python: str, options: argparse.Namespace
) -> dict[str, str]:
    """Run the tests that have no outcome over `framework` yet; return all outcomes by the names of tests."""
    release = version("autoconv") if framework == "autoconv" else _version(python, "tensorflow")
    outcomes_path = options.folder / f"{library.requirement.replace('==', '-')}-{framework}-{release}.jsonl"
    if framework == "autoconv" and (options.again or options.failed):
        _forget(outcomes_path, options)
    files = sorted(str(file) for pattern in library.tests for file in library_folder.glob(pattern))
    if not files:
        raise SystemExit(f"{name}: no tests in {library_folder}; give a folder with --source {name}=DIR")
    test_modules = {Path(file).stem for file in files}
    setup = "import builtins, numpy\n" + "".join(f"numpy.{old} = builtins.{old}\n" for old in library.old_numpy)
    setup += RENAME.format(packages=sorted({*library.packages, *test_modules})) if framework == "autoconv" else ""
    environment = {
        **os.environ,
        **dict(library.variables),
        "PYTHONPATH": os.pathsep.join([str(library_folder), str(options.folder / "needs"), str(HERE)]),
        "CLIENT_TESTS_OUTCOMES": str(outcomes_path),
        "CLIENT_TESTS_ONLY": options.only,
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "KERAS_BACKEND": "tensorflow",
    }
    if framework == "autoconv":
        environment["KERAS_BACKEND"] = "autoconv"
    plugins = ["-p", "outcomes", "-p", "no:cacheprovider", "--assert=plain", "--continue-on-collection-errors"]
    command = [python, "-c", START.format(setup=setup), "-q", *plugins, "--tb=line"]
    # Without the mode, pytest takes that of the configuration file above the folder, which makes `sonnet.src` public.
    command += ["--rootdir", str(library_folder), "--import-mode=prepend", *files]
    end = time.monotonic() + options.limit
    while True:
        before = len(_outcomes(outcomes_path))
        try:
            completed = subprocess.run(
                command, env=environment, cwd=library_folder, capture_output=True, text=True,
                timeout=max(end - time.monotonic(), 1),
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{name} over {framework}: stopped after {options.limit} s; run it again for the others", flush=True)
            break
        if completed.returncode in (0, 1, 2, 5):  # pytest has ended by itself
            break
        if len(_outcomes(outcomes_path)) == before or time.monotonic() > end:
            print((completed.stdout + completed.stderr)[-2000:], flush=True)
            break
    return {test: text for test, text in _outcomes(outcomes_path).items() if options.only in test}


def _version(python: str, package: str) -> str:
    program = (
        "from importlib.metadata import distributions\n"
        "names = [(d.name.replace('_', '-').removesuffix('-cpu'), d.version) for d in distributions()]\n"
        f"print(dict(names)[{package!r}])"
    )
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def _outcomes(path: Path) -> dict[str, str]:
    """Return the last outcome of each test; a test that began and did not end has ended its process."""
    outcomes: dict[str, str] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            test, outcome = json.loads(line)
            outcomes[test] = outcome
    return {test: "failed: it ended the process" if text == "began" else text for test, text in outcomes.items()}


def _forget(path: Path, options: argparse.Namespace) -> None:
    outcomes = _outcomes(path)
    for test, outcome in list(outcomes.items()):
        if options.only in test and (options.again or outcome.startswith("failed")):
            del outcomes[test]
    path.write_text("".join(json.dumps(row) + "\n" for row in outcomes.items()), "utf-8")


def compare(
    name: str, autoconv_outcomes: dict[str, str], tensorflow_outcomes: dict[str, str] | None, max_reasons: int
) -> tuple[int, int]:
    """Print the reasons of failures; return how many tests pass, and how many of them there are."""
    reference = autoconv_outcomes if tensorflow_outcomes is None else tensorflow_outcomes
    compared_tests = [test for test, outcome in reference.items() if outcome == "passed"]
    if tensorflow_outcomes is None:
        compared_tests = [test for test, outcome in autoconv_outcomes.items() if outcome != "skipped"]
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for test in compared_tests:
        outcome = autoconv_outcomes.get(test) or autoconv_outcomes.get(test.partition("::")[0], "failed: not run")
        if outcome != "passed":
            reasons[outcome].append(test)
    print(f"{name}:")
    for reason, tests in sorted(reasons.items(), key=lambda pair: -len(pair[1]))[:max_reasons]:
        print(f"{len(tests):5} {reason}   [{tests[0]}]")
    return len(compared_tests) - sum(map(len, reasons.values())), len(compared_tests)


if __name__ == "__main__":
    main()
