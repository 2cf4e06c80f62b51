"""Find the deepest node or longest statement of a module, for the error when Python's compiler refuses the module."""

from __future__ import annotations

import ast
import io
import tokenize


def deepest_node(tree: ast.AST) -> tuple[int, int]:
    """Return (depth, line) of the deepest node in a tree."""
    nodes_at_depth, line, depth = [(tree, getattr(tree, "lineno", 0))], 0, 0
    while nodes_at_depth:
        depth, line = depth + 1, nodes_at_depth[0][1]
        nodes_at_depth = [
            (child, getattr(child, "lineno", parent_line))
            for node, parent_line in nodes_at_depth
            for child in ast.iter_child_nodes(node)
        ]
    return depth, line


_LINE_TOKENS = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)


def longest_statement_line(source: str) -> int:
    """Return the line on which the statement with the most tokens starts, for a text without a tree; 0 if none."""
    max_token_count, longest_start, token_count, start = 0, 0, 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            start = start or token.start[0]
            token_count += 1
            if token_count > max_token_count:
                max_token_count, longest_start = token_count, start
            if token.type in _LINE_TOKENS and not _continues(token):
                token_count = start = 0
    except (tokenize.TokenError, SyntaxError):
        pass
    return longest_start


def _continues(token: tokenize.TokenInfo) -> bool:
    """Return whether a line ends inside brackets, so that its statement continues."""
    return token.type == tokenize.NL and bool(token.line.strip()) and not token.line.lstrip().startswith("#")
