"""Nodes of a dataset, which create iterators, and the values bound to them in a running graph."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from autoconv.data.elements import element_type, spec_leaves
from autoconv.errors import EndOfSequenceError, InvalidArgumentError, OutOfRangeError
from autoconv.forks import new_lock
from autoconv.graph.graph import Value
from autoconv.graph.types import IterableType
from autoconv.runtime.recording.regions import current_region, recording
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value
from autoconv.runtime.tensors.symbolic import SymbolicTensor
from autoconv.runtime.tensors.tensor import EagerTensor

INFINITE, UNKNOWN = -1, -2  # in place of a number of elements, as in TensorFlow
Element = Sequence[Any]
Run = Callable[[Element], Element]  # a function of elements, from leaves to leaves


class Bindings:
    """The values of a node's `graph_operands` in one run of a graph.

    With `on_error`, elements whose functions raise are skipped, and their errors are passed to it. `draw_streams` has
    the state of the random draws in the functions of elements, by node.
    """

    __slots__ = ("draw_streams", "on_error", "values")

    def __init__(self, values: Mapping[Value, Any], on_error: Callable[[Exception], None] | None = None) -> None:
        self.values = values
        self.on_error = on_error
        self.draw_streams: dict[Any, np.ndarray] = {}

    def with_new_draws(self) -> Bindings:
        """Return the bindings for another pass, in which draws with a seed begin anew."""
        return Bindings(self.values, self.on_error)

    def with_on_error(self, on_error: Callable[[Exception], None]) -> Bindings:
        """Return these bindings with another `on_error`; draws of random numbers go on in the same streams."""
        result = Bindings(self.values, on_error)
        result.draw_streams = self.draw_streams
        return result

    def resolve(self, value: Any) -> Any:
        """Return the array of a tensor, or the run-time value of a graph value."""
        if isinstance(value, EagerTensor):
            return value._array
        if isinstance(value, SymbolicTensor):
            return self.values[value.value_in_graph]
        return self.values[value] if isinstance(value, Value) else value

    def number(self, value: Any) -> int:
        """Return the int of an integer tensor or graph value."""
        return int(self.resolve(value))

    def skip_errors(self, run: Run) -> Run:
        """Wrap a function of an element's leaves: it returns SKIPPED where it raises and `on_error` is set."""
        report = self.on_error
        if report is None:
            return run

        def run_or_skip(leaves: Element) -> Any:
            try:
                return run(leaves)
            except Exception as error:
                report(error)
                return SKIPPED

        return run_or_skip


SKIPPED: Any = object()  # in place of the result of a function that raised, see `Bindings.skip_errors`
NO_BINDINGS = Bindings({})


class HasPassNumber(Protocol):
    """A random stream of a node: `pass_number` is that of the next pass over the node."""

    pass_number: int


class Node:
    """One step of a dataset: `spec` describes its elements.

    `inputs` are the preceding nodes, `values` the tensors and graph values that it reads as well. `graph_operands` are
    the graph values that it and its inputs read. `place` is where the user's program creates it.
    """

    name = "dataset"  # TensorFlow's class of datasets is named after it
    stream: Any = None  # of random numbers, in nodes that draw some

    def __init__(self, spec: Any, inputs: Sequence[Node] = (), values: Sequence[Any] = ()) -> None:
        self.spec = spec
        self.place = current_place()
        self.inputs = tuple(inputs)
        graph_values = [value.value_in_graph if isinstance(value, SymbolicTensor) else value for value in values]
        operands = [operand for node in inputs for operand in node.graph_operands]
        operands += [value for value in graph_values if isinstance(value, Value)]
        self.graph_operands: tuple[Value, ...] = tuple(dict.fromkeys(operands))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        """Iterate over the elements, as lists of leaves: a generator, which frees its resources when closed."""
        raise NotImplementedError

    def count(self, bindings: Bindings) -> int:
        """Return the number of elements, or INFINITE or UNKNOWN."""
        return UNKNOWN

    def streams(self) -> list[HasPassNumber]:
        """Return the random streams of this node and those before it."""
        own_streams = [] if self.stream is None else [self.stream]
        return own_streams + [stream for node in self.inputs for stream in node.streams()]

    def bind(self, values: Sequence[Any]) -> BoundDataset:
        """Return the dataset in a running graph, given the values of its `graph_operands`."""
        return BoundDataset(self, Bindings(dict(zip(self.graph_operands, values, strict=True))))


class CountPreservingNode(Node):
    """A node with as many elements as its input."""

    def count(self, bindings: Bindings) -> int:
        return self.inputs[0].count(bindings)


class BoundDataset:
    """A dataset with all values known, which creates iterators, both eagerly and in a running graph."""

    __slots__ = ("__weakref__", "bindings", "node")

    def __init__(self, node: Node, bindings: Bindings = NO_BINDINGS) -> None:
        self.node = node
        self.bindings = bindings

    @property
    def type(self) -> IterableType:
        return IterableType(element_type(self.node.spec))

    def make_iterator(self) -> RunningIterator:
        """Return an iterator that remembers its position and can return to an earlier one."""
        return RunningIterator(self.iterate, self.node.streams())

    def iterate(self) -> Iterator[Element]:
        """Return a generator of the elements of one pass."""
        return self.node.iterate(self.bindings.with_new_draws())

    def count(self) -> int:
        """Return the number of elements, or INFINITE or UNKNOWN."""
        return self.node.count(self.bindings)

    def length(self) -> int:
        """Return the number of elements; raises TypeError if it is infinite or unknown."""
        result = self.count()
        if result == INFINITE:
            raise TypeError("The dataset is infinite: it has no len(). take(count) gives one that ends.")
        if result == UNKNOWN:
            raise TypeError(
                "The dataset length is unknown: count its elements by reduce(0, lambda n, _: n + 1)."
            )
        return result


