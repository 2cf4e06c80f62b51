"""Comments on lines of their own are found with the statement that follows them."""

import ast
import textwrap
import time

import pytest

from autoconv.emit.unparse import print_tree
from autoconv.syntax.comments import own_line_comments


def test_blocks_are_keyed_by_the_next_statement():
    source = textwrap.dedent("""\
        #!/usr/bin/env python
        # -*- coding: utf-8 -*-
        import a

        # first

        # second
        @b
        # between
        def c():
            # inside
            d = [  # trailing
                # in brackets
                1,
            ]
            e = '''
            # in a string
            '''
            f = 1 + \\
                2
            # at the end
        # after
        g
        # lost
    """)
    assert own_line_comments(source) == {
        3: ("#!/usr/bin/env python", "# -*- coding: utf-8 -*-"),
        8: ("# first", "# second"),
        10: ("# between",),
        12: ("# inside",),
        23: ("# at the end", "# after"),
    }


def test_comments_above_clauses():
    source = textwrap.dedent("""\
        if a:
            b
        # elif
        elif c:
            d
        # else
        else:  # trailing
            # body
            e
        try:
            f
        # except
        except g: h
        # finally
        finally: i
        match j:
            # case
            case 1:
                k
    """)
    assert own_line_comments(source) == {
        4: ("# elif",),
        9: ("# else", "# body"),
        13: ("# except",),
        15: ("# finally",),
        18: ("# case",),
    }


@pytest.mark.parametrize(
    "source",
    [
        "",
        "a = 1  # trailing\n",
        "# only a comment",
        "# broken\na = (\n",
        "# broken\na = '''\n",
        "# broken\nif a:\n        b\n    c\n",
        "x = '# not a comment'\n",
    ],
)
def test_sources_without_own_line_comments_or_unreadable(source):
    assert own_line_comments(source) == {}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(line_end):
    assert own_line_comments("\ufeff# a" + line_end + line_end + "b") == {3: ("# a",)}


def test_every_comment_survives_printing():
    source = textwrap.dedent("""\
        # module
        import a

        # decorator
        @a.b
        class C:
            # attribute
            x = 1
            # method
            def d(self):
                # if
                if self: return 1
                # else
                else:
                    return 2
    """)
    comments = own_line_comments(source)
    text = print_tree(ast.parse(source), comments).text
    assert [line.strip() for line in text.splitlines() if "#" in line] == [
        "# module", "# decorator", "# attribute", "# method", "# if", "# else",
    ]  # fmt: skip
    assert list(own_line_comments(text).values()) == list(comments.values())


def test_time_grows_with_the_length():
    def seconds(copies: int) -> float:
        source = "# comment\na = [1,\n     2]\n" * copies
        start = time.perf_counter()
        assert len(own_line_comments(source)) == copies
        return time.perf_counter() - start

    seconds(100)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.01)
