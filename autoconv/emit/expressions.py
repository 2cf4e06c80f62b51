"""Print expressions and parts of statements with the fewest parentheses that preserve the tree."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from astunparse import Unparser  # type: ignore[import-untyped]

# Parts of statements.


def line_of(node: ast.AST) -> int:
    """Return the source line of a node, 0 if it has none."""
    return getattr(node, "lineno", 0) or 0


def aliases_text(names: Iterable[ast.alias]) -> str:
    """Return the names of an import, as they are written after `import`."""
    return ", ".join(f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in names)


def type_parameters_text(node: Any) -> str:
    """Return the type parameters of a function, class or alias in their brackets; "" without any."""
    parameters = getattr(node, "type_params", None)
    return f"[{', '.join(map(ast.unparse, parameters))}]" if parameters else ""


def parameters_text(arguments: ast.arguments) -> str:
    """Return the parameter list of a function or lambda."""
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    parts = list(map(_parameter, positional, defaults))
    if arguments.posonlyargs:
        parts.insert(len(arguments.posonlyargs), "/")
    if arguments.vararg:
        parts.append("*" + _parameter(arguments.vararg, default=None))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += map(_parameter, arguments.kwonlyargs, arguments.kw_defaults)
    if arguments.kwarg:
        parts.append("**" + _parameter(arguments.kwarg, default=None))
    return ", ".join(parts)


def _parameter(argument: ast.arg, default: ast.expr | None) -> str:
    if argument.annotation:
        text = f"{argument.arg}: {expression_text(argument.annotation)}"
        return f"{text} = {expression_text(default)}" if default else text
    return f"{argument.arg}={expression_text(default)}" if default else argument.arg


def arguments_text(positional: Sequence[ast.expr], keywords: Sequence[ast.keyword]) -> str:
    """Return the argument list of a call or class definition."""
    parts = [_PRINTERS[type(argument)](argument, 0) for argument in positional]
    for keyword in keywords:
        prefix = f"{keyword.arg}=" if keyword.arg else "**"
        parts.append(prefix + expression_text(keyword.value))
    return ", ".join(parts)


def triple_quoted(value: str) -> str:
    """Return a literal of `value` that keeps its line breaks, or its `repr` if both triple quotes occur in it."""
    quote = '"""' if '"""' not in value else "'''"
    if quote in value:
        return repr(value)
    if "\\" in value or not value.replace("\n", "").replace("\t", "").isprintable():
        value = "".join(map(_escape, value))
    if value.endswith(quote[0]):  # without a backslash, this quote would be the first of the closing ones
        value = f"{value[:-1]}\\{quote[0]}"
    return f"{quote}{value}{quote}"


def _escape(character: str) -> str:
    if character == "\\" or not (character.isprintable() or character in "\n\t"):
        return character.encode("unicode_escape").decode("ascii")
    return character


# Expressions. Each printer puts an expression in parentheses if its precedence is below `min_precedence`.


def expression_text(node: Any, min_precedence: int = 0) -> str:
    return _PRINTERS[type(node)](node, min_precedence)


def unparenthesised_text(node: Any, if_type: type | tuple[type, ...]) -> str:
    """Return the text of `node`, without its outer parentheses if it is of that type."""
    text = expression_text(node)
    is_short_tuple = text[-2:] in ("()", ",)")  # a tuple without items or with one keeps its parentheses
    return text[1:-1] if isinstance(node, if_type) and not is_short_tuple else text


def _parenthesise(text: str, precedence: int, min_precedence: int) -> str:
    return text if precedence >= min_precedence else f"({text})"


def _name(node: ast.Name, min_precedence: int) -> str:
    return node.id


def _constant(node: ast.Constant, min_precedence: int) -> str:
    """Return the text of a constant; infinities and nan are written as numbers that overflow, and their difference."""
    value: Any = node.value
    if isinstance(value, str):
        return "u" + repr(value) if node.kind else repr(value)
    if value is Ellipsis:
        return "..."
    if not isinstance(value, (int, float, complex)):
        return ast.unparse(node) if isinstance(value, tuple) else repr(value)
    try:
        text = repr(value).replace("inf", _INFINITY).replace("nan", f"({_INFINITY}-{_INFINITY})")
    except ValueError:  # more digits than Python converts to decimal
        text = f"{value:#x}"
    return _parenthesise(text, _FACTOR if text[0] == "-" else _ATOM, min_precedence)


def _attribute(node: ast.Attribute, min_precedence: int) -> str:
    value = expression_text(node.value, _ATOM)
    # Python reads `1.real` as the float `1.` with a name after it.
    return f"({value}).{node.attr}" if value.isdecimal() else f"{value}.{node.attr}"


def _call(node: ast.Call, min_precedence: int) -> str:
    function = expression_text(node.func, _ATOM)
    if len(node.args) == 1 and not node.keywords and isinstance(node.args[0], ast.GeneratorExp):
        return function + expression_text(node.args[0])
    return f"{function}({arguments_text(node.args, node.keywords)})"


def _subscript(node: ast.Subscript, min_precedence: int) -> str:
    index = node.slice
    if isinstance(index, ast.Tuple) and index.elts:
        comma = "," if len(index.elts) == 1 and not isinstance(index.elts[0], ast.Starred) else ""
        return f"{expression_text(node.value, _ATOM)}[{_items(index.elts)}{comma}]"
    return f"{expression_text(node.value, _ATOM)}[{expression_text(index)}]"


def _slice(node: ast.Slice, min_precedence: int) -> str:
    start, stop = (expression_text(bound) if bound else "" for bound in (node.lower, node.upper))
    return f"{start}:{stop}:{expression_text(node.step)}" if node.step else f"{start}:{stop}"


def _items(nodes: Iterable[ast.expr]) -> str:
    return ", ".join([_PRINTERS[type(node)](node, 0) for node in nodes])


def _tuple(node: ast.Tuple, min_precedence: int) -> str:
    return f"({_items(node.elts)},)" if len(node.elts) == 1 else f"({_items(node.elts)})"


def _dict(node: ast.Dict, min_precedence: int) -> str:
    """Return the text of a dict display."""
    pairs = zip(node.keys, node.values, strict=True)
    items = [
        f"{expression_text(key)}: {expression_text(value)}" if key else f"**{expression_text(value, _BIT_OR)}"
        for key, value in pairs
    ]
    return f"{{{', '.join(items)}}}"


def _comprehension(opening: str, closing: str) -> Callable[[Any, int], str]:
    """Return the printer of a comprehension between these brackets."""
    def comprehension(node: Any, min_precedence: int) -> str:
        """Return the text of a comprehension with its clauses."""
        is_dict = isinstance(node, ast.DictComp)
        text = f"{expression_text(node.key)}: {expression_text(node.value)}" if is_dict else expression_text(node.elt)
        for clause in node.generators:
            keyword = "async for" if clause.is_async else "for"
            target = unparenthesised_text(clause.target, if_type=ast.Tuple)
            text += f" {keyword} {target} in {expression_text(clause.iter, _OR)}"
            text += "".join([f" if {expression_text(test, _OR)}" for test in clause.ifs])
        return opening + text + closing

    return comprehension


def _binary(node: ast.BinOp, min_precedence: int) -> str:
    """Return the text of an operation, or of a chain of operations of one precedence."""
    _, precedence = SYMBOL_AND_PRECEDENCE_BY_OPERATOR[type(node.op)]
    if precedence == _POWER:
        text = f"{expression_text(node.left, _AWAIT)} ** {expression_text(node.right, _FACTOR)}"
        return _parenthesise(text, precedence, min_precedence)
    pieces: list[str] = []
    operand: ast.expr = node
    while isinstance(operand, ast.BinOp):
        symbol, operand_precedence = SYMBOL_AND_PRECEDENCE_BY_OPERATOR[type(operand.op)]
        if operand_precedence != precedence:
            break
        pieces.append(f" {symbol} {expression_text(operand.right, precedence + 1)}")
        operand = operand.left
    pieces.append(expression_text(operand, precedence))
    return _parenthesise("".join(reversed(pieces)), precedence, min_precedence)


def _boolean(node: ast.BoolOp, min_precedence: int) -> str:
    precedence = _AND if isinstance(node.op, ast.And) else _OR
    separator = " and " if precedence == _AND else " or "
    operands = [expression_text(value, precedence + 1) for value in node.values]
    return _parenthesise(separator.join(operands), precedence, min_precedence)


def _unary(node: ast.UnaryOp, min_precedence: int) -> str:
    symbol, precedence = SYMBOL_AND_PRECEDENCE_BY_OPERATOR[type(node.op)]
    return _parenthesise(symbol + expression_text(node.operand, precedence), precedence, min_precedence)


def _compare(node: ast.Compare, min_precedence: int) -> str:
    text = expression_text(node.left, _BIT_OR)
    for operator, operand in zip(node.ops, node.comparators, strict=True):
        text += f" {Unparser.cmpops[type(operator).__name__]} {expression_text(operand, _BIT_OR)}"
    return _parenthesise(text, _COMPARE, min_precedence)


def _conditional(node: ast.IfExp, min_precedence: int) -> str:
    text = f"{expression_text(node.body, _OR)} if {expression_text(node.test, _OR)} else {expression_text(node.orelse)}"
    return _parenthesise(text, _TEST, min_precedence)


def _lambda(node: ast.Lambda, min_precedence: int) -> str:
    parameters = parameters_text(node.args)
    text = f"lambda{' ' * bool(parameters)}{parameters}: {expression_text(node.body)}"
    return _parenthesise(text, _TEST, min_precedence)


def _await(node: ast.Await, min_precedence: int) -> str:
    return _parenthesise(f"await {expression_text(node.value, _ATOM)}", _AWAIT, min_precedence)


def _yield(node: ast.Yield, min_precedence: int) -> str:
    return f"(yield {unparenthesised_text(node.value, if_type=ast.Tuple)})" if node.value else "(yield)"


def _formatted_string(node: ast.JoinedStr, min_precedence: int) -> str:
    """Print an f-string, if possible with a quote that does not occur in it, as Python before 3.12 needs it."""
    pieces = list(_formatted_pieces(node.values))
    body = "".join([text for text, _ in pieces])
    code = "".join([text for text, is_literal in pieces if not is_literal])
    # An f-string whose first text has the kind "u" was written `u'' f'…'`.
    prefix = "u'' " if node.values and getattr(node.values[0], "kind", None) else ""
    if not _ALLOWS_NESTED_QUOTES and "\\" in code:
        return prefix + _portable_formatted_string(node)
    for quote in _QUOTES:
        if quote not in body and not body.endswith(quote[0]):
            return f"{prefix}f{quote}{body}{quote}"
    for quote in _QUOTES:
        if _ALLOWS_NESTED_QUOTES or quote not in code:
            escape = "\\" + quote[0]
            body = "".join([text.replace(quote[0], escape) if is_literal else text for text, is_literal in pieces])
            return f"{prefix}f{quote}{body}{quote}"
    return prefix + _portable_formatted_string(node)


def _portable_formatted_string(node: ast.JoinedStr) -> str:
    """Print an f-string that Python before 3.12 cannot parse directly: by `ast.unparse`, or as a `str.format` call."""
    try:
        text = ast.unparse(node)
        if ast.dump(ast.parse(text, mode="eval").body) == ast.dump(node):
            return text
    except (ValueError, SyntaxError):
        pass
    arguments: list[str] = []

    def template(values: Iterable[Any]) -> str:
        """Return the format string of an f-string's pieces; expressions of fields go to `arguments`."""
        text = ""
        for value in values:
            if isinstance(value, ast.Constant):
                text += str(value.value).replace("{", "{{").replace("}", "}}")
            else:
                arguments.append(expression_text(value.value))
                conversion = f"!{chr(value.conversion)}" if value.conversion != -1 else ""
                format_spec = f":{template(value.format_spec.values)}" if value.format_spec else ""
                text += f"{{{conversion}{format_spec}}}"
        return text

    return f"{template(node.values)!r}.format({', '.join(arguments)})"


