"""Converts the files of a plan, in this process or in several, and turns whatever happens into an outcome."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace

from autoconv.emit.conversion import Conversion, Diagnostic, Options
from autoconv.emit.locate import is_converted
from autoconv.emit.module import convert_source, qualified_functions
from autoconv.errors import AutoconvError, ConversionError, SourceError, TargetError

from .diagnostics import code_of, describe
from .exits import ExitCode
from .plan import Job
from .sources import decode_source, parse, read_source, syntax_error
from .targets import unknown_name

MANY_FILES = 24
"""From so many files on, several processes are worth their start (some 0.3 s each)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one file. `conversion` is there where it was converted, `source` where it was read;
    `defined` holds its qualified names where names to compile were asked for; `bug` is a summary and a
    traceback."""

    job: Job
    source: str | None = None
    conversion: Conversion | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    error: AutoconvError | None = None
    bug: tuple[str, str] | None = None
    defined: frozenset[str] = frozenset()

    @property
    def code(self) -> ExitCode:
        """The exit code that this file alone asks for."""
        if self.bug is not None:
            return ExitCode.BUG
        if self.error is not None:
            return code_of(self.error)
        return ExitCode.DIFFERS if self.diagnostics else ExitCode.FINE


def convert_job(job: Job, data: bytes | None = None) -> Outcome:
    """The outcome of one file; `data` is what standard input held. Never raises.

    All constructs that cannot be converted are found in one go: what to do about them is decided by who
    asked.
    """
    source: str | None = None
    defined: frozenset[str] = frozenset()
    try:
        source = decode_source(data, job.name) if data is not None else read_source(job.source)  # type: ignore[arg-type]
        if is_converted(source):
            return _converted_already(job, source)
        options = replace(job.options, keep_going=True)
        if options.compile_names:
            defined = frozenset(name for name, _ in qualified_functions(parse(source, job.name)))
            options = replace(options, compile_names=options.compile_names & defined)
        conversion = _convert(source, job.name, options)
    except ConversionError as error:
        if error.place is None:
            return Outcome(job=job, source=source, error=error, defined=defined)
        diagnostic = Diagnostic(error.message, error.place, "", error.remedy)
        return Outcome(job=job, source=source, diagnostics=(diagnostic,), defined=defined)
    except AutoconvError as error:
        return Outcome(job=job, source=source, error=error, defined=defined)
    except RecursionError:
        too_deep = SourceError(f"{job.name}: nested too deeply to be converted")
        return Outcome(job=job, source=source, error=too_deep, defined=defined)
    except Exception as error:
        summary, details = describe(error)
        return Outcome(job=job, source=source, bug=(f"{job.name}: {summary}", details), defined=defined)
    return Outcome(
        job=job, source=source, conversion=conversion, diagnostics=conversion.diagnostics, defined=defined
    )


def convert_all(
    jobs: Sequence[Job], processes: int, progress: Callable[[Job], None] = lambda job: None
) -> list[Outcome]:
    """The outcomes of the jobs, in their order. `processes` is 0 for as many as are worth it."""
    count = min(processes or (os.cpu_count() or 1 if len(jobs) >= MANY_FILES else 1), max(len(jobs), 1))
    if count == 1:
        outcomes = []
        for job in jobs:
            outcomes.append(convert_job(job))
            progress(job)
        return outcomes
    found: dict[int, Outcome] = {}
    # Spawned, not forked: a progress bar runs a thread, and a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with contextlib.ExitStack() as stack:
        with _children_apart():
            pool = stack.enter_context(ProcessPoolExecutor(count, mp_context=context))
            numbers = {pool.submit(convert_job, job): number for number, job in enumerate(jobs)}
        try:
            for future in as_completed(numbers):
                number = numbers[future]
                found[number] = future.result()
                progress(jobs[number])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():
                child.terminate()
            raise
    return [found[number] for number in range(len(jobs))]


def _converted_already(job: Job, source: str) -> Outcome:
    """What an earlier conversion wrote is taken over with its folder, and refused by itself."""
    if job.folder is None:
        return Outcome(job=job, source=source, error=TargetError(f"{job.name} is a converted file already"))
    lines = tuple(range(1, source.count("\n") + 2))
    return Outcome(job=job, source=source, conversion=Conversion(source, lines, (), (), ()))


def _convert(source: str, name: str, options: Options) -> Conversion:
    conversion = convert_source(source, name, options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(conversion.text, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            try:
                compile(source, name, "exec", dont_inherit=True)
            except (
                SyntaxError,
                ValueError,
            ) as original:  # `return` at the top level, say: parsed, yet no Python
                raise syntax_error(original, name) from original
            raise AssertionError(f"the converted text is not Python: {error}") from error
    return conversion


@contextlib.contextmanager
def _children_apart() -> Iterator[None]:
    """Processes started inside of the block import nothing from the current folder, and leave ctrl-C to
    us."""
    names = ("PYTHONSAFEPATH", "PYTHONPATH")
    before = {name: os.environ.get(name) for name in names}
    here = os.path.realpath(os.curdir)
    kept = [
        entry for entry in (before["PYTHONPATH"] or "").split(os.pathsep) if os.path.realpath(entry) != here
    ]
    masks = hasattr(signal, "pthread_sigmask") and threading.current_thread() is threading.main_thread()
    old = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masks else set()
    os.environ["PYTHONSAFEPATH"] = "1"
    if before["PYTHONPATH"] is not None:
        os.environ["PYTHONPATH"] = os.pathsep.join(kept)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        if masks:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)


def check_compiled_names(outcomes: Sequence[Outcome], names: frozenset[str]) -> None:
    """Raises TargetError for a name to compile that none of the files has."""
    defined = frozenset[str]().union(*(outcome.defined for outcome in outcomes))
    readable = [outcome for outcome in outcomes if outcome.error is None]
    missing = sorted(names - defined)
    if missing and readable:
        where = outcomes[0].job.name if len(outcomes) == 1 else "the files to convert"
        raise unknown_name(missing[0], defined, where)
