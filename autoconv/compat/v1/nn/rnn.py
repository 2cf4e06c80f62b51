"""Recurrent networks, which call a cell for each step of sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv import nest
from autoconv.api.control.flow import while_loop
from autoconv.api.nn.blocks import reverse_sequence
from autoconv.api.tensors.gather import where
from autoconv.api.tensors.shaping import expand_dims, reverse, transpose
from autoconv.api.tensors.shaping import shape as shape_of
from autoconv.compat.v1 import variables
from autoconv.graph.dtypes import int32
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.tensors.conversion import constant, convert_to_tensor
from autoconv.runtime.tensors.tensor_array import TensorArray


def static_rnn(
    cell: Any, inputs: Sequence[Any], initial_state: Any = None, dtype: DTypeLike | None = None,
    sequence_length: Any = None, scope: Any = None,
) -> tuple[list[Any], Any]:  # fmt: skip
    """Call the cell for each tensor [batch, features] of a list; return the list of outputs and the last state.

    Beyond `sequence_length` the outputs are zero, and the state is unchanged. Raises ValueError without inputs, and
    without both `initial_state` and `dtype`.

    >>> with autoconv.Graph().as_default():
    ...     cell = autoconv.compat.v1.nn.rnn_cell.BasicRNNCell(4)
    ...     steps = [autoconv.zeros([2, 3])] * 5
    ...     outputs, state = autoconv.compat.v1.nn.static_rnn(cell, steps, dtype=autoconv.float32)
    >>> len(outputs), state.shape
    (5, TensorShape([2, 4]))
    """
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variables.variable_scope(scope or "rnn"):
        state = _initial_state_of(cell, inputs[0], initial_state, dtype, batch_axis=0)
        outputs = []
        for step, step_inputs in enumerate(inputs):
            output, next_state = cell(step_inputs, state)
            if sequence_length is not None:
                output, next_state = _keep_ended_sequences(constant(step), sequence_length, output, next_state, state)
            outputs.append(output)
            state = next_state
    return outputs, state


def dynamic_rnn(
    cell: Any, inputs: Any, sequence_length: Any = None, initial_state: Any = None,
    dtype: DTypeLike | None = None, parallel_iterations: int | None = None, swap_memory: bool = False,
    time_major: bool = False, scope: Any = None,
) -> tuple[Any, Any]:  # fmt: skip
    """Call the cell for each step of `inputs` [batch, steps, features]; return the outputs and the last state.

    With `time_major` inputs and outputs are [steps, batch, features]. Beyond `sequence_length` the outputs are zero,
    and the state is unchanged. Raises ValueError without both `initial_state` and `dtype`.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [None, 5, 3])
    ...     cell = autoconv.compat.v1.nn.rnn_cell.GRUCell(4)
    ...     outputs, state = autoconv.compat.v1.nn.dynamic_rnn(cell, x, dtype=autoconv.float32)
    >>> outputs.shape, state.shape
    (TensorShape([None, 5, 4]), TensorShape([None, 4]))
    """
    with variables.variable_scope(scope or "rnn"):
        steps = convert_to_tensor(inputs)
        if not time_major:
            steps = transpose(steps, [1, 0, *range(2, steps.shape.rank or 3)])
        state = _initial_state_of(cell, steps, initial_state, dtype, batch_axis=1)
        step_count = shape_of(steps)[0]
        output_array = TensorArray(steps.dtype, size=step_count, element_shape=[steps.shape[1], cell.output_size])

        def body(step: Any, outputs_so_far: Any, *state_leaves_so_far: Any) -> Any:
            old_state = nest.pack_sequence_as(state, list(state_leaves_so_far))
            output, next_state = cell(steps[step], old_state)
            if sequence_length is not None:
                output, next_state = _keep_ended_sequences(step, sequence_length, output, next_state, old_state)
            return [step + 1, outputs_so_far.write(step, output), *nest.flatten(next_state)]

        leaves = nest.flatten(state)
        loop_results = while_loop(lambda step, *_: step < step_count, body, [constant(0, int32), output_array, *leaves])
        outputs = loop_results[1].stack()
        if isinstance(steps.shape[0], int):
            outputs.set_shape([steps.shape[0], *outputs.shape[1:]])
        if not time_major:
            outputs = transpose(outputs, [1, 0, 2])
    return outputs, nest.pack_sequence_as(state, list(loop_results[2:]))


def bidirectional_dynamic_rnn(
    cell_fw: Any, cell_bw: Any, inputs: Any, sequence_length: Any = None, initial_state_fw: Any = None,
    initial_state_bw: Any = None, dtype: DTypeLike | None = None, parallel_iterations: int | None = None,
    swap_memory: bool = False, time_major: bool = False, scope: Any = None,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:  # fmt: skip
    """Call `cell_fw` from the first step to the last and `cell_bw` backward; return the outputs and states of both.

    The arguments are those of `dynamic_rnn`.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [None, 5, 3])
    ...     cells = [autoconv.compat.v1.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    ...     outputs, _ = autoconv.compat.v1.nn.bidirectional_dynamic_rnn(*cells, x, dtype=autoconv.float32)
    >>> outputs[1].shape
    TensorShape([None, 5, 4])
    """
    steps_axis, batch_axis = (0, 1) if time_major else (1, 0)

    def reversed_steps(steps: Any) -> Any:
        if sequence_length is None:
            return reverse(steps, [steps_axis])
        return reverse_sequence(steps, sequence_length, seq_axis=steps_axis, batch_axis=batch_axis)

    with variables.variable_scope(scope or "bidirectional_rnn"):
        with variables.variable_scope("fw") as forward_scope:
            forward_outputs, forward_state = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major=time_major, scope=forward_scope
            )
        with variables.variable_scope("bw") as backward_scope:
            backward_outputs, backward_state = dynamic_rnn(
                cell_bw, reversed_steps(convert_to_tensor(inputs)), sequence_length, initial_state_bw, dtype,
                time_major=time_major, scope=backward_scope,
            )  # fmt: skip
    return (forward_outputs, reversed_steps(backward_outputs)), (forward_state, backward_state)


def _initial_state_of(cell: Any, inputs: Any, initial_state: Any, dtype: Any, batch_axis: int) -> Any:
    """Return `initial_state` if it is given, else zeros for each of the sequences along `batch_axis` of the inputs."""
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    size = inputs.shape[batch_axis]
    return cell.zero_state(int(size) if isinstance(size, int) else shape_of(inputs)[batch_axis], dtype)


def _keep_ended_sequences(step: Any, lengths: Any, output: Any, next_state: Any, old_state: Any) -> tuple[Any, Any]:
    """Return the output and the next state, with zero and the old state for sequences that have no such step."""
    is_running = expand_dims(convert_to_tensor(lengths) > step, 1)
    pairs = zip(nest.flatten(next_state), nest.flatten(old_state), strict=True)
    state_leaves = [where(is_running, new, old) for new, old in pairs]
    return where(is_running, output, output * 0), nest.pack_sequence_as(next_state, state_leaves)
