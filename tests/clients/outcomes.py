"""A plugin of pytest that skips tests with an outcome, writes each outcome at once, and stops slow tests."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

_PATH = Path(os.environ["CLIENT_TESTS_OUTCOMES"])
_SECONDS = 60


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    finished = {json.loads(line)[0] for line in _PATH.read_text("utf-8").splitlines()} if _PATH.exists() else set()
    only = os.environ["CLIENT_TESTS_ONLY"]
    selected = [item for item in items if item.nodeid not in finished and only in item.nodeid]
    config.hook.pytest_deselected(items=[item for item in items if item not in selected])
    items[:] = selected


def pytest_collectreport(report: Any) -> None:
    if report.failed:
        _write(report.nodeid, "failed: " + _reason(report))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    _write(item.nodeid, "began")
    signal.signal(signal.SIGALRM, _raise_timeout)
    signal.alarm(_SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def pytest_runtest_logreport(report: Any) -> None:
    if report.outcome == "failed":
        _write(report.nodeid, "failed: " + _reason(report))
    elif report.outcome == "skipped" or report.when == "call":
        _write(report.nodeid, report.outcome)


def _raise_timeout(*_: Any) -> None:
    raise TimeoutError(f"a test takes more than {_SECONDS} s")


def _reason(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr).strip().splitlines()[-1]
    return " ".join(text.split())[:200]


def _write(test: str, outcome: str) -> None:
    with _PATH.open("a", encoding="utf-8") as file:
        file.write(json.dumps([test, outcome]) + "\n")
