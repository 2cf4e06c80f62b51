"""Merge functions that differ only in constants, as the layers of a deep model do.

    define i1 @kernel5(ptr %p0) { … icmp slt i64 %i, 96 … }
    define i1 @kernel8(ptr %p0) { … icmp slt i64 %i, 144 … }

becomes

    define i1 @merged9(ptr %p0, i64 %c0) { … icmp slt i64 %i, %c0 … }
    define i1 @kernel5(ptr %p0) { … call i1 @merged9(ptr %p0, i64 96) … }
    define i1 @kernel8(ptr %p0) { … call i1 @merged9(ptr %p0, i64 144) … }

A constant that is a linear function of another one in all of them, such as a stride of its size, is computed in the
merged function.

Optimising one function in place of many saves most of the compile time of a deep graph. Small graphs keep their
constants, with which LLVM unrolls and folds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from autoconv.backends.llvm.ir.metadata import LONG_LOOP, QUICK, LoopBranch
from autoconv.backends.llvm.ir.signature import Function, Parameter, Signature

_MIN_CHARACTERS = 100_000  # fewest characters of functions that are worth the search: LLVM takes some 3 µs for each
_MAX_PARAMETERS = 24  # most varying constants of a merged function

# Instruction -> pattern of its operands that may be constants or registers alike. They are of type i64, or of the type
# in the pattern's first group.
_I64_PAIR = re.compile(r" i64 (\S+), (\S+)$")
_FLOAT_PAIR = re.compile(r" (?P<type>float|double) (\S+), (\S+)$")
_OPERANDS = {
    **dict.fromkeys(("add", "sub", "mul", "icmp"), _I64_PAIR),
    **dict.fromkeys(("fadd", "fsub", "fmul", "fdiv"), _FLOAT_PAIR),
    "alloca": re.compile(r" \[(\d+) x \w+\]$"),
    "call": re.compile(r' @"?llvm\.[us]m(?:in|ax)\.i64"?\(i64 (\S+), i64 (\S+)\)$'),
    "getelementptr": re.compile(r", ptr \S+, i64 (\S+)$"),
    "phi": re.compile(r" i64 \[ (\S+), \S+ \], \[ (\S+), \S+ \]$"),
    "select": re.compile(r" i64 (\S+), i64 (\S+)$"),
}
_INSTRUCTION = re.compile(r"  \S+ = (\w+) ")
_NUMBERED_METADATA = re.compile(r"![12]\d{6}\b")  # alias scopes and access groups, numbered within the module
_FUNCTION = re.compile(r"@[a-z]+\d+\b")  # a function that has no fixed name
_CALL = re.compile(r' call \w+ @"?(?!llvm\.)')  # a call of a function, not of an intrinsic
_ARGUMENT = re.compile(r"(?<=i64 )-?\d+(?=[,)])")  # a constant argument
# Constants in addresses that give code its form, such as unit strides.
_STRUCTURAL = ("-1", "0", "1")


_Row: TypeAlias = "tuple[tuple[str, str], ...]"  # type and text of a constant in each of several functions


class _Relation(NamedTuple):
    """A linear function that gives a row of integers: the factor times each number of `base`, plus the offset."""

    base: _Row
    factor: int
    offset: int


class _Source(NamedTuple):
    """A linear function that gives a constant: the factor times the parameter of that number, plus the offset."""

    parameter_number: int
    factor: int
    offset: int

    @property
    def is_parameter(self) -> bool:
        """True if the constant is the parameter itself."""
        return (self.factor, self.offset) == (1, 0)


class MergedFunctions(NamedTuple):
    """Results of a merge: new functions, those that stay as they are, and those that call new ones.

    The callers keep their names, but are quick functions now.
    """

    merged: list[Function]
    unchanged: list[Function]
    callers: list[Function]


class Merger:
    """Merges the functions of a module, which may come in several portions.

    Functions of later portions call merged functions of earlier ones where their constants fit.
    """

    def __init__(self) -> None:
        # `_group_key` -> skeleton -> merged function.
        self._merged: dict[object, dict[tuple[str, ...], _MergedFunction]] = defaultdict(dict)
        self._candidates: dict[Function, _Candidate] = {}

    def merge(
        self, functions: Sequence[Function], add: Callable[[Function], Function]
    ) -> MergedFunctions:
        """Merge similar functions, in their order; `add` names a new function and adds it to the module."""
        if sum(map(len, functions)) < _MIN_CHARACTERS:
            return MergedFunctions([], [*functions], [])
        groups: dict[object, list[Function]] = defaultdict(list)
        for function in functions:
            groups[_group_key(function)].append(function)
        merged_functions, replaced = [], set()
        for key, members in groups.items():
            earlier_functions = self._merged.get(key, {})
            candidates = list(map(self._candidate, members)) if len(members) > 1 or earlier_functions else []
            similar = defaultdict(list)
            for candidate in candidates:
                earlier_function = earlier_functions.get(candidate.skeleton)
                if earlier_function is not None and earlier_function.take_over(candidate):
                    replaced.add(candidate.function)
                else:
                    similar[candidate.skeleton].append(candidate)
            for skeleton, group in similar.items():
                merged = _merge(group, add) if len(group) > 1 else None
                if merged is not None:
                    self._merged[key][skeleton] = merged
                    merged_functions.append(merged.function)
                    replaced.update(candidate.function for candidate in group)
        unmerged_functions = [function for function in functions if function not in replaced]
        callers = [function for function in functions if function in replaced]
        return MergedFunctions(merged_functions, unmerged_functions, callers)

    def _candidate(self, function: Function) -> _Candidate:
        """Return a function with its constants separated, which is computed once."""
        if function not in self._candidates:
            self._candidates[function] = _Candidate(function)
        return self._candidates[function]


def _group_key(function: Function) -> object:
    """Return a key that functions have in common if they can be merged; an exported one is its own key."""
    signature = function.signature
    if signature.exported:
        return function
    parameters, attributes = tuple(signature.parameters), tuple(signature.attributes)
    return len(function.lines), signature.result, parameters, attributes, function.takes_wide_vectors


class _Candidate:
    """A function whose constants are separated from its `skeleton`, the lines without them.

    `constants` are pairs of type and text, in the order of the lines.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.constants: list[tuple[str, str]] = []
        metadata_names: dict[str, str] = {}  # numbered metadata -> its name in the skeleton, in order of first use
        skeleton = []
        for line in function.lines:
            text = str(line)
            if isinstance(line, LoopBranch):
                text = line.branch if line.hints == LONG_LOOP else line.branch + line.hints
            constants = [*_constants(line)]
            for ir_type, start, end in reversed(constants):
                text = f"{text[:start]}{ir_type}#{text[end:]}"
            self.constants += [(ir_type, line[start:end]) for ir_type, start, end in constants]

            def name_metadata(match: re.Match[str]) -> str:
                return metadata_names.setdefault(match[0], f"!m{len(metadata_names)}")

            skeleton.append(_NUMBERED_METADATA.sub(name_metadata, text))
        self.skeleton = tuple(skeleton)