class Nested(Node):
    """A dataset passed to a function: an argument, or an element of another dataset."""

    name = "nested"

    def __init__(self, spec: Any, value: Any) -> None:
        super().__init__(spec, values=[value])
        self.value = value

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        result: Iterator[Element] = bindings.resolve(self.value).iterate()
        return result

    def count(self, bindings: Bindings) -> int:
        result: int = bindings.resolve(self.value).count()
        return result


class ComputedElements(Node):
    """A source of elements that are already computed."""

    name = "computed_elements"

    def __init__(self, spec: Any, elements: list[Element]) -> None:
        super().__init__(spec)
        self.elements = elements
        assert all(len(element) == len(spec_leaves(spec)) for element in elements)

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        return iter(self.elements)

    def count(self, bindings: Bindings) -> int:
        return len(self.elements)


class RunningIterator:
    """The state of one pass over a dataset. Threads may share it; each element goes to one of them.

    After an error it raises the same error again; closing it stops its threads.
    """

    def __init__(self, start_pass: Callable[[], Iterator[Element]], streams: Sequence[HasPassNumber] = ()) -> None:
        self._start_pass = start_pass
        self._pass_numbers = [(stream, stream.pass_number) for stream in streams]
        self._elements = start_pass()
        self.position = 0  # number of elements taken
        self._lock = new_lock()  # reentrant: the dataset's own function may advance the iterator, which must raise
        self._failure: BaseException | None = None
        self._thread_local = threading.local()

    def advance(self) -> bool:
        """Return whether there was another element; `current` returns it, in the same thread."""
        try:
            self._thread_local.element = self._next_eagerly()
        except StopIteration:
            return False
        return True

    def current(self) -> Element:
        """Return the element to which `advance` moved in this thread."""
        result: Element = self._thread_local.element
        return result

    def take(self) -> Element:
        """Return the next element; raises EndOfSequenceError if there is none."""
        try:
            return self._next_eagerly()
        except EndOfSequenceError:
            raise
        except StopIteration:
            raise EndOfSequenceError("End of sequence: the iterator has no more elements") from None

    def _next_eagerly(self) -> Element:
        """Return the next element; raises StopIteration at the end."""
        if current_region() is None:
            return self._next_under_lock()
        with recording(region=None):  # elements are computed now, even while a function is being traced
            return self._next_under_lock()

    def _next_under_lock(self) -> Element:
        """Return the next element; raise an earlier failure again."""
        with self._lock:
            if self._failure is not None:
                raise self._failure
            try:
                element = next(self._elements)
                self.position += 1
                return element
            except StopIteration:
                raise
            except RuntimeError as error:
                self._failure = _unwrap_generator_error(error)
            except Exception as error:
                self._failure = error
            raise self._failure

    def move_to(self, position: int) -> None:
        """Skip elements until `position` of them are taken; to go back, restart the pass and skip from its beginning.

        Elements are computed anew, in the random orders of the pass.
        """
        with self._lock, recording(region=None):
            if position < self.position or self._failure is not None:
                self.close()
                for stream, pass_number in self._pass_numbers:
                    stream.pass_number = pass_number
                self._elements, self._failure, self.position = self._start_pass(), None, 0
            for _ in itertools.islice(self._elements, position - self.position):
                self.position += 1

    def close(self) -> None:
        """End the pass, and its threads."""
        close = getattr(self._elements, "close", None)
        if close is not None:
            close()


def _unwrap_generator_error(error: RuntimeError) -> Exception:
    """Return the error, or an OutOfRangeError if a user's iterator was exhausted inside of a generator.

    Python turns a StopIteration that leaves a generator into a RuntimeError, and EndOfSequenceError is a StopIteration.
    """
    cause = error.__cause__
    if not isinstance(cause, EndOfSequenceError):
        return error
    result = OutOfRangeError(cause.message, cause.place)
    # These attributes hold the lines of the user's program that the error's traceback shows.
    result.__dict__.update({name: value for name, value in vars(cause).items() if name.startswith("_autoconv")})
    return result


def check_positive(parameter: str, value: Any) -> Any:
    """Return the number as a tensor; raise InvalidArgumentError if it is known and less than 1."""
    tensor = integer_tensor(value)
    static_number = static_value(tensor)
    if static_number is not None and int(static_number) < 1:
        raise InvalidArgumentError(f"{parameter} has to be positive, found {int(static_number)}")
    return tensor


def integer_tensor(value: Any) -> Any:
    """Return an integer, known now or at run time only, as a scalar tensor; raise TypeError for any other value."""
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer or tensor.type.shape not in ((), None):
        raise TypeError(f"an integer was expected, found {value!r}")
    return tensor
