"""Errors of a library in place of exceptions: an error code for each place, with its message."""

from __future__ import annotations

from collections.abc import Sequence

from autoconv.graph.graph import Node, Span

NO_MEMORY = 1

class Failures:
    """The codes of a library's errors, in the order in which code was written; equal messages share a code."""

    def __init__(self) -> None:
        self._codes = {"out of memory": NO_MEMORY}

    def code(self, message: str) -> int:
        return self._codes.setdefault(message, len(self._codes) + 1)

    @property
    def messages(self) -> list[str]:
        """The messages; the first one has the code 1."""
        return list(self._codes)


def message_of(node: Node) -> str:
    """Return what the program would raise in a node: the place, the exception, its text where it is constant."""
    place = at(node.span)
    return f"{place}: {_reason(node)}" if place else _reason(node)


def at(span: Span | None) -> str:
    """Return `file:line`, without the folders of the file, which differ from machine to machine."""
    if span is None:
        return ""
    return f"{span.file.replace(chr(92), '/').rpartition('/')[2]}:{span.line}"


def _reason(node: Node) -> str:
    name, attributes = node.op.name, node.attributes
    if name == "raise":
        error = attributes.get("exception")
        kind = type(error).__name__ if isinstance(error, BaseException) else getattr(error, "__name__", "Exception")
        template = attributes.get("template")
        if template is not None:
            return f"{kind}: {_filled(template)}"
        text = str(error) if isinstance(error, BaseException) else ""
        return f"{kind}: {text}" if text else kind
    if name == "assert_true":
        message = attributes.get("message", "")
        shown = message if isinstance(message, str) else _filled(message)
        return f"AssertionError: {shown}" if shown else "AssertionError"
    traits = node.op.traits
    if traits.indexing is not None or (traits.view and "spec" in attributes):
        return "IndexError: index out of bounds"
    if traits.limited == "only":
        return f"OverflowError: {name} exceeds 64 bits"
    return f"{name} fails for these values" + (", or exceeds 64 bits" if traits.limited else "")


def _filled(template: Sequence[object]) -> str:
    """Return the text of a message, with `{}` for what is computed at run time."""
    return "".join(part if isinstance(part, str) else "{}" for part in template)
