"""Trees printed as source parse back to the same trees, in a readable layout."""

import ast
import sys
import sysconfig
import warnings
from pathlib import Path

import pytest

from autoconv.emit.unparse import Printed, print_tree, unparse

SNIPPETS = [
    "",
    "x",
    "a[1:3, ::2]",
    "a[1,], a[()], a[b, *c], a[*b], a[:], a[b:], a[::c], a[lambda: b:c]",
    "a = b, c = yield d, e",
    "a, b = b, a",
    "a, (b, *c), [d, e], = *f, g = h",
    "(a,) = b; () = c; [] = d; a = (); a = b,",
    "a.b[c], *d = e",
    "a += yield; b @= c, d; e **= await f",
    "x: int; (x): int = 1; x.y: int; x[0]: int = 2, 3; x: int = yield",
    "del a, b; del (a, b); del (a,); del a[0], b.c",
    "assert (a, b), c; raise; raise a from b",
    "global a, b\nnonlocal c",
    "import a.b as c, d\nfrom . import e\nfrom ...f.g import h as i, j\nfrom k import *",
    "return\nreturn a, *b\nreturn (yield)\nreturn (a,)\nreturn ()",
    "yield\nyield a, b\nyield from c\n(yield) + (yield d)\nawait e",
    "if a := b: pass\nwhile (c := d) > (e := 1): pass\nf(a := 1, b=(c := 2))\n(g := h)\ni[(j := 1)]",
    "lambda: 0\nlambda *, a: a\nlambda a, /, b=1, *c, d=2, **e: (a, b)\nlambda: (yield)\nlambda: lambda: 0",
    "(lambda: 0)() if (lambda: 1) else lambda: 2",
    "(a if b else c) if (d if e else f) else g if h else i",
    "-a ** -b ** ~c\n(-a) ** b\n(a ** b) ** c\n2 ** -1\n(await a) ** 2\n- - a\nnot not a\n-(a + b)",
    "a - (b - c) - d\na * (b / c)\n(a + b) * c % d // e\na << b | c & d ^ ~e @ f",
    "a and b == c and d == e\na and (b and c) or (d or e)\nnot a == b\n(not a) == b\n(a < b) < c < d",
    "a is not b not in c",
    "(1).real\n1 .real\n1.5.real\n1j.imag\n(-1).real\n'a'.b\n(a + b).c\n(await a).b\n{}.c\n[].d",
    "1e1000, -1e1000, 1e1000j, 0xffff_ffff_ffff, 1_000, 1e-9, 0.1",
    "a(b for c in d)\na((b for c in d), e)\na(*b, c, *d, e=f, **g, h=i)",
    "[a for b, c in d if e if (f if g else h) for i in (j if k else l)]",
    "[a for (b,) in c]\n{a: b for a, *b in c}\n{a async for b in c}\n(a for () in b)",
    "{**a, 'b': c, **(d or e)}\n{*a, b}\n{*()}\n[*a, *(b or c)]\n(*a,)",
    "r'\\d', b'\\x00\\'\"', u'a', '\\ud800', '\\U0001f600', '\"\\''",
    "'a\\nb'\n'''c\n  d'''\n'\\'\\'\\'\"\"\"'\n'ends with \"'\nu'unicode'\n'tab\\t\\x0c\\r'\n''",
    "f'', f'a', f'{a}{b!r:>{c}}', f'{{}}{a}', f'{a=}', f'{ {1: 2}[1]}', f'{a:}', f'{a!s:x{b}y}'",
    "f'{(lambda: 1)}{(yield)}{(a := b)}{a if b else c}{a != b}{*a, b}'",
    "f'it\\'s \"{a}\"', f'\\n\\t\\\\{a}\\x00', f'{a[\"b\"]}', f'''{a['b']}\"{c[\"d\"]}'''",
    "f'{a:\\x7b\\x7d\\n}', f'\\\\N{{a}}', f\"{f'{a}'}\"",
    "u'a' f'{b}'" if sys.version_info >= (3, 12) else "u'a' f'{b}c'",
    'f"""{a}\n\'"{f\'{b}\'}"""',
    "for a, b in c, d: pass\nelse: pass\nfor (a,) in b: pass\nfor a.b in *c, d: continue",
    "while a: break\nelse: pass",
    "with a: pass\nwith a as b, c as (d, e): pass\nwith (a, b) as c: pass\nwith ((a, b)): pass",
    "with (yield): pass\nwith ((a,)): pass\nwith ((a,)), b: 0\nwith (a := b): 0\nwith (a for b in c): pass",
    "async def f():\n async for a in b: pass\n async with c as d: await e\n return [g async for g in h]",
    "try: a\nexcept: b",
    "try: a\nexcept b: c\nexcept (d, e) as f: g\nelse: h\nfinally: i\ntry: j\nfinally: k",
    "try:\n try: a\n except b: c\nexcept* d as e:\n try: f\n except g: h\nexcept* i: j",
    "def f(a, b: int, /, c, d: str = 'e', *args: *g, h, i: int = 1, j=2, **k: int) -> (yield): pass",
    "def f(*, a): pass\ndef g(*a, b): pass\ndef h(a, /): pass\ndef i(a, /, *, b=1): pass",
    "@a\n@b.c(d)\n@(e := f)\nclass G(h, *i, metaclass=j, **k): pass\n@l[0]\nasync def m(): pass",
    "match a, *b:\n case 1 | -2 | 3 + 4j | 'a' | b'c' | None | True | d.e: pass\n case _: pass",
    "match a:\n case [b, *_] | (c, *d) if e: 0\n case (): 0\n case (f as g) | h: 0\n case [(i | j) as k]: 0",
    "match (a := b):\n case {'c': d, 1: [], **e}: pass\n case {}: pass\n case F(g, h.i, j=k, l=M(n=_)): pass",
    "match -a:\n case {**b}: pass\n case C(): pass\nmatch = case = type = _ = 1",
    "if a: pass\nelif b: pass\nelse:\n if c: pass\n d",
    "if a:\n if b: pass\nelse: pass",
]
if sys.version_info >= (3, 12):
    SNIPPETS += [
        "type A = int\ntype B[T: (int, str), *U, **V] = dict[T, U]",
        "def f[T: int, *U, **V](a: T) -> U: pass\nasync def g[T](): pass\nclass H[T](i): 0\nclass J[T]: 0",
        "f'{a['b']}{'\\n'.join(c)}{f'{f'{d}'}'}'",
        "f\"{'a' 'b'}{\"'\"}{'\"'}'\"",
    ]
