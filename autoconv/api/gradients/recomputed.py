"""Functions whose intermediate values are recomputed for their gradients instead of being stored."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from autoconv.api.gradients.custom import custom_gradient
from autoconv.api.gradients.tape import GradientTape
from autoconv.operators.calls.call import call as callable_for
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.recording import tape_recorders
from autoconv.runtime.support.structure import flat_leaves


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function like `f` whose gradient runs `f` again: its intermediate values are not stored.

    >>> square = autoconv.recompute_grad(lambda x: x * x)
    >>> autoconv.grad(square)(3.0)
    6.0
    """

    @functools.wraps(f)
    def recomputed(*args: Any, **kwargs: Any) -> Any:
        @custom_gradient
        def with_recomputed_gradient(*arguments: Any) -> Any:
            # The last recorder is that of `custom_gradient`. It stays active, to collect the variables that `f` reads.
            *outer_recorders, variable_recorder = tape_recorders.active_recorders()
            with tape_recorders.pause_recorders(*outer_recorders):
                result = callable_for(f)(*arguments, **kwargs)
            for variable in variable_recorder.variables.values():
                tape_recorders.watch_used_variable(variable)  # for the tapes, which were paused

            def vjp(*upstream: Any, variables: Sequence[Variable] = ()) -> Any:
                leaves = flat_leaves(arguments)
                with GradientTape() as tape:
                    tape.watch(leaves)
                    outputs = callable_for(f)(*arguments, **kwargs)
                sources = [*leaves, *variables]
                gradients = tape.gradient(flat_leaves(outputs), sources, output_gradients=list(upstream))
                of_arguments, of_variables = tuple(gradients[: len(leaves)]), gradients[len(leaves) :]
                return (of_arguments, list(of_variables)) if variables else of_arguments

            return result, vjp

        return with_recomputed_gradient(*args)

    return recomputed
