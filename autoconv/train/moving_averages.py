"""Exponential moving averages of variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autoconv.errors import UnimplementedError
from autoconv.runtime.annotations import IntLike, TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply


class ExponentialMovingAverage:
    """Exponential averages: `apply(variables)` moves each average towards its variable, by (1 - decay) of the distance.

    An average starts with the value of its variable, so `zero_debias` has no effect. With `num_updates` the decay is
    at most (1 + num_updates) / (10 + num_updates).

    >>> x = autoconv.Variable(1.0)
    >>> average = autoconv.train.ExponentialMovingAverage(0.5)
    >>> average.apply([x])
    >>> _ = x.assign(3.0)
    >>> average.apply([x])
    >>> average.average(x).numpy()
    np.float32(2.0)
    """

    def __init__(
        self, decay: float, num_updates: IntLike | None = None, zero_debias: bool = False,
        name: str = "ExponentialMovingAverage",
    ) -> None:  # fmt: skip
        self._decay = decay
        self._num_updates = num_updates
        self._name = name
        self._averages: dict[Any, Variable] = {}

    @property
    def name(self) -> str:
        """The last part of the names of averages."""
        return self._name

    def apply(self, var_list: Iterable[Variable]) -> None:
        """Make averages for variables that have none, and move each average towards its variable."""
        self._move_averages(var_list)

    def _move_averages(self, var_list: Iterable[Variable]) -> list[Any]:
        """Make the averages that are missing, move all of them, and return the assignments."""
        assignments = []
        decay: Any = convert_to_tensor(self._decay)
        if self._num_updates is not None:
            updates = apply("cast", convert_to_tensor(self._num_updates), dtype=decay.dtype)
            decay = apply("minimum", decay, (1.0 + updates) / (10.0 + updates))
        for variable in var_list:
            if not variable.dtype.is_floating:
                raise TypeError(f"The variables must be half, float, or double: {variable.name}")
            weight = 1.0 - apply("cast", decay, dtype=variable.dtype)
            key = variable.ref()
            if key not in self._averages:
                name = f"{variable.name.partition(':')[0]}/{self._name}"
                self._averages[key] = Variable(self._first_value(variable), trainable=False, name=name)
            average = self._averages[key]
            assignments.append(average.assign_sub((average - variable) * weight))
        return assignments

    def _first_value(self, variable: Variable) -> Any:
        """Return the value with which the average of a variable begins."""
        return variable.value()

    def average(self, var: Variable) -> Any:
        """Return the average of a variable, None before the first `apply`."""
        return self._averages.get(var.ref())

    def average_name(self, var: Variable) -> str:
        """Return the name of the variable's average."""
        return f"{var.name.partition(':')[0]}/{self._name}"


def assign_moving_average(
    variable: Variable, value: TensorLike, decay: TensorLike, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Move a variable towards a value, by (1 - decay) of the distance; return the assignment.

    Raises UnimplementedError with `zero_debias`, which needs further variables.
    """
    if zero_debias:
        raise UnimplementedError("assign_moving_average: zero_debias=True is not implemented; pass zero_debias=False.")
    weight = 1.0 - apply("cast", convert_to_tensor(decay), dtype=variable.dtype)
    return variable.assign_sub((variable - apply("cast", convert_to_tensor(value), dtype=variable.dtype)) * weight)
