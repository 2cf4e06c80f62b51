"""Replacement of random generators, in graphs for export, by arrays of their states and code that draws from these.

    before   %g = generator_make(%seed); %x = generator_draw(%g, method="random")
    after    %g = array_new(shape=(6,), dtype=uint64); … stores for the seed …; %x = … integer ops on loads of %g …

The code is traced from `ops.random.generator_draws`. It is not in the table of optimisations, as native code draws from
the generators themselves.
"""

from __future__ import annotations

import functools
import linecache
import math
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from autoconv.errors import UnsupportedError
from autoconv.graph.dtypes import DType, uint32, uint64
from autoconv.graph.graph import Graph, Node, Value
from autoconv.graph.rewriter import Rewriter
from autoconv.graph.types import ArrayType, ObjectType, TensorType, Type, dense_strides
from autoconv.lazy_dataclass import dataclass
from autoconv.ops import OPS
from autoconv.ops.random import generator_bits, generator_draws
from autoconv.ops.values.generator_types import (
    GENERATOR,
    GENERATOR_TYPES,
    PYTHON_RANDOM,
    RANDOM_STATE,
    generator_class,
)
from autoconv.optimise.fold import fold_constants
from autoconv.optimise.known_parameters import fix_parameters
from autoconv.runtime.support.spans import place_of
from autoconv.tracing.api.function import Function
from autoconv.tracing.specialise.compile_contract import CompileContract


@dataclass(frozen=True, slots=True)
class _Draw:
    """The code of a generator's method.

    `function_name` is the name of the function in `generator_draws` that draws one number. `parameters` are its
    parameters after the state, with their defaults. `tables` is the distribution whose ziggurat tables the function
    takes in addition, or "" if it takes none.
    """

    function_name: str
    parameters: Mapping[str, Any]
    tables: str = ""


_REQUIRED = object()  # the default of a parameter without a default
_LOCATION_AND_SCALE = {"loc": 0.0, "scale": 1.0}
_INTEGER = _Draw("integer", {"low": _REQUIRED, "high": None})
_COMMON_DRAWS = {
    "random": _Draw("fraction", {}),
    "uniform": _Draw("uniform", {"low": 0.0, "high": 1.0}),
    "laplace": _Draw("laplace", _LOCATION_AND_SCALE),
    "logistic": _Draw("logistic", _LOCATION_AND_SCALE),
    "gumbel": _Draw("gumbel", _LOCATION_AND_SCALE),
    "permutation": _Draw("permutation", {"x": _REQUIRED}),
    "choice": _Draw("choice", {"a": _REQUIRED, "size": None, "replace": True, "p": None}),
}
_METHODS: dict[Type, dict[str, _Draw]] = {
    GENERATOR: {
        **_COMMON_DRAWS,
        "integers": _INTEGER, "uniform": _Draw("ascending_uniform", {"low": 0.0, "high": 1.0}),
        "normal": _Draw("normal", _LOCATION_AND_SCALE, "normal"),
        "standard_normal": _Draw("standard_normal", {}, "normal"),
        "exponential": _Draw("exponential", {"scale": 1.0}, "exponential"),
        "standard_exponential": _Draw("standard_exponential", {}, "exponential"),
    },
    RANDOM_STATE: {
        **_COMMON_DRAWS,
        "random_sample": _COMMON_DRAWS["random"], "rand": _COMMON_DRAWS["random"],
        "randint": _INTEGER,
        "normal": _Draw("polar_normal", _LOCATION_AND_SCALE),
        "standard_normal": _Draw("standard_polar_normal", {}), "randn": _Draw("standard_polar_normal", {}),
    },
    PYTHON_RANDOM: {
        "random": _COMMON_DRAWS["random"],
        "uniform": _Draw("unchecked_uniform", {"a": _REQUIRED, "b": _REQUIRED}),
        "randint": _Draw("closed_integer", {"a": _REQUIRED, "b": _REQUIRED}),
        "randrange": _Draw("integer", {"start": _REQUIRED, "stop": None}),
    },
}  # fmt: skip
_BIT_SOURCES = {GENERATOR: "PCG64", RANDOM_STATE: "RANDOM_STATE", PYTHON_RANDOM: "PYTHON"}
_POOL_SIZE = 4  # number of 32-bit words in the pool into which NumPy's SeedSequence hashes a seed
# Arrays of states (see `state_of`). PCG64: two words of state, two of increment, whether half of a drawn word is kept,
# and that half. Mersenne twister: 624 words, a position, and 5 further words that draws use.
_PCG64_STATE = ArrayType(uint64, (6,), dense_strides((6,), uint64))
_MERSENNE_STATE = ArrayType(uint32, (630,), dense_strides((630,), uint32))
_STATE_TYPES = {GENERATOR: _PCG64_STATE, RANDOM_STATE: _MERSENNE_STATE, PYTHON_RANDOM: _MERSENNE_STATE}
_FIXED_OPTIONS = {"endpoint": ("value", False), "replace": ("value", True)}  # draws with other values are refused
_SIZE_METHODS = frozenset({"rand", "randn"})  # methods whose arguments are all sizes


