"""Source text with replacements at positions of syntax-tree nodes."""

from __future__ import annotations

import ast
import bisect


class Source:
    """A program's text and tree, and replacements at positions of the text, which `text` applies."""

    def __init__(self, text: str, filename: str) -> None:
        self.full_text = text
        self.filename = filename
        self.tree = ast.parse(text, filename)
        self.lines = text.splitlines(keepends=True)
        self._line_starts = [0]
        for line in self.lines:
            self._line_starts.append(self._line_starts[-1] + len(line))
        self._edits: list[tuple[int, int, str]] = []  # (start, end, replacement), offsets in characters

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the offsets of a node's first character and of the character after its last."""
        return (
            self._offset(node.lineno, node.col_offset),  # type: ignore[attr-defined]
            self._offset(node.end_lineno, node.end_col_offset),  # type: ignore[attr-defined]
        )

    def start(self, node: ast.AST) -> int:
        """Return the offset of a node's first character."""
        return self.span(node)[0]

    def end(self, node: ast.AST) -> int:
        """Return the offset of the character after a node's last one."""
        return self.span(node)[1]

    def replace(self, node: ast.AST, text: str) -> None:
        """Replace the text of a node."""
        self._edits.append((*self.span(node), text))

    def replace_range(self, start: int, end: int, text: str) -> None:
        """Replace the text from one offset up to another."""
        self._edits.append((start, end, text))

    def original(self, node: ast.AST) -> str:
        """Return the text of a node as it is in the file."""
        start, end = self.span(node)
        return self.full_text[start:end]

    def text(self, start: int = 0, end: int | None = None) -> str:
        """Return a range of the program with its replacements; a replacement inside of another one is dropped."""
        stop = len(self.full_text) if end is None else end
        pieces, position = [], start
        for edit_start, edit_end, replacement in sorted(self._edits, key=lambda edit: (edit[0], -edit[1])):
            if edit_start >= position and edit_end <= stop:
                pieces += [self.full_text[position:edit_start], replacement]
                position = edit_end
        return "".join([*pieces, self.full_text[position:stop]])

    def edited_text(self, node: ast.AST) -> str:
        """Return the text of a node with the replacements inside of it."""
        return self.text(*self.span(node))

    def line_range(self, node: ast.stmt) -> tuple[int, int]:
        """Return the offsets of the lines of a statement, comments directly above included."""
        first_line = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
        index = first_line - 1
        while index > 0 and self.lines[index - 1].lstrip().startswith("#") and self._has_indent_of(index - 1, node):
            index -= 1
        return self._line_starts[index], self._line_starts[node.end_lineno or node.lineno]

    def shares_lines(self, node: ast.stmt) -> bool:
        """Return whether the first or last line of a statement contains another statement."""
        start, end = self.span(node)
        text_before = self.full_text[self._line_starts[node.lineno - 1] : start].strip()
        text_after = self.full_text[end : self._line_starts[node.end_lineno or node.lineno]].strip()
        return bool(text_before) or text_after.startswith(";")

    def indent(self, line: int) -> str:
        """Return the indentation of a line, counted from 1."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip())]

    def line_at(self, offset: int) -> int:
        """Return the number of the line of an offset, from 1."""
        return bisect.bisect_right(self._line_starts, offset)

    def _has_indent_of(self, line_index: int, node: ast.stmt) -> bool:
        """Return whether a line, counted from 0, has the indentation of a statement."""
        return len(self.indent(line_index + 1)) == node.col_offset

    def _offset(self, line: int, column: int) -> int:
        """Return the offset of a column, which the syntax tree counts in bytes of UTF-8."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if not text.isascii():
            column = len(text.encode()[:column].decode(errors="ignore"))
        return self._line_starts[line - 1] + column
