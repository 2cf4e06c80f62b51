"""Write LLVM's textual form: a module of globals, declarations and functions.

LLVM parses text in one go, in a fraction of the time that building the same module object by object takes from Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from autoconv.backends.llvm.ir.merging import Merger
from autoconv.backends.llvm.ir.metadata import (
    FIRST_GROUP,
    FIRST_LOOP,
    FIRST_SCOPE,
    METADATA,
    NODES_BY_HINTS,
    LoopBranch,
    group_definitions,
    scope_definitions,
)
from autoconv.backends.llvm.ir.signature import Function, names_in

# Characters of a function above which optimising takes minutes: the time grows faster than the length.
_MAX_OPTIMISED_CHARACTERS = 2_500_000
# Characters of a function without loops above which optimising, some 1 ms for 1,000 characters, does not pay.
_MAX_OPTIMISED_STRAIGHT_CHARACTERS = 50_000
_MIN_TEXT_LENGTH, _MAX_TEXTS = 4_000, 4  # characters of optimised text that are worth a thread; number of such texts
_LONG_TEXT_LENGTH, _MAX_LONG_TEXTS = 55_000, 12  # for large modules, whose many texts keep all threads busy to the end
_AHEAD_CHARACTERS = 800_000  # characters of finished functions that are compiled while the rest is written
_PART = "part"  # stem of the names of functions that only functions of the same item call


class ModuleText:
    """The parts of a module, split into several texts: functions worth a thorough compilation, and the others.

    `begin_compilation` is called with a text of a large module and its optimisation level, before the rest is written.
    """

    def __init__(self, begin_compilation: Callable[[str, int], None] | None = None) -> None:
        self._begin_compilation = begin_compilation
        self._texts_ahead: dict[str, int] = {}  # texts whose compilation has begun, with their levels
        self._functions_ahead: set[Function] = set()  # functions of these texts
        self._merger = Merger()
        self._pending_characters = 0  # characters of the functions that were added since the last of these texts
        self._declarations: dict[str, str] = {}
        self._types: dict[str, tuple[str, Sequence[str]]] = {}  # function -> types of its result and parameters
        self._constants: dict[str, str] = {}
        self._variables: dict[str, str] = {}
        self._functions: dict[str, Function] = {}  # name -> function
        self._names: dict[Any, str] = {}  # text of a function without a fixed name -> the name that it got
        self.recursive: dict[Any, str] = {}  # names of the functions of recursive graphs, by graph
        self.site_count = 0  # number of writes to objects in these functions (see write_barrier.py)
        self._name_count = 0
        self._scope_count = 0
        self._group_count = 0
        # Of numbers among the parameters; see analysis/assumed_ranges.py.
        self.assumed_ranges: Mapping[Any, tuple[int, int]] = {}
        self.has_loops = False  # whether functions have loops that are worth a thorough compilation
        # Dimensions bound at the call, and their registers, which each function of a graph takes as parameters.
        self.open_sizes: Any = None
        self._sizes: tuple[str, ...] = ()
        self.size_numbers: dict[str, int] = {}  # positions in `sizes`
        self.node: Any = None  # the node that is being written

    @property
    def sizes(self) -> tuple[str, ...]:
        """The registers of open sizes that are in scope."""
        return self._sizes

    @sizes.setter
    def sizes(self, registers: tuple[str, ...]) -> None:
        self._sizes = registers
        self.size_numbers = {register: number for number, register in enumerate(registers)}

    def declare(self, name: str, result: str, parameters: str, attributes: str = "") -> str:
        """Declare the function `name`, once, and return `@name`."""
        if name not in self._declarations:
            self._declarations[name] = f'declare {result} @"{name}"({parameters}) {attributes}'
            self._types[name] = result, parameters.split(", ") if parameters else []
        return f'@"{name}"'

    def types_of(self, name: str) -> tuple[str, Sequence[str]]:
        """Return the types of the result and of the parameters of a function that is declared or added."""
        if name not in self._types:
            signature = self._functions[name].signature
            self._types[name] = signature.result, [parameter.type for parameter in signature.parameters]
        return self._types[name]

    def constant(self, name: str, text: str, result: str = "", parameters: Sequence[str] = ()) -> str:
        """Add a definition that is internal to each text that refers to it; return `@name`.

        Result and parameters are the types of a function.
        """
        self._constants[name] = text
        self._types[name] = result, parameters
        return f"@{name}"

    def variable(self, name: str, ir_type: str) -> None:
        """Add a zero-initialised variable, once; the last text defines it."""
        self._variables[name] = ir_type

    def add(self, function: Function, stem: str) -> str:
        """Add a function and return its name, fixed or beginning with `stem`; equal functions are added once."""
        name = function.signature.name
        if not name:
            key = function.text(function.lines)
            known_name = self._names.get(key)
            if known_name is not None:
                return known_name
            name = self._names[key] = self.unique_name(stem)
            function.touches_elements = True  # it is a loop nest, a routine or a part of one
            self._pending_characters += len(key)
        function.name = name
        self._functions[name] = function
        return name

    def unique_name(self, stem: str) -> str:
        """Return a name that begins with `stem` and that no other function of the module has."""
        self._name_count += 1
        return f"{stem}{self._name_count}"

    def new_alias_scope(self) -> str:
        """Return the metadata node of a new scope: accesses that are in it do not alias those that exclude it."""
        self._scope_count += 1
        return f"!{FIRST_SCOPE + self._scope_count - 1}"

    def new_access_group(self) -> str:
        """Return the metadata node of a new group of accesses, to which a loop's hints refer."""
        self._group_count += 1
        return f"!{FIRST_GROUP + self._group_count - 1}"

    def compile_ahead(self) -> None:
        """Begin to compile the functions of a large module that are finished; none of them is being written."""
        if self._begin_compilation is None or self._pending_characters < _AHEAD_CHARACTERS or not self.has_loops:
            return
        self._pending_characters = 0
        functions = [
            function for function in self._functions.values()
            if function.touches_elements and function not in self._functions_ahead
            and not _is_compiled_quickly(function)
        ]  # fmt: skip
        functions = self._merger.merge(functions, self._add_merged).merged  # others may be merged with later ones
        if not functions:
            return
        for function in functions:
            function.hide_counts()
        called_names = {name for function in functions for name in function.referenced_names}
        internal_names = {f.name for f in functions if f.name in called_names and f.name.startswith(_PART)}
        # Equal functions that are added later get another name, as no other text can call these.
        self._names = {key: name for key, name in self._names.items() if name not in internal_names}
        exported_names = {function.name for function in functions} - internal_names
        text = self._text(functions, defines_variables=False, exported_names=exported_names)
        self._texts_ahead[text] = 3
        self._functions_ahead.update(functions)
        self._begin_compilation(text, 3)

    def texts(self) -> dict[str, int]:
        """Return the texts, which call each other's functions, with the optimisation level of each.

        Level 3: as many texts as are worth a thread each. Level 1: functions without loops over elements. Level 0:
        functions that only call, long ones without loops, very long ones. The number of texts depends on the sizes of
        the functions alone.
        """
        functions = [function for function in self._functions.values() if function not in self._functions_ahead]
        quick_functions = list(filter(_is_compiled_quickly, functions))
        optimised = [function for function in functions if function not in quick_functions]
        thorough_functions = [function for function in optimised if self.has_loops and function.touches_elements]
        loopless_functions = [function for function in optimised if function not in thorough_functions]
        merged_functions, unmerged_functions, callers = self._merger.merge(thorough_functions, self._add_merged)
        thorough_functions = [*merged_functions, *unmerged_functions]
        quick_functions += callers
        for function in thorough_functions:
            function.hide_counts()
        sizes = {function: len(function) for function in thorough_functions}
        total_size = sum(sizes.values())
        share_count = min(total_size // _MIN_TEXT_LENGTH, _MAX_TEXTS) or 1
        share_count = max(share_count, min(total_size // _LONG_TEXT_LENGTH, _MAX_LONG_TEXTS))
        shares: list[list[Function]] = [[] for _ in range(share_count)]
        for function in sorted(thorough_functions, key=lambda function: -sizes[function]):
            min(shares, key=lambda share: sum(sizes[function] for function in share)).append(function)
        ordered_shares = ([function for function in thorough_functions if function in share] for share in shares)
        groups_and_levels = [(share, 3) for share in ordered_shares]
        result = dict(self._texts_ahead)
        for group, level in [*groups_and_levels, (loopless_functions, 1), (quick_functions, 0)]:
            if group or not level:  # the text of level 0 defines the variables
                result[self._text(group, defines_variables=group is quick_functions)] = level
        return result

    def _add_merged(self, function: Function) -> Function:
        """Add a merged function, and return it or the equal one that was added before."""
        return self._functions[self.add(function, "merged")]

    def single_text(self) -> str:
        """Return all functions as one text, which defines no variable of the module."""
        for function in self._functions.values():
            if self.has_loops and function.touches_elements:
                function.hide_counts()
        return self._text(list(self._functions.values()), defines_variables=False)

    def _text(
        self, functions: Collection[Function], defines_variables: bool, exported_names: Collection[str] = ()
    ) -> str:
        """Return the text of these functions and of what they refer to; it may define the module's variables.

        Functions that are called in other texts, or will be (`exported_names`), are exported.
        """
        other_functions = [function for function in self._functions.values() if function not in functions]
        called_names = {name for function in other_functions for name in function.referenced_names} | {*exported_names}
        hints: list[str] = []
        bodies = [f.text(_number_loop_metadata(f.lines, hints), f.name in called_names) for f in functions]
        names = {name for function in functions for name in (function.name, *function.referenced_names)}
        constants: dict[str, str] = {}
        while new_names := [name for name in self._constants if name in names and name not in constants]:
            new_constants = {name: self._constants[name] for name in new_names}
            constants |= new_constants  # a function may call another one
            names |= names_in("\n".join(new_constants.values()))
        lines = [text for name, text in self._declarations.items() if name in names]
        lines += [f.signature.declaration(f.name) for f in other_functions if f.name in names]
        for name, ir_type in self._variables.items():
            if defines_variables:
                lines.append(f"@{name} = global {ir_type} zeroinitializer")
            elif name in names:
                lines.append(f"@{name} = external global {ir_type}")
        text = "\n".join([*lines, *constants.values(), *bodies, METADATA + scope_definitions(self._scope_count)])
        text += group_definitions(self._group_count)
        loops = enumerate((NODES_BY_HINTS.get(hint, hint) for hint in hints), FIRST_LOOP)
        return text + "\n".join(f"!{i} = distinct !{{!{i}, {nodes}}}" for i, nodes in loops)


def _is_compiled_quickly(function: Function) -> bool:
    """Return whether a function is compiled without optimisation: a quick function, or one that is too long."""
    if function.signature.is_quick:
        return True
    length = len(function)
    return length > _MAX_OPTIMISED_STRAIGHT_CHARACTERS and (
        length > _MAX_OPTIMISED_CHARACTERS or not function.has_backward_branch()
    )


def _number_loop_metadata(lines: Iterable[str], hints: list[str]) -> list[str]:
    """Return the lines with numbered metadata of loops, whose hints are appended to `hints`."""
    result = []
    for line in lines:
        if isinstance(line, LoopBranch):
            hints.append(line.hints)
            line = line.with_number(FIRST_LOOP + len(hints) - 1)
        result.append(line)
    return result