def _constants(line: str) -> Iterator[tuple[str, int, int]]:
    """Yield type, start and end of each constant of a line that a register may replace, in order."""
    if "@" in line:
        constants = [("ptr", *match.span()) for match in _FUNCTION.finditer(line)]
        if _CALL.search(line):
            constants += [("i64", *match.span()) for match in _ARGUMENT.finditer(line)]
        yield from sorted(constants, key=lambda constant: constant[1])
    instruction = _INSTRUCTION.match(line)
    operands = _OPERANDS.get(instruction[1]) if instruction is not None else None
    match = operands.search(line) if operands is not None else None
    if instruction is None or match is None:
        return
    ir_type = match.groupdict().get("type", "i64")
    for group in range(1 + len(match.groupdict()), match.re.groups + 1):
        is_structural = match[group] in _STRUCTURAL and instruction[1] != "icmp"
        if not match[group].startswith("%") and not is_structural:
            yield ir_type, match.start(group), match.end(group)


class _MergedFunction:
    """A merged function, and what its parameters stand for.

    A constant is given by its position among the constants of a member. `fixed` maps the positions of the constants
    that all members share to these constants. `sources` maps the other positions to functions of the parameters.
    """

    def __init__(
        self, function: Function, fixed: dict[int, tuple[str, str]], sources: dict[int, _Source]
    ) -> None:
        self.function = function
        self._fixed = fixed
        self._sources = sources

    def take_over(self, candidate: _Candidate) -> bool:
        """Replace a function's body by a call of this function if its constants fit; return whether they do."""
        constants = candidate.constants
        if any(constants[position] != constant for position, constant in self._fixed.items()):
            return False
        arguments: dict[int, tuple[str, str]] = {}
        for position, source in self._sources.items():
            constant = constants[position]
            if source.is_parameter and arguments.setdefault(source.parameter_number, constant) != constant:
                return False
        for position, source in self._sources.items():
            argument = int(arguments[source.parameter_number][1])
            if not source.is_parameter and int(constants[position][1]) != source.factor * argument + source.offset:
                return False
        _call_instead(candidate.function, self.function, [" ".join(arguments[i]) for i in sorted(arguments)])
        return True


