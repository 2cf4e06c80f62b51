"""The interface of backends, and of the graphs that they compile.

A backend is a `Backend`. It is registered in `autoconv.backends.BACKENDS`, and no other package imports its modules.
Everything beyond running graphs is optional: native entries (functions that take a user's call as it is), native
dispatch (the choice between entries), and code for any size (`SymbolicCode`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from autoconv.backends.call_form import CallForm
from autoconv.backends.library_form import LibraryForm, LibraryObject
from autoconv.graph.graph import Graph, Node, Span
from autoconv.graph.types import Symbol
from autoconv.lazy_dataclass import dataclass


class Unsupported(Exception):
    """Raised if a backend cannot run in this process: Python, NumPy or the machine differ from what it supports."""


class UnknownSize(TypeError):
    """Raised where a size is open but has to be a constant: the graph has no code that runs for all sizes."""


class OpenSizes(Protocol):
    """The open dimensions that code for any size takes."""

    def accepts_values(self, values: Mapping[str, int]) -> bool:
        """Return whether the code is valid for these values of atomic symbols, by name (see `graph.dimensions`)."""


class CompiledGraph(Protocol):
    """A compiled graph: a function from a list of arguments to a list of results."""

    @property
    def entry(self) -> Callable[..., Any] | None:
        """A function that takes a user's call as its CallForm describes it, or returns NotImplemented; or None."""

    @property
    def kernel_calls(self) -> Sequence[tuple[str, Span | None]] | None:
        """The ops that run by their kernels, with the user's lines; None: all."""

    @property
    def notes(self) -> Sequence[str]:
        """Notes about the code for `explain()`, one a line."""

    @property
    def holds_no_arguments(self) -> bool:
        """True if no result or side effect holds a reference to an argument."""

    @property
    def sizes(self) -> OpenSizes | None:
        """The open dimensions that the code was compiled for; None if they are those of the graph."""

    def __call__(self, arguments: Sequence[Any], /) -> list[Any]:
        """Run the graph. Exceptions of kernels carry the user's spans in `_autoconv_spans`."""


class SymbolicCode(Protocol):
    """The part of a backend that compiles a graph for any size: `compile` then takes graphs with open dimensions."""

    def sizes(self, graph: Graph, nonnegative_sizes: Sequence[Symbol]) -> OpenSizes:
        """Return the open dimensions of a graph, with the condition that `nonnegative_sizes` are at least 0.

        Raise ValueError if the parameters do not determine one of them.
        """

    def accepts_symbolic_attributes(self, node: Node) -> bool:
        """Return whether attributes of a node may contain dimensions."""

    def has_kernels_with_symbolic_attributes(self, graph: Graph) -> bool:
        """Return whether dimensions occur in attributes of a node that runs by its kernel."""

    def kernels(self, graph: Graph, all_kernels: bool = True) -> list[str]:
        """Return the ops that would run by kernels; without `all_kernels`, only those that call no library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """The data for native dispatch between the entries of an object, see `llvm/runtime/call_dispatch.py`.

    owner           the class of the objects
    slot            offset in bytes, in the objects, of a tuple: a call counter, a gate (four numbers that can stop
                    native dispatch of a call), a plain function, the names of parameters, and the entries
    methods         offset in bytes of a mapping from instances to their methods
    handle_miss     runs calls that no entry accepts
    handle_failure  handles an entry's exceptions
    handle_raised_flags  computes the result of a call that raised flags of floating-point errors
    detour          native dispatch is off while it is not 0
    busy            the number of graphs being recorded
    error_variable  holds NumPy's error state, by default `default_errors`
    has_actions     true if NumPy's error state is a capsule with the action for each kind of error (ignore, warn,
                    raise ...)
    """

    owner: type
    slot: int
    methods: int
    handle_miss: Callable[..., Any]
    handle_failure: Callable[..., Any]
    handle_raised_flags: Callable[..., Any]
    detour: ctypes.c_int64
    busy: ctypes.c_int64
    error_variable: Any
    default_errors: Any
    has_actions: bool


class LibraryCode(Protocol):
    """The part of a backend that compiles graphs to object files for C."""

    def __call__(self, form: LibraryForm, graphs: Sequence[Graph], cpu: str, triple: str) -> LibraryObject:
        """Return the object file of a C function; see `library_form.py`. Raise NoLibraryCode or WrongTarget."""


class Backend(Protocol):
    """A compiler of graphs."""

    @property
    def name(self) -> str:
        """The name of the backend in the settings."""

    @property
    def symbolic_code(self) -> SymbolicCode | None:
        """Code for any size; None where a compiled graph runs for all sizes as it is."""

    @property
    def compile_library(self) -> LibraryCode | None:
        """Object files for C; None where there are none."""

    def compile(self, graph: Graph, form: CallForm | None = None, pool_number: int = 0) -> CompiledGraph:
        """Compile a graph; with a CallForm, `entry` may take a user's call. Raise Unsupported if it cannot run here.

        Large loops are split over the threads of the pool of that number.
        """

    def describe(self, graph: Graph) -> list[str]:
        """Describe how a graph is run, a line for each step."""

    def prepare_in_background(self) -> None:
        """Start preparing in the background, as graphs are about to be compiled."""

    def prepare_for_file(self, file: str) -> None:
        """Prepare in the background for calls of functions in this file, unless its code is in the cache."""

    def dispatch_method(self, dispatch: Dispatch) -> Any:
        """Return a native `__call__` for the owner; None without native dispatch."""

    def mark_method_descriptor(self, kind: type) -> bool:
        """Mark a subclass of the owner as a method descriptor: calls pass the instance to it without a bound method.

        Return whether that is possible.
        """

    def take_float_errors(self) -> int:
        """Return the processor's flags of floating-point errors in this thread, and clear them; 0 if there are none."""

    def entry_of_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a Python function as an entry for native dispatch; the function itself without native dispatch."""

    def can_dispatch(self, cells: Sequence[Any], entry_functions: Sequence[Callable[..., Any]]) -> bool:
        """Return whether native dispatch can read these ctypes integers and call these entries."""
