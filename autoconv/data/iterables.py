"""Iteration over datasets: by loops in Python or in a graph, and by functions that consume all elements."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Callable, Generator
from typing import Any, ClassVar, Self

from autoconv.data.elements import initial_state as convert_initial_state
from autoconv.data.elements import rebuild
from autoconv.data.functions import ElementFunction
from autoconv.data.iterators import Iterator, IteratorSpec, as_numpy
from autoconv.data.nodes import NO_BINDINGS, BoundDataset, Nested, Node
from autoconv.data.options import Options, options_of
from autoconv.data.pairing import PAIRING
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, int64
from autoconv.graph.graph import Value
from autoconv.operators.calls.call import call as callable_for
from autoconv.operators.control.loops import for_stmt
from autoconv.operators.support.dataset_protocol import Stream
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.recording.regions import Region, current_region
from autoconv.runtime.recording.tracebacks import present_errors, wrap_public_methods
from autoconv.runtime.support.structure import flatten
from autoconv.runtime.tensors.conversion import constant
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor
from autoconv.tracing.api.function import Function


class DatasetV2:
    """Base of datasets. Libraries recognise a dataset by a base class of this name and module."""

    __module__ = "autoconv.tensorflow.python.data.ops.dataset_ops"


@wrap_public_methods
class Iterable:
    """A sequence of elements, computed from a dataset node (`data.nodes`) anew in each iteration over it."""

    _spec_class: ClassVar[type[IteratorSpec]]

    def __init__(self, node: Node) -> None:
        if not isinstance(node, Node):
            raise TypeError("a Dataset is created by functions such as Dataset.from_tensor_slices and Dataset.range")
        self.node = node
        self._bound = BoundDataset(node)  # with no values of a graph: used where the node has no graph operands

    @classmethod
    def _of_node(cls, node: Node) -> Self:
        """Return the Dataset of a node; the constructors of classes derived from Dataset take other arguments."""
        raise NotImplementedError

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None) -> Any:
        """The last `state = reduce_func(state, element)`, starting from `initial_state`."""
        if current_region() is not None:
            return _reduce(self, initial_state, reduce_func)

        def run(dataset: Any) -> Any:
            return _reduce(dataset, initial_state, reduce_func)

        if tape_recorders.active_recorders():  # tapes differentiate through calls of functions
            return Function(run)(self)
        function = ElementFunction(run, self.__autoconv_spec__(), "reduce")
        return rebuild(function.result_spec, function.runner(NO_BINDINGS)([self._bound]))

    def get_single_element(self, name: str | None = None) -> Any:
        """The only element; raises InvalidArgumentError if there are none or several."""
        elements = list(itertools.islice(self._bound.iterate(), 2))
        if len(elements) != 1:
            raise InvalidArgumentError(f"Dataset had {'more than one element' if elements else 'no elements'}.")
        return rebuild(self.node.spec, elements[0])

    def as_numpy_iterator(self) -> Any:
        """A Python iterator over the elements as NumPy arrays and scalars."""
        if current_region() is not None:
            raise RuntimeError("as_numpy_iterator() is not supported while tracing functions: loop over the dataset")
        return NumpyIterator(self)

    def cardinality(self, name: str | None = None) -> Tensor:
        """The number of elements, an int64 scalar: -1 if infinite, -2 if unknown."""
        if current_region() is None:
            return constant(self._bound.count(), int64)
        return apply("iterable_count", self)

    @property
    def element_spec(self) -> Any:
        """The specs of an element's tensors, in its structure."""
        return self.node.spec

    def options(self) -> Options:
        """The options of this dataset and its inputs."""
        return options_of(self.node)

    @present_errors
    def __iter__(self) -> Iterator:
        if current_region() is not None:
            return Iterator(self.__autoconv_stream__().value, self.node.spec)
        return Iterator(self._bound.make_iterator(), self.node.spec)

    @present_errors
    def __len__(self) -> int:
        if self.node.graph_operands:
            raise TypeError("the length of this dataset is known only at run time: call dataset.cardinality()")
        return self._bound.length()

    def __bool__(self) -> bool:
        return True

    def __deepcopy__(self, memo: Any) -> Iterable:
        return self  # immutable

    def __repr__(self) -> str:
        return f"<_{_tensorflow_class_name(self.node.name)}Dataset element_spec={self.node.spec}>"

    # ---- protocol for tracing

    __autoconv_builtins__: ClassVar[dict[Any, Callable[..., Any]]] = {}

    def __autoconv_spec__(self) -> IteratorSpec:
        return self._spec_class(self.node.spec)

    def __autoconv_wrap__(self) -> IteratorSpec:
        """Return the spec that rebuilds a dataset from its value in a graph."""
        return self._spec_class(self.node.spec)

    @property
    def __autoconv_graph_type__(self) -> Any:
        return self.__autoconv_spec__().type

    def __autoconv_run_value__(self) -> BoundDataset:
        return self._bound

    def __autoconv_resource__(self, region: Region) -> Value:
        """Return the dataset as a value of `region`.

        It is captured, already there, or made from the values of the graph on which its node depends.
        """
        type_ = self.__autoconv_spec__().type
        if not self.node.graph_operands:
            return region.trace.capture(self._bound, type_, "dataset")
        if isinstance(self.node, Nested) and isinstance(self.node.value, Value):
            return self.node.value
        result: Value = apply("iterable_make", *self.node.graph_operands, source=self.node, type=type_)
        return result

    def __autoconv_graph_value__(self) -> Value:
        """Return the dataset as a value of the current region."""
        region = current_region()
        assert region is not None
        return self.__autoconv_resource__(region)

    def __autoconv_stream__(self) -> Stream:
        """Return a new iterator over the dataset, in the graph."""
        return Stream(apply("iterator_make", self), lambda leaves: rebuild(self.node.spec, leaves))