if sys.version_info >= (3, 13):
    SNIPPETS += ["class A[T = int, *U = *tuple[int], **V = [int]]: pass\ntype B[T: int = str] = T"]

LAYOUT = '''\
"""Module docstring.

    Indented.
"""
import a
b = (1, 2)


@c
@d(1)
class E(f):
    """One line."""

    def g(self, h: int = 1, *, i=2) -> int:
        """Several lines.

        With "quotes" and a back\\\\slash.
        """

        def j():
            pass

        if h:
            return i
        elif i:
            return h, i
        elif self:
            pass
        else:
            raise a
        return a[1:3, ::2]

    async def k(self):
        x, y = y, x

    l = 1


def m():
    pass


def n():
    for o, p in q(r for r in s):
        with t as u, v:
            yield w
    try:
        pass
    except* (x, y) as z:
        pass
    else:
        pass
    finally:
        pass


while a := b():
    match a:
        case [1, b] if b and a == b and b != a:
            pass
        case _:
            pass
'''


def dump(source: str) -> str:
    return ast.dump(ast.parse(source))


def library_files() -> list[Path]:
    root = Path(sysconfig.get_path("stdlib"))
    return sorted(path for path in root.rglob("*.py") if "site-packages" not in path.relative_to(root).parts)


def check_files(paths: list[Path]) -> None:
    checked = 0
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in paths:
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            printed = print_tree(tree)
            same = dump(printed.text) == ast.dump(tree) and len(printed.origins) == printed.text.count("\n")
            checked += 1
            if not same:
                wrong.append(path)
    assert not wrong
    assert checked > len(paths) // 2


@pytest.mark.parametrize("source", SNIPPETS)
def test_printed_text_parses_to_the_same_tree_and_is_stable(source):
    tree = ast.parse(source)
    text = unparse(tree)
    assert dump(text) == ast.dump(tree)
    assert unparse(ast.parse(text)) == text
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not text.startswith("\n") or text == "\n"
    assert len(print_tree(tree).origins) == text.count("\n")


def test_layout():
    assert unparse(ast.parse(LAYOUT)) == LAYOUT


@pytest.mark.parametrize(
    "text",
    [
        "a and b == c and d == e",
        "2 ** -1 + (a - (b - c)) - d",
        "x = lambda a, *, b=1: (a, b)",
        "a = b = yield c, d",
        "(a,) = b",
        "t = (1, 2)",
        "f(x for x in y)",
        "[x for x, y in z if x]",
        "a[1:3, ::2] = b[c, ...]",
        "a[*b]",
        "(1).real",
        "def f(a: int = 1, b=2, /, *c: d): ...",
        "f\"{a['b']} it\"",
        'f"""it\'s "{a}" {b!r:>{c}}!"""',
        "x = '\"'",
        "(x): int = 1",
        "with a as (b, c), d: ...",
        "del (a, b), c",
        "type = match[case]",
    ],
)
def test_readable_form_is_kept(text):
    expected = text.replace(": ...", ":\n    ...") if text.startswith(("def", "with")) else text
    assert unparse(ast.parse(text)) == expected + "\n"


