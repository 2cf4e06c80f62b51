"""Output of `convert`: the table of --explain, --diff, --json, and the summary line."""

from __future__ import annotations

import difflib
import io
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from autoconv.emit.conversion import Construct
from autoconv.errors import Place

from .diagnostics import say, show_bug, show_diagnostic, show_error
from .exits import ExitCode
from .outcomes import Outcome

COLUMNS = ("line", "kind", "function", "form", "stages", "why not")


def show_failures(outcomes: Iterable[Outcome]) -> None:
    """Print every diagnostic of every file, then errors and internal errors, on standard error."""
    for outcome in outcomes:
        for diagnostic in outcome.diagnostics:
            show_diagnostic(diagnostic)
        if outcome.error is not None:
            show_error(outcome.error)
        if outcome.bug is not None:
            show_bug(*outcome.bug)


def show_explanation(outcomes: Sequence[Outcome]) -> None:
    """Print a row for each construct, with its form and whether and why it would stage; then the share rewritten."""
    constructs = [
        construct for outcome in outcomes if outcome.conversion for construct in outcome.conversion.constructs
    ]
    for outcome in outcomes:
        if outcome.conversion is None:
            continue
        rows = [_row(construct) for construct in outcome.conversion.constructs]
        if rows:
            say(_table(outcome.job.name, rows), newline=False)
        elif len(outcomes) == 1:
            say(f"{outcome.job.name}: no if, while, for, and, or, conditional expression or comprehension")
    rewritten_count = sum(construct.form != "plain" for construct in constructs)
    staging_count = sum(construct.stages for construct in constructs)
    if constructs:
        share = f"{100 * rewritten_count / len(constructs):.1f} %"
        say(f"{len(constructs)} constructs, {rewritten_count} rewritten ({share}), {staging_count} would stage")


def diff(before: str, after: str, before_name: str, after_name: str) -> str:
    """Return a unified diff, coloured if standard output is a terminal."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), before_name, after_name
    )
    text = "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )
    return add_colours(text, "diff")


def add_colours(text: str, language: str = "python") -> str:
    """Return the text with terminal colours, or unchanged if standard output is not a terminal."""
    if not text or not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    import pygments  # slow to import, needed only for terminals
    import pygments.formatters
    import pygments.lexers

    lexer = pygments.lexers.get_lexer_by_name(language, stripnl=False, ensurenl=False)
    return pygments.highlight(text, lexer, pygments.formatters.TerminalFormatter())


def as_json(
    outcomes: Sequence[Outcome], written: Iterable[Path], changed: Iterable[Path], code: ExitCode
) -> str:
    """Return the report as one JSON document: files with their diagnostics and constructs, and written outputs."""
    written_outputs, changed_outputs = set(written), set(changed)
    files = [
        {
            "input": outcome.job.name,
            "output": str(outcome.job.output) if outcome.job.output else None,
            "status": _status(outcome),
            "written": outcome.job.output in written_outputs,
            "would_change": outcome.job.output in changed_outputs,
            "functions": list(outcome.conversion.functions) if outcome.conversion else [],
            "diagnostics": [
                {
                    "message": diagnostic.message,
                    "function": diagnostic.function,
                    "remedy": diagnostic.remedy,
                    **_place_data(diagnostic.place),
                }
                for diagnostic in outcome.diagnostics
            ],
            "error": _error_data(outcome),
            "constructs": [
                {
                    "kind": construct.kind,
                    "function": construct.function,
                    "form": construct.form,
                    "stages": construct.stages,
                    "reason": construct.reason,
                    **_place_data(construct.place),
                }
                for construct in (outcome.conversion.constructs if outcome.conversion else ())
            ],
        }
        for outcome in outcomes
    ]
    document = {"files": files, "outputs": sorted(map(str, written_outputs)), "exit_code": int(code)}
    return json.dumps(document, indent=2, ensure_ascii=False)


def _status(outcome: Outcome) -> str:
    if outcome.bug is not None:
        return "failed"
    if outcome.error is not None:
        return "unreadable"
    return "unsupported" if outcome.diagnostics else "converted"


def _error_data(outcome: Outcome) -> dict[str, Any] | None:
    """Return the error of a file for the JSON document; None if there is none."""
    if outcome.bug is not None:
        summary, _ = outcome.bug
        return {"message": summary}
    if outcome.error is None:
        return None
    place = _place_data(outcome.error.place) if outcome.error.place else {}
    return {"message": outcome.error.message, "remedy": outcome.error.remedy, **place}


def _place_data(place: Place) -> dict[str, Any]:
    """Return a position for the JSON document; None for a column that is not known."""
    columns = {"column": place.column or None, "end_column": place.end_column or None}
    return {"file": place.file, "line": place.line, **columns}


def _row(construct: Construct) -> tuple[str, ...]:
    """Return the cells of a construct's row, in the order of `COLUMNS`."""
    stages = "yes" if construct.stages else "no"
    function = construct.function or "(module)"
    return str(construct.place.line), construct.kind, function, construct.form, stages, construct.reason


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Format a rich table for a terminal; for a pipe, aligned columns with one line for each row."""
    if not sys.stdout.isatty():
        widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (COLUMNS, *rows)
        ]
        return "\n".join([title, *lines, "", ""])
    from rich.console import Console  # slow to import, needed only for terminals
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, style="bold"), title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right" if column == "line" else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, style="yellow" if row[COLUMNS.index("stages")] == "no" else "") for cell in row))
    stream = io.StringIO()
    width = shutil.get_terminal_size().columns
    Console(file=stream, force_terminal=True, width=width).print(table)
    return stream.getvalue()