def replace_generators(graph: Graph) -> Graph:
    """Return a graph whose random generators are arrays. Raises UnsupportedError for draws not in `_METHODS`."""
    if not any(isinstance(value.type, ObjectType) and value.type in _STATE_TYPES for value in _values(graph)):
        return graph
    return _GeneratorReplacement(fold_constants(graph, "compile"), None).run()


def _values(graph: Graph) -> list[Value]:
    """Return the parameters of a graph, and the results of all its nodes, those in regions included."""
    return [*graph.parameters, *(value for node in graph.walk() for value in node.results)]


def state_of(generator: Any) -> np.ndarray:
    """Return the state of a generator as an array.

    Raises UnsupportedError for bits of another algorithm, and for a generator that keeps a normal number for later.
    """
    type_ = GENERATOR_TYPES[type(generator)]
    if type_ == PYTHON_RANDOM:
        _, words, next_normal = generator.getstate()
        keeps_normal = next_normal is not None
    elif type_ == RANDOM_STATE:
        content = generator.get_state(legacy=False)
        _check_bits(content["bit_generator"], "MT19937")
        words, keeps_normal = (*content["state"]["key"], content["state"]["pos"]), content["has_gauss"]
    else:
        content = generator.bit_generator.state
        _check_bits(content["bit_generator"], "PCG64")
        words = [word for name in ("state", "inc") for word in divmod(content["state"][name], 1 << 64)]
        return np.array([*words, content["has_uint32"], content["uinteger"]], np.uint64)
    if keeps_normal:
        raise UnsupportedError("a generator that keeps a normal number has no form outside of the process")
    return np.array([*words, *[0] * 5], np.uint32)


def _check_bits(algorithm: str, exported_algorithm: str) -> None:
    """Raise UnsupportedError if a generator's bits are of another algorithm than the one with exported code."""
    if algorithm != exported_algorithm:
        raise UnsupportedError(f"a generator with the bits of {algorithm}, not {exported_algorithm}, has no form")


