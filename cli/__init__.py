"""The `autoconv` command, one file for each subcommand; the only place where errors become text and exit codes.

Conversion is static: the user's code is parsed, never imported or run. The exceptions are `autoconv run`, whose
purpose that is, and `show-graph`, `export` and `build`, since a graph is recorded by running the function.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from autoconv._start import restore_interrupts
from autoconv.errors import AutoconvError

from .bench import bench
from .build import build
from .cache import cache
from .convert import convert
from .diagnostics import describe, exit_code_of, say, show_bug, show_error
from .exits import ExitCode
from .export import export
from .info import info, version
from .run import run
from .show_code import show_code
from .show_graph import show_graph
from .upgrade import upgrade

EPILOG = """
\b
Examples:
  autoconv convert newton.py            writes newton_graph.py
  autoconv show-code newton.py:solve    prints the converted form of a function
  autoconv run newton.py 2.0            converts a script and runs it

\b
Completion of commands, options and files in the shell:
  bash   eval "$(_AUTOCONV_COMPLETE=bash_source autoconv)"     in ~/.bashrc
  zsh    eval "$(_AUTOCONV_COMPLETE=zsh_source autoconv)"      in ~/.zshrc
  fish   _AUTOCONV_COMPLETE=fish_source autoconv | source      in ~/.config/fish/completions/autoconv.fish

\b
Exit codes: 0 fine; 1 --check would change something, or something is unsupported; 2 wrong usage;
3 a source cannot be read or parsed; 4 a bug of autoconv (AUTOCONV_TRACEBACK=1 shows the traceback).
"""


class _Command(click.Group):
    """The command group, whose `main` turns every exception into one message and an exit code."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **settings: Any
    ) -> NoReturn:
        settings["standalone_mode"] = False
        sys.exit(int(self._run_to_exit_code(args, prog_name, settings)))

    def _run_to_exit_code(self, args: Sequence[str] | None, prog_name: str | None, settings: dict[str, Any]) -> int:
        """Run the command; return its exit code after a message for an exception."""
        try:
            restore_interrupts()
            return super().main(args, prog_name or "autoconv", **settings) or ExitCode.FINE
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except AutoconvError as error:
            show_error(error)
            return exit_code_of(error)
        except (KeyboardInterrupt, click.Abort):
            say("\nautoconv: interrupted; nothing was written", err=True)
            return ExitCode.INTERRUPTED
        except BrokenPipeError:
            return ExitCode.FINE
        except Exception as error:
            show_bug(*describe(error))
            return ExitCode.BUG


def _print_version(context: click.Context, parameter: click.Parameter, is_requested: bool) -> None:
    if is_requested and not context.resilient_parsing:
        say(f"autoconv {version('autoconv') or '(not installed)'}")
        context.exit()


@click.group(cls=_Command, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version.",
)
def main() -> None:
    """Turn ordinary Python into compiled, differentiable dataflow graphs.

    Converting is static: your code is parsed, never imported or run.
    """


for command in (convert, upgrade, show_code, show_graph, export, build, run, bench, cache, info):
    main.add_command(command)

__all__ = ["main"]
