"""A graph as a StableHLO module: a function that returns results, new contents of arguments, and the error word."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.portable.cells import Cell, Choice, View, options_of
from autoconv.backends.portable.lower import Lowered, Lowering
from autoconv.backends.portable.terms import Term
from autoconv.backends.portable.types import array_type
from autoconv.backends.stablehlo.bounded_positions import PositionWriter
from autoconv.backends.stablehlo.bounded_terms import lengths_of, storage_of
from autoconv.backends.stablehlo.types import tensor_type
from autoconv.graph.graph import Graph
from autoconv.graph.types import TensorType
from autoconv.lazy_dataclass import dataclass


class ViewKernel(NamedTuple):
    """The kernel of a view op, its attributes, and the positions of the results that are its operands after the first.
    """

    kernel: Callable[..., Any]
    attributes: Mapping[str, Any]
    operand_positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A result that is a part of an array: of an argument, or of one of the module's results, by position.

    The kernels of `chain`, applied to the array one after the other, compute the part.
    """

    position: int
    is_of_argument: bool
    chain: tuple[ViewKernel, ...] = ()


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """A result that is one of several parts; the module's result at position `tag` is the index of the chosen one."""

    options: tuple[Part, ...]
    tag: int


class Length(NamedTuple):
    """The place of a length: the result at `length_position` is the size, along an axis, of that at `position`."""

    position: int
    axis: int
    length_position: int


