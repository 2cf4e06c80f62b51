"""A plugin of pytest that keeps one of n tests, chosen by their names, and writes the outcomes by file."""

from __future__ import annotations

import json
import os
import re
import sys
import zlib
from types import ModuleType
from typing import Any

import pytest

UNFINISHED = "failed: the process ended"
_OUTCOMES: dict[str, dict[str, str]] = {}


def skip_if_backend(backend: str, reason: str) -> pytest.MarkDecorator:
    import keras

    return pytest.mark.skipif(keras.backend.backend() == backend, reason=reason)


# The wheel has the tests that import from Keras' conftest.py, but not that file.
sys.modules["conftest"] = ModuleType("conftest")
sys.modules["conftest"].__dict__["skip_if_backend"] = skip_if_backend


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    step = int(os.environ.get("KERAS_TESTS_STEP", "1"))
    selected = [item for item in items if zlib.crc32(item.nodeid.partition("::")[2].encode()) % step == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in selected])
    items[:] = selected


def tests_and_name(nodeid: str) -> tuple[dict[str, str], str]:
    path, _, name = nodeid.replace("autoconv.", "tf.").partition("::")  # dtypes in names
    name = re.sub("0x[0-9a-f]+", "0x", name)  # addresses of functions
    return _OUTCOMES.setdefault(os.path.basename(path), {}), name


def pytest_runtest_logstart(nodeid: str) -> None:
    tests, name = tests_and_name(nodeid)
    tests[name] = UNFINISHED
    write_outcomes()


def pytest_runtest_logreport(report: Any) -> None:
    tests, name = tests_and_name(report.nodeid)
    if report.outcome == "failed":
        tests[name] = "failed: " + str(report.longrepr).strip().splitlines()[-1][:200]
    elif report.when == "call" or report.outcome == "skipped":
        tests[name] = report.outcome


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        reason = str(report.longrepr).strip().splitlines()[-1][:200]
        _OUTCOMES.setdefault(os.path.basename(report.nodeid.partition("::")[0]), {})["(file)"] = f"failed: {reason}"


def pytest_sessionfinish(session: Any) -> None:
    write_outcomes()


def write_outcomes() -> None:
    """Write the outcomes so far, so that a process that is killed or crashes loses one test only."""
    with open(os.environ["KERAS_TESTS_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(_OUTCOMES, file)