def _formatted_pieces(values: Iterable[Any], in_format_spec: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield each piece of an f-string, and whether it is literal text (with quotes not escaped yet)."""
    for value in values:
        if isinstance(value, ast.FormattedValue):
            text = expression_text(value.value, _OR)
            conversion = f"!{chr(value.conversion)}" if value.conversion != -1 else ""
            yield f"{{{' ' if text[0] == '{' else ''}{text}{conversion}", False
            if isinstance(value.format_spec, ast.JoinedStr):
                yield ":", False
                yield from _formatted_pieces(value.format_spec.values, in_format_spec=True)
            yield "}", False
        elif isinstance(value, ast.Constant):
            # A text with a double quote and no single ones is delimited by single quotes in `repr`, which escapes no
            # quote in it. So the text is split at single quotes, and `[2:-1]` drops the delimiters and the added quote.
            text = "'".join([repr('"' + part)[2:-1] for part in str(value.value).split("'")])
            braces = ("\\x7b", "\\x7d") if in_format_spec else ("{{", "}}")
            yield text.replace("{", braces[0]).replace("}", braces[1]), True


def _unparse_by_library(node: ast.AST, min_precedence: int) -> str:
    return ast.unparse(node)


class _Printers(dict[type, Callable[[Any, int], str]]):
    """The printer of each kind of expression; `ast.unparse` prints the others."""

    def __missing__(self, kind: type) -> Callable[[Any, int], str]:
        return _unparse_by_library


# Precedences, the lowest first.
_TEST, _OR, _AND, _NOT, _COMPARE, _BIT_OR, _BIT_XOR, _BIT_AND = range(8)
_SHIFT, _SUM, _TERM, _FACTOR, _POWER, _AWAIT, _ATOM = range(8, 15)
SYMBOL_AND_PRECEDENCE_BY_OPERATOR: dict[type, tuple[str, int]] = {
    ast.BitOr: ("|", _BIT_OR), ast.BitXor: ("^", _BIT_XOR), ast.BitAnd: ("&", _BIT_AND),
    ast.LShift: ("<<", _SHIFT), ast.RShift: (">>", _SHIFT), ast.Add: ("+", _SUM), ast.Sub: ("-", _SUM),
    ast.Mult: ("*", _TERM), ast.MatMult: ("@", _TERM), ast.Div: ("/", _TERM), ast.FloorDiv: ("//", _TERM),
    ast.Mod: ("%", _TERM), ast.Pow: ("**", _POWER),
    ast.Not: ("not ", _NOT), ast.Invert: ("~", _FACTOR), ast.UAdd: ("+", _FACTOR), ast.USub: ("-", _FACTOR),
}  # fmt: skip
_PRINTERS = _Printers(
    {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Attribute: _attribute,
        ast.Call: _call,
        ast.Subscript: _subscript,
        ast.Slice: _slice,
        ast.Starred: lambda node, min_precedence: f"*{expression_text(node.value, _BIT_OR)}",
        ast.Tuple: _tuple,
        ast.List: lambda node, min_precedence: f"[{_items(node.elts)}]",
        ast.Set: lambda node, min_precedence: f"{{{_items(node.elts) or '*()'}}}",
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
        ast.NamedExpr: lambda node, min_precedence: f"({node.target.id} := {expression_text(node.value)})",
        ast.Await: _await,
        ast.Yield: _yield,
        ast.YieldFrom: lambda node, min_precedence: f"(yield from {expression_text(node.value)})",
        ast.JoinedStr: _formatted_string,
        ast.FormattedValue: lambda node, _: _formatted_string(ast.JoinedStr(values=[node]), _TEST),
    }
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
YIELDS = (ast.Yield, ast.YieldFrom)
_INFINITY = f"1e{sys.float_info.max_10_exp + 1}"
_QUOTES = ("'", '"', '"""', "'''")
_ALLOWS_NESTED_QUOTES = sys.version_info >= (3, 12)  # f-string expressions may contain any string
