"""What a dataset is made of: nodes, which make iterators, and the values they are given when a graph runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autoconv.data.elements import element_type
from autoconv.errors import EndOfSequenceError, OutOfRangeError
from autoconv.forks import new_lock
from autoconv.graph.graph import Value
from autoconv.graph.types import IterableType
from autoconv.runtime.convert import convert_to_tensor
from autoconv.runtime.recording import current_region, recording
from autoconv.runtime.spans import current_place
from autoconv.runtime.symbolic import SymbolicTensor
from autoconv.runtime.tensor import EagerTensor

INFINITE, UNKNOWN = -1, -2
Element = Sequence[Any]


class Bindings:
    """What the symbolic values that a dataset was made with are in this run of the graph."""

    __slots__ = ("values",)

    def __init__(self, values: Mapping[Value, Any]) -> None:
        self.values = values

    def of(self, what: Any) -> Any:
        """The array of a tensor, and whatever else a value of the graph stands for."""
        if isinstance(what, EagerTensor):
            return what._array
        if isinstance(what, SymbolicTensor):
            return self.values[what.value_in_graph]
        return self.values[what] if isinstance(what, Value) else what

    def number(self, what: Any) -> int:
        return int(self.of(what))


NOTHING = Bindings({})


class Node:
    """One step of a dataset: `spec` describes its elements.

    `inputs` are the nodes before it, `values` the tensors and values of graphs it reads besides; `place` is where the
    user's program makes it.
    """

    name = "dataset"

    def __init__(self, spec: Any, inputs: Sequence[Node] = (), values: Sequence[Any] = ()) -> None:
        self.spec = spec
        self.place = current_place()
        self.inputs = tuple(inputs)
        own = [v.value_in_graph if isinstance(v, SymbolicTensor) else v for v in values]
        symbols = [symbol for node in inputs for symbol in node.symbols] + [v for v in own if isinstance(v, Value)]
        self.symbols: tuple[Value, ...] = tuple(dict.fromkeys(symbols))

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        """An iterator over the elements, as lists of leaves; a generator, which frees what it holds when closed."""
        raise NotImplementedError

    def count(self, bindings: Bindings) -> int:
        """How many elements there are; INFINITE or UNKNOWN."""
        return UNKNOWN

    def bind(self, values: Sequence[Any]) -> Bound:
        """The dataset in a running graph, given what its symbols are there."""
        return Bound(self, Bindings(dict(zip(self.symbols, values, strict=True))))


class Bound:
    """A dataset whose values are all known: what makes iterators, eagerly and in a running graph."""

    __slots__ = ("__weakref__", "bindings", "node")

    def __init__(self, node: Node, bindings: Bindings = NOTHING) -> None:
        self.node = node
        self.bindings = bindings

    @property
    def type(self) -> IterableType:
        return IterableType(element_type(self.node.spec))

    def make_iterator(self) -> RunningIterator:
        return RunningIterator(self.iterate())

    def iterate(self) -> Iterator[Element]:
        return self.node.iterate(self.bindings)

    def count(self) -> int:
        return self.node.count(self.bindings)

    def length(self) -> int:
        """Raises TypeError where the number of elements is infinite or unknown."""
        found = self.count()
        if found == INFINITE:
            raise TypeError("The dataset is infinite: it has no len(). take(count) gives one that ends.")
        if found == UNKNOWN:
            raise TypeError(
                "The dataset length is unknown: counting takes going over it, by reduce(0, lambda n, _: n + 1)."
            )
        return found


class Nested(Node):
    """A dataset that a function is given: an argument, or an element of another."""

    name = "nested"

    def __init__(self, spec: Any, value: Any) -> None:
        super().__init__(spec, values=[value])
        self.value = value

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        found: Iterator[Element] = bindings.of(self.value).iterate()
        return found

    def count(self, bindings: Bindings) -> int:
        found: int = bindings.of(self.value).count()
        return found


class RunningIterator:
    """Where one pass over a dataset is. Threads may share it; each then gets other elements.

    After an error it gives the same error again; closing it stops the threads that work for it.
    """

    def __init__(self, elements: Iterator[Element]) -> None:
        self._elements = elements
        self._lock = new_lock()  # a function of the dataset that asks for the next element hears of it
        self._failure: BaseException | None = None
        self._here = threading.local()

    def advance(self) -> bool:
        """Whether there was one more element, which `current` gives to the thread that asked."""
        try:
            self._here.element = self._next()
        except StopIteration:
            return False
        return True

    def current(self) -> Element:
        found: Element = self._here.element
        return found

    def take(self) -> Element:
        """The next element; raises EndOfSequenceError where there is none."""
        try:
            return self._next()
        except EndOfSequenceError:
            raise
        except StopIteration:
            raise EndOfSequenceError("End of sequence: the iterator has no more elements") from None

    def _next(self) -> Element:
        if current_region() is None:
            return self._following()
        with recording(None):  # what the elements take runs now, though a function is being traced
            return self._following()

    def _following(self) -> Element:
        with self._lock:
            if self._failure is not None:
                raise self._failure
            try:
                return next(self._elements)
            except StopIteration:
                raise
            except RuntimeError as error:
                self._failure = _unwrapped(error)
            except Exception as error:
                self._failure = error
            raise self._failure

    def close(self) -> None:
        close = getattr(self._elements, "close", None)
        if close is not None:
            close()


def _unwrapped(error: RuntimeError) -> Exception:
    """Python's own RuntimeError about a generator in which an iterator of the user's came to its end."""
    inner = error.__cause__
    if not isinstance(inner, EndOfSequenceError):
        return error
    found = OutOfRangeError(inner.message, inner.place)
    found.__dict__.update({k: v for k, v in vars(inner).items() if k.startswith("_autoconv")})
    return found


def number(value: Any) -> Any:
    """A count as a tensor: an integer scalar, known now or when the graph runs."""
    tensor = convert_to_tensor(value)
    if not tensor.dtype.is_integer or tensor.type.shape not in ((), None):
        raise TypeError(f"an integer was expected, found {value!r}")
    return tensor


Run = Callable[[Element], Element]
