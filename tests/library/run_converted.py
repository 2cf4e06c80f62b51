"""Run tests of CPython with converted files in place of some modules of the standard library.

    python tests/library/run_converted.py --module textwrap=converted.py --test test.test_textwrap [--rewritten]

It prints JSON: the numbers of tests and of those that ran, the seconds of processor time, and the names of failed tests
with the ends of their tracebacks. With --rewritten every statement goes through its operator, as inside of a trace."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import sys
import time
import unittest
import warnings
from collections.abc import Iterator
from types import ModuleType

FRAMES = 10  # Python frames through operators for one frame of the original: those of the operator and of the region


class ConvertingFinder(importlib.abc.MetaPathFinder):
    """A finder that loads modules from the files to which they were converted."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self.loaded: set[str] = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.files:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        spec.loader = ConvertedLoader(spec.loader.name, spec.loader.path, self.files[name], self.loaded)
        return spec


class ConvertedLoader(importlib.machinery.SourceFileLoader):
    """A loader that runs the text of one file under the name of another."""

    def __init__(self, name: str, path: str, converted: str, loaded: set[str]) -> None:
        super().__init__(name, path)
        self.converted = converted
        self.loaded = loaded

    def get_code(self, name):
        with open(self.converted, encoding="utf-8") as file:
            text = file.read()
        return compile(text, self.converted, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self.converted  # while it is imported: its code moves to the original
        super().exec_module(module)
        module.__file__ = self.path
        assert hasattr(module, "__autoconv__")
        self.loaded.add(module.__name__)


def run(files: dict[str, str], tests: list[str], rewritten: bool, left_out: str = "") -> dict[str, object]:
    finder = ConvertingFinder(files)
    if files:
        recording = importlib.import_module("autoconv.runtime.recording.activity")
        importlib.import_module("autoconv.operators")  # which may import the modules themselves
        for name in files:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, finder)
        for name in files:
            module = importlib.import_module(name)
            for inner, submodule in list(sys.modules.items()):  # parts of it that were imported before
                if inner.rpartition(".")[0] == name:
                    setattr(module, inner.rpartition(".")[2], submodule)
    if rewritten:
        count_regions_as_frames()
    all_tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromNames(tests)))
    suite = unittest.TestSuite(test for test in all_tests if not (left_out and left_out in str(test)))
    count = suite.countTestCases()
    with warnings.catch_warnings(), recording.as_if_traced() if rewritten else contextlib.nullcontext():
        warnings.simplefilter("ignore")
        gc.collect()
        gc.freeze()  # tests that collect garbage would measure how many modules are loaded
        start = time.process_time()
        result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
        seconds = time.process_time() - start
    failed = {str(test): trace[-1500:] for test, trace in [*result.failures, *result.errors]}
    return {
        "tests": count, "run": result.testsRun, "skipped": len(result.skipped), "failed": failed,
        "left out": len(all_tests) - count, "seconds": seconds, "converted": sorted(finder.loaded),
    }  # fmt: skip


def tests_of(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield the tests of a suite and of nested suites, in order."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def count_regions_as_frames() -> None:
    """Raise the limits of tests that fill Python's stack, to leave room for the frames of operators."""
    support = importlib.import_module("test.support")
    if hasattr(support, "get_recursion_available"):
        limited, available = support.infinite_recursion, support.get_recursion_available
        support.infinite_recursion = lambda max_depth=100: limited(max_depth * FRAMES)
        support.get_recursion_available = lambda: available() // FRAMES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", action="append", default=[], metavar="NAME=FILE", help="repeatable")
    parser.add_argument("--test", action="append", required=True, help="test module, class or method (repeatable)")
    parser.add_argument("--rewritten", action="store_true", help="go through the operators")
    parser.add_argument("--leave-out", default="", metavar="TEXT", help="tests whose names hold this do not run")
    options = parser.parse_args()
    files = dict(pair.split("=", 1) for pair in options.module)
    print("\n" + json.dumps(run(files, options.test, options.rewritten, options.leave_out)))


if __name__ == "__main__":
    main()
