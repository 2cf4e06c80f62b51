"""A plugin of pytest that keeps one of n tests, chosen by their names, and writes the outcomes by file."""

from __future__ import annotations

import json
import os
import zlib
from typing import Any

_OUTCOMES: dict[str, dict[str, str]] = {}


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    step = int(os.environ.get("KERAS_TESTS_STEP", "1"))
    selected = [item for item in items if zlib.crc32(item.nodeid.partition("::")[2].encode()) % step == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in selected])
    items[:] = selected


def pytest_runtest_logreport(report: Any) -> None:
    path, _, name = report.nodeid.replace("autoconv.", "tf.").partition("::")  # dtypes in names
    tests = _OUTCOMES.setdefault(os.path.basename(path), {})
    if report.outcome == "failed":
        tests[name] = "failed: " + str(report.longrepr).strip().splitlines()[-1][:200]
    elif report.when == "call" or report.outcome == "skipped":
        tests[name] = report.outcome


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        reason = str(report.longrepr).strip().splitlines()[-1][:200]
        _OUTCOMES.setdefault(os.path.basename(report.nodeid.partition("::")[0]), {})["(file)"] = f"failed: {reason}"


def pytest_sessionfinish(session: Any) -> None:
    with open(os.environ["KERAS_TESTS_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(_OUTCOMES, file)