def _merge(group: Sequence[_Candidate], add: Callable[[Function], Function]) -> _MergedFunction | None:
    """Return the merged function, which the members then call; None if they differ in too many constants."""
    rows = list(zip(*(candidate.constants for candidate in group), strict=True))  # a row: one constant of each member
    varying = dict.fromkeys(row for row in rows if len(set(row)) > 1)  # equal rows share a register
    derived = _linear_rows(varying)
    arguments = [row for row in varying if row not in derived]
    if len(arguments) > _MAX_PARAMETERS:
        return None
    names = {row: f"%c{i}" for i, row in enumerate([*arguments, *derived])}
    first = group[0].function
    remaining_rows = iter(rows)
    # A branch back without hints equals one with those of a long loop, which the merged function gets.
    alternatives = zip(*(candidate.function.lines for candidate in group), strict=True)
    templates = (next((line for line in lines if isinstance(line, LoopBranch)), lines[0]) for lines in alternatives)
    label, *lines = (_with_parameters(line, remaining_rows, names) for line in templates)
    computations = [line for row, relation in derived.items() for line in _computation(names[row], relation, names)]
    parameters = [*first.signature.parameters, *(Parameter(row[0][0], names[row]) for row in arguments)]
    merged = Function(
        Signature(first.signature.result, parameters, " ".join(first.signature.attributes)),
        [label, *computations, *lines], touches_elements=True, has_descending_index=first.has_descending_index,
        takes_wide_vectors=first.takes_wide_vectors,
    )  # fmt: skip
    merged = add(merged)
    for i, candidate in enumerate(group):
        constants = [" ".join(row[i]) for row in arguments]
        _call_instead(candidate.function, merged, constants)
    fixed = {position: row[0] for position, row in enumerate(rows) if row not in varying}
    sources = {}
    for position, row in enumerate(rows):
        if row in varying:
            relation = derived.get(row, _Relation(row, 1, 0))
            sources[position] = _Source(arguments.index(relation.base), relation.factor, relation.offset)
    return _MergedFunction(merged, fixed, sources)


def _linear_rows(rows: Iterable[_Row]) -> dict[_Row, _Relation]:
    """Return the rows of integers that are linear functions of another row, with their relations.

    Rows from which other rows are computed are not in the result.
    """
    result: dict[_Row, _Relation] = {}
    bases: list[tuple[_Row, list[int]]] = []
    integer_rows = [(row, [int(text) for _, text in row]) for row in rows if row[0][0] == "i64"]
    for row, numbers in sorted(integer_rows, key=lambda item: max(item[1]) - min(item[1])):
        relations = ((base, _linear_relation(base_numbers, numbers)) for base, base_numbers in bases)
        relation = next((_Relation(base, *function) for base, function in relations if function is not None), None)
        if relation is None:
            bases.append((row, numbers))
        else:
            result[row] = relation
    return result


def _linear_relation(arguments: Sequence[int], results: Sequence[int]) -> tuple[int, int] | None:
    """Return the integer factor and the offset by which all results follow from the arguments, or None."""
    differing = next(i for i, argument in enumerate(arguments) if argument != arguments[0])
    factor, remainder = divmod(results[differing] - results[0], arguments[differing] - arguments[0])
    offset = results[0] - factor * arguments[0]
    is_linear = all(factor * argument + offset == result for argument, result in zip(arguments, results, strict=True))
    return (factor, offset) if is_linear and not remainder else None


def _computation(register: str, relation: _Relation, names: Mapping[_Row, str]) -> Iterator[str]:
    """Yield the instructions that compute a derived constant."""
    base, factor, offset = relation
    yield f"  {register}.scaled = mul i64 {names[base]}, {factor}"
    yield f"  {register} = add i64 {register}.scaled, {offset}"


def _with_parameters(line: str, rows: Iterator[_Row], names: Mapping[_Row, str]) -> str:
    """Return a line whose varying constants are replaced by registers, which `names` has by row.

    `rows` yields the rows of this line's constants next.
    """
    result: str = line
    for (_, start, end), row in reversed([*zip(_constants(line), rows, strict=False)]):
        if row in names:
            result = f"{result[:start]}{names[row]}{result[end:]}"
    if result == line or " = alloca " not in line:
        return result
    size, element = result.rpartition(" = alloca ")[2].strip("[]").split(" x ")
    return f"{line.partition('alloca')[0]}alloca {element}, i64 {size}"


def _call_instead(function: Function, merged: Function, constants: Iterable[str]) -> None:
    """Replace the body of a function by a call of the merged one."""
    signature = function.signature
    arguments = [*(parameter.argument for parameter in signature.parameters), *constants]
    result = "" if signature.result == "void" else "%merged.result = "
    lines = ["entry:", f"  {result}call {signature.result} @{merged.name}({', '.join(arguments)})"]
    lines.append("  ret void" if signature.result == "void" else f"  ret {signature.result} %merged.result")
    signature.attributes = ["nounwind", *QUICK.split()]
    function.replace_lines(lines)
