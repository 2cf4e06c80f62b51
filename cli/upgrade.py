"""`autoconv upgrade`: turn programs of TensorFlow 1 into programs of functions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click

from autoconv.emit.conversion import Options
from autoconv.errors import TargetError
from autoconv.upgrade import UpgradedFile
from autoconv.upgrade import upgrade as upgraded

from .diagnostics import counted_files, say, say_bytes, show_error
from .exits import ExitCode
from .output import OutputTransaction, exit_on_sigterm
from .plan import Job, Plan, check_outputs, make_plan, transaction_path
from .report import add_colours, diff
from .sources import decode_source, read_source, standard_input, syntax_error


@dataclass(frozen=True, slots=True)
class _FileResult:
    """A file, its text, and its upgrade, which is None if the text is not Python."""

    job: Job
    source: str
    upgrade: UpgradedFile | None


@click.command(short_help="Turn programs of TensorFlow 1 into functions.")
@click.argument("inputs", nargs=-1, required=True, metavar="FILE|DIR|-...", type=click.Path(readable=False))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(readable=False),
    help="Where to write; - is standard output.",
)
@click.option(
    "--report", "report_path", metavar="FILE", type=click.Path(dir_okay=False), help="Write the report to a file, too."
)
@click.option("--diff", "show_diff", is_flag=True, help="Print a unified diff and write nothing.")
@click.option("--force", is_flag=True, help="Replace outputs that exist.")
@click.option("-q", "--quiet", is_flag=True, help="Print no report.")
def upgrade(
    inputs: tuple[str, ...], output: str | None, report_path: str | None, show_diff: bool, force: bool, quiet: bool
) -> None:
    """Upgrade programs of TensorFlow 1 to autoconv. The code is parsed, never imported or run.

    Names and arguments become those of version 2. A session becomes a function for each combination of fetched and fed
    tensors: the placeholders that are fed are its parameters, and variables are objects. Where that is not possible,
    the sessions of the file stay, run by autoconv.compat.v1, with a comment that has the reason. The report lists
    every change by line.

    Without -o the output is NAME_upgraded.py beside the file; for a folder, the sibling folder NAME_upgraded, with
    copies of other files; for -, standard output. Comments and formatting are kept.

    \b
    Examples:
      autoconv upgrade softmax.py                writes softmax_upgraded.py
      autoconv upgrade models/ -o new/models     a folder
      autoconv upgrade softmax.py --diff          shows what would change

    \b
    Exit codes: 0 fine; 1 something is left to do; 2 wrong usage; 3 a source cannot be read or parsed;
    4 a bug of autoconv.
    """
    plan = make_plan(inputs, output, Options(), "upgraded")
    if not show_diff:
        check_outputs(plan, force=force)
    code = ExitCode.FINE
    results = []
    for job in plan.jobs:
        if job.action == "convert":
            result = _upgrade(job)
            results.append(result)
            code = max(code, _exit_code(result))
    reports = [
        result.upgrade.report(result.job.name)
        for result in results
        if result.upgrade is not None and result.upgrade.notes
    ]
    if show_diff:
        for result in results:
            if result.upgrade is not None:
                name = str(result.job.output or "<stdout>")
                say(diff(result.source, result.upgrade.text, result.job.name, name), newline=False)
    else:
        _write(plan, results, report_path, "\n".join(reports))
    if not quiet:
        for report in reports:
            say(report, err=True)
        if not show_diff:
            _show_outputs(plan, results)
    raise click.exceptions.Exit(code)


def _upgrade(job: Job) -> _FileResult:
    """Upgrade one file, and return the result; prints the error for text that is not Python."""
    if job.source is None:
        text = decode_source(standard_input(), job.name)
    else:
        text = read_source(job.source)
    try:
        return _FileResult(job, text, upgraded(text, job.name))
    except SyntaxError as error:
        show_error(syntax_error(error, job.name))
        return _FileResult(job, text, None)


def _show_outputs(plan: Plan, results: list[_FileResult]) -> None:
    """Print which folders and files were written."""
    for index, (_, target) in enumerate(plan.folders):
        say(f"wrote {target} ({counted_files(sum(job.folder_index == index for job in plan.jobs))})", err=True)
    for result in results:
        if result.upgrade is not None and result.job.folder_index is None and result.job.output is not None:
            is_same = result.upgrade.text == result.source
            say(f"wrote {result.job.output}{', without a change' if is_same else ''}", err=True)


def _exit_code(result: _FileResult) -> ExitCode:
    if result.upgrade is None:
        return ExitCode.UNREADABLE
    return ExitCode.INCOMPLETE if any(note.is_open for note in result.upgrade.notes) else ExitCode.FINE


def _write(plan: Plan, results: list[_FileResult], report_path: str | None, report_text: str) -> None:
    """Write all outputs or none; a file of a folder is copied if it is not Python."""
    try:
        with exit_on_sigterm(), OutputTransaction() as transaction:
            folders = {index: transaction.add_folder(target) for index, (_, target) in enumerate(plan.folders)}
            for result in results:
                if result.upgrade is not None and result.job.output is not None:
                    path = transaction_path(plan, result.job, folders)
                    transaction.add_text(path, result.upgrade.text, mode_of=result.job.source)
            unparsed_jobs = [result.job for result in results if result.upgrade is None]
            unparsed_jobs = [job for job in unparsed_jobs if job.folder_index is not None]
            for job in (*unparsed_jobs, *(job for job in plan.jobs if job.action == "copy")):
                if job.source is not None and job.output is not None:
                    transaction.add_copy(transaction_path(plan, job, folders), job.source)
            if report_path is not None:
                transaction.add_text(Path(report_path), report_text + "\n")
            transaction.commit()
    except OSError as error:
        raise TargetError(f"cannot write the output: {error.filename or ''}: {error.strerror or error}") from error
    for result in results:
        if result.upgrade is not None and result.job.output is None:
            if sys.stdout.isatty():
                say(add_colours(result.upgrade.text), newline=False)
            else:
                say_bytes(result.upgrade.text.encode("utf-8"))