@pytest.mark.parametrize(
    ("value", "literal"),
    [
        ("text", '"""text"""'),
        ("", '""""""'),
        ("two\n    lines\n", '"""two\n    lines\n"""'),
        ('ends with "', '"""ends with \\""""'),
        ('has """ inside', "'''has \"\"\" inside'''"),
        ("\"\"\" and '''", repr("\"\"\" and '''")),
        ("\\d\r\x0c\ttab", '"""\\\\d\\r\\x0c\ttab"""'),
        ("\ud800\u00e9", '"""\\ud800\u00e9"""'),
    ],
)
def test_docstrings(value, literal):
    tree = ast.Module([ast.Expr(ast.Constant(value))], [])
    assert unparse(tree) == literal + "\n"
    assert ast.literal_eval(literal) == value


def test_expressions_and_other_nodes_print_alone():
    assert unparse(ast.parse("a + 1", mode="eval")) == "a + 1\n"
    assert unparse(ast.parse("a, b", mode="eval").body) == "(a, b)\n"
    assert unparse(ast.parse("def f(a, b=1): ...").body[0].args) == "a, b=1\n"
    assert unparse(ast.parse("@d\ndef f(): ...").body[0]) == "@d\ndef f():\n    ...\n"
    assert unparse(ast.parse("a; b", mode="single")) == "a\nb\n"
    assert print_tree(ast.parse("")) == Printed("\n", (0,))


def test_integers_with_more_digits_than_python_converts():
    number = 16**5000 + 1
    assert unparse(ast.Constant(number)) == f"{number:#x}\n"


def test_synthetic_values():
    negative = ast.BinOp(ast.Constant(-1), ast.Pow(), ast.Constant(2))
    assert unparse(negative) == "(-1) ** 2\n"
    assert unparse(ast.Constant((1, "a"))) == "(1, 'a')\n"
    assert unparse(ast.ImportFrom(module="a", names=[ast.alias("b")], level=None)) == "from a import b\n"
    assert unparse(ast.FormattedValue(ast.Name("a"), -1)) == "f'{a}'\n"


@pytest.mark.parametrize("separator", ["\n", "\\", "\"\"\"'''\n"])
def test_formatted_strings_hold_any_string_on_every_version(separator):
    join = ast.Attribute(ast.Constant(separator), "join", ast.Load())
    call = ast.Call(join, [ast.Name("a", ast.Load())], [])
    width = ast.JoinedStr([ast.Constant(">"), ast.FormattedValue(ast.Name("b", ast.Load()), -1)])
    string = ast.JoinedStr([ast.Constant("{'\""), ast.FormattedValue(call, ord("r"), width)])
    text = unparse(string)
    assert eval(text, {"a": "xy", "b": 20}) == f"{{'\"{separator.join('xy')!r:>20}"


def test_statements_of_unknown_kinds_are_indented(monkeypatch):
    monkeypatch.delattr("autoconv.emit.unparse._Printer._Match")
    source = 'if a:\n    match b:\n        case 1:\n            """c\nd"""\ne\n'
    tree = ast.parse(source)
    printed = print_tree(tree)
    assert dump(printed.text) == ast.dump(tree)
    assert printed.origins == (1, 2, 2, 2, 6)


def test_long_chains_do_not_recurse():
    arms = "".join(f"elif x == {k}:\n    y = {k}\n" for k in range(1500))
    for source in [
        f"if x:\n    y = 0\n{arms}else:\n    y = 1\n",
        f"x = {' + '.join(['f(a) * 2'] * 1500)}\n",
        f"x = {' and '.join(['a < b'] * 1500)}\n",
    ]:
        assert unparse(ast.parse(source)) == source


def test_too_deep_expressions_raise_recursion_error():
    node: ast.expr = ast.Name("a")
    for _ in range(5000):
        node = ast.UnaryOp(ast.USub(), node)
    with pytest.raises(RecursionError):
        unparse(node)


def test_part_of_the_standard_library():
    """Print a part of the library; `python tests/emit/library.py` prints all of it."""
    small = [path for path in library_files() if path.stat().st_size < 20_000]
    check_files(small[::20])
