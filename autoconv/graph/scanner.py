"""Scanner: a position in a text being parsed."""

from __future__ import annotations

import ast
import re
from typing import NoReturn

_SPACE_AND_COMMENTS = re.compile(r"(?:\s|#[^\n]*)*")
_STRING = re.compile(r"""b?(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""")
_UNQUOTED_NAME = re.compile(r"[A-Za-z0-9_.<>/\-]+")


class GraphSyntaxError(ValueError):
    """Syntax error in a graph's text; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"line {line}, column {column}: {message}")
        self.line = line
        self.column = column


class Scanner:
    """A position in `text`; methods consume tokens from it. Space and comments (`# …`) before a token are skipped."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def fail(self, message: str, position: int | None = None) -> NoReturn:
        """Raise GraphSyntaxError for the text at `position`, by default the next token."""
        if position is None:
            self.skip_space()
            position = self.position
        line_start = self.text.rfind("\n", 0, position) + 1
        line = self.text.count("\n", 0, position) + 1
        raise GraphSyntaxError(message, line, position - line_start + 1) from None

    def skip_space(self) -> None:
        match = _SPACE_AND_COMMENTS.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def match(self, pattern: re.Pattern[str], skip_space: bool = True) -> str | None:
        """Consume and return a match of `pattern`; None where it does not match."""
        if skip_space:
            self.skip_space()
        match = pattern.match(self.text, self.position)
        if match is None:
            return None
        self.position = match.end()
        return match.group()

    def is_at(self, token: str) -> bool:
        """Return whether `token` comes next, without consuming it."""
        self.skip_space()
        return self.text.startswith(token, self.position)

    def take(self, token: str) -> bool:
        """Consume `token` if it is next; return whether it was."""
        if not self.is_at(token):
            return False
        self.position += len(token)
        return True

    def expect(self, token: str) -> None:
        """Consume `token`; raise GraphSyntaxError if it is not next."""
        if not self.take(token):
            self.fail(f"expected {token!r}, found {self.next_text()}")

    def next_text(self) -> str:
        """Return the text at the position, quoted for messages."""
        self.skip_space()
        excerpt = self.text[self.position : self.position + 20].split("\n")[0]
        return repr(excerpt) if excerpt else "the end of the text"

    def parse_string(self, skip_space: bool = True) -> str | bytes | None:
        """Parse a literal in quotes, bytes with a `b`; None where there is none."""
        if skip_space:
            self.skip_space()
        start = self.position
        literal = self.match(_STRING, skip_space)
        if literal is None:
            return None
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError) as error:
            self.fail(f"{literal} is no literal: {error}", start)
        assert isinstance(value, (str, bytes))
        return value

    def parse_name(self, description: str) -> str:
        """Parse a bare or quoted name; errors call it by `description`."""
        self.skip_space()
        return self.parse_adjacent_name(description)

    def parse_adjacent_name(self, description: str) -> str:
        """Parse a name that begins at the position, without space before it; errors call it by `description`."""
        start = self.position
        result = self.parse_string(skip_space=False)
        if result is None:
            result = self.match(_UNQUOTED_NAME, skip_space=False)
        if not isinstance(result, str):
            self.fail(f"expected {description}, found {self.next_text()}", start)
        return result