class _GeneratorReplacement(Rewriter[None]):
    """The pass: each generator becomes an array, each draw the nodes of its code."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._constants: dict[Value, Any] = {}  # value of a constant node of the original graph -> its array

    def type_of(self, value: Value) -> Type:
        return _STATE_TYPES.get(value.type, value.type)  # type: ignore[arg-type]

    def rewrite_node(self, node: Node, inputs: list[Value]) -> Sequence[Value] | None:
        """Return the results of nodes that make a generator or draw from one; None for other nodes."""
        match node.op.name:
            case "constant":
                self._constants[node.results[0]] = node.attributes["value"]
            case "generator_make":
                return [self._make(node, inputs[0])]
            case "generator_draw":
                return self._draw(node, inputs)
            case "generator_global":
                _refuse(node, "a draw from the generator that the whole process shares")
            case "generator_seed":
                _refuse(node, "a generator that is seeded anew")
        return None

    def _add(self, name: str, inputs: Sequence[Value] = (), **attributes: Any) -> Sequence[Value]:
        return self.copy.add(OPS[name], inputs, attributes).results

    def _constant(self, array: Any) -> Value:
        return self._add("constant", value=np.asarray(array))[0]

    def _make(self, node: Node, seed: Value) -> Value:
        """Return the state of a generator that is made from a seed."""
        type_: Any = node.results[0].type
        seed_type: Any = seed.type
        if node.inputs[0] in self._constants:
            number = np.asarray(self._constants[node.inputs[0]]).tolist()
            make: Any = np.random.default_rng if type_ == GENERATOR else generator_class(type_)
            generator = make(number)
            return self._add("array_of", [self._constant(state_of(generator))])[0]
        if seed_type.shape != () or not seed_type.dtype.is_integer or type_ == PYTHON_RANDOM:
            _refuse(node, "a generator of a seed that is no integer, or one of Python's of a seed that is no constant")
        state_type = _STATE_TYPES[type_]
        (state,) = self._add("array_new", shape=state_type.shape, dtype=state_type.dtype, fill=0)
        name = "seed_pcg64" if type_ == GENERATOR else "seed_mersenne"
        pool_size = self._add("constant", value=np.array(_POOL_SIZE), weak=True) if type_ == GENERATOR else ()
        self._append(node, _seed_code(name, seed_type.dtype), [state, seed, *pool_size])
        return state

    def _draw(self, node: Node, inputs: list[Value]) -> Sequence[Value]:
        """Append the code of a draw from the state `inputs[0]`; return what it draws."""
        generator_type: Any = node.inputs[0].type
        result_type = self._type_of_draw(node)
        method = node.attributes["method"]
        draw = _METHODS.get(generator_type, {}).get(method)
        arguments = None if draw is None else _arguments(node, draw)
        if draw is None or arguments is None or result_type is None:
            _refuse(node, f"a draw by {method!r} of a generator with these arguments")
        operands = [
            inputs[1 + content] if kind in ("input", "number") else self._constant(content)
            for kind, *_, content in arguments
        ]
        shape: Any = result_type.shape
        if None in shape:
            _refuse(node, f"a draw by {method!r} of a number of values known only at run time")
        operand_types: list[Any] = [value.type for value in operands]
        types = tuple((type_.dtype, type_.shape) for type_ in operand_types)
        code = _draw_code(generator_type, draw.function_name, types, draw.tables, result_type)
        is_array = _draws_array(draw.function_name, result_type)
        tables = [self._add("array_of", [self._constant(table)])[0] for table in ziggurat(draw.tables)]
        arrays = [
            self._add("array_of", [value])[0] if type_.shape else value
            for value, type_ in zip(operands, operand_types, strict=True)
        ]
        draw_count = self._add("constant", value=np.array(math.prod(shape)), weak=True) if is_array else ()
        (drawn,) = self._append(node, code, [inputs[0], *draw_count, *arrays, *tables])
        return self._add("array_load", [drawn]) if isinstance(drawn.type, ArrayType) else [drawn]

    def _type_of_draw(self, node: Node) -> TensorType | None:
        """Return the type of what a node draws; None if its rank is unknown.

        Unknown sizes are found by a draw in this process, if they depend on constants only.
        """
        type_ = node.results[0].type
        if not isinstance(type_, TensorType) or type_.shape is None:
            return None
        if None not in type_.shape:
            return type_
        arrays = []
        for value in node.inputs[1:]:
            operand_type: Any = value.type
            array, shape = self._constants.get(value), operand_type.shape or ()
            if array is None and operand_type.dtype.is_floating and None not in shape:
                # Any numbers whose sum is 1, as the operand may be probabilities.
                array = np.full(shape, 1 / max(math.prod(shape), 1), operand_type.dtype.numpy)
            if array is None:
                return type_
            arrays.append(array)
        cls = next(cls for cls, generator_type in GENERATOR_TYPES.items() if generator_type == node.inputs[0].type)
        generator: Any = np.random.default_rng(0) if cls is np.random.Generator else cls(0)
        assert node.op.kernel is not None
        try:
            return type_.with_shape(np.shape(node.op.kernel(generator, *arrays, **node.attributes)))
        except (TypeError, ValueError):  # the program itself raises this error when it runs
            return type_

    def _append(self, node: Node, code: Graph, operands: Sequence[Value]) -> list[Value]:
        """Append the nodes of the graph `code`, with the span of `node`; return the values of its outputs."""
        self.values.update(zip(code.parameters, operands, strict=True))
        start = len(self.copy.nodes)
        self.append_rewritten(code.nodes)
        for added in self.copy.nodes[start:]:
            added.span = node.span
            for inner in (inner for region in added.regions for inner in region.walk()):
                inner.span = node.span
        return [self.values[value] for value in code.outputs]


def _refuse(node: Node, description: str) -> NoReturn:
    """Raise UnsupportedError for a node that draws random numbers in a way that has no exported form."""
    place = None if node.span is None else place_of(node.span)
    raise UnsupportedError(
        f"{description} has no form outside of the process", place,
        remedy="a generator made in the function by numpy.random.default_rng(seed), and its methods random, integers, "
        "uniform, normal, exponential and permutation",
    )  # fmt: skip


def _arguments(node: Node, draw: _Draw) -> list[Any] | None:
    """Return an argument for each parameter of a draw; None if the node has arguments that the code does not take.

    Each argument is ("value", constant), or ("input", i) or ("number", i) for an operand of the node; the operand after
    the generator has the number 0.
    """
    positional, keywords = node.attributes["arguments"], dict(node.attributes["keywords"])
    if node.attributes["method"] in _SIZE_METHODS:
        return None if keywords else []
    names = dict.fromkeys([*draw.parameters, "size"])
    arguments_by_name = {**dict(zip(names, positional, strict=False)), **keywords}
    has_other_values = any(arguments_by_name.pop(name, value) != value for name, value in _FIXED_OPTIONS.items())
    if len(positional) > len(names) or not arguments_by_name.keys() <= names.keys() or has_other_values:
        return None
    if draw.function_name == "integer":
        low, high = draw.parameters
        if arguments_by_name.get(high, ("value", None)) == ("value", None):  # the only argument is the upper bound
            arguments_by_name = {**arguments_by_name, low: ("value", 0), high: arguments_by_name[low]}
    result = [
        arguments_by_name.get(name, ("value", default))
        for name, default in draw.parameters.items()
        if name not in ("size", "replace") and (name != "p" or name in arguments_by_name)
    ]
    constants = [parts[-1] for kind, *parts in result if kind not in ("input", "number")]
    return result if all(isinstance(value, (int, float, np.generic)) for value in constants) else None


@functools.cache
def _sources() -> types.ModuleType:
    """Return the functions of draws in a new module that counts as the program's; the package's are not converted."""
    result = types.ModuleType("generator_draws")
    for module in (generator_draws, generator_bits):  # the second replaces the names that the first imports from it
        text, name = Path(str(module.__file__)).read_text(encoding="utf-8"), f"<{module.__name__}>"
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        exec(compile(text, name, "exec"), vars(result))
    return result


@functools.cache
def ziggurat(name: str) -> Sequence[np.ndarray]:
    """Return the tables of the ziggurat method for a distribution: limits as integers, widths, densities.

    Return () for the name "".
    """
    if not name:
        return ()
    rows = np.load(Path(generator_draws.__file__).with_name("ziggurat.npy"))
    limits, widths, densities = rows[:3] if name == "normal" else rows[3:]
    return limits, widths.view(np.float64), densities.view(np.float64)


@functools.cache
def _seed_code(name: str, dtype: DType) -> Graph:
    """Return the graph that initialises a generator's state from a seed of the dtype."""
    is_pcg64 = name == "seed_pcg64"
    memory: Any = _PCG64_STATE if is_pcg64 else _MERSENNE_STATE
    pool_size = [_POOL_SIZE] if is_pcg64 else []
    examples = [np.zeros(memory.shape, memory.dtype.numpy), dtype.numpy.type(1), *pool_size]
    return _trace(getattr(_sources(), name), examples)


