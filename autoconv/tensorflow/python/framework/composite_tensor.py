"""`tensorflow.python.framework.composite_tensor`: the base of values that consist of tensors."""

from autoconv.runtime.support.type_spec import CompositeTensor as CompositeTensor
from autoconv.runtime.support.type_spec import is_composite


def is_composite_or_composite_value(value: object) -> bool:
    """Return whether the value is a composite tensor; version 1's evaluated composites do not occur."""
    return is_composite(value)
