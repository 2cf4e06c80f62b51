"""`tensorflow.python.framework.type_spec`: specs of values."""

from __future__ import annotations

from autoconv import type_spec_from_value as type_spec_from_value
from autoconv.runtime.support.type_spec import TypeSpec as TypeSpec
from autoconv.tensorflow.missing import Missing
from autoconv.tensorflow.python.framework.type_spec_registry import get_name as get_name
from autoconv.tensorflow.python.framework.type_spec_registry import lookup as lookup
from autoconv.tensorflow.python.framework.type_spec_registry import register as register

register_type_spec_from_value_converter = Missing(
    "python.framework.type_spec.register_type_spec_from_value_converter",
    "Give the value's class a property `_type_spec`.",
)


class BatchableTypeSpec(TypeSpec):
    """Base of specs whose values can be rows of a batch: a subclass defines `_batch` and `_unbatch`."""

    __slots__ = ()
