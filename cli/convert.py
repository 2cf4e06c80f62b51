"""`autoconv convert`: convert whole files and folders statically."""

from __future__ import annotations

import contextlib
import filecmp
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from autoconv.emit.conversion import Options
from autoconv.errors import SourceError, TargetError

from .diagnostics import counted_files, highest_code, say, say_bytes
from .exits import ExitCode
from .outcomes import Outcome, check_compiled_names, convert_job
from .output import OutputTransaction, exit_on_sigterm
from .plan import Job, Plan, check_outputs, make_plan, transaction_path
from .report import add_colours, as_json, diff, show_explanation, show_failures
from .sources import standard_input
from .workers import convert_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """Options of the command that tell what it prints and writes; `Options` has those of the conversion itself.

    `diff`, `explain` and `json` print changes, constructs or all results; `check` compares with existing outputs.
    `force` replaces these; `keep_going` writes files that were converted in part. `jobs` is a number of processes,
    0 for as many as save time.
    """

    diff: bool
    check: bool
    explain: bool
    json: bool
    quiet: bool
    verbose: bool
    keep_going: bool
    force: bool
    jobs: int

    @property
    def writes(self) -> bool:
        """Return whether outputs are written."""
        return not (self.diff or self.check or self.explain)


def _parse_renames(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Return the new name of each old name in OLD=NEW."""
    renames = [value.partition("=") for value in values]
    for old, equals, new in renames:
        names = (*old.split("."), *new.split("."))
        if not equals or not all(name.isidentifier() for name in names):
            raise click.BadParameter("write OLD=NEW, for example tensorflow=autoconv")
    return {old: new for old, _, new in renames}


@click.command(short_help="Convert files or folders to code that builds graphs on tensors.")
@click.argument("inputs", nargs=-1, required=True, metavar="FILE|DIR|-...", type=click.Path(readable=False))
@click.option(
    "-o",
    "--output",
    metavar="OUT",
    type=click.Path(readable=False),
    help="Where to write; - is standard output.",
)
@click.option(
    "--compile",
    "compile_names",
    multiple=True,
    metavar="NAME",
    help="Put function NAME (f, Class.method) under @autoconv.compile; may be repeated.",
)
@click.option("--compile-all", is_flag=True, help="Put every top-level function under @autoconv.compile.")
@click.option("--diff", is_flag=True, help="Print a unified diff and write nothing.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if an output is missing or would change.")
@click.option(
    "--explain",
    is_flag=True,
    help="Write nothing; print a row for each if, while, for, and, or, comprehension: "
    "what it becomes, whether it would stage, and if not, why.",
)
@click.option("--json", is_flag=True, help="Print diagnostics, constructs and outputs as one JSON document.")
@click.option(
    "--keep-going",
    is_flag=True,
    help="Keep a function that cannot be converted, with a comment, and write the rest; "
    "a file that is not Python is copied.",
)
@click.option("--force", is_flag=True, help="Replace outputs that exist.")
@click.option(
    "--rename-import",
    "renames",
    multiple=True,
    callback=_parse_renames,
    metavar="OLD=NEW",
    help="Import NEW where the code imports OLD, e.g. tensorflow=autoconv; may be repeated.",
)
@click.option("--no-comments", is_flag=True, help="Drop the comments above statements.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Use N processes; by default as many as save time.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Print a line for each file.")
def convert(
    inputs: tuple[str, ...], output: str | None, compile_names: tuple[str, ...], compile_all: bool, diff: bool,
    check: bool, explain: bool, json: bool, keep_going: bool, force: bool, renames: dict[str, str], no_comments: bool,
    jobs: int, quiet: bool, verbose: bool,
) -> None:  # fmt: skip
    """Convert Python files or whole folders. The code is parsed, never imported or run.

    The result behaves like the original on plain values; on tensors its if, while, for and so on become part of a
    graph. Without -o the output is NAME_graph.py beside the file; for a folder, the sibling folder NAME_graph, with
    copies of files that are not Python; for the current folder, NAME_graph in it; for -, standard output. In a
    folder, its earlier output, builds, virtual environments, hidden files and files that git ignores are skipped.

    \b
    Examples:
      autoconv convert newton.py                      writes newton_graph.py
      autoconv convert solver/ -o build/solver        a package; its imports of itself keep working
      autoconv convert newton.py --compile solve      solve runs as a graph
      autoconv convert model.py --rename-import tensorflow=autoconv
      autoconv convert src/ --check --diff            for continuous integration
      cat newton.py | autoconv convert - | less

    Comments at the end of lines and inside expressions, blank lines and formatting are lost. Names of modules in
    strings (for example for importlib.import_module) are not renamed. Docstrings, decorators, defaults, annotations
    and comments above statements are kept.

    \b
    Exit codes: 0 fine; 1 --check would change something, or something is unsupported; 2 wrong usage;
    3 a source cannot be read or parsed; 4 a bug of autoconv.
    """
    mode = Mode(
        diff=diff, check=check, explain=explain, json=json, quiet=quiet, verbose=verbose, keep_going=keep_going,
        force=force, jobs=jobs,
    )  # fmt: skip
    options = Options(
        compile_names=frozenset(compile_names), compile_all=compile_all, rename_imports=renames, keep_going=keep_going,
        comments=not no_comments,
    )  # fmt: skip
    plan = make_plan(inputs, output, options)
    if mode.writes:
        check_outputs(plan, force=force)
    outcomes = _convert(plan, mode)
    check_compiled_names(outcomes, options.compile_names)
    code = highest_code(outcome.code for outcome in outcomes)
    failed_folders = _failed_folders(outcomes, mode)
    accepted_outcomes = [outcome for outcome in outcomes if _is_accepted(outcome, mode, failed_folders)]
    copy_jobs = [job for job in plan.jobs if job.action == "copy" and job.folder_index not in failed_folders]
    show_failures(outcomes)
    written_paths = _write(plan, accepted_outcomes, copy_jobs, mode) if mode.writes else []
    changed_paths = _changed_outputs(accepted_outcomes, copy_jobs) if mode.check else []
    if changed_paths:
        code = max(code, ExitCode.INCOMPLETE)
    if mode.json:
        say(as_json(outcomes, written_paths, changed_paths, code))
    else:
        _print_results(plan, outcomes, accepted_outcomes, written_paths, changed_paths, mode)
    raise click.exceptions.Exit(code)


def _convert(plan: Plan, mode: Mode) -> list[Outcome]:
    """Convert the files of the plan, a single one without a progress bar; return their outcomes."""
    jobs = [job for job in plan.jobs if job.action == "convert"]
    if len(jobs) == 1:
        return [convert_job(jobs[0], standard_input() if jobs[0].source is None else None)]
    with _progress(len(jobs), mode) as advance:
        return convert_all(jobs, mode.jobs, advance)


def _final_path(path: str) -> str:
    """Return the path of an output, given that of its temporary file: `.NAME.` and eight random characters."""
    return re.sub(r"(^|/|\\)\.([^/\\]*)\.[a-z0-9_]{8}$", r"\1\2", path)


def _failed_folders(outcomes: Sequence[Outcome], mode: Mode) -> set[int]:
    """Return the indices of the folder arguments for which nothing is written, as a file in them failed."""
    if mode.keep_going:
        return set()
    return {outcome.job.folder_index for outcome in outcomes if outcome.code and outcome.job.folder_index is not None}


def _is_accepted(outcome: Outcome, mode: Mode, failed_folders: set[int]) -> bool:
    """Return whether an output of the file is written: its conversion, or in a folder with --keep-going a copy."""
    if outcome.job.folder_index in failed_folders:
        return False
    if outcome.conversion is not None:
        return mode.keep_going or not outcome.diagnostics
    return mode.keep_going and outcome.job.folder_index is not None and outcome.job.source is not None


def _write(plan: Plan, accepted_outcomes: Sequence[Outcome], copy_jobs: Sequence[Job], mode: Mode) -> list[Path]:
    """Write all outputs or none, and return their paths.

    A file of a folder that could not be converted at all is copied unchanged (only with --keep-going).
    """
    paths: list[Path] = []
    used_folders = {job.folder_index for job in (*(outcome.job for outcome in accepted_outcomes), *copy_jobs)}
    try:
        with exit_on_sigterm(), OutputTransaction() as transaction:
            folders = {
                index: transaction.add_folder(target)
                for index, (_, target) in enumerate(plan.folders)
                if index in used_folders
            }
            for outcome in accepted_outcomes:
                job = outcome.job
                if job.output is None:
                    continue
                if outcome.conversion is not None:
                    path = transaction_path(plan, job, folders)
                    transaction.add_text(path, outcome.conversion.text, mode_of=job.source)
                elif job.source is not None:
                    transaction.add_copy(transaction_path(plan, job, folders), job.source)
                paths.append(job.output)
            for job in copy_jobs:
                if job.source is not None and job.output is not None:
                    transaction.add_copy(transaction_path(plan, job, folders), job.source)
                    paths.append(job.output)
            transaction.commit()
    except OSError as error:
        path_prefix = f"{_final_path(str(error.filename))}: " if error.filename else ""
        if any(str(job.source) == str(error.filename) for job in copy_jobs):
            raise SourceError(f"cannot read {path_prefix}{error.strerror or error}") from error
        raise TargetError(f"cannot write the output: {path_prefix}{error.strerror or error}") from error
    return paths


def _changed_outputs(accepted_outcomes: Sequence[Outcome], copy_jobs: Sequence[Job]) -> list[Path]:
    """Return the outputs that are missing or would change."""
    changed = []
    for outcome in accepted_outcomes:
        path = outcome.job.output
        if path is not None and outcome.conversion is not None:
            new_bytes = outcome.conversion.text.encode("utf-8")
            if not path.is_file() or path.read_bytes() != new_bytes:
                changed.append(path)
    for job in copy_jobs:
        source, path = job.source, job.output
        if source is None or path is None or not source.is_file():
            continue
        if not path.is_file() or not filecmp.cmp(source, path, shallow=False):
            changed.append(path)
    return changed


def _print_results(
    plan: Plan,
    outcomes: Sequence[Outcome],
    accepted_outcomes: Sequence[Outcome],
    written_paths: Sequence[Path],
    changed_paths: Sequence[Path],
    mode: Mode,
) -> None:
    if mode.diff:
        for outcome in accepted_outcomes:
            say(_diff(outcome, mode), newline=False)
    if mode.explain:
        show_explanation(outcomes)
    if mode.writes:
        for outcome in accepted_outcomes:
            if outcome.job.output is None and outcome.conversion is not None:
                if sys.stdout.isatty():
                    say(add_colours(outcome.conversion.text), newline=False)
                else:
                    say_bytes(outcome.conversion.text.encode("utf-8"))
    if mode.quiet:
        return
    for path in changed_paths:
        say(f"would {'change' if path.exists() else 'write'} {path}", err=True)
    if mode.verbose:
        for outcome in outcomes:
            say(_summary_line(outcome), err=True)
    for _, target in plan.folders:
        count = sum(path.is_relative_to(target) for path in written_paths)
        if count:
            say(f"wrote {target} ({counted_files(count)})", err=True)
    for outcome in accepted_outcomes:
        if outcome.job.folder_index is None and outcome.job.output in written_paths:
            say(f"wrote {outcome.job.output}", err=True)
    unwritten_count = len(outcomes) - len(accepted_outcomes)
    if unwritten_count and len(outcomes) > 1 and mode.writes:
        say(f"{unwritten_count} of {len(outcomes)} files were not written; see the messages above", err=True)


def _diff(outcome: Outcome, mode: Mode) -> str:
    """Return the diff from the source to the converted text; with --check, from the existing output to the new one."""
    if outcome.conversion is None or outcome.source is None:
        return ""
    output = outcome.job.output
    name = str(output or "<stdout>")
    if mode.check and output is not None and output.is_file():
        return diff(output.read_text("utf-8", "replace"), outcome.conversion.text, name, name)
    return diff(outcome.source, outcome.conversion.text, outcome.job.name, name)


def _summary_line(outcome: Outcome) -> str:
    """Return the line of --verbose for one file."""
    if outcome.conversion is None:
        return f"{outcome.job.name}: not converted"
    constructs = outcome.conversion.constructs
    rewritten_count = sum(construct.form != "plain" for construct in constructs)
    return (
        f"{outcome.job.name}: {len(outcome.conversion.functions)} functions, "
        f"{rewritten_count} of {len(constructs)} constructs rewritten"
    )


@contextlib.contextmanager
def _progress(total: int, mode: Mode) -> Iterator[Callable[[Job], None]]:
    """Show a progress bar on standard error if that is a terminal; yields the function to call for each job done."""
    if mode.quiet or mode.verbose or not sys.stderr.isatty():
        yield lambda job: None
        return
    from rich.console import Console  # slow to import, needed only for terminals
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("converting"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda job: bar.update(task, advance=1, description=escape(job.name))
