"""Columns of emitted lines are mapped to columns of the user's lines."""

import pytest

from autoconv.emit.columns import match_columns


def part(emitted, piece, source):
    """Return the text of the source line that a piece of the emitted line comes from."""
    start = emitted.index(piece)
    found = match_columns(emitted, start, start + len(piece), source)
    return None if found is None else source[slice(*found)]


@pytest.mark.parametrize(
    ("emitted", "piece", "source", "expected"),
    [
        ("return ag__.call(f)(x, y)", "ag__.call(f)(x, y)", "    return f(x, y)", "f(x, y)"),
        ("return ag__.call(f)(x, y)", "ag__.call(f)", "    return f(x, y)", "f"),
        ("y = ag__.call(a.b)(x) + 1", "ag__.call(a.b)(x)", "y = a.b(x) + 1", "a.b(x)"),
        ("y = ag__.call(a.b)(x) + 1", "ag__.call(a.b)(x) + 1", "y = a.b(x) + 1", "a.b(x) + 1"),
        ("y = ag__.get_item(rows, i + 1)", "ag__.get_item(rows, i + 1)", "y = rows[i + 1]", "rows[i + 1]"),
        ("x = ag__.call(f)('a')", "ag__.call(f)('a')", 'x = f("a")', 'f("a")'),
        (
            "(y,) = ag__.if_stmt(x > 1, if_body, None, (y,), ('y',))",
            "ag__.if_stmt(x > 1, if_body",
            "if x > 1:",
            "x > 1",
        ),
        ("z = ag__.and_(a > 0, lambda: b < 1)", "b < 1", "z = a > 0 and b < 1", "b < 1"),
        ("z = ag__.not_(x)", "ag__.not_(x)", "z = not x", "x"),
        ("exit_ = ag__.after_loop(exit_1)", "ag__.after_loop(exit_1)", "for i in range(3):", None),
        ("z = é + 1", "é + 1", "z = é + 1", None),
    ],
)
def test_parts(emitted, piece, source, expected):
    assert part(emitted, piece, source) == expected
