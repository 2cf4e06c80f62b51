"""Convert one file, and return its result, errors included, as an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoconv.emit.conversion import Conversion, Diagnostic
from autoconv.emit.locate import is_converted
from autoconv.emit.module import convert_source, qualified_functions
from autoconv.errors import AutoconvError, ConversionError, TargetError

from .diagnostics import describe, exit_code_of
from .exits import ExitCode
from .plan import Job
from .sources import decode_source, parse, read_source
from .targets import uncompilable_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result for one file.

    `source` is the text of the file, None if it could not be read. `conversion` is None if the file was not converted.
    `defined_names` holds the qualified names of its functions if names to compile were given. `bug` is (summary,
    traceback) of an internal error.
    """

    job: Job
    source: str | None = None
    conversion: Conversion | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    error: AutoconvError | None = None
    bug: tuple[str, str] | None = None
    defined_names: frozenset[str] = frozenset()

    @property
    def code(self) -> ExitCode:
        """The exit code for this file alone."""
        if self.bug is not None:
            return ExitCode.BUG
        if self.error is not None:
            return exit_code_of(self.error)
        return ExitCode.INCOMPLETE if self.diagnostics else ExitCode.FINE


def convert_job(job: Job, data: bytes | None = None) -> Outcome:
    """Return the outcome of one file; `data` is the content of standard input. Never raises.

    All constructs that cannot be converted are found in one run, as with --keep-going.
    """
    source: str | None = None
    defined_names: frozenset[str] = frozenset()
    try:
        source = decode_source(data, job.name) if data is not None else read_source(job.source)  # type: ignore[arg-type]
        if is_converted(source):
            return _copy_converted(job, source)
        options = replace(job.options, keep_going=True)
        if options.compile_names:
            defined_names = frozenset(name for name, _ in qualified_functions(parse(source, job.name)))
            options = replace(options, compile_names=options.compile_names & defined_names)
        conversion = convert_source(source, job.name, options)
    except ConversionError as error:
        if error.place is None:
            return Outcome(job=job, source=source, error=error, defined_names=defined_names)
        diagnostic = Diagnostic(error.message, error.place, function="", remedy=error.remedy)
        return Outcome(job=job, source=source, diagnostics=(diagnostic,), defined_names=defined_names)
    except AutoconvError as error:
        return Outcome(job=job, source=source, error=error, defined_names=defined_names)
    except Exception as error:
        summary, details = describe(error)
        return Outcome(job=job, source=source, bug=(f"{job.name}: {summary}", details), defined_names=defined_names)
    return Outcome(
        job=job, source=source, conversion=conversion, diagnostics=conversion.diagnostics, defined_names=defined_names
    )


def _copy_converted(job: Job, source: str) -> Outcome:
    """Return the outcome for a file that was converted before: in a folder it is copied, else refused."""
    if job.folder_index is None:
        return Outcome(job=job, source=source, error=TargetError(f"{job.name} is a converted file already"))
    identity_origins = tuple(range(1, source.count("\n") + 2))
    return Outcome(job=job, source=source, conversion=Conversion(source, identity_origins, (), (), ()))


def check_compiled_names(outcomes: Sequence[Outcome], names: frozenset[str]) -> None:
    """Raise TargetError for a name to compile that none of the files defines."""
    defined_names = frozenset[str]().union(*(outcome.defined_names for outcome in outcomes))
    readable_outcomes = [outcome for outcome in outcomes if outcome.error is None]
    undefined_names = sorted(names - defined_names)
    if undefined_names and readable_outcomes:
        location = outcomes[0].job.name if len(outcomes) == 1 else "the files to convert"
        trees = [parse(outcome.source, outcome.job.name) for outcome in readable_outcomes if outcome.source is not None]
        error = uncompilable_name(undefined_names[0], trees, location)
        if error is not None:
            raise error
