"""`x.flat` of an array that is traced as memory."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from autoconv.errors import StagingError
from autoconv.runtime.arrays.symbolic_arrays import SymbolicArray, load_elements, wrap_new_arrays
from autoconv.runtime.recording.regions import current_contract
from autoconv.runtime.support.spans import current_place
from autoconv.runtime.tensors import dispatch
from autoconv.runtime.tensors.conversion import as_tensor


class FlatElements:
    """The elements of an array in one dimension, row by row: reads give copies, assignments change the array."""

    __slots__ = ("array",)

    def __init__(self, array: SymbolicArray) -> None:
        self.array = array

    def row(self) -> Any:
        """Return the elements as a view of the array, or as a tensor where the array is not contiguous."""
        array = self.array
        if array.ndim == 1:
            return array
        if None in array.known_shape:
            current_contract().specialise(array)
        return array.reshape(-1) if array.type.is_contiguous else self.__autoconv_tensor__()

    def __autoconv_tensor__(self) -> Any:
        return dispatch.apply("reshape", self.array.load(), shape=(-1,))

    def __len__(self) -> int:
        return operator.index(self.array.size)

    def __getitem__(self, index: object) -> Any:
        return wrap_new_arrays(load_elements(self.row()[index]))

    def __setitem__(self, index: object, value: object) -> None:
        tensor = as_tensor(value)
        if np.ndim(value) if tensor is None else tensor.type.rank:  # type: ignore[arg-type]
            raise StagingError("several elements are assigned to 'flat', which repeats them", current_place())
        row = self.row()
        if type(row) is not SymbolicArray:
            raise StagingError("'flat' of an array that is not contiguous is assigned", current_place())
        row[index] = value

    def copy(self) -> Any:
        """`x.flat.copy()`."""
        return wrap_new_arrays(self.__autoconv_tensor__())


__all__ = ["FlatElements"]
