"""The page of error messages: each program of fixtures/errors with what its user sees."""

from __future__ import annotations

import ast
from pathlib import Path

HEAD = """\
# Errors and reasons

Each section shows a program and exactly what its user sees: the message, the line, and what to write instead.
The page is generated from `fixtures/errors`; the tests run every program and compare the text.
Search this page for a part of your message. The classes are listed in the
[reference of `autoconv.errors`](reference/errors.md).

"""

# The first word of a file's name: the heading under which its programs stand, and a sentence on them.
GROUPS = {
    "staging": (
        "Refused while tracing",
        "`StagingError`: the construct cannot become part of a graph. Under `function` it is raised; under `compile` "
        "the call runs as plain Python.",
    ),
    "plain": ("Reasons why `compile` runs plain Python", "`f.explain()` shows these lines."),
    "operator": ("Symbolic tensors used as Python values", "`OperatorNotAllowedInGraphError` and its relatives."),
    "run": ("Raised while a graph runs", "The error points to the line of the program."),
    "signature": ("Arguments and signatures", "Arguments that do not fit the parameters or the `input_signature`."),
    "trace": ("Traces", "Errors of tracing, and warnings about it."),
    "inaccessible": ("Symbolic tensors outside of their function", "`InaccessibleTensorError`."),
    "gradient": ("Gradients", "Errors of tapes and of differentiation."),
    "eager": ("Ops that run at once", "Errors of ops outside of a graph."),
    "source": ("Source code", "The source cannot be found, read, parsed or converted."),
    "place": ("Where the program runs", "The same error in a module, a notebook, the prompt, or a converted file."),
    "recursion": ("Recursion", "Functions that call themselves under trace."),
    "command": ("The command line", "Mistakes in commands, with their exit codes."),
    "graph": ("Graphs and benchmarks", "Mistakes in commands on graphs, and in names of graphs."),
    "other": ("Others", "Everything else."),
}


def error_page(folder: Path) -> str:
    """Return the page of all programs in `folder`, by group."""
    groups: dict[str, list[Path]] = {name: [] for name in GROUPS}
    for program in sorted(folder.glob("*.py")):
        first = program.stem.partition("_")[0]
        groups[first if first in groups else "other"].append(program)
    return HEAD + "".join(_group(name, programs) for name, programs in groups.items() if programs)


def _group(name: str, programs: list[Path]) -> str:
    title, sentence = GROUPS[name]
    return f"## {title}\n\n{sentence}\n\n" + "".join(map(_section, programs))


def _section(program: Path) -> str:
    source = program.read_text(encoding="utf-8")
    title = program.stem.replace("_", " ").capitalize()
    docstring = ast.get_docstring(ast.parse(source)) if not source.startswith("# run: repl") else None
    seen = program.with_suffix(".txt").read_text(encoding="utf-8")
    description = f"{docstring}\n\n" if docstring else ""
    return f"### {title}\n\n{description}{_fence('python', source)}\n{_fence('text', seen)}\n"


def _fence(language: str, text: str) -> str:
    """Return the text as a block of code, in a fence longer than any that the text has."""
    fence = "````" if "```" in text else "```"
    return f"{fence}{language}\n{text.strip()}\n{fence}\n"
