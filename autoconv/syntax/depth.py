"""The most deeply nested place of a text or tree, for the error when Python's compiler refuses it."""

from __future__ import annotations

import ast
import io
import tokenize


def deepest(tree: ast.AST) -> tuple[int, int]:
    """Return (depth, line) of the deepest node in a tree."""
    level, line, depth = [(tree, getattr(tree, "lineno", 0))], 0, 0
    while level:
        depth, line = depth + 1, level[0][1]
        level = [
            (child, getattr(child, "lineno", around))
            for node, around in level
            for child in ast.iter_child_nodes(node)
        ]
    return depth, line


def longest_statement(source: str) -> int:
    """Return the line on which the statement with the most tokens starts, for a text without a tree; 0 if none."""
    most, best, count, start = 0, 0, 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            start = start or token.start[0]
            count += 1
            if count > most:
                most, best = count, start
            if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT) and not _open(token):
                count = start = 0
    except (tokenize.TokenError, SyntaxError):
        pass
    return best


def _open(token: tokenize.TokenInfo) -> bool:
    """Return whether a line ends inside brackets, so that its statement continues."""
    return token.type == tokenize.NL and bool(token.line.strip()) and not token.line.lstrip().startswith("#")
