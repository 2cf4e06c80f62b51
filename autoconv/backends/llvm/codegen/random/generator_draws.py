"""Lower draws from random generators to calls of native functions that draw the same numbers as NumPy and Python.

A generator of NumPy's contains the interface of its bit generator (`bitgen_t` of NumPy's C API): the address of its
state, and those of functions on the state. NumPy's functions, and native code, draw through this interface. Generators
of Python's `random` are Mersenne Twisters; the functions in `mersenne_*.ll` change their state in the object.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.llvm.analysis.representation import is_scalar, is_static_array, sizes
from autoconv.backends.llvm.codegen.objects.operation import Operation, object_lowering
from autoconv.backends.llvm.codegen.values import RegisterWriter
from autoconv.backends.llvm.ir.index_arith import element_count
from autoconv.backends.llvm.runtime import numpy_random
from autoconv.backends.llvm.runtime.llvm_text import read
from autoconv.backends.llvm.target import abi
from autoconv.graph.dtypes import float64, int64
from autoconv.graph.graph import Node, Value
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.values.generator_memory import memory_offsets
from autoconv.ops.values.generator_types import generator_class

_NEXT_DOUBLE = 24  # offset of the function `next_double` in the interface, in bytes
# Marks in place of a default: of a parameter without one, and of an upper bound. If the latter is absent, the first
# argument is the upper bound.
_REQUIRED, _ABSENT = None, math.nan
_MAX_COUNT = 1 << 37  # arrays with more numbers are left to NumPy
_MAX_RATE = 1e15  # largest rate of a Poisson distribution in native code; NumPy refuses much larger ones


@dataclass(frozen=True, slots=True)
class Distribution:
    """The way in which a method draws one number.

    `parameters` maps the names of the method's parameters, in order, to their defaults. `function` is the native
    function for one number, NumPy's or one of the .ll files. The values of the parameters in `positive` have to be
    above zero; otherwise the method itself is called.
    """

    function: str
    parameters: Mapping[str, float | None]
    positive: tuple[str, ...] = ()


_SCALE, _LOCATION_AND_SCALE = {"scale": 1.0}, {"loc": 0.0, "scale": 1.0}
_UNIFORM = Distribution("random_standard_uniform", {})
_INTEGERS = Distribution("random_bounded_uint64_fill", {"low": _REQUIRED, "high": _ABSENT})
_POLAR_NORMAL = Distribution("polar_normal", {})
_SHARED_DISTRIBUTIONS = {
    "uniform": Distribution("random_uniform", {"low": 0.0, "high": 1.0}),
    "laplace": Distribution("random_laplace", _LOCATION_AND_SCALE, ("scale",)),
    "logistic": Distribution("random_logistic", _LOCATION_AND_SCALE, ("scale",)),
    "gumbel": Distribution("random_gumbel", _LOCATION_AND_SCALE, ("scale",)),
}
_DISTRIBUTIONS_BY_CLASS: dict[type, dict[str, Distribution]] = {
    np.random.Generator: {
        **_SHARED_DISTRIBUTIONS,
        "random": _UNIFORM,
        "integers": _INTEGERS,
        "standard_normal": Distribution("random_standard_normal", {}),
        "normal": Distribution("random_normal", _LOCATION_AND_SCALE, ("scale",)),
        "standard_exponential": Distribution("random_standard_exponential", {}),
        "exponential": Distribution("random_exponential", _SCALE, ("scale",)),
        "standard_gamma": Distribution("random_standard_gamma", {"shape": _REQUIRED}, ("shape",)),
        "gamma": Distribution("random_gamma", {"shape": _REQUIRED, "scale": 1.0}, ("shape", "scale")),
        "beta": Distribution("random_beta", {"a": _REQUIRED, "b": _REQUIRED}, ("a", "b")),
        "chisquare": Distribution("random_chisquare", {"df": _REQUIRED}, ("df",)),
        "standard_t": Distribution("random_standard_t", {"df": _REQUIRED}, ("df",)),
        "f": Distribution("random_f", {"dfnum": _REQUIRED, "dfden": _REQUIRED}, ("dfnum", "dfden")),
        "wald": Distribution("random_wald", {"mean": _REQUIRED, "scale": _REQUIRED}, ("mean", "scale")),
        "poisson": Distribution("random_poisson", {"lam": 1.0}, ("lam",)),
        "rayleigh": Distribution("random_rayleigh", _SCALE, ("scale",)),
        "standard_cauchy": Distribution("random_standard_cauchy", {}),
    },
    np.random.RandomState: {
        **_SHARED_DISTRIBUTIONS,
        "random": _UNIFORM, "random_sample": _UNIFORM, "rand": _UNIFORM,
        "randint": _INTEGERS,
        "randn": _POLAR_NORMAL, "standard_normal": _POLAR_NORMAL,
        "normal": Distribution("polar_normal", _LOCATION_AND_SCALE, ("scale",)),
    },
}  # fmt: skip
_PYTHON_DISTRIBUTIONS = {
    "random": Distribution("mersenne_float", {}),
    "uniform": Distribution("mersenne_float", {"a": _REQUIRED, "b": _REQUIRED}),
    "randint": Distribution("mersenne_below", {"a": _REQUIRED, "b": _REQUIRED}),
    "randrange": Distribution("mersenne_below", {"start": _REQUIRED, "stop": _ABSENT}),
}
_DISTRIBUTIONS_BY_CLASS[random.Random] = _PYTHON_DISTRIBUTIONS
_SIZE_ARGUMENT_METHODS = frozenset({"rand", "randn"})  # methods whose arguments are all sizes


_OPERAND_KINDS, _CONSTANT_KINDS = ("input", "number"), ("value", "scalar")  # kinds of arguments (see `_arguments`)


class _NativeDraw(NamedTuple):
    """The i1 conditions under which native code draws, and a function that writes the draw of one number."""

    conditions: list[str]
    write_number: Callable[[], Any]


def _is_native(node: Node) -> bool:
    """Return whether a draw of a number or array has native code; its parameters have to be numbers."""
    (result,) = node.results
    type_: Any = result.type
    distribution = _distribution(node)
    if distribution is None or memory_offsets(_class(node)) is None:
        return False
    if not (is_scalar(type_) or is_static_array(type_) or _sizes(node, distribution)):
        return False
    if distribution.function.startswith("random_") and not numpy_random.is_available():
        return False
    arguments = _arguments(node, distribution)
    if arguments is None or type_.dtype is not (int64 if _draws_integers(distribution) else float64):
        return False
    if not all(_is_number(node, argument) for argument in arguments.values()):
        return False
    # Native code subtracts the bounds as floats, where Python subtracts large ints exactly.
    is_difference = node.attributes["method"] == "uniform" and _class(node) is random.Random
    return not is_difference or _are_exact_as_floats(node, arguments)


def _are_exact_as_floats(node: Node, arguments: Mapping[str, Any]) -> bool:
    """Return whether arguments are floats, or small constants."""
    operands = [_operand(node, argument) for argument in arguments.values() if argument[0] in _OPERAND_KINDS]
    constants = [argument[-1] for argument in arguments.values() if argument[0] in _CONSTANT_KINDS]
    types: list[Any] = [value.type for value in operands if value is not None]
    return all(type_.dtype is float64 for type_ in types) and all(abs(number) < 2**52 for number in constants)


def _class(node: Node) -> type:
    """Return the class of the generator that a node draws from."""
    return generator_class(node.inputs[0].type) or type(None)


def _distribution(node: Node) -> Distribution | None:
    """Return the distribution of the method that a node calls; None if it has no native code."""
    return _DISTRIBUTIONS_BY_CLASS.get(_class(node), {}).get(node.attributes["method"])


def _draws_integers(distribution: Distribution) -> bool:
    """Return whether the numbers of a distribution are integers."""
    return distribution is _INTEGERS or distribution.function in ("random_poisson", "mersenne_below")


def _arguments(node: Node, distribution: Distribution) -> dict[str, Any] | None:
    """Return the arguments of a draw by the names of the parameters, without sizes.

    Return None if an argument is unknown, or a required one is missing. An argument is a tuple: "input" or "number" and
    a position among the operands after the generator, or "value" or "scalar" and, at last, a constant.
    """
    arguments, keywords = node.attributes["arguments"], dict(node.attributes["keywords"])
    if node.attributes["method"] in _SIZE_ARGUMENT_METHODS:
        return None if keywords else {}
    names = (*distribution.parameters, *(["size"] if _class(node) is not random.Random else []))
    if len(arguments) > len(names) or not keywords.keys() <= set(names):
        return None
    arguments_by_name = {**dict(zip(names, arguments, strict=False)), **keywords}
    arguments_by_name.pop("size", None)
    required_names = {name for name, default in distribution.parameters.items() if default is _REQUIRED}
    # None stands for the default, or for a missing argument.
    arguments_by_name = {name: value for name, value in arguments_by_name.items() if value != ("value", None)}
    return arguments_by_name if required_names <= arguments_by_name.keys() else None


def _sizes(node: Node, distribution: Distribution) -> list[Any]:
    """Return the arguments of a draw that are sizes of the array, in the form that `_arguments` describes.

    Return [] if their number is not the rank of the array, or one is no integer.
    """
    arguments, keywords = node.attributes["arguments"], dict(node.attributes["keywords"])
    if node.attributes["method"] in _SIZE_ARGUMENT_METHODS:
        size_arguments = [*arguments]
    else:
        position = len(distribution.parameters)
        size = keywords.get("size", arguments[position] if position < len(arguments) else ("value", None))
        size_arguments = [*size[1:]] if size[0] in ("tuple", "list") else [size]
    type_: Any = node.results[0].type
    has_integers = all(_is_integer(node, argument) for argument in size_arguments)
    return size_arguments if has_integers and len(size_arguments) == type_.rank else []


def _operand(node: Node, argument: Any) -> Value | None:
    """Return the operand of the node that an argument of a draw is; None for other arguments, such as constants."""
    kind, position = argument[:2]
    return node.inputs[1 + position] if kind in _OPERAND_KINDS else None


def _is_integer(node: Node, argument: Any) -> bool:
    """Return whether an argument of a draw is an integer that native code can use as a count."""
    operand = _operand(node, argument)
    if operand is not None:
        return is_scalar(operand.type) and operand.dtype.is_integer and not operand.dtype.is_unsigned
    return argument[0] in _CONSTANT_KINDS and type(argument[-1]) is int and 0 <= argument[-1] < _MAX_COUNT


def _is_number(node: Node, argument: Any) -> bool:
    """Return whether an argument is a real number: a constant, or one in a register."""
    operand = _operand(node, argument)
    if operand is not None:
        return is_scalar(operand.type) and not operand.dtype.is_complex
    number = argument[-1]
    is_real = argument[0] in _CONSTANT_KINDS and isinstance(number, (bool, int, float))
    return is_real and (not isinstance(number, int) or -(2**63) <= number < 2**63)


@object_lowering("generator_draw", fits=_is_native)
def _write_draw(op: Operation) -> None:
    """Write a draw of a number or an array from a generator."""
    _Draw(op).write()


class _Draw:
    """The writer of one draw.

    `_interface_offset` is the offset in bytes, in the generator's object, of its interface, or of the state of a
    generator of Python's. `_normal_state_offset` is that of the state of NumPy's normal numbers.
    """

    def __init__(self, op: Operation) -> None:
        self._op, self._out = op, op.out
        self._elements = RegisterWriter(op.region)
        distribution, self._generator_class = _distribution(op.node), _class(op.node)
        assert distribution is not None
        self._distribution = distribution
        self._generator = op.region.object(op.node.inputs[0]).ir
        self._interface_offset, self._normal_state_offset = memory_offsets(self._generator_class) or (0, 0)
        self._arguments_by_name = _arguments(op.node, distribution) or {}

    def write(self) -> None:
        """Write the draw of a number or an array; the kernel draws where a condition of native code fails."""
        op, out = self._op, self._out
        class_ = out.load("ptr", op.field_address(self._generator, abi.TYPE_OFFSET))
        # The kernel draws from a subclass, or with arguments for which native code is not exact.
        is_uncommon = out.differs(class_, op.body.objects.reference(self._generator_class)(out))
        if self._generator_class is random.Random:
            conditions, write_number = self._python_number_draw()
        elif self._distribution is _INTEGERS:
            conditions, write_number = self._integer_draw()
        else:
            conditions, write_number = self._float_draw()
        (result,) = op.node.results
        self._shape: Sequence[Any] = []
        if not is_scalar(result.type):
            self._shape = sizes(result.type) if is_static_array(result.type) else self._computed_sizes(conditions)
        for condition in conditions:
            is_uncommon = out.or_(is_uncommon, out.not_(condition))
        op.use_kernel_if(
            is_uncommon, lambda: [write_number() if is_scalar(result.type) else self._write_array(write_number)]
        )

    def _write_array(self, write_number: Callable[[], Any]) -> str:
        """Return a new array, which `write_number` fills in order."""
        out, (result,) = self._out, self._op.node.results
        type_: Any = result.type
        ir_type = "i64" if type_.dtype is int64 else "double"
        new_sized_array = self._op.body.new_sized_array
        region, is_static = self._op.region, is_static_array(type_)
        array = region.new_array(type_) if is_static else new_sized_array(type_.dtype, self._shape)
        data = out.load("ptr", self._op.field_address(array.ir, abi.DATA))
        with out.loop("0", str(element_count(out, self._shape))) as i:
            address = out.gep(ir_type, data, i)
            out.store(ir_type, write_number(), address)
        out.store("ptr", "null", array.slot)
        return str(array.ir)

    def _computed_sizes(self, conditions: list[str]) -> list[str]:
        """Return the registers of the sizes; append to `conditions` those under which native code creates the array."""
        b, registers, count = self._elements, [], self._elements.constant(1.0, float64)
        for argument in _sizes(self._op.node, self._distribution):
            size = self._number(argument, int64)
            conditions.append((size >= 0).ir)
            registers.append(size.ir)
            count = count * b.cast(size, float64)
        conditions.append((count < float(_MAX_COUNT)).ir)
        return registers

    def _interface_address(self) -> Any:
        """Return the address of the interface of the bit generator in the generator's object."""
        return self._op.field_address(self._generator, self._interface_offset)

    def _argument(self, name: str, dtype: Any) -> Any:
        """Return the argument for a parameter, by default the parameter's default, in a dtype."""
        if name not in self._arguments_by_name:
            return self._elements.constant(self._distribution.parameters[name], dtype)
        return self._number(self._arguments_by_name[name], dtype)

    def _number(self, argument: Any, dtype: Any) -> Any:
        """Return an argument, which is an operand or a constant, in a dtype."""
        operand = _operand(self._op.node, argument)
        if operand is None:
            return self._elements.constant(argument[-1], dtype)
        return self._elements.cast(self._op.region.number(operand), dtype)

    def _float_draw(self) -> _NativeDraw:
        """Return the draw of a float by a function of NumPy or of the .ll files."""
        function, out = self._distribution.function, self._out
        parameters = {name: self._argument(name, float64) for name in self._distribution.parameters}
        conditions = [(parameters[name] > 0.0).ir for name in self._distribution.positive]
        if function == "random_poisson":
            conditions.append((parameters["lam"] < _MAX_RATE).ir)
        if function == "random_uniform":
            parameters["high"] = parameters["high"] - parameters["low"]  # `random_uniform` takes the range
            conditions += [(parameters["high"] > 0.0).ir, (parameters["high"] < math.inf).ir]
        if function == "polar_normal":
            return _NativeDraw(conditions, lambda: self._write_polar_normal(**parameters))
        if function == "random_standard_uniform":
            return _NativeDraw(conditions, self._write_uniform)
        result, types = numpy_random.SIGNATURES[function]
        registers = [parameter.ir for parameter in parameters.values()]
        signature = ", ".join(["ptr", types] if types else ["ptr"])

        def write_number() -> Any:
            return out.call_c(function, result, signature, self._interface_address(), *registers)

        return _NativeDraw(conditions, write_number)

    def _python_number_draw(self) -> _NativeDraw:
        """Return the draw of a number from Python's generator."""
        out, module, method = self._out, self._op.body.module, self._op.node.attributes["method"]
        state_address = self._op.field_address(self._generator, self._interface_offset)
        module.constant("mersenne_word", f"\n{read('mersenne_word')}", "i32", ("ptr",))
        module.constant("mersenne_float", f"\n{read('mersenne_float')}", "double", ("ptr",))
        if method == "random":
            return _NativeDraw([], lambda: out.call("mersenne_float", state_address))
        if method == "uniform":
            low, high = self._argument("a", float64), self._argument("b", float64)

            def write_float() -> Any:
                number = self._elements.wrap(float64, str(out.call("mersenne_float", state_address)))
                return (low + (high - low) * number).ir

            return _NativeDraw([], write_float)
        module.declare("llvm.ctlz.i64", "i64", "i64, i1")
        module.constant("mersenne_below", f"\n{read('mersenne_below')}", "i64", ("ptr", "i64"))
        names = [*self._distribution.parameters]
        first = self._argument(names[0], int64)
        has_low = names[1] in self._arguments_by_name
        low, stop = (first, self._argument(names[1], int64)) if has_low else (first * 0, first)
        conditions = [(low > -(2**62)).ir, (stop < 2**62).ir]
        count = stop - low + (1 if method == "randint" else 0)
        conditions.append((count > 0).ir)

        def write_integer() -> Any:
            number = self._elements.wrap(int64, str(out.call("mersenne_below", state_address, count.ir)))
            return (low + number).ir

        return _NativeDraw(conditions, write_integer)

    def _write_uniform(self) -> Any:
        """Draw a number from 0 to 1 by the function of the generator's interface."""
        out, start = self._out, self._interface_offset
        state, function = (
            out.load("ptr", self._op.field_address(self._generator, offset)) for offset in (start, start + _NEXT_DOUBLE)
        )
        return out.new(f"call double {function}(ptr {state})")

    def _write_polar_normal(self, loc: Any = None, scale: Any = None) -> Any:
        """Draw a normal number of NumPy's `RandomState`, by the polar method; `loc` and `scale` may be None."""
        module = self._op.body.module
        module.declare("log", "double", "double")
        module.declare("llvm.sqrt.f64", "double", "double")
        module.constant("polar_normal", f"\n{read('polar_normal', NEXT_DOUBLE=_NEXT_DOUBLE)}", "double", ("ptr",))
        number = self._out.call("polar_normal", self._op.field_address(self._generator, self._normal_state_offset))
        return number if loc is None else (loc + scale * self._elements.wrap(float64, str(number))).ir

    def _integer_draw(self) -> _NativeDraw:
        """Return the draw of an integer of a range from NumPy's generators."""
        out, first = self._out, self._argument("low", int64)
        low, high = (first, self._argument("high", int64)) if "high" in self._arguments_by_name else (first * 0, first)
        last = (high - low - 1).ir
        uses_mask = int(self._generator_class is np.random.RandomState)
        cell = out.alloca("i64")

        def write_number() -> Any:
            result, types = numpy_random.SIGNATURES["random_bounded_uint64_fill"]
            operands = self._interface_address(), low.ir, last, 1, uses_mask, cell
            out.call_c("random_bounded_uint64_fill", result, f"ptr, {types}", *operands)
            return out.load("i64", cell)

        return _NativeDraw([(low < high).ir], write_number)
