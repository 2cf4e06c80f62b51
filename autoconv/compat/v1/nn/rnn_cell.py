"""Cells of recurrent networks: a call computes an output and the next state from an input and a state."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from autoconv import math, nn
from autoconv.api.matrices.linalg import matmul
from autoconv.api.tensors.comparison import clip_by_value
from autoconv.api.tensors.constants import zeros
from autoconv.api.tensors.shaping import concat, split
from autoconv.compat.v1.initializers import ones_initializer, zeros_initializer
from autoconv.compat.v1.nn.layers import dropout
from autoconv.compat.v1.variables import get_variable, variable_scope
from autoconv.graph.dtypes import float32, int32


class LSTMStateTuple(NamedTuple):
    """The state of a long short-term memory (LSTM): its cell state c and its last output h.

    >>> autoconv.compat.v1.nn.rnn_cell.LSTMStateTuple(1, 2).h
    2
    """

    c: Any
    h: Any


class RNNCell:
    """Base of the cells. A subclass has `state_size`, `output_size` and `call(inputs, state)`.

    The variables belong to the scope in which the cell is called first. `dtype` has no effect: variables have the dtype
    of the inputs.

    >>> with autoconv.Graph().as_default():
    ...     cell = autoconv.compat.v1.nn.rnn_cell.BasicRNNCell(4)
    ...     output, state = cell(autoconv.zeros([2, 3]), cell.zero_state(2, autoconv.float32))
    ...     output.shape
    TensorShape([2, 4])
    """

    state_size: Any
    output_size: Any

    def __init__(self, name: str | None = None, reuse: Any = None, dtype: Any = None) -> None:
        self._name = name or _snake_case(type(self).__name__)
        self._reuse = reuse
        self._scope: Any = None
        self.trainable = True

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        if self._scope is None:
            with variable_scope(scope or self._name, reuse=self._reuse) as entered_scope:
                self._scope = entered_scope
                return self.call(inputs, state)
        with variable_scope(self._scope, reuse=True):
            return self.call(inputs, state)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """Return the output and the next state."""
        raise NotImplementedError("a cell has a method call(inputs, state)")

    def zero_state(self, batch_size: Any, dtype: Any = float32) -> Any:
        """Return a state of zeros for a number of sequences."""
        return _zero_state(self.state_size, batch_size, dtype)

    @property
    def variables(self) -> list[Any]:
        """The variables of the cell; an empty list before its first call."""
        return [] if self._scope is None else self._scope.global_variables()

    trainable_variables = weights = trainable_weights = variables

    def _linear(
        self, inputs: Any, units: int, kernel_initializer: Any = None, bias_initializer: Any = None, part_name: str = ""
    ) -> Any:
        """Return inputs @ kernel + bias, with the variables `part_name/kernel` and `part_name/bias`."""
        prefix = f"{part_name}/" if part_name else ""
        shape = [int(inputs.shape[-1]), units]
        kernel = get_variable(f"{prefix}kernel", shape, inputs.dtype, kernel_initializer)
        bias = get_variable(f"{prefix}bias", [units], inputs.dtype, bias_initializer or zeros_initializer())
        return nn.bias_add(matmul(inputs, kernel), bias)


class BasicRNNCell(RNNCell):
    """output = state = activation([inputs, state] @ kernel + bias).

    >>> autoconv.compat.v1.nn.rnn_cell.BasicRNNCell(4).state_size
    4
    """

    def __init__(self, num_units: int, activation: Any = None, reuse: Any = None, name: str | None = None) -> None:
        super().__init__(name, reuse)
        self.state_size = self.output_size = num_units
        self._activation = activation or math.tanh

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        output = self._activation(self._linear(concat([inputs, state], 1), self.output_size))
        return output, output


class GRUCell(RNNCell):
    """A gated recurrent unit (Cho et al., 2014).

    >>> autoconv.compat.v1.nn.rnn_cell.GRUCell(4).output_size
    4
    """

    def __init__(
        self, num_units: int, activation: Any = None, reuse: Any = None, kernel_initializer: Any = None,
        bias_initializer: Any = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, reuse)
        self.state_size = self.output_size = num_units
        self._activation = activation or math.tanh
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        size, kernel_initializer = self.output_size, self._kernel_initializer
        gate_bias_initializer = self._bias_initializer or ones_initializer()
        gates = self._linear(concat([inputs, state], 1), 2 * size, kernel_initializer, gate_bias_initializer, "gates")
        reset, update = split(math.sigmoid(gates), 2, 1)
        candidate_inputs = concat([inputs, reset * state], 1)
        candidate = self._activation(
            self._linear(candidate_inputs, size, kernel_initializer, self._bias_initializer, "candidate")
        )
        output = update * state + (1 - update) * candidate
        return output, output


class LSTMCell(RNNCell):
    """A long short-term memory (Hochreiter and Schmidhuber, 1997); its state is an LSTMStateTuple (c, h).

    With `use_peepholes` the gates depend on c too. With `num_proj` the output h is multiplied by a matrix of `num_proj`
    columns. c is clipped to [-cell_clip, cell_clip], and the product to [-proj_clip, proj_clip]. `num_unit_shards` and
    `num_proj_shards` have no effect.

    >>> autoconv.compat.v1.nn.rnn_cell.LSTMCell(4).state_size
    LSTMStateTuple(c=4, h=4)
    """

    def __init__(
        self, num_units: int, use_peepholes: bool = False, cell_clip: float | None = None, initializer: Any = None,
        num_proj: int | None = None, proj_clip: float | None = None, num_unit_shards: int | None = None,
        num_proj_shards: int | None = None, forget_bias: float = 1.0, state_is_tuple: bool = True,
        activation: Any = None, reuse: Any = None, name: str | None = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(name, reuse, dtype)
        self._unit_count, self._forget_bias, self._state_is_tuple = num_units, forget_bias, state_is_tuple
        self._initializer, self._use_peepholes = initializer, use_peepholes
        self._projection_size, self._cell_clip, self._projection_clip = num_proj, cell_clip, proj_clip
        self.output_size = num_proj or num_units
        self.state_size = (
            LSTMStateTuple(num_units, self.output_size) if state_is_tuple else num_units + self.output_size
        )
        self._activation = activation or math.tanh

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        cell_state, output = state if self._state_is_tuple else split(state, [self._unit_count, self.output_size], 1)
        gates = self._linear(concat([inputs, output], 1), 4 * self._unit_count, self._initializer)
        input_gate, candidate, forget_gate, output_gate = split(gates, 4, 1)
        kept_state = cell_state * math.sigmoid(self._with_peephole(forget_gate + self._forget_bias, cell_state, "f"))
        new_state = math.sigmoid(self._with_peephole(input_gate, cell_state, "i")) * self._activation(candidate)
        next_state = _clip(kept_state + new_state, self._cell_clip)
        next_output = self._activation(next_state) * math.sigmoid(self._with_peephole(output_gate, next_state, "o"))
        if self._projection_size is not None:
            shape = [self._unit_count, self._projection_size]
            matrix = get_variable("projection/kernel", shape, inputs.dtype, self._initializer)
            next_output = _clip(matmul(next_output, matrix), self._projection_clip)
        if self._state_is_tuple:
            return next_output, LSTMStateTuple(next_state, next_output)
        return next_output, concat([next_state, next_output], 1)

    def _with_peephole(self, gate: Any, cell_state: Any, letter: str) -> Any:
        """Return gate + weights * cell_state if the cell uses peepholes, else the gate.

        `letter` stands for the gate in the name of the weights.
        """
        if not self._use_peepholes:
            return gate
        shape = [self._unit_count]
        return gate + cell_state * get_variable(f"w_{letter}_diag", shape, gate.dtype, self._initializer)


class BasicLSTMCell(LSTMCell):
    """An LSTMCell without projection, peepholes and clipping.

    >>> autoconv.compat.v1.nn.rnn_cell.BasicLSTMCell(4).output_size
    4
    """

    def __init__(
        self, num_units: int, forget_bias: float = 1.0, state_is_tuple: bool = True, activation: Any = None,
        reuse: Any = None, name: str | None = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple, activation=activation, reuse=reuse,
            name=name, dtype=dtype,
        )  # fmt: skip


class MultiRNNCell(RNNCell):
    """A stack of cells: the output of each is the input of the next.

    The state is the tuple of the cells' states, or without `state_is_tuple` one tensor with these side by side.

    >>> cells = [autoconv.compat.v1.nn.rnn_cell.GRUCell(4) for _ in range(2)]
    >>> autoconv.compat.v1.nn.rnn_cell.MultiRNNCell(cells).state_size
    (4, 4)
    """

    def __init__(self, cells: Sequence[RNNCell], state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        self._cells = list(cells)
        self._state_sizes = tuple(cell.state_size for cell in cells)
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and not all(isinstance(size, int) for size in self._state_sizes):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set.")
        self.state_size = self._state_sizes if state_is_tuple else sum(self._state_sizes)
        self.output_size = cells[-1].output_size

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        states = []
        cell_states = state if self._state_is_tuple else split(state, list(self._state_sizes), 1)
        for number, (cell, cell_state) in enumerate(zip(self._cells, cell_states, strict=True)):
            with variable_scope(f"cell_{number}"):
                inputs, next_state = cell(inputs, cell_state)
            states.append(next_state)
        return inputs, tuple(states) if self._state_is_tuple else concat(states, 1)


class DropoutWrapper(RNNCell):
    """A cell with dropout of its inputs, outputs and states, but not of the state c of a long short-term memory.

    Each dropout has a seed of its own that is derived from `seed`.

    >>> cell = autoconv.compat.v1.nn.rnn_cell.GRUCell(4)
    >>> autoconv.compat.v1.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.5).output_size
    4
    """

    def __init__(
        self, cell: RNNCell, input_keep_prob: Any = 1.0, output_keep_prob: Any = 1.0, state_keep_prob: Any = 1.0,
        seed: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._cell, self._seed = cell, seed
        self._keep_probabilities = input_keep_prob, output_keep_prob, state_keep_prob
        self.state_size, self.output_size = cell.state_size, cell.output_size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        input_keep, output_keep, state_keep = self._keep_probabilities
        output, next_state = self._cell(_drop_out(inputs, input_keep, self._seeds("input")), state, scope)
        next_state = _drop_out_state(next_state, state_keep, self._seeds("state"))
        return _drop_out(output, output_keep, self._seeds("output")), next_state

    def _seeds(self, part: str) -> Iterator[int | None]:
        """Yield a seed for each tensor of the "input", "state" or "output", as TensorFlow derives them from `seed`."""
        for index in itertools.count():
            digest = hashlib.md5(f"{self._seed}{part}_{index}".encode()).hexdigest()
            yield None if self._seed is None else int(digest[:8], 16) & int32.max


class ResidualWrapper(RNNCell):
    """A cell whose output is the sum of the inputs and another cell's outputs, or `residual_fn(inputs, outputs)`.

    >>> cell = autoconv.compat.v1.nn.rnn_cell.GRUCell(4)
    >>> autoconv.compat.v1.nn.rnn_cell.ResidualWrapper(cell).state_size
    4
    """

    def __init__(self, cell: RNNCell, residual_fn: Any = None) -> None:
        super().__init__()
        self._cell = cell
        self._residual = residual_fn or (lambda inputs, outputs: inputs + outputs)
        self.state_size, self.output_size = cell.state_size, cell.output_size

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        output, next_state = self._cell(inputs, state, scope)
        return self._residual(inputs, output), next_state


def _clip(value: Any, bound: float | None) -> Any:
    """Return a value clipped to [-bound, bound], unchanged for None."""
    return value if bound is None else clip_by_value(value, -bound, bound)


def _drop_out(value: Any, keep_probability: Any, seeds: Iterator[int | None]) -> Any:
    """Return a value with dropout by the next seed, or the value itself if all elements are kept."""
    seed, keeps_all = next(seeds), isinstance(keep_probability, float) and keep_probability == 1.0
    return value if keeps_all else dropout(value, keep_probability, seed=seed)


def _drop_out_state(state: Any, keep_probability: Any, seeds: Iterator[int | None]) -> Any:
    """Return a state with dropout of each tensor, except for the cell state c of a long short-term memory."""
    if isinstance(state, LSTMStateTuple):
        next(seeds)  # that of c
        return LSTMStateTuple(state.c, _drop_out(state.h, keep_probability, seeds))
    if isinstance(state, tuple):
        return tuple(_drop_out_state(item, keep_probability, seeds) for item in state)
    return _drop_out(state, keep_probability, seeds)


def _zero_state(size: Any, batch_size: Any, dtype: Any) -> Any:
    """Return zeros in the structure of a state size."""
    if isinstance(size, LSTMStateTuple):
        return LSTMStateTuple(*(_zero_state(item, batch_size, dtype) for item in size))
    if isinstance(size, tuple):
        return tuple(_zero_state(item, batch_size, dtype) for item in size)
    return zeros([batch_size, size], dtype)


def _snake_case(name: str) -> str:
    """Return the name of a cell's scope: basic_lstm_cell for BasicLSTMCell."""
    result = ""
    for position, letter in enumerate(name):
        next_letter = name[position + 1 : position + 2]
        starts_word = letter.isupper() and position and (
            not name[position - 1].isupper() or (next_letter and next_letter.islower())
        )
        result += ("_" if starts_word else "") + letter.lower()
    return result
