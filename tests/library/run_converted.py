"""Runs tests of CPython with some modules of the standard library converted.

    python tests/library/run_converted.py --module textwrap --test test.test_textwrap [--plain]

Prints JSON: how many tests there are and how many ran, and the names of those that failed, with the ends of
their tracebacks. With --plain the modules stay as they are, which says what to compare with."""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import sys
import unittest
import warnings
from types import ModuleType

from autoconv.emit.module import convert_source


class ConvertingFinder(importlib.abc.MetaPathFinder):
    """Finds the modules of those names, and loads them converted."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.loaded: set[str] = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.names:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        assert spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader)
        spec.loader = ConvertingLoader(spec.loader.name, spec.loader.path, self.loaded)
        return spec


class ConvertingLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, loaded: set[str]) -> None:
        super().__init__(name, path)
        self.loaded = loaded

    def get_code(self, name):
        text = convert_source(self.get_source(name), self.path).text
        return compile(text, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        assert hasattr(module, "__autoconv__")
        self.loaded.add(module.__name__)


def run(modules: list[str], tests: list[str], plain: bool) -> dict[str, object]:
    finder = ConvertingFinder(modules)
    if not plain:
        importlib.import_module("autoconv.operators")  # which may import the modules themselves
        for name in modules:
            sys.modules.pop(name, None)
        sys.meta_path.insert(0, finder)
        for name in modules:
            importlib.import_module(name)
    suite = unittest.defaultTestLoader.loadTestsFromNames(tests)
    count = suite.countTestCases()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = unittest.TextTestRunner(stream=io.StringIO(), verbosity=0).run(suite)
    failed = {str(test): trace[-1500:] for test, trace in [*result.failures, *result.errors]}
    return {
        "tests": count, "run": result.testsRun, "skipped": len(result.skipped), "failed": failed,
        "converted": sorted(finder.loaded),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", action="append", required=True, help="module to convert (repeatable)")
    parser.add_argument(
        "--test", action="append", required=True, help="test module, class or method (repeatable)"
    )
    parser.add_argument("--plain", action="store_true", help="convert nothing")
    options = parser.parse_args()
    print(json.dumps(run(options.module, options.test, options.plain), indent=1))


if __name__ == "__main__":
    main()
