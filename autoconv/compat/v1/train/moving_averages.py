"""Exponential moving averages in version 1, which are updated by an operation of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autoconv import train
from autoconv.compat.v1.collections import (
    GraphKeys,
    add_to_collection,
    global_variables,
    moving_average_variables,
    trainable_variables,
)
from autoconv.compat.v1.operations import group


class ExponentialMovingAverage(train.ExponentialMovingAverage):
    """Exponential moving averages of variables; `apply` returns the operation that updates them.

    >>> v1 = autoconv.compat.v1
    >>> with autoconv.Graph().as_default(), v1.Session() as session:
    ...     x = v1.get_variable("x", initializer=1.0)
    ...     average = v1.train.ExponentialMovingAverage(0.5)
    ...     move = average.apply([x])
    ...     session.run(v1.global_variables_initializer())
    ...     session.run(x.assign(3.0))
    ...     session.run(move)
    ...     session.run(average.average(x))
    np.float32(3.0)
    np.float32(2.0)
    """

    def apply(self, var_list: Iterable[Any] | None = None) -> Any:
        """Create averages for variables that have none; return the operation that updates the averages of all.

        The variables are the trainable ones by default, and become members of the collection MOVING_AVERAGE_VARIABLES.
        """
        variables = list(trainable_variables() if var_list is None else var_list)
        for variable in variables:
            if variable not in moving_average_variables():
                add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, variable)
        return group(*self._move_averages(variables), name=self.name)

    def variables_to_restore(self, moving_avg_variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Return variables by the names under which a Saver finds their values.

        An averaged variable is listed under the name of its average.
        """
        default_variables = [*trainable_variables(), *moving_average_variables()]
        averaged_variables = default_variables if moving_avg_variables is None else list(moving_avg_variables)
        averaged_names = {variable.op.name for variable in averaged_variables}
        result = {self.average_name(variable): variable for variable in averaged_variables}
        for variable in global_variables():
            if variable.op.name not in averaged_names:
                result.setdefault(variable.op.name, variable)
        return result

    def _first_value(self, variable: Any) -> Any:
        return variable.initialized_value() if hasattr(variable, "initialized_value") else variable.value()
