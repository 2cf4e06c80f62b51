"""Messages to the user: errors with their position and a caret, and output into a pipe that may close."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable

import click

from autoconv.emit.conversion import Diagnostic
from autoconv.errors import AutoconvError, Place, SourceError, TargetError

from .exits import ExitCode

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), 127)}


def say(text: str = "", *, err: bool = False, newline: bool = True) -> None:
    """Print text; colours are dropped if the stream is not a terminal.

    Once a reader has closed the pipe, nothing more is printed, and the command continues so that its exit code is
    right.
    """
    try:
        click.echo(text, err=err, nl=newline)
    except BrokenPipeError:
        _redirect_to_null(is_stderr=err)
    except UnicodeEncodeError as error:
        click.echo(
            text.encode(error.encoding, "backslashreplace").decode(error.encoding), err=err, nl=newline
        )


def say_bytes(data: bytes) -> None:
    """Write bytes to standard output unchanged."""
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _redirect_to_null(is_stderr=False)


def show_error(error: AutoconvError) -> None:
    """Print `file:line:column: message`, the source line with a caret, and the remedy, on standard error."""
    show_located(error.message, error.place, error.remedy)


def show_diagnostic(diagnostic: Diagnostic) -> None:
    """Print a construct that cannot be converted, in the form of `show_error`."""
    suffix = f" (in {diagnostic.function})" if diagnostic.function else ""
    show_located(diagnostic.message + suffix, diagnostic.place, diagnostic.remedy)


def show_located(message: str, place: Place | None, remedy: str) -> None:
    """Print a message with its position, the source line and a remedy, as far as they are known."""
    prefix = click.style(f"{place}:" if place else "autoconv:", bold=True)
    lines = [f"{prefix} {_printable(message)}"]
    if place and place.caret():
        source, _, caret = place.caret().partition("\n")
        lines += [_printable(source), *([click.style(caret, fg="red")] if caret else [])]
    if remedy:
        lines.append(f"Write instead: {_printable(remedy)}")
    say("\n".join(lines), err=True)


def show_bug(summary: str, details: str) -> None:
    """Print one line for an internal error, preceded by its traceback if AUTOCONV_TRACEBACK=1 is set."""
    if os.environ.get("AUTOCONV_TRACEBACK", "") not in ("", "0"):
        say(details, err=True, newline=False)
    hint = "this is a bug in autoconv; set AUTOCONV_TRACEBACK=1 to see the traceback"
    say(f"{click.style('autoconv:', bold=True)} {_printable(summary)} ({hint})", err=True)


def describe(error: BaseException) -> tuple[str, str]:
    """Return a line that summarises an unexpected exception, and its traceback: the arguments of `show_bug`."""
    message_lines = traceback.format_exception_only(error)[-1].strip().splitlines()
    return (message_lines[0] if message_lines else type(error).__name__), "".join(traceback.format_exception(error))


def exit_code_of(error: AutoconvError) -> ExitCode:
    """Return the exit code for an error: unreadable source, wrong usage, or else unsupported construct."""
    if isinstance(error, SourceError):
        return ExitCode.UNREADABLE
    return ExitCode.USAGE if isinstance(error, TargetError) else ExitCode.INCOMPLETE


def highest_code(codes: Iterable[ExitCode]) -> ExitCode:
    """Return the highest of the codes, 0 if there are none."""
    return max(codes, default=ExitCode.FINE)


def counted_files(count: int) -> str:
    """Return "1 file", "2 files" and so on."""
    return f"{count} file" if count == 1 else f"{count} files"


def _printable(text: str) -> str:
    """Escape control characters, so that a file name or source line cannot control the terminal."""
    return text.translate(_ESCAPES)


def _redirect_to_null(is_stderr: bool) -> None:
    """Discard what is printed from now on to standard error or standard output."""
    stream = sys.stderr if is_stderr else sys.stdout
    # Not closed: the null device replaces the stream until the process ends.
    null_device = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    try:
        os.dup2(null_device.fileno(), stream.fileno())
    except (OSError, ValueError):
        if is_stderr:
            sys.stderr = null_device
        else:
            sys.stdout = null_device
