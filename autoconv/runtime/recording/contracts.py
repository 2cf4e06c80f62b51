"""Contracts: the assumptions of tracing about a function, and the properties that its graph has to preserve.

`Contract` is the interface that recording uses: flags and notifications. The base class serves ops that are recorded
without a function, and eager code: it has TensorFlow's meaning and takes no action.
`tracing/specialise/function_contract.py` and `compile_contract.py` hold the contracts of the two decorators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from autoconv.runtime.annotations import TensorLike

if TYPE_CHECKING:
    import types

    import numpy as np

    from autoconv.graph.graph import Value
    from autoconv.runtime.recording.journal import Location

CALL, ITERATION, NODE = "call", "iteration", "node"  # units of the trace budget, see `Contract.count_step`


class Contract:
    """The assumptions of tracing about a function, and the properties that its graph has to preserve, for one trace.

    python_numbers: Python's numbers stay Python's, with their types, errors, arithmetic and 64 bits
    numpy_arrays: tensors stand for NumPy's arrays and scalars, with NumPy's dtypes, warnings and mutation
    objects_in_graph: containers, texts and objects become objects of the graph where only run time decides on them
    promises_identity: containers and objects keep their identity, on every path and in the result
    effects_each_call: an effect outside happens on every call, not once for each trace
    python_exceptions: handlers see Python's exceptions; an operation that may raise is kept even if its value is unused
    stages_long_loops: a long loop over a range is recorded as a loop, not unrolled
    runs_plain: a call that cannot be staged runs as plain Python; otherwise it raises
    """

    name: ClassVar[str] = "function"
    python_numbers: ClassVar[bool] = False
    numpy_arrays: ClassVar[bool] = False
    objects_in_graph: ClassVar[bool] = False
    promises_identity: ClassVar[bool] = False
    effects_each_call: ClassVar[bool] = False
    python_exceptions: ClassVar[bool] = False
    stages_long_loops: ClassVar[bool] = False
    runs_plain: ClassVar[bool] = False

    @property
    def arrays_are_objects(self) -> bool:
        """True if NumPy's arrays are objects of the graph in the trace, of a class that is known only at run time."""
        return False

    def make_variable(self, create: Callable[..., Any], arguments: dict[str, Any]) -> Any:
        """Create the variable for these arguments of `Variable`."""
        return create(**arguments)

    def on_variable_created(self, variable: Any) -> None:
        """Handle a variable that the traced code creates."""

    def evaluate(self, value: Value) -> Any:
        """Return the array of a value of the root graph in the call being traced; None if it is unknown."""
        return None

    def before_call(self, function: object) -> None:
        """Raise for a function that is not converted and must not run while tracing."""

    def require_original(self, owner: object, reason: str, locations: Sequence[Location] = ()) -> None:
        """Make an object that is written an input of the trace, or abandon the trace with the reason.

        Other uses need the original as well, such as a comparison by identity or a conversion to text.
        """

    def is_outside(self, array: np.ndarray) -> bool:
        """Return whether an array is, or is a view of, an array of the program that existed before the trace."""
        return False

    def record_print(self, values: Sequence[Any], sep: object, end: object, file: Any, flush: bool) -> bool:
        """Record a print of values in Python's format, and return True; False where tensors are printed as such."""
        return False

    def concretise(self, tensor: Any, reason: str) -> Any:
        """Abandon the trace, as Python needs a tensor's value; return if no trace can get it, and the caller raises."""

    def specialise(self, *values: object) -> None:
        """Abandon the trace, which needs the `values`, if integer arguments determine them.

        The function is traced again for these arguments. Of a tensor or array with open sizes the sizes are needed,
        of every other one the value.
        """

    def attribute(self, tensor: Any, name: str) -> Any:
        """Return an attribute that tensors lack; NotImplemented if there is no such name."""
        return NotImplemented

    def as_zero_dimensional_array(self, tensor: TensorLike) -> Any:
        """Return a tensor as an array without dimensions, if the contract distinguishes these from NumPy's scalars."""
        return tensor

    def restart(self, kind: str, fact: Any) -> None:
        """Restart the trace with one more fact about the objects that it makes (see `Call.facts`)."""

    def on_converted(self, function: types.FunctionType) -> None:
        """Handle a function that is converted because traced code calls it."""

    def include_guards(self, guards: Any) -> None:
        """Include the guards of another trace, which this one uses."""

    def count_step(self, unit: str) -> None:
        """Count a call, an iteration of a Python loop, or a recorded node; abandon the trace if its budget is spent."""


EAGER = Contract()