def _reduce(dataset: Any, initial: Any, function: Callable[..., Any]) -> Any:
    """Return the last state of a dataset's reduction, as a loop over it."""

    def step(element: Any, old_state: Any) -> tuple[Any]:
        new_state = callable_for(function)(old_state, element)
        _require_state_dtypes(old_state, new_state)
        return (new_state,)

    (result,) = for_stmt(dataset, step, (convert_initial_state(initial),), ("state",))
    return result


def _require_state_dtypes(old_state: Any, new_state: Any) -> None:
    """Raise TypeError for a tensor of the new state whose dtype is not that of the old one."""
    for old_tensor, new_tensor in zip(flatten(old_state)[0], flatten(new_state)[0], strict=False):
        old_dtype, new_dtype = getattr(old_tensor, "dtype", None), getattr(new_tensor, "dtype", None)
        if isinstance(old_dtype, DType) and isinstance(new_dtype, DType) and old_dtype is not new_dtype:
            raise TypeError(
                "The element types for the new state must match the initial state. "
                f"Expected {old_dtype!r} but got {new_dtype!r}."
            )


def _length(dataset: Iterable) -> Any:
    """Return len(dataset): an int, or a tensor if the dataset depends on values of the graph."""
    if dataset.node.graph_operands:
        return apply("iterable_length", dataset)
    return len(dataset)


Iterable.__autoconv_builtins__.update({builtins.len: _length, builtins.iter: builtins.iter, **PAIRING})


class NumpyIterator:
    """An iterator over the elements of a dataset as NumPy arrays and scalars; `next` is a method as well."""

    def __init__(self, dataset: Iterable) -> None:
        self._elements = _numpy_elements(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return next(self._elements)

    next = __next__


def _numpy_elements(dataset: Iterable) -> Generator[Any, None, None]:
    """Yield the elements as NumPy values; closing the generator ends the iteration."""
    iterator = dataset._bound.make_iterator()
    try:
        while iterator.advance():
            yield as_numpy(dataset.node.spec, iterator.current())
    finally:
        iterator.close()


# TensorFlow's class names by node name, for nodes whose name does not spell the class name.
_TENSORFLOW_CLASS_NAMES = {
    "dataset": "Options", "from_tensors": "Tensor", "from_tensor_slices": "TensorSlice", "from_generator": "FlatMap",
    "nested": "Variant", "text_lines": "TextLine", "records": "TFRecord", "sample_from_datasets": "DirectedInterleave",
    "with_options": "Options", "fixed_length_records": "FixedLengthRecord", "enumerate": "Zip",
    "ragged_batch": "Batch", "bucket_by_sequence_length": "GroupByWindow", "counter": "Scan",
}  # fmt: skip


def _tensorflow_class_name(name: str) -> str:
    """Return the name of TensorFlow's class for a node, without the suffix "Dataset"."""
    return _TENSORFLOW_CLASS_NAMES.get(name) or "".join(word.capitalize() for word in name.split("_"))
