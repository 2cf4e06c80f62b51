"""Printed trees keep the origins of their lines, and comments stand above the statements of their lines."""

import ast
import textwrap

from autoconv.emit.unparse import print_tree

SOURCE = textwrap.dedent('''\
    """Docstring

    of three lines."""
    import a
    @b
    @c
    def d(e):
        if e: return (1,
                      2)
        elif a:
            try:
                f = g; h = i
            except j:
                pass
            finally:
                pass
        match k:
            case 1:
                l
        else_ = 1
    m
''')


def test_origins():
    printed = print_tree(ast.parse(SOURCE))
    assert list(zip(printed.origins, printed.text.splitlines(), strict=True)) == [
        (1, '"""Docstring'),
        (2, ""),
        (3, 'of three lines."""'),
        (4, "import a"),
        (5, ""),
        (5, ""),
        (5, "@b"),
        (6, "@c"),
        (7, "def d(e):"),
        (8, "    if e:"),
        (8, "        return 1, 2"),
        (10, "    elif a:"),
        (11, "        try:"),
        (12, "            f = g"),
        (12, "            h = i"),
        (13, "        except j:"),
        (14, "            pass"),
        (11, "        finally:"),
        (16, "            pass"),
        (17, "    match k:"),
        (18, "        case 1:"),
        (19, "            l"),
        (20, "    else_ = 1"),
        (21, ""),
        (21, ""),
        (21, "m"),
    ]


def test_origins_of_synthetic_statements_are_unknown():
    tree = ast.parse("a\nb")
    tree.body.insert(1, ast.Expr(ast.Name("new")))
    tree.body.insert(1, ast.Expr(ast.Constant("two\nlines")))
    tree.body.append(ast.If(ast.Name("c"), [ast.copy_location(ast.Pass(), tree.body[0])], []))
    assert print_tree(tree).origins == (1, 0, 0, 0, 2, 0, 1)


def test_origins_of_a_docstring_stay_inside_its_statement():
    assert print_tree(ast.parse("'a\\nb\\nc'\nd")).origins == (1, 1, 1, 2)


def test_comments_stand_above_the_first_statement_of_their_line():
    comments = {
        1: ["# top"],
        5: ["# decorated", "# twice"],
        7: ["# header"],
        8: ["# once"],
        9: ["# nowhere"],
        10: ["# elif"],
        12: ["# two on one line"],
        13: ["# except"],
        18: ["# case"],
        21: ["# last"],
    }
    printed = print_tree(ast.parse(SOURCE), comments)
    lines = printed.text.splitlines()
    stripped = [line.strip() for line in lines]
    below = {line: stripped[k + 1] for k, line in enumerate(stripped) if line.startswith("#")}
    assert below == {
        "# top": '"""Docstring',
        "# decorated": "# twice",
        "# twice": "@b",
        "# header": "def d(e):",
        "# once": "if e:",
        "# elif": "elif a:",
        "# two on one line": "f = g",
        "# except": "except j:",
        "# case": "case 1:",
        "# last": "m",
    }
    for line, origin in zip(lines, printed.origins, strict=True):
        for key, texts in comments.items():
            assert line.strip() not in texts or origin == key
    assert "            # two on one line" in lines
    assert ast.dump(ast.parse(printed.text)) == ast.dump(ast.parse(SOURCE))
    assert 1 in comments


def test_comments_follow_blank_lines():
    text = print_tree(ast.parse("a\ndef b():\n    c\nd"), {2: ("# b",), 3: ("# c",), 4: ("# d",)}).text
    assert text == "a\n\n\n# b\ndef b():\n    # c\n    c\n\n\n# d\nd\n"