@dataclass(frozen=True, slots=True)
class Module:
    """A StableHLO module with one public function, `main`.

    text            the module
    results         number of the graph's results; new contents of written parameters follow, then lengths and the
                    error word
    has_error_word  whether there is an error word; with `in_place`, modules in which nothing can fail have none
    written         positions of the parameters (variables, arrays) whose new contents are results
    places          texts of the op and its place in the program; error word n stands for `places[n - 1]`
    shares          whether the module copies a result that is (or is part of) an argument or another result
    types           of the results, and of the new contents of written parameters
    parts           with `in_place`: the origins of the graph's results, if some of them share memory
    donated         positions of the parameters whose memory the new contents may take
    lengths         of results whose sizes are values; such a result has the largest size, and `cut` takes its first
                    elements

    >>> module = autoconv.stablehlo.export(lambda x: x * 2.0, autoconv.TensorSpec([4], autoconv.float32))
    >>> module.results, module.written, module.places
    (1, (), ())
    """

    text: str
    results: int
    written: tuple[int, ...]
    places: tuple[str, ...]
    shares: bool = False
    types: tuple[TensorType, ...] = ()
    parts: tuple[Part | ChosenPart, ...] = ()
    donated: tuple[int, ...] = ()
    has_error_word: bool = True
    lengths: tuple[Length, ...] = ()

    def cut(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the results, without lengths and the error word, with as many elements as the lengths state."""
        results = list(arrays[: len(self.types) - len(self.lengths)])
        for position, axis, length_position in self.lengths:
            index = (*[slice(None)] * axis, slice(int(arrays[length_position])))
            results[position] = np.array(np.asarray(results[position])[index])
        return results


def to_stablehlo(
    graph: Graph, capacity: int = 64, numbers: Mapping[int, int] | None = None, in_place: bool = False,
    donated: Container[int] = (), leads: Sequence[int] = (),
) -> Module:
    """Return a graph as a StableHLO module; `capacity` is the number of elements that a list of the graph may have.

    `numbers` are values of integer parameters, by position: the module holds for these values, as sizes may depend on
    them. With `in_place`, results that share memory are described by `Module.parts`, and not copied: the caller puts
    new contents into the arguments, and takes the parts. Parameters at the positions `donated` that the graph writes
    lose their memory to their new contents. `leads` has a number for each parameter: where it is not 0, the parameter
    is a vector of that many elements without meaning and those of the array, whose memory may then start anywhere.

    Raises GraphUnfit, which names the op and its place, for a graph that StableHLO cannot represent.
    """
    writer = PositionWriter(capacity)
    parameters = []
    for i, value in enumerate(graph.parameters):
        type_ = array_type(value.type)
        parameters.append(Term(writer, f"%arg{i}", type_.dtype, _shape(type_)))
        if numbers and i in numbers:
            parameters[-1].constant_value = numbers[i]
    writer.has_open_sizes = any(None in term.shape for term in parameters)
    lowered = Lowering(writer).lower_graph(graph, parameters, in_place)
    values, operands, parts = _describe_parts(lowered) if lowered.views else _Results(lowered.results, [], ())
    outputs = [*values, *(term for _, term in lowered.written), *operands]
    lengths: list[Length] = []
    for i, term in enumerate(list(outputs)):
        for axis, length in lengths_of(term).items():
            lengths.append(Length(i, axis, len(outputs)))
            outputs.append(length)
    outputs = [storage_of(term) for term in outputs]
    types = tuple(TensorType(term.dtype, term.shape) for term in outputs)
    has_error_word = writer.error_word is not None or not in_place
    if has_error_word:
        outputs.append(writer.error_word_or_zero(writer.error_word))
    aliases = {
        position: len(values) + i
        for i, (position, term) in enumerate(lowered.written)
        if position in donated and (term.dtype, term.shape) == (parameters[position].dtype, parameters[position].shape)
    }
    return Module(
        _module_text(parameters, outputs, writer.lines, aliases, leads or [0] * len(parameters)),
        len(values),
        tuple(position for position, _ in lowered.written),
        tuple(writer.places),
        shares=lowered.shares_memory and not parts,
        types=types,
        parts=parts,
        donated=tuple(aliases),
        has_error_word=has_error_word,
        lengths=tuple(lengths),
    )


class _Origin(NamedTuple):
    """An array that a result is a view of: by its position among the arguments or among the module's results."""

    position: int
    is_of_argument: bool
    view: View | None  # None if the result is no array in memory


class _Results(NamedTuple):
    """A module's results, the operands of view ops that it returns last, and the graph's results as parts of both."""

    values: list[Term]
    operands: list[Term]
    parts: tuple[Part | ChosenPart, ...]


def _describe_parts(lowered: Lowered) -> _Results:
    """Return the results of a graph with views: each as the array that it is a view of, and the ops of the view."""
    values: list[Term] = []
    position_of_cell: dict[Cell, int] = {}
    tagged_origins: list[tuple[int, list[_Origin]]] = []  # for each result: the tag's position, possible origins
    for view, term in zip(lowered.views, lowered.results, strict=True):
        options = [None] if view is None else options_of(view)
        origins = []
        for option in options:
            cell = None if option is None else option.cell
            assert not isinstance(cell, Choice)
            if cell is not None and cell.argument_position is not None:
                origins.append(_Origin(cell.argument_position, is_of_argument=True, view=option))
                continue
            position = len(values) if cell is None else position_of_cell.get(cell, len(values))
            if position == len(values):
                values.append(term if cell is None else cell.term)
            if cell is not None:
                position_of_cell[cell] = position
            origins.append(_Origin(position, is_of_argument=False, view=option))
        tagged_origins.append((len(values), origins))
        if len(origins) > 1:
            values.append(term)
    operands: list[Term] = []
    first_operand_position = len(values) + len(lowered.written)
    parts: list[Part | ChosenPart] = []
    for tag_position, origins in tagged_origins:
        parts_of_result = []
        for position, is_of_argument, option in origins:
            chain = []
            for node, view_operands in option.chain if option is not None else ():
                assert node.op.kernel is not None
                start = first_operand_position + len(operands)
                positions = tuple(range(start, start + len(view_operands)))
                chain.append(ViewKernel(node.op.kernel, node.attributes, positions))
                operands += view_operands
            parts_of_result.append(Part(position, is_of_argument, tuple(chain)))
        is_chosen = len(parts_of_result) > 1
        parts.append(ChosenPart(tuple(parts_of_result), tag_position) if is_chosen else parts_of_result[0])
    return _Results(values, operands, tuple(parts))


def _shape(type_: TensorType) -> tuple[int | None, ...]:
    """Return a shape with None for each open size."""
    return tuple(size if isinstance(size, int) else None for size in type_.shape or ())


def _module_text(
    parameters: Sequence[Term], outputs: Sequence[Term], lines: Sequence[str], aliases: Mapping[int, int],
    leads: Sequence[int],
) -> str:
    """Return the module's text; `aliases` maps a parameter's position to that of the result that takes its memory."""
    parameter_texts, lead_lines = [], []
    for i, (x, lead) in enumerate(zip(parameters, leads, strict=True)):
        name, type_text = x.name, tensor_type(x.dtype, x.shape)
        if lead:
            size = math.prod(x.shape)  # type: ignore[arg-type]
            name, array_type_text, type_text = f"%memory{i}", type_text, tensor_type(x.dtype, (lead + size,))
            elements_type = tensor_type(x.dtype, (size,))
            lead_lines += [
                f"    %elements{i} = stablehlo.slice {name} [{lead}:{lead + size}] : ({type_text}) -> {elements_type}",
                f"    {x.name} = stablehlo.reshape %elements{i} : ({elements_type}) -> {array_type_text}",
            ]
        alias_text = f" {{tf.aliasing_output = {aliases[i]} : i32}}" if i in aliases else ""
        parameter_texts.append(f"{name}: {type_text}{alias_text}")
    types = ", ".join(tensor_type(x.dtype, x.shape) for x in outputs)
    names = ", ".join(x.name for x in outputs)
    return "\n".join([
        "module {",
        f"  func.func public @main({', '.join(parameter_texts)}) -> ({types}) {{",
        *lead_lines,
        *lines,
        f"    func.return {names} : {types}" if outputs else "    func.return",
        "  }",
        "}",
        "",
    ])  # fmt: skip
