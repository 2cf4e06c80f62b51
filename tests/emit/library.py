"""Convert the standard library of the running Python, print its trees as source, and report the results.

    python tests/emit/library.py [--jobs N] [--every K]

The report has files, lines, lines a second, refused constructs with reasons, crashes, and the forms of
control-flow statements in functions. No file is written, and no code of the library is run. The exit code is 1
after a crash, or if the source of a printed tree has another tree."""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
import tokenize
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from autoconv.emit.conversion import Construct, Options
from autoconv.emit.module import convert_source
from autoconv.emit.unparse import print_tree
from autoconv.errors import SourceError

LIBRARY_NAMES = Path(os.__file__).resolve().parent
STATEMENTS = ("if", "while", "for", "async for")


@dataclass(slots=True)
class Report:
    """The results of the conversion of some files; `seconds` is processor time, including that of printing."""

    files: int = 0
    lines: int = 0
    seconds: float = 0.0
    unreadable: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    misprinted: list[str] = field(default_factory=list)
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)

    def add(self, other: Report) -> None:
        self.files += other.files
        self.lines += other.lines
        self.seconds += other.seconds
        for name in ("unreadable", "refused", "crashes", "misprinted"):
            getattr(self, name).extend(getattr(other, name))
        self.forms += other.forms
        self.reasons += other.reasons

    @property
    def rewritten_share(self) -> float:
        """Return the share of control-flow statements in functions that became a region or an operator call."""
        counts = Counter[str]()
        for (kind, form), count in self.forms.items():
            if kind in STATEMENTS:
                counts[form] += count
        return (counts["functional"] + counts["statement"]) / max(counts.total(), 1)


def library_files() -> list[Path]:
    """Return the sorted Python files of the standard library, without packages that pip installed."""
    skipped = {"site-packages", "dist-packages", "__pycache__"}
    return sorted(
        path for path in LIBRARY_NAMES.rglob("*.py") if not skipped & set(path.relative_to(LIBRARY_NAMES).parts)
    )


def convert_file(path: Path) -> Report:
    """Convert a file and compile the result."""
    report = Report(files=1)
    name = str(path.relative_to(LIBRARY_NAMES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with tokenize.open(path) as file:  # with the encoding that the file declares
                source = file.read()
            compile(source, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            report.unreadable.append(f"{name}: {error}")
            return report
        report.lines = source.count("\n")
        if not has_same_tree_when_printed(source):
            report.misprinted.append(name)
        start = time.process_time()
        try:
            conversion = convert_source(source, name, Options(keep_going=True))
            report.seconds = time.process_time() - start
            compile(conversion.text, name, "exec", dont_inherit=True)
        except SourceError as error:
            report.unreadable.append(f"{name}: {error.message}")
            return report
        except Exception:
            report.crashes.append(f"{name}: {traceback.format_exc(limit=-2)}")
            return report
    report.refused = [f"{d.place}: {d.message}" for d in conversion.diagnostics]
    for construct in _in_functions(conversion.constructs):
        report.forms[construct.kind, construct.form] += 1
        if construct.reason and construct.kind in STATEMENTS:
            report.reasons[construct.reason] += 1
    return report


def has_same_tree_when_printed(source: str) -> bool:
    """Return whether the printed source of a text's tree has the same tree, and an origin for each line."""
    tree = ast.parse(source)
    printed = print_tree(tree)
    lines = printed.text.count("\n")
    return ast.dump(ast.parse(printed.text)) == ast.dump(tree) and len(printed.origins) == lines


def _in_functions(constructs: tuple[Construct, ...]) -> Iterator[Construct]:
    for construct in constructs:
        if not construct.reason.startswith("outside of functions"):
            yield construct


def convert_files(paths: list[Path], jobs: int) -> Report:
    """Convert files, and return their joint report."""
    total = Report()
    if jobs == 1:
        for path in paths:
            total.add(convert_file(path))
        return total
    with ProcessPoolExecutor(jobs) as pool:
        for report in pool.map(convert_file, paths, chunksize=8):
            total.add(report)
    return total


def print_report(report: Report) -> None:
    speed = report.lines / max(report.seconds, 1e-9)
    print(f"{report.files} files, {report.lines} lines, {speed:,.0f} lines a second of processor time")
    for title, entries in (
        ("not Python", report.unreadable),
        ("refused", report.refused),
        ("crashed", report.crashes),
        ("printed as another tree", report.misprinted),
    ):
        print(f"{title}: {len(entries)}")
        for entry in entries:
            print(f"    {entry}")
    kinds = sorted({kind for kind, _ in report.forms})
    forms = sorted({form for _, form in report.forms})
    print(f"\n{'in functions':24}" + "".join(f"{form:>12}" for form in forms))
    for kind in kinds:
        print(f"{kind:24}" + "".join(f"{report.forms[kind, form]:12}" for form in forms))
    print(f"\ncontrol-flow statements rewritten: {report.rewritten_share:.2%}")
    print("why statements keep their form on plain values:")
    for reason, count in report.reasons.most_common(12):
        print(f"{count:8}  {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one a core)"
    )
    parser.add_argument("--every", type=int, default=1, help="only every K-th file")
    options = parser.parse_args()
    report = convert_files(library_files()[:: options.every], options.jobs)
    print_report(report)
    return 1 if report.crashes or report.misprinted else 0


if __name__ == "__main__":
    sys.exit(main())
