"""`tensorflow.python.ops.resource_variable_ops`: variables."""

from autoconv import Variable as ResourceVariable
from autoconv.tensorflow.missing import Missing

BaseResourceVariable = ResourceVariable
VariableSpec = Missing("python.ops.resource_variable_ops.VariableSpec", "Variables have no specs of their own here.")


def is_resource_variable(value: object) -> bool:
    """Return whether the value is a variable."""
    return isinstance(value, ResourceVariable)
