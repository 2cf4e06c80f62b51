"""Find the comments on lines of their own, and the statement below each."""

from __future__ import annotations

import io
import tokenize

_LAYOUT_TOKENS = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER})
_BARE_CLAUSE_TOKENS = frozenset({"else", "finally", ":"})


def own_line_comments(source: str) -> dict[int, tuple[str, ...]]:
    """Return the comment lines above each statement, keyed by the line (1-based) the statement starts on.

    Comments at the end of a block belong to the statement that follows. A bare `else` or `finally` has
    no line in a syntax tree, so the comments above it belong to the first statement of its block.
    Comments inside a statement are left out, and a source that cannot be read has none.
    """
    source = source.removeprefix("\ufeff")
    if not any(line.lstrip().startswith("#") for line in source.splitlines()):
        return {}
    comments: dict[int, tuple[str, ...]] = {}
    pending_comments: list[str] = []
    is_inside_statement = False
    try:
        for kind, text, (line, column), _, physical_line in tokenize.generate_tokens(
            io.StringIO(source, newline=None).readline
        ):
            if kind == tokenize.NEWLINE:
                is_inside_statement = False
            elif kind == tokenize.ERRORTOKEN:
                return {}
            elif is_inside_statement or kind in _LAYOUT_TOKENS:
                continue
            elif kind == tokenize.COMMENT:
                if not physical_line[:column].strip():
                    pending_comments.append(text)
            elif text not in _BARE_CLAUSE_TOKENS:
                is_inside_statement = True
                if pending_comments:
                    comments[line] = tuple(pending_comments)
                    pending_comments.clear()
    except (tokenize.TokenError, SyntaxError, ValueError):
        return {}
    return comments
