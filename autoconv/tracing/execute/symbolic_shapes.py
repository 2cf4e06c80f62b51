"""Compilation of graphs whose arguments have several shapes.

A pattern consists of the shapes of all arguments of open size, with symbols for open dimensions; equal sizes have the
same symbol. Code for a pattern takes the sizes as run-time values: one compilation serves all sizes of 2 and more.
Sizes 0 and 1 are part of a pattern, because they behave differently when arrays are broadcast. If an op has native
code for known shapes only, each set of shapes that occurs gets code of its own, up to a limit.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autoconv.backends import compile_graph, get_backend
from autoconv.backends.call_form import CallForm
from autoconv.backends.protocol import CompiledGraph, OpenSizes, UnknownSize
from autoconv.config import SETTINGS
from autoconv.errors import OpError
from autoconv.graph.graph import Graph, Span
from autoconv.graph.types import ArrayType, Dimension, Symbol, TensorType, Type
from autoconv.lazy_dataclass import dataclass
from autoconv.ops.analysis.array_growth import is_too_large, size_limits
from autoconv.optimise import optimise
from autoconv.optimise.specialise import CannotSpecialise, generalise, is_static, specialise
from autoconv.optimise.symbolic.bounds import fold_symbolic_bounds

_MAX_ENTRIES = 4  # native entries for single shapes that are tried before the arguments' shapes are read
Shapes = tuple[tuple[int, ...], ...]
Pattern = tuple[tuple[Dimension, ...], ...]
IMMEDIATE_SHAPES = 3  # number of shapes that get code of their own at their first call, not when they recur
_MIN_HOT_SECONDS = 0.5  # code from the cache on disk is there sooner
_SHORT_SECONDS = 5e-4  # time of a call from which on reading its shape in Python costs little
MAX_SHAPES = 16  # shapes with code of their own; others run the graph as traced, op by op
MAX_PATTERNS = 4  # patterns with code for any size, or known to have none
MAX_TRIES = 4  # shapes of a pattern that ops may refuse before the pattern counts as one without code for any size
MAX_SEEN_SHAPES = 256  # shapes that are remembered to notice when they recur


def needs_shapes(graph: Graph, backend: str | None) -> bool:
    """Return whether a graph, traced for arguments of more than one shape, needs code by shape."""
    is_static_graph = all(is_static(value.type) for value in graph.parameters)
    return get_backend(backend).symbolic_code is not None and not is_static_graph


@dataclass(frozen=True, slots=True)
class OpenSizeCode:
    """Code for all shapes that match a pattern, in which equal symbols are equal sizes.

    `kernel_ops` are the ops that run by kernels in this code, but would be native, and faster, for known shapes.
    """

    pattern: Pattern
    run: CompiledGraph
    sizes: OpenSizes
    kernel_ops: tuple[str, ...]

    def accepts(self, shapes: Shapes) -> bool:
        """Return whether the shapes match the pattern and the sizes are valid for this code."""
        size_by_symbol: dict[str, int] = {}
        for open_shape, shape in zip(self.pattern, shapes, strict=True):
            if len(open_shape) != len(shape):
                return False
            for dimension, size in zip(open_shape, shape, strict=True):
                if isinstance(dimension, Symbol):
                    if size_by_symbol.setdefault(dimension.name, size) != size:
                        return False
                elif dimension != size:
                    return False
        return self.sizes.accepts_values(size_by_symbol)


class MultiShapeGraph:
    """A graph that is compiled for any size, or by shape. A call takes and returns a list of values.

    The choice of code affects results only by the order in which sums are added up. `compilations` counts compilations.
    `immediate_shapes` shapes get code of their own at their first call, even where there is code for any size.
    Under `function`, calls by code for any size are timed, unless they are short. A shape whose calls took as long as
    the compilation of that code gets code of its own. Timed calls come by `__call__`.
    """

    holds_no_arguments = False
    sizes = None

    def __init__(
        self, graph: Graph, contract: str, form: CallForm | None, pool_number: int = 0, backend: str | None = None,
        immediate_shapes: int = 0,
    ) -> None:  # fmt: skip
        self._graph = graph
        self._contract = contract
        self._form = form
        self._pool_number = pool_number
        self._backend = backend
        self._immediate_shapes = immediate_shapes
        self._seconds: dict[Shapes, float] = {}  # shapes -> time of their calls by code for any size
        self._compile_seconds = _MIN_HOT_SECONDS  # longest time of a compilation of code for any size, at least this
        self._times_calls = contract == "function"  # false from the first short call on
        self._open_entries: tuple[Callable[..., Any], ...] = ()  # entries of code for any size
        self._entries: tuple[Callable[..., Any], ...] = ()  # entries of code for single shapes
        self._open_positions = [i for i, value in enumerate(graph.parameters) if not is_static(value.type)]
        self._runs: dict[Shapes, CompiledGraph] = {}
        self._code_by_pattern: dict[Pattern, OpenSizeCode | None] = {}
        self._refused_shapes: Counter[Pattern] = Counter()  # number of shapes that an op refused
        self._seen_shapes: set[Shapes] = set()
        self._fallback: CompiledGraph | None = None
        self._latest_run: CompiledGraph | None = None
        self.compilations = 0

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        shapes = tuple(np.shape(arguments[i]) for i in self._open_positions)
        run = self._runs.get(shapes)
        if run is None:
            run = self._latest_run = self._choose_code(shapes)
            if self._times_calls and shapes not in self._runs:
                return self._time_call(run, shapes, arguments)
        return run(arguments)

    def _time_call(self, run: CompiledGraph, shapes: Shapes, arguments: Sequence[Any]) -> list[Any]:
        """Run the code and add the seconds to those of the shapes; stop timing after a short call."""
        start = time.perf_counter()
        results = run(arguments)
        seconds = time.perf_counter() - start
        self._seconds[shapes] = self._seconds.get(shapes, 0.0) + seconds
        self._times_calls = seconds > _SHORT_SECONDS and len(self._seconds) < MAX_SEEN_SHAPES
        return results

    def _choose_code(self, shapes: Shapes) -> CompiledGraph:
        """Return the code that runs a call with these shapes, compiled now if necessary."""
        is_hot = self._seconds.get(shapes, 0.0) > self._compile_seconds and len(self._runs) < MAX_SHAPES
        if len(self._runs) < self._immediate_shapes or is_hot:
            return self._compile_shapes(shapes)
        open_code = self._find_or_compile_open_code(shapes)
        if open_code is not None and not open_code.kernel_ops:
            return open_code.run
        if self._gets_own_code(shapes):
            return self._compile_shapes(shapes)
        return self._compile_fallback() if open_code is None else open_code.run

    def _gets_own_code(self, shapes: Shapes) -> bool:
        """Return whether the shapes get code of their own: the first few do at once, others when they recur."""
        if len(self._runs) < IMMEDIATE_SHAPES or (shapes in self._seen_shapes and len(self._runs) < MAX_SHAPES):
            return True
        if len(self._seen_shapes) < MAX_SEEN_SHAPES:
            self._seen_shapes.add(shapes)
        return False

    def entry(self, *arguments: Any) -> Any:
        """Run a call by the code for any size, or for one of the last few shapes; else return NotImplemented."""
        for entry in self.entries:
            result = entry(*arguments)
            if result is not NotImplemented:
                return result
        return NotImplemented

    @property
    def entries(self) -> tuple[Callable[..., Any], ...]:
        """The native entries; those for any size only if no calls are timed."""
        return self._entries if self._times_calls else (*self._entries, *self._open_entries)

    @property
    def kernel_calls(self) -> Sequence[tuple[str, Span | None]] | None:
        """The ops that run by kernels in the code that was chosen last; None before the first call."""
        return self._latest_run.kernel_calls if self._latest_run is not None else None

    @property
    def notes(self) -> list[str]:
        """Lines that describe the existing code."""
        result = []
        for pattern, open_code in tuple(self._code_by_pattern.items()):
            text = ", ".join(f"({', '.join(map(str, shape))})" for shape in pattern)
            if open_code is not None and not open_code.kernel_ops:
                result.append(f"one compilation for all sizes: {text}")
            else:
                reason = f": {', '.join(sorted(set(open_code.kernel_ops)))} by kernels" if open_code is not None else ""
                result.append(f"no compilation for all sizes: {text}{reason}")
        if self._runs:
            result.append(f"{len(self._runs)} compilations, one for each shape")
        open_runs = [open_code.run for open_code in tuple(self._code_by_pattern.values()) if open_code]
        runs = [*self._runs.values(), *open_runs]
        result += [note for run in runs for note in run.notes]
        return result

    # ---- any size

    def _find_or_compile_open_code(self, shapes: Shapes) -> OpenSizeCode | None:
        """Return code for any size that accepts the shapes, compiled now if necessary; None if there is none."""
        for open_code in tuple(self._code_by_pattern.values()):  # other threads may add to it
            if open_code is not None and open_code.accepts(shapes):
                return open_code
        pattern = _generalise_shapes(shapes, [self._graph.parameters[i].type for i in self._open_positions])
        has_no_symbols = pattern == shapes  # all open sizes are 0 or 1
        if pattern in self._code_by_pattern or len(self._code_by_pattern) >= MAX_PATTERNS or has_no_symbols:
            return None
        try:
            open_code = self._code_by_pattern[pattern] = self._compile_open(pattern, shapes)
        except CannotSpecialise:  # an op refuses these shapes: it may take others
            self._refused_shapes[pattern] += 1
            if self._refused_shapes[pattern] == MAX_TRIES:
                self._code_by_pattern[pattern] = None
            return None
        return open_code if open_code is not None and open_code.accepts(shapes) else None

    def _compile_open(self, pattern: Pattern, shapes: Shapes) -> OpenSizeCode | None:
        """Return code for any size of the pattern, or None; raises CannotSpecialise if an op refuses these `shapes`."""
        symbolic_code = get_backend(self._backend).symbolic_code
        if symbolic_code is None:
            return None
        start = time.perf_counter()
        try:
            graph, conditions = generalise(self._graph, self._types(pattern))
            if self._contract == "compile":
                conditions += dict.fromkeys(size_limits(graph))
            graph = optimise(graph, contract=self._contract)
            graph.nonnegative_sizes = tuple(conditions)
            sizes = symbolic_code.sizes(graph, conditions)
        except (CannotSpecialise, UnknownSize, ValueError):
            return None
        except TypeError:  # a rewrite wrongly relies on known sizes: each shape gets code of its own
            if SETTINGS.strict:
                raise
            return None
        try:
            bounded_graph = fold_symbolic_bounds(graph, symbolic_code.accepts_symbolic_attributes)
            if bounded_graph is not None and not symbolic_code.has_kernels_with_symbolic_attributes(bounded_graph):
                graph = bounded_graph
            kernel_ops = symbolic_code.kernels(graph, all_kernels=False)
        except (TypeError, ValueError):  # the lowering of an op needs known sizes
            return None
        if kernel_ops:
            static_kernel_ops = set(symbolic_code.kernels(specialise(self._graph, self._types(shapes))))
            kernel_ops = [name for name in kernel_ops if name not in static_kernel_ops]
        try:
            run = self._compile(graph)
        except UnknownSize:  # there is no code for this combination of ops
            return None
        self._compile_seconds = max(self._compile_seconds, time.perf_counter() - start)
        if run.entry is not None and not kernel_ops:
            self._open_entries = (*self._open_entries, run.entry)
        return OpenSizeCode(pattern, run, run.sizes or sizes, tuple(kernel_ops))

    # ---- one shape

    def _compile_shapes(self, shapes: Shapes) -> CompiledGraph:
        """Return code for these shapes alone; the code of the graph as traced if an op refuses the shapes."""
        try:
            specialised_graph = specialise(self._graph, self._types(shapes))
            if self._contract == "compile" and any(map(is_too_large, specialised_graph.walk())):
                error = OpError("an array may be larger than memory")
                error.__dict__.update(_autoconv_undone=True)  # nothing has run: the call can run plain
                raise error
            specialised_graph = optimise(specialised_graph, contract=self._contract)
        except CannotSpecialise:
            run = self._compile_fallback()
        else:
            run = self._compile(specialised_graph)
            if run.entry is not None:
                self._entries = (run.entry, *self._entries[: _MAX_ENTRIES - 1])
        self._runs[shapes] = run
        return run

    def _types(self, shapes: Sequence[tuple[Dimension, ...]]) -> list[Type]:
        """Return the types of all parameters, with `shapes` for those that have open sizes."""
        types = [value.type for value in self._graph.parameters]
        for i, shape in zip(self._open_positions, shapes, strict=True):
            type_ = types[i]
            assert isinstance(type_, (TensorType, ArrayType))
            types[i] = replace(type_, shape=shape)
        return types

    def _compile(self, graph: Graph) -> CompiledGraph:
        """Compile a form of the graph, and count the compilation."""
        self.compilations += 1
        return compile_graph(graph, self._form, self._pool_number, self._backend)

    def _compile_fallback(self) -> CompiledGraph:
        """Return the code of the graph as traced, for shapes without code of their own; it is compiled once."""
        if self._fallback is None:
            self._fallback = compile_graph(self._graph, pool_number=self._pool_number, backend=self._backend)
        return self._fallback


def _generalise_shapes(shapes: Shapes, types: Sequence[Type]) -> Pattern:
    """Return the shapes with symbols for open dimensions of 2 and more, the same symbol for equal sizes."""
    symbols: dict[int, Symbol] = {}
    general_shapes = []
    for shape, type_ in zip(shapes, types, strict=True):
        assert isinstance(type_, (TensorType, ArrayType))
        shape_of_type = type_.shape if type_.shape is not None else (None,) * len(shape)
        general_shapes.append(
            tuple(
                symbols.setdefault(size, Symbol(f"n{len(symbols)}")) if declared_size is None and size > 1 else size
                for size, declared_size in zip(shape, shape_of_type, strict=True)
            )
        )
    return tuple(general_shapes)