@functools.cache
def _draw_code(
    generator_type: ObjectType, name: str, operands: tuple[Any, ...], tables: str, result: TensorType
) -> Graph:
    """Return the graph of a draw; `operands` are the dtypes and shapes of its parameters, `tables` as in `_Draw`."""
    sources, memory = _sources(), _STATE_TYPES[generator_type]
    bits, ranks = getattr(sources, _BIT_SOURCES[generator_type]), tuple(len(shape) for _, shape in operands)
    if name == "choice":
        code = sources.choice_code(bits, result.shape, ranks[0])
    elif not _draws_array(name, result):
        convert = (int if result.dtype.is_integer else float) if result.weak else sources.same
        draw = sources.permuted_rows if name == "permutation" and ranks[0] else getattr(sources, name)
        code = sources.number_code(draw, bits, convert)
    else:
        code = sources.array_code(getattr(sources, name), bits, result.shape, result.dtype.numpy, ranks)
    examples = [np.ones(shape, dtype.numpy)[()] for dtype, shape in operands]
    draw_count = [1] if _draws_array(name, result) else []
    return _trace(code, [np.zeros(memory.shape, memory.dtype.numpy), *draw_count, *examples, *ziggurat(tables)])


def _draws_array(name: str, result: TensorType) -> bool:
    """Return whether a draw is of an array element by element, so that its code takes the number of elements."""
    return name == "choice" or (result.shape != () and name != "permutation")


def _trace(code: Callable[..., Any], examples: Sequence[Any]) -> Graph:
    """Return the graph of Python code for arguments like the examples; captures are constants of the graph."""
    concrete = Function(code, CompileContract).get_concrete_function(*examples)
    graph = concrete.recorded
    captures = enumerate(concrete.captures, len(graph.parameters) - len(concrete.captures))
    return fix_parameters(graph, {position: np.asarray(value) for position, value in captures})
