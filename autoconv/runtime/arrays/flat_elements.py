"""`x.flat` of an array that is traced as memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.ops.program_errors import as_program_error
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, load_elements, wrap_new_arrays
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors.conversion import as_tensor, is_tensor


class FlatElements:
    """The elements of an array in one dimension, row by row: reads give copies, assignments change the array."""

    __slots__ = ("array",)

    def __init__(self, array: SymbolicArray) -> None:
        self.array = array

    def row(self) -> SymbolicArray:
        """Return the elements as a view of the array; raise StagingError where it is not contiguous."""
        array = self.array
        if array.ndim == 1:
            return array
        if None in array.known_shape:
            current_contract().specialise(array)
        if not array.type.is_contiguous:
            raise StagingError("'flat' of an array that is not contiguous is used", current_place())
        return array.reshape(-1)  # type: ignore[no-any-return]

    def __autoconv_box__(self) -> Any:
        raise StagingError("'flat' of an array is stored or returned", current_place())

    def _row_for_index(self, index: Any) -> SymbolicArray:
        """Return `row()`; raise StagingError for an index for which NumPy may raise another error than for an array."""
        row = self.row()
        size = row.known_shape[0]
        is_outside = type(index) is int and size is not None and not -size <= index < size
        if is_outside or not (isinstance(index, (int, slice, np.ndarray)) or is_tensor(index)):
            raise StagingError("an index of 'flat' is out of bounds, or is no int, slice or array", current_place())
        return row

    def __len__(self) -> int:
        return operator.index(self.array.size)

    def __getitem__(self, index: object) -> Any:
        return wrap_new_arrays(load_elements(self._row_for_index(index)[index]))

    def __setitem__(self, index: object, value: object) -> None:
        tensor = as_tensor(value)
        rank = np.ndim(value) if tensor is None else tensor.type.rank  # type: ignore[arg-type]
        if rank:
            raise StagingError("several elements are assigned to 'flat', which repeats them", current_place())
        self._row_for_index(index)[index] = value

    def copy(self) -> Any:
        """`x.flat.copy()`."""
        return self[:]

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.flatiter

    def __getattr__(self, name: str) -> Any:
        if not hasattr(np.flatiter, name):
            raise as_program_error(AttributeError(f"'numpy.flatiter' object has no attribute {name!r}"))
        raise StagingError(f"the attribute {name!r} of 'flat' is read", current_place())

    def _refuse_operator(self, other: object) -> Any:
        raise StagingError("'flat' of an array is compared or computed with", current_place())

    __hash__ = None  # type: ignore[assignment]
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse_operator
    __add__ = __sub__ = __mul__ = __truediv__ = __radd__ = __rsub__ = __rmul__ = __rtruediv__ = _refuse_operator


def takes_graph_indices(value: object) -> bool:
    """Return whether `value[index]` takes indices that are symbolic: for a tensor, and for `x.flat` of an array."""
    return is_tensor(value) or type(value) is FlatElements
