"""Run the tests of the catalogue's lines, and print how many lines hold, a section a row.

    python tests/behaviours/report.py [--section A] [--missing]

A test is named after its line (`test_line_031_…`), and a file after its section (`test_a_….py`). A line holds when it
has tests and all of them pass. The exit code is 1 when a line has a test that fails.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from catalogue import EXCEPTED, IN_PART, SECTIONS

FOLDER = Path(__file__).resolve().parent
TEST = re.compile(r"test_line_(\d{3})_")


class Outcomes:
    """A plugin of pytest that collects the outcomes of tests by line."""

    def __init__(self) -> None:
        self.by_line: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        self.broken: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(report.nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        found = TEST.search(report.nodeid)
        if found and (report.when == "call" or report.outcome != "passed"):
            self.by_line[int(found[1])].append((report.nodeid, report.outcome))

    def holds(self, line: int) -> bool:
        return bool(self.by_line.get(line)) and all(outcome == "passed" for _, outcome in self.by_line[line])


def run(section: str | None) -> Outcomes:
    """Return the outcomes of the tests of one section, or of all."""
    outcomes = Outcomes()
    pattern = f"test_{section.lower()}_*.py" if section else "test_[a-h]_*.py"
    files = sorted(map(str, FOLDER.glob(pattern)))
    if files:
        with contextlib.redirect_stdout(io.StringIO()):
            pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", *files], plugins=[outcomes])
    return outcomes


def report_text(outcomes: Outcomes, letters: list[str], missing: bool) -> str:
    """Return a row for each section, the exceptions with their reasons, and the failures."""
    rows = []
    total = shown = 0
    for letter in letters:
        title, lines = SECTIONS[letter]
        shown_lines = [line for line in lines if outcomes.holds(line)]
        excepted = [line for line in lines if line in EXCEPTED and line not in shown_lines]
        absent = [line for line in lines if line not in shown_lines and line not in excepted]
        total += len(lines) - len(excepted)
        shown += len(shown_lines)
        row = f"{letter}  {title:32} {len(shown_lines):3} of {len(lines) - len(excepted)} hold"
        rows.append(row + (f", {len(excepted)} excepted" if excepted else ""))
        if missing and absent:
            rows.append(f"     not shown: {', '.join(map(str, absent))}")
    rows.append(f"   {'together':32} {shown:3} of {total} hold")
    expected = {line for letter in letters for line in SECTIONS[letter][1]}
    for heading, reasons in (("excepted for now", EXCEPTED), ("in part", IN_PART)):
        reason_lines = [f"  {line:3}  {reason}" for line, reason in reasons.items() if line in expected]
        rows += [f"{heading}:", *reason_lines] if reason_lines else []
    failed = [node for line in expected for node, outcome in outcomes.by_line.get(line, ()) if outcome == "failed"]
    return "\n".join(rows + [f"FAILED {node}" for node in sorted(failed) + outcomes.broken])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--section", choices=list(SECTIONS), help="one section alone")
    parser.add_argument("--missing", action="store_true", help="list the lines that no test shows")
    arguments = parser.parse_args()
    outcomes = run(arguments.section)
    print(report_text(outcomes, [arguments.section] if arguments.section else list(SECTIONS), arguments.missing))
    failed = any(outcome == "failed" for found in outcomes.by_line.values() for _, outcome in found)
    return 1 if failed or outcomes.broken else 0


if __name__ == "__main__":
    sys.exit(main())
