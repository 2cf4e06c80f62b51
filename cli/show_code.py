"""`autoconv show-code`: print the converted form of one function, class or file."""

from __future__ import annotations

import ast

import click

from autoconv.emit.conversion import Conversion, Diagnostic, Options
from autoconv.emit.locate import definitions, first_line
from autoconv.emit.module import convert_source, qualified_functions
from autoconv.errors import TargetError

from .diagnostics import say, show_diagnostic
from .exits import ExitCode
from .report import add_colours
from .side_by_side import Excerpt, side_by_side
from .sources import parse, read_source
from .targets import Target, find_target


def _check_pass(context: click.Context, option: click.Parameter, name: str | None) -> str | None:
    """Return a name that a pass has, or None; print all passes and exit for `help`. Else raises TargetError."""
    if name is None or context.resilient_parsing:
        return name
    from autoconv.passes import PASSES  # imported on demand: the table loads every pass

    names = [step.name for step in PASSES]
    if name == "help":
        say("\n".join(names))
        context.exit()
    if name not in names:
        raise TargetError(f"there is no pass {name!r}; the passes in order are: {', '.join(names)}")
    return name


@click.command("show-code", short_help="Print the converted form of a function, class or file.")
@click.argument("target")
@click.option(
    "--after", metavar="PASS", is_eager=True, callback=_check_pass,
    help="Stop after that pass; --after help lists the passes.",
)
@click.option(
    "--side-by-side", "is_side_by_side", is_flag=True, help="Print the original on the left, with line numbers."
)
@click.option("--compile", "under_compile", is_flag=True, help="Put the function under @autoconv.compile.")
def show_code(target: str, after: str | None, is_side_by_side: bool, under_compile: bool) -> None:
    """Print the converted form of TARGET. The code is parsed, never imported or run.

    TARGET is a file (file.py), or a function or class in it (file.py:func, file.py:Class.method). It may also be in
    a module that is found in the current folder or on Python's path (pkg.mod:func). A bare name is searched in the
    Python files of the current folder; if several files define it, they are listed.

    \b
    Examples:
      autoconv show-code newton.py:solve
      autoconv show-code solve --side-by-side
      autoconv show-code newton.py:Solver.step --after normalise
      autoconv show-code json.decoder:py_scanstring
    """
    resolved_target = find_target(target)
    source = read_source(resolved_target.path)
    tree = parse(source, str(resolved_target.path))
    options = _options(resolved_target, tree, after, under_compile)
    conversion = convert_source(source, str(resolved_target.path), options)
    left = _excerpts(source, resolved_target.name)
    right = _excerpts(conversion.text, resolved_target.name)
    diagnostics = _diagnostics_in(conversion, left)
    if is_side_by_side:
        say(side_by_side(left, right, conversion.origins), newline=False)
    else:
        say(add_colours("\n\n".join(excerpt.text for excerpt in right) + "\n"), newline=False)
    for diagnostic in diagnostics:
        show_diagnostic(diagnostic)
    raise click.exceptions.Exit(ExitCode.INCOMPLETE if diagnostics else ExitCode.FINE)


def _options(target: Target, tree: ast.Module, after: str | None, under_compile: bool) -> Options:
    """Return the options of a conversion of the target only: its inner functions, and those that enclose it."""
    names = {name for name, _ in qualified_functions(tree)}
    if under_compile and target.name and target.name not in names:
        raise TargetError(f"{target.path}:{target.name}: --compile is for functions and methods")
    only = {
        name
        for name in names
        if f"{name}.".startswith(f"{target.name}.") or f"{target.name}.".startswith(f"{name}.")
    }
    return Options(
        compile_names=frozenset({target.name} if under_compile and target.name else ()),
        compile_all=under_compile and not target.name,
        only=frozenset(only) if only and target.name else None,
        last_pass=after,
        keep_going=True,
    )


def _excerpts(text: str, name: str) -> list[Excerpt]:
    """Return an excerpt for each definition of the name, with the comments directly above; for "" the whole text."""
    lines = text.split("\n")
    if not name:
        whole_text = text.rstrip("\n")
        return [Excerpt(text=whole_text, first_line=1)]
    excerpts = []
    for node in definitions(parse(text, "<converted>")).get(name, []):
        first, last = first_line(node), node.end_lineno or node.lineno
        indent = len(lines[first - 1]) - len(lines[first - 1].lstrip())
        while first > 1 and lines[first - 2].startswith(" " * indent + "#"):
            first -= 1
        dedented_lines = [line[indent:] if not line[:indent].strip() else line for line in lines[first - 1 : last]]
        excerpts.append(Excerpt(text="\n".join(dedented_lines), first_line=first))
    if not excerpts:
        raise AssertionError(f"{name} is not in the converted text")
    return excerpts


def _diagnostics_in(conversion: Conversion, excerpts: list[Excerpt]) -> list[Diagnostic]:
    """Return the diagnostics within the lines that are shown."""
    return [
        diagnostic
        for diagnostic in conversion.diagnostics
        if any(0 <= diagnostic.place.line - excerpt.first_line < excerpt.line_count for excerpt in excerpts)
    ]
