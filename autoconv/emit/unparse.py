"""Print standard-library `ast` trees as source text and tell which source line each output line came from.

The statement layout builds on `astunparse`. Expressions are printed here with the fewest parentheses
that keep the tree the same; patterns and nodes newer than this module go to `ast.unparse`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astunparse import Unparser  # type: ignore[import-untyped]


@dataclass(frozen=True, slots=True)
class Printed:
    """Source text with the origin of its lines.

    `origins[k]` is the source line (1-based, 0 when unknown) of the statement that printed output
    line `k + 1`; the blank lines above a statement count as printed by that statement.
    """

    text: str
    origins: tuple[int, ...]


def print_tree(tree: ast.AST, comments: Mapping[int, Sequence[str]] | None = None) -> Printed:
    """Print `tree`, with `comments[line]` above the first printed statement of that source line.

    Comments are `# ...` lines without indentation. Those of a decorated definition belong to the line
    of its first decorator. Comments of lines that no printed statement came from are left out.
    """
    printer = _Printer(comments or {})
    printer.print_root(tree)
    return printer.printed()


def unparse(tree: ast.AST) -> str:
    """Return the source text of any tree, statement or expression, ending with one newline."""
    return print_tree(tree).text


class _Printer(Unparser):  # type: ignore[misc]
    """Prints statements: one method for each kind of node, named as in `astunparse`."""

    def __init__(self, comments: Mapping[int, Sequence[str]]) -> None:
        # The inherited constructor prints at once and to a file, so it is not called.
        self.future_imports: list[str] = []
        self._comments = dict(comments)
        self._parts: list[str] = []
        self._origins: list[int] = []
        self._indent = 0
        self._margin = "\n"
        self._line = 0

    def print_root(self, tree: ast.AST) -> None:
        if isinstance(tree, (ast.Module, ast.Interactive)):
            self._body(tree.body)
        elif isinstance(tree, ast.stmt):
            self._body([tree])
        else:
            expression = tree.body if isinstance(tree, ast.Expression) else tree
            self._begin(expression)
            self.fill(_text(expression))

    def printed(self) -> Printed:
        """What has been printed so far; every line was started by a line break."""
        return Printed("".join(self._parts)[1:] + "\n", tuple(self._origins or [0]))

    # How the inherited methods write.

    def fill(self, text: str = "") -> None:
        self._parts.append(self._margin)
        self._origins.append(self._line)
        self.write(text)

    def write(self, text: str) -> None:
        self._parts.append(text)
        if "\n" in text:
            self._origins.extend([self._line] * text.count("\n"))

    def enter(self) -> None:
        self._parts.append(":")
        self._indent += 1
        self._margin = "\n" + "    " * self._indent

    def leave(self) -> None:
        self._indent -= 1
        self._margin = "\n" + "    " * self._indent

    def dispatch(self, tree: Any) -> None:
        self.write(_text(tree))

    # Statements and their blocks.

    def _body(self, statements: Sequence[ast.stmt]) -> None:
        blank_lines = 1 if self._indent else 2
        separate = False
        for position, statement in enumerate(statements):
            is_definition = isinstance(statement, _DEFINITIONS)
            decorators = getattr(statement, "decorator_list", None)
            self._line = _line_of(decorators[0] if decorators else statement)
            if position and (is_definition or separate):
                self._parts.append("\n" * blank_lines)
                self._origins.extend([self._line] * blank_lines)
            separate = is_definition
            self._print_comments()
            getattr(self, "_" + type(statement).__name__, self._unknown)(statement)

    def _begin(self, node: ast.AST) -> None:
        """Note that the lines printed from now on come from `node`, and print its comments."""
        self._line = _line_of(node)
        self._print_comments()

    def _print_comments(self) -> None:
        if self._line in self._comments:
            for comment in self._comments.pop(self._line):
                self.fill(comment)

    def _block(self, header: str, body: Sequence[ast.stmt]) -> None:
        line = self._line
        self.fill(header)
        self.enter()
        self._body(body)
        self.leave()
        self._line = line

    def _optional_block(self, header: str, body: Sequence[ast.stmt]) -> None:
        if body:
            self._block(header, body)

    def _unknown(self, node: ast.stmt) -> None:
        """Print a statement newer than this module, inside as many blocks as its indentation needs."""
        for _ in range(self._indent):
            node = ast.If(test=ast.Constant(value=True), body=[node], orelse=[])
        for line in ast.unparse(node).strip("\n").split("\n")[self._indent :]:
            self._parts.append("\n" + line)
            self._origins.append(self._line)

    def _FunctionDef(self, node: Any, keyword: str = "def") -> None:
        returns = f" -> {_text(node.returns)}" if node.returns else ""
        signature = f"{_type_parameters(node)}({_parameters(node.args)}){returns}"
        self._definition(node, f"{keyword} {node.name}{signature}")

    def _AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._FunctionDef(node, "async def")

    def _ClassDef(self, node: ast.ClassDef) -> None:
        arguments = _arguments(node.bases, node.keywords)
        bases = f"({arguments})" if arguments else ""
        self._definition(node, f"class {node.name}{_type_parameters(node)}{bases}")

    def _definition(self, node: Any, header: str) -> None:
        for decorator in node.decorator_list:
            self._begin(decorator)
            self.fill("@" + _text(decorator))
        self._begin(node)
        self._block(header, node.body)

    def _If(self, node: ast.If) -> None:
        self._block("if " + _open(node.test, ast.NamedExpr), node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self._begin(node)
            self._block("elif " + _open(node.test, ast.NamedExpr), node.body)
        self._optional_block("else", node.orelse)

    def _While(self, node: ast.While) -> None:
        self._block("while " + _open(node.test, ast.NamedExpr), node.body)
        self._optional_block("else", node.orelse)

    def _For(self, node: Any, keyword: str = "for") -> None:
        self._block(f"{keyword} {_open(node.target, ast.Tuple)} in {_text(node.iter)}", node.body)
        self._optional_block("else", node.orelse)

    def _AsyncFor(self, node: ast.AsyncFor) -> None:
        self._For(node, "async for")

    def _With(self, node: Any, keyword: str = "with") -> None:
        items = [
            _text(item.context_expr) + (f" as {_text(item.optional_vars)}" if item.optional_vars else "")
            for item in node.items
        ]
        text = ", ".join(items)
        first = node.items[0]
        if len(items) == 1 and isinstance(first.context_expr, ast.Tuple) and not first.optional_vars:
            text = f"({text})"  # its own parentheses would make its elements the items
        self._block(f"{keyword} {text}", node.body)

    def _AsyncWith(self, node: ast.AsyncWith) -> None:
        self._With(node, "async with")

    def _Try(self, node: Any, keyword: str = "except") -> None:
        self._block("try", node.body)
        line = self._line
        for handler in node.handlers:
            self._begin(handler)
            caught = f" {_text(handler.type)}" if handler.type else ""
            self._block(keyword + caught + (f" as {handler.name}" if handler.name else ""), handler.body)
        self._line = line
        self._optional_block("else", node.orelse)
        self._optional_block("finally", node.finalbody)

    def _TryStar(self, node: ast.TryStar) -> None:
        self._Try(node, "except*")

    def _Match(self, node: ast.Match) -> None:
        line = self._line
        self.fill("match " + _text(node.subject))
        self.enter()
        for case in node.cases:
            self._begin(case.pattern)
            guard = f" if {_text(case.guard)}" if case.guard else ""
            self._block(f"case {ast.unparse(case.pattern)}{guard}", case.body)
        self.leave()
        self._line = line

    def _Expr(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            text = ("u" if value.kind else "") + _triple_quoted(value.value)
            last = (getattr(node, "end_lineno", 0) or sys.maxsize) if self._line else 0
            self._parts.append(self._margin + text)
            self._origins.extend(min(self._line + k, last) for k in range(text.count("\n") + 1))
        else:
            self.fill(_open(value, *_YIELDS))

    def _Assign(self, node: ast.Assign) -> None:
        targets = [_open(target, ast.Tuple) for target in node.targets]
        unpacks = isinstance(node.targets[-1], ast.Tuple) and isinstance(node.value, ast.Tuple)
        value = _open(node.value, ast.Tuple) if unpacks else _open(node.value, *_YIELDS)
        self.fill(f"{' = '.join(targets)} = {value}")

    def _AugAssign(self, node: ast.AugAssign) -> None:
        self.fill(f"{_text(node.target)} {_OPERATORS[type(node.op)][0]}= {_open(node.value, *_YIELDS)}")

    def _AnnAssign(self, node: ast.AnnAssign) -> None:
        target = _text(node.target)
        if isinstance(node.target, ast.Name) and not node.simple:
            target = f"({target})"
        value = f" = {_open(node.value, *_YIELDS)}" if node.value else ""
        self.fill(f"{target}: {_text(node.annotation)}{value}")

    def _TypeAlias(self, node: Any) -> None:
        self.fill(f"type {_text(node.name)}{_type_parameters(node)} = {_text(node.value)}")

    def _Return(self, node: ast.Return) -> None:
        self.fill("return " + _open(node.value, ast.Tuple) if node.value else "return")

    def _Import(self, node: ast.Import) -> None:
        self.fill("import " + _aliases(node.names))

    def _ImportFrom(self, node: ast.ImportFrom) -> None:
        self.fill(f"from {'.' * (node.level or 0)}{node.module or ''} import {_aliases(node.names)}")


# Parts of statements.


def _line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0) or 0


def _aliases(names: Iterable[ast.alias]) -> str:
    return ", ".join(f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in names)


def _type_parameters(node: Any) -> str:
    parameters = getattr(node, "type_params", None)
    return f"[{', '.join(map(ast.unparse, parameters))}]" if parameters else ""


def _parameters(arguments: ast.arguments) -> str:
    """The parameter list of a function or lambda."""
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    printed = list(map(_parameter, positional, defaults))
    if arguments.posonlyargs:
        printed.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        printed.append("*" + _parameter(arguments.vararg, None))
    elif arguments.kwonlyargs:
        printed.append("*")
    printed += map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        printed.append("**" + _parameter(arguments.kwarg, None))
    return ", ".join(printed)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation:
        text = f"{argument.arg}: {_text(argument.annotation)}"
        return f"{text} = {_text(default)}" if default else text
    return f"{argument.arg}={_text(default)}" if default else argument.arg


def _arguments(positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> str:
    """The argument list of a call or class definition."""
    printed = [_EXPRESSIONS[type(argument)](argument, 0) for argument in positional]
    for keyword in keywords:
        prefix = f"{keyword.arg}=" if keyword.arg else "**"
        printed.append(prefix + _text(keyword.value))
    return ", ".join(printed)


def _triple_quoted(value: str) -> str:
    """A literal of `value` that keeps its line breaks, or its `repr` where both triple quotes occur in it."""
    quote = '"""' if '"""' not in value else "'''"
    if quote in value:
        return repr(value)
    if "\\" in value or not value.replace("\n", "").replace("\t", "").isprintable():
        value = "".join(map(_escaped, value))
    if value.endswith(quote[0]):
        value = f"{value[:-1]}\\{quote[0]}"
    return f"{quote}{value}{quote}"


def _escaped(character: str) -> str:
    if character == "\\" or not (character.isprintable() or character in "\n\t"):
        return character.encode("unicode_escape").decode("ascii")
    return character


# Expressions. Each printer takes the least precedence that needs no parentheses in its place.


def _text(node: Any, level: int = 0) -> str:
    return _EXPRESSIONS[type(node)](node, level)


def _open(node: Any, *kinds: type) -> str:
    """The text of `node`, without its own parentheses when it is one of `kinds`."""
    text = _text(node)
    return text[1:-1] if isinstance(node, kinds) and text[-2:] not in ("()", ",)") else text


def _grouped(text: str, own: int, level: int) -> str:
    return text if own >= level else f"({text})"


def _name(node: ast.Name, level: int) -> str:
    return node.id


def _constant(node: ast.Constant, level: int) -> str:
    value: Any = node.value
    if isinstance(value, str):
        return "u" + repr(value) if node.kind else repr(value)
    if value is Ellipsis:
        return "..."
    if not isinstance(value, (int, float, complex)):
        return ast.unparse(node) if isinstance(value, tuple) else repr(value)
    try:
        text = repr(value).replace("inf", _INFINITY).replace("nan", f"({_INFINITY}-{_INFINITY})")
    except ValueError:  # more digits than Python converts
        text = f"{value:#x}"
    return _grouped(text, _FACTOR if text[0] == "-" else _ATOM, level)


def _attribute(node: ast.Attribute, level: int) -> str:
    value = _text(node.value, _ATOM)
    return f"({value}).{node.attr}" if value.isdecimal() else f"{value}.{node.attr}"


def _call(node: ast.Call, level: int) -> str:
    function = _text(node.func, _ATOM)
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
        return function + _text(node.args[0])
    return f"{function}({_arguments(node.args, node.keywords)})"


def _subscript(node: ast.Subscript, level: int) -> str:
    index = node.slice
    if isinstance(index, ast.Tuple) and index.elts:
        comma = "," if len(index.elts) == 1 and not isinstance(index.elts[0], ast.Starred) else ""
        return f"{_text(node.value, _ATOM)}[{_items(index.elts)}{comma}]"
    return f"{_text(node.value, _ATOM)}[{_text(index)}]"


def _slice(node: ast.Slice, level: int) -> str:
    start, stop = (_text(bound) if bound else "" for bound in (node.lower, node.upper))
    return f"{start}:{stop}:{_text(node.step)}" if node.step else f"{start}:{stop}"


def _items(nodes: Iterable[ast.expr]) -> str:
    return ", ".join([_EXPRESSIONS[type(node)](node, 0) for node in nodes])


def _tuple(node: ast.Tuple, level: int) -> str:
    return f"({_items(node.elts)},)" if len(node.elts) == 1 else f"({_items(node.elts)})"


def _dict(node: ast.Dict, level: int) -> str:
    pairs = zip(node.keys, node.values, strict=True)
    items = [f"{_text(key)}: {_text(value)}" if key else f"**{_text(value, _BIT_OR)}" for key, value in pairs]
    return f"{{{', '.join(items)}}}"


def _comprehension(opening: str, closing: str) -> Callable[[Any, int], str]:
    def comprehension(node: Any, level: int) -> str:
        is_dict = isinstance(node, ast.DictComp)
        text = f"{_text(node.key)}: {_text(node.value)}" if is_dict else _text(node.elt)
        for part in node.generators:
            keyword = "async for" if part.is_async else "for"
            text += f" {keyword} {_open(part.target, ast.Tuple)} in {_text(part.iter, _OR)}"
            text += "".join([f" if {_text(test, _OR)}" for test in part.ifs])
        return opening + text + closing

    return comprehension


def _binary(node: ast.BinOp, level: int) -> str:
    own = _OPERATORS[type(node.op)][1]
    if own == _POWER:
        return _grouped(f"{_text(node.left, _AWAIT)} ** {_text(node.right, _FACTOR)}", own, level)
    pieces: list[str] = []
    operand: ast.expr = node
    while isinstance(operand, ast.BinOp) and _OPERATORS[type(operand.op)][1] == own:
        pieces.append(f" {_OPERATORS[type(operand.op)][0]} {_text(operand.right, own + 1)}")
        operand = operand.left
    pieces.append(_text(operand, own))
    return _grouped("".join(reversed(pieces)), own, level)


def _boolean(node: ast.BoolOp, level: int) -> str:
    own = _AND if isinstance(node.op, ast.And) else _OR
    separator = " and " if own == _AND else " or "
    return _grouped(separator.join([_text(value, own + 1) for value in node.values]), own, level)


def _unary(node: ast.UnaryOp, level: int) -> str:
    symbol, own = _OPERATORS[type(node.op)]
    return _grouped(symbol + _text(node.operand, own), own, level)


def _compare(node: ast.Compare, level: int) -> str:
    text = _text(node.left, _BIT_OR)
    for operator, operand in zip(node.ops, node.comparators, strict=True):
        text += f" {Unparser.cmpops[type(operator).__name__]} {_text(operand, _BIT_OR)}"
    return _grouped(text, _COMPARE, level)


def _conditional(node: ast.IfExp, level: int) -> str:
    text = f"{_text(node.body, _OR)} if {_text(node.test, _OR)} else {_text(node.orelse)}"
    return _grouped(text, _TEST, level)


def _lambda(node: ast.Lambda, level: int) -> str:
    parameters = _parameters(node.args)
    return _grouped(f"lambda{' ' * bool(parameters)}{parameters}: {_text(node.body)}", _TEST, level)


def _yield(node: ast.Yield, level: int) -> str:
    return f"(yield {_open(node.value, ast.Tuple)})" if node.value else "(yield)"


def _formatted_string(node: ast.JoinedStr, level: int) -> str:
    """An f-string, quoted by what occurs nowhere inside it where possible, so that any Python reads it."""
    pieces = list(_formatted_pieces(node.values))
    body = "".join([text for text, _ in pieces])
    code = "".join([text for text, literal in pieces if not literal])
    prefix = "u'' " if node.values and getattr(node.values[0], "kind", None) else ""
    if not _NESTS_ANY_STRING and "\\" in code:
        return prefix + _string_of_newer_python(node)
    for quote in _QUOTES:
        if quote not in body and not body.endswith(quote[0]):
            return f"{prefix}f{quote}{body}{quote}"
    for quote in _QUOTES:
        if _NESTS_ANY_STRING or quote not in code:
            escape = "\\" + quote[0]
            body = "".join([text.replace(quote[0], escape) if literal else text for text, literal in pieces])
            return f"{prefix}f{quote}{body}{quote}"
    return prefix + _string_of_newer_python(node)


def _string_of_newer_python(node: ast.JoinedStr) -> str:
    """An f-string that needs care before Python 3.12, as `str.format` where it cannot be written as such."""
    try:
        text = ast.unparse(node)
        if ast.dump(ast.parse(text, mode="eval").body) == ast.dump(node):
            return text
    except (ValueError, SyntaxError):
        pass
    arguments: list[str] = []

    def template(values: Iterable[Any]) -> str:
        text = ""
        for value in values:
            if isinstance(value, ast.Constant):
                text += str(value.value).replace("{", "{{").replace("}", "}}")
            else:
                arguments.append(_text(value.value))
                conversion = f"!{chr(value.conversion)}" if value.conversion != -1 else ""
                layout = f":{template(value.format_spec.values)}" if value.format_spec else ""
                text += f"{{{conversion}{layout}}}"
        return text

    return f"{template(node.values)!r}.format({', '.join(arguments)})"


def _formatted_pieces(values: Iterable[Any], in_format: bool = False) -> Iterator[tuple[str, bool]]:
    """Each piece of an f-string, with whether it is literal text (its quotes are not escaped yet)."""
    for value in values:
        if isinstance(value, ast.FormattedValue):
            text = _text(value.value, _OR)
            conversion = f"!{chr(value.conversion)}" if value.conversion != -1 else ""
            yield f"{{{' ' if text[0] == '{' else ''}{text}{conversion}", False
            if isinstance(value.format_spec, ast.JoinedStr):
                yield ":", False
                yield from _formatted_pieces(value.format_spec.values, True)
            yield "}", False
        elif isinstance(value, ast.Constant):
            # A leading double quote makes `repr` use single quotes, and what lies between them needs none.
            text = "'".join([repr('"' + part)[2:-1] for part in str(value.value).split("'")])
            braces = ("\\x7b", "\\x7d") if in_format else ("{{", "}}")
            yield text.replace("{", braces[0]).replace("}", braces[1]), True


def _standard(node: ast.AST, level: int) -> str:
    return ast.unparse(node)


class _Printers(dict[type, Callable[[Any, int], str]]):
    """The printer of each kind of expression; `ast.unparse` prints the others."""

    def __missing__(self, kind: type) -> Callable[[Any, int], str]:
        return _standard


_TEST, _OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND = range(8)
_SHIFT, _SUM, _TERM, _FACTOR, _POWER, _AWAIT, _ATOM = range(8, 15)
_OPERATORS: dict[type, tuple[str, int]] = {
    ast.BitOr: ("|", _BIT_OR), ast.BitXor: ("^", _BIT_XOR), ast.BitAnd: ("&", _BIT_AND),
    ast.LShift: ("<<", _SHIFT), ast.RShift: (">>", _SHIFT), ast.Add: ("+", _SUM), ast.Sub: ("-", _SUM),
    ast.Mult: ("*", _TERM), ast.MatMult: ("@", _TERM), ast.Div: ("/", _TERM), ast.FloorDiv: ("//", _TERM),
    ast.Mod: ("%", _TERM), ast.Pow: ("**", _POWER),
    ast.Not: ("not ", _NOT), ast.Invert: ("~", _FACTOR), ast.UAdd: ("+", _FACTOR), ast.USub: ("-", _FACTOR),
}  # fmt: skip
_EXPRESSIONS = _Printers(
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Starred: lambda node, level: f"*{_text(node.value, _BIT_OR)}",
        ast.Tuple: _tuple,
        ast.List: lambda node, level: f"[{_items(node.elts)}]",
        ast.Set: lambda node, level: f"{{{_items(node.elts) or '*()'}}}",
        ast.Dict: _dict,
        ast.ListComp: _comprehension("[", "]"),
        ast.SetComp: _comprehension("{", "}"),
        ast.DictComp: _comprehension("{", "}"),
        ast.GeneratorExp: _comprehension("(", ")"),
        ast.BinOp: _binary,
        ast.BoolOp: _boolean,
        ast.UnaryOp: _unary,
        ast.Compare: _compare,
        ast.IfExp: _conditional,
        ast.Lambda: _lambda,
        ast.NamedExpr: lambda node, level: f"({node.target.id} := {_text(node.value)})",
        ast.Await: lambda node, level: _grouped(f"await {_text(node.value, _ATOM)}", _AWAIT, level),
        ast.Yield: _yield,
        ast.YieldFrom: lambda node, level: f"(yield from {_text(node.value)})",
        ast.JoinedStr: _formatted_string,
        ast.FormattedValue: lambda node, level: _formatted_string(ast.JoinedStr(values=[node]), level),
    }
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_YIELDS = (ast.Yield, ast.YieldFrom)
_INFINITY = f"1e{sys.float_info.max_10_exp + 1}"
_QUOTES = ("'", '"', '"""', "'''")
_NESTS_ANY_STRING = sys.version_info >= (3, 12)  # the expressions of f-strings may hold any string
