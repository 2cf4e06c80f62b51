"""The backend `xla`: graphs are written as StableHLO, which XLA compiles; a graph without that form runs natively.

Each shape has code of its own. A module returns an error word. A word other than 0 means that an op failed, or met
operands that its rule leaves to the kernel. Native code then runs the same call: it returns the results, or raises the
error with the program's line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.backends.call_form import CallForm
from autoconv.backends.portable.types import array_type
from autoconv.backends.portable.unfit import SIZE_DEPENDS_ON_VALUE, GraphUnfit
from autoconv.backends.protocol import Backend, CompiledGraph, Dispatch, OpenSizes, SymbolicCode
from autoconv.backends.stablehlo import ChosenPart, Module, Part, to_stablehlo
from autoconv.backends.xla.client import ClientDevice, find_device, is_installed
from autoconv.backends.xla.device_array import DeviceArray
from autoconv.backends.xla.entry import make_entry
from autoconv.backends.xla.executable import Executable
from autoconv.forks import generation
from autoconv.graph.graph import Graph, Node, Span
from autoconv.graph.types import ArrayType, ResourceType, Symbol

MAX_VARIANTS = 16  # compilations for different values of the integers that sizes depend on


class _Variant(NamedTuple):
    """The code for given values of the integers that sizes depend on."""

    module: Module
    executable: Executable


class XlaGraph:
    """A graph compiled by XLA for a device; `native` compiles it natively, at the first call that needs this.

    If sizes depend on the values of integer arguments, there is a variant for each of their values.
    """

    sizes = None

    def __init__(
        self, graph: Graph, form: CallForm | None, native: Callable[[], CompiledGraph], device: ClientDevice
    ) -> None:
        self.entry: Callable[..., Any] | None = None
        self.notes: list[str] = ["compiled by XLA"]
        self._graph = graph
        self._make_native = native
        self._native: CompiledGraph | None = None
        self._fork_generation = generation()
        self._device = device
        self._size_parameters: tuple[int, ...] = ()
        self._variables = [i for i, value in enumerate(graph.parameters) if isinstance(value.type, ResourceType)]
        self._variants: dict[tuple[int, ...], _Variant | None] = {}
        try:
            self._variants[()] = self._compile_variant(numbers=None)
        except GraphUnfit as error:
            if error.reason != SIZE_DEPENDS_ON_VALUE:
                raise
            self._size_parameters = tuple(
                i for i, value in enumerate(graph.parameters)
                if getattr(value.type, "shape", None) == () and array_type(value.type).dtype.is_integer
                and not isinstance(value.type, (ArrayType, ResourceType))
            )  # fmt: skip
            if not self._size_parameters:
                raise
        else:
            if form is not None and device.is_host:
                self.entry = make_entry(graph, form, self._make_host_run())

    @property
    def holds_no_arguments(self) -> bool:
        parts = [part for variant in self._variants.values() if variant for part in variant.module.parts]
        return not any(isinstance(part, ChosenPart) or part.is_of_argument for part in parts)

    @property
    def kernel_calls(self) -> Sequence[tuple[str, Span | None]]:
        return ()

    def __call__(self, arguments: Sequence[Any], /) -> list[Any]:
        return self.run(arguments)

    def run(self, arguments: Sequence[Any], keep_on_device: bool = False) -> list[Any]:
        """Run the graph; with `keep_on_device`, results stay in the memory of an accelerator."""
        results = self._run_by_xla(arguments, keep_on_device)
        return self._run_natively(arguments) if results is None else results

    def _make_host_run(self) -> Callable[[Sequence[Any]], list[Any] | None]:
        """Return `_run_by_xla`, or for a graph without writes and shared results an equivalent shorter function."""
        variant = self._variants[()]
        assert variant is not None
        module, executable = variant
        if self._variables or module.written or module.parts or module.lengths:
            return self._run_by_xla
        fork_generation, run_on_host = self._fork_generation, executable.run_on_host

        def run(arguments: Sequence[Any]) -> list[Any] | None:
            if generation() != fork_generation:
                return None
            results, error_word = run_on_host(arguments)
            return None if error_word else results

        return run

    def _run_by_xla(self, arguments: Sequence[Any], keep_on_device: bool = False) -> list[Any] | None:
        """Run the graph by XLA; return None, without any effect, if native code has to run it."""
        sizes = tuple([int(arguments[i]) for i in self._size_parameters])
        variant = self._find_variant(sizes)
        if variant is None or generation() != self._fork_generation:  # the threads of XLA are not in a forked process
            return None
        module, run = variant.module, variant.executable
        argument_values = arguments
        if self._variables:
            argument_values = list(arguments)
            for i in self._variables:
                argument_values[i] = argument_values[i].value
        # A rerun later, when a result is fetched, would read variables and arrays that may have changed by then.
        rerun = None if self._variables or module.written or module.parts else self._run_natively
        results, error_word = run(argument_values, keep_on_device and not module.lengths, rerun)
        if error_word:
            return None
        if module.lengths:
            results = module.cut(results)
        if module.written:
            _write_contents(arguments, module, results)
        if module.parts:
            return [_shared_result(part, arguments, results) for part in module.parts]
        return results[: module.results] if module.written or module.lengths else results

    def _find_variant(self, values: tuple[int, ...]) -> _Variant | None:
        """Return the code for these values of the integers that sizes depend on; None if there is none."""
        if values not in self._variants and len(self._variants) < MAX_VARIANTS:
            try:
                self._variants[values] = self._compile_variant(dict(zip(self._size_parameters, values, strict=True)))
            except GraphUnfit as error:
                self._variants[values] = None
                self.notes.append(f"not by XLA: {error}")
        return self._variants.get(values)

    def _compile_variant(self, numbers: Mapping[int, int] | None) -> _Variant:
        """Return the code for these values of integer arguments, by position, or for all; raises GraphUnfit."""
        donated = {
            i for i, value in enumerate(self._graph.parameters)
            if isinstance(value.type, ArrayType) or not self._device.is_host
        }  # fmt: skip

        def write_module(leads: Sequence[int] = ()) -> Module:
            return to_stablehlo(self._graph, numbers=numbers, in_place=True, donated=donated, leads=leads)

        module = write_module()
        if module.shares:
            raise GraphUnfit("return", "a result that is an argument, or a part of one")
        parameters = [array_type(value.type) for value in self._graph.parameters]
        try:
            aliased = {position: module.results + module.written.index(position) for position in module.donated}
            executable = Executable(
                module.text, self._device, parameters, module.types, aliased, module.has_error_word,
                text_with_leads=lambda leads: write_module(leads).text,
            )
            return _Variant(module, executable)
        except RuntimeError as error:  # XLA's own refusal
            raise GraphUnfit("module", f"XLA refuses it: {str(error).splitlines()[0]}") from None

    def _run_natively(self, arguments: Sequence[Any]) -> list[Any]:
        """Run the graph by native code, which is compiled at the first call."""
        if self._native is None:
            self._native = self._make_native()
        return self._native([x.fetch() if isinstance(x, DeviceArray) else x for x in arguments])


def _shared_result(origin: Part | ChosenPart, arguments: Sequence[Any], results: Sequence[Any]) -> Any:
    """Return a result that shares memory with an argument or another result: that array, or a view of it."""
    if isinstance(origin, ChosenPart):
        origin = origin.options[int(results[origin.tag])]
    array = arguments[origin.position] if origin.is_of_argument else results[origin.position]
    for kernel, attributes, operands in origin.chain:
        array = kernel(array, *(results[i] for i in operands), **attributes)
    return array


def _write_contents(arguments: Sequence[Any], module: Module, results: Sequence[Any]) -> None:
    """Store new contents in arrays and variables; donated arrays have their new contents already."""
    for position, value in zip(module.written, results[module.results :], strict=False):
        target = arguments[position]
        array = value.fetch() if isinstance(value, DeviceArray) else value
        if not isinstance(target, np.ndarray):
            target.value = array
        elif array is not None:
            target[...] = array


class _NoSymbolicCode:
    """Answers to queries about code for open sizes, which XLA does not have: each shape is compiled."""

    def sizes(self, graph: Graph, nonnegative_sizes: Sequence[Symbol]) -> OpenSizes:
        raise ValueError("XLA compiles each shape")

    def accepts_symbolic_attributes(self, node: Node) -> bool:
        return False

    def has_kernels_with_symbolic_attributes(self, graph: Graph) -> bool:
        return False

    def kernels(self, graph: Graph, all_kernels: bool = True) -> list[str]:
        return []


class XlaBackend:
    """Compiles graphs by XLA, and graphs without a form in StableHLO by the backend `native`."""

    name = "xla"
    compile_library = None
    symbolic_code: SymbolicCode | None = _NoSymbolicCode()

    def __init__(self, native: Backend, device: str = "") -> None:
        if not is_installed():
            raise ImportError("the backend xla needs the package jaxlib: pip install 'autoconv[xla]'")
        self._native = native
        self._device = device

    def compile(self, graph: Graph, form: CallForm | None = None, pool_number: int = 0) -> CompiledGraph:
        try:
            device = find_device(self._device)
            return XlaGraph(graph, form, lambda: self._native.compile(graph, None, pool_number), device)
        except GraphUnfit as error:
            return _GraphWithNote(self._native.compile(graph, form, pool_number), f"not by XLA: {error}")

    def describe(self, graph: Graph) -> list[str]:
        try:
            return to_stablehlo(graph).text.splitlines()
        except GraphUnfit as error:
            return [f"not by XLA: {error}", *self._native.describe(graph)]

    def prepare_in_background(self) -> None:
        self._native.prepare_in_background()

    def prepare_for_file(self, file: str) -> None: ...

    def dispatch_method(self, dispatch: Dispatch) -> Any:
        return self._native.dispatch_method(dispatch)

    def mark_method_descriptor(self, kind: type) -> bool:
        return self._native.mark_method_descriptor(kind)

    def take_float_errors(self) -> int:
        return self._native.take_float_errors()

    def entry_of_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self._native.entry_of_function(function)

    def can_dispatch(self, cells: Sequence[Any], entry_functions: Sequence[Callable[..., Any]]) -> bool:
        return self._native.can_dispatch(cells, entry_functions)


class _GraphWithNote:
    """Native code of a graph, with a note that states why XLA has none."""

    def __init__(self, code: CompiledGraph, note: str) -> None:
        self._code = code
        self.entry = code.entry
        self.kernel_calls = code.kernel_calls
        self.notes = [*code.notes, note]
        self.holds_no_arguments = code.holds_no_arguments
        self.sizes = code.sizes

    def __call__(self, arguments: Sequence[Any], /) -> list[Any]:
        return self._code(arguments)
