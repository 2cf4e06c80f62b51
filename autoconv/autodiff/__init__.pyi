"""Types of the names that `__getattr__` loads: type checkers read this file in place of `__init__.py`."""

from autoconv.api.gradients.accumulator import ForwardAccumulator as ForwardAccumulator
