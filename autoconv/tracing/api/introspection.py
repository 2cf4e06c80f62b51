"""Introspection of a function: its name and type, its traces, and why they were made."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.support.articles import with_article
from autoconv.tracing.execute.compiled_trace import ConcreteFunction
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.specialise.trace_cache import TraceCache
from autoconv.tracing.views.explain import Explanation

T = TypeVar("T")
_MAX_METHODS = 3  # number of instances whose methods an explanation includes


@dataclass(frozen=True, slots=True)
class PolymorphicType:
    """The type of a function before tracing: its parameters, with the types of the input signature if there is one.

    `FunctionType` is the type of one trace.
    """

    signature: Signature

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """Python's own description of each parameter, by name."""
        return self.signature.python_signature.parameters

    def __str__(self) -> str:
        return self.signature.format_text()


class _AttributeOfPythonFunction:
    """Descriptor that reads and writes an attribute of the Python function, such as `__code__`."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else getattr(instance.python_function, self._name)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance.python_function, self._name, value)

    def __delete__(self, instance: Any) -> None:
        delattr(instance.python_function, self._name)


class _OverridableProperty(Generic[T]):
    """A property that the program may replace by an attribute of the object, as it may with attributes of functions."""

    def __init__(self, describe: Callable[[Any], T]) -> None:
        self._describe = describe
        self.__doc__ = describe.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        return self if instance is None else self._describe(instance)  # type: ignore[return-value]


class FunctionIntrospection:
    """The properties and methods of a Function that describe it and do not change it."""

    __code__ = _AttributeOfPythonFunction()
    __defaults__ = _AttributeOfPythonFunction()
    __kwdefaults__ = _AttributeOfPythonFunction()
    __closure__ = _AttributeOfPythonFunction()
    __globals__ = _AttributeOfPythonFunction()

    _signature: Signature
    _input_signature: Sequence[Any] | None
    _explanation: Explanation
    _trace_cache: TraceCache
    _trace_count: int

    @_OverridableProperty
    def name(self) -> str:
        """The name of the Python function, and of its graphs."""
        return self._signature.name

    @property
    def function_type(self) -> PolymorphicType:
        """The parameters before any trace; `get_concrete_function(…).function_type` has all types."""
        return PolymorphicType(self._signature)

    @property
    def function_spec(self) -> Signature:
        """The signature by which calls are bound, under TensorFlow's name."""
        return self._signature

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The TensorSpecs given to the decorator as `input_signature`; None without them."""
        return None if self._input_signature is None else tuple(self._input_signature)

    def experimental_get_tracing_count(self) -> int:
        """Return the number of traces made."""
        return self._trace_count

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        """The traces in the order in which they were made; if there are none, an input signature is traced first."""
        if not self._trace_cache.traces and self._input_signature is not None:
            self.get_concrete_function()
        return sorted(self._trace_cache.traces, key=lambda concrete: concrete.number)

    def _list_all_concrete_functions(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        return self.concrete_functions

    def get_concrete_function(self, /, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the trace for these arguments."""
        raise NotImplementedError

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, ConcreteFunction]:
        """Return the traces as parts of a saved object; a checkpoint has none of them."""
        if save_type == "checkpoint":
            return {}
        return {
            f"trace_{i}": concrete for i, concrete in enumerate(self._list_all_concrete_functions_for_serialization())
        }

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """Return a text with the types of each trace: on one line for each, or with `verbose` as a block for each."""
        return "\n\n".join(trace.pretty_printed_signature(verbose) for trace in self.concrete_functions)

    def why_sizes_are_closed(self) -> list[str]:
        """Return the reasons for which each shape of the arguments has a trace of its own."""
        return list(self._explanation.exact_size_reasons)

    def explain(self) -> str:
        """Return a text that explains each trace, and lists the reasons for calls that ran as plain Python, with lines.

        If the function is a method, the text also explains the methods of the latest instances, which have traces of
        their own.
        """
        texts = [f"method of {with_article(cls)}, {text}" for cls, text in self._explain_methods()]
        hidden_count = len(texts) - _MAX_METHODS
        hidden_text = [f"methods of more instances, {hidden_count} in number"] if hidden_count > 0 else []
        loop_texts = [loop.explain() for loop in self._outlined_loops()]
        lines = "\n".join([*loop_texts, *texts[-_MAX_METHODS:], *hidden_text])
        return "\n".join([self._explanation.text(), *([textwrap.indent(lines, "  ")] if lines else [])])

    def _outlined_loops(self) -> Sequence[Any]:
        """Return the functions of the loops that run as graphs while the function itself runs plain."""
        raise NotImplementedError

    def _explain_methods(self) -> list[tuple[type, str]]:
        """Return the class and the explanation of each method of an instance that is alive."""
        raise NotImplementedError
