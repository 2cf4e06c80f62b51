"""`tensorflow.python.util.variable_utils`: variables among values."""

from __future__ import annotations

import autoconv
from autoconv import nest


def convert_variables_to_tensors(values: object) -> object:
    """Return a structure with the values of variables in their place."""
    return nest.map_structure(_read, values)


def _read(value: object) -> object:
    return autoconv.convert_to_tensor(value) if isinstance(value, autoconv.Variable) else value
