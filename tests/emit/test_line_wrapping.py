"""Long statements are printed on several lines: the same trees, in 120 columns, with the origins of their lines."""

import ast

import pytest

from autoconv.emit.line_wrapping import MAX_COLUMNS, wrap_statement
from autoconv.emit.unparse import print_tree

NAMES = [f"name_{i:02}" for i in range(30)]
STATEMENTS = [
    f"return {', '.join(NAMES)}",
    f"total = {' + '.join(NAMES)}",
    f"first = second = function({', '.join(NAMES)})",
    f"total += function(lambda x=1, y=2: ({', '.join(NAMES)}))",
    f"from module import {', '.join(NAMES)}",
    f"text = f\"{{name_00}}, {'a, ' * 60}{{name_01}}\", {', '.join(NAMES)}",
    f"assert function({', '.join(NAMES)}), 'a, b'",
    f"raise ValueError({', '.join(NAMES)}) from None",
    f"for name_00, name_01 in function({', '.join(NAMES)}):\n    pass",
    f"if {' and '.join(NAMES)}:\n    pass\nelif {' or '.join(NAMES)}:\n    pass",
    f"def function({', '.join(NAMES)}, *rest, keyword=1, **others) -> None:\n    pass",
    f"with function({', '.join(NAMES)}) as name_00, name_01:\n    pass",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_lines_are_short_and_mean_the_same(statement):
    tree = ast.parse(f"def outer():\n    if True:\n        {statement.replace(chr(10), chr(10) + ' ' * 8)}")
    printed = print_tree(tree)
    assert ast.dump(ast.parse(printed.text)) == ast.dump(tree)
    assert [line for line in printed.text.splitlines() if len(line) > MAX_COLUMNS and "a, a" not in line] == []
    assert len(printed.origins) == printed.text.count("\n") and set(printed.origins) <= set(range(1, 7))
    assert print_tree(ast.parse(printed.text)).text == printed.text


def test_lines_end_at_commas_of_the_outermost_brackets():
    arguments = [f"function({name}, 1)" for name in NAMES[:10]]
    lines = wrap_statement(f"return {', '.join(arguments)}", 4)
    assert lines[0].startswith("return (function(name_00, 1), ") and all(line.endswith("1),") for line in lines[:-1])
    assert all(line.startswith(" " * 8 + "function(") for line in lines[1:])


def test_short_lines_stay_and_texts_are_not_broken():
    assert wrap_statement("x = 1", 8) == ["x = 1"]
    text = f"x = '{'a, ' * 60}'"
    assert wrap_statement(text, 0) == [text]
