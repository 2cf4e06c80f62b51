"""Raw ops of recurrent networks: LSTM and GRU cells, blocks of steps, and cuDNN's layers, as loops over their steps.

The names are those of the raw ops: i, f and o are the gates, ci and cs the new values and the state of a cell, co its
output, h the hidden state; r, u and c are the gates and the candidate of a GRU.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autoconv as tf
from autoconv import Tensor
from autoconv.runtime.annotations import TensorLike


def _lstm_cell(
    x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike, wci: TensorLike, wcf: TensorLike,
    wco: TensorLike, b: TensorLike, forget_bias: float = 1.0, cell_clip: float = 3.0, use_peephole: bool = False,
    gates: str = "icfo",
) -> tuple[Any, ...]:  # fmt: skip
    """Return i, cs, f, o, ci, co and h of one step; `gates` is the order of the gates in the columns of `w`."""
    previous_cell: Any = tf.convert_to_tensor(cs_prev)
    products: Any = tf.split(tf.concat([x, h_prev], 1) @ w + b, 4, axis=1)
    gate_by_letter = dict(zip(gates, products, strict=True))
    input_gate, forget_gate, output_gate = gate_by_letter["i"], gate_by_letter["f"] + forget_bias, gate_by_letter["o"]
    if use_peephole:
        input_gate, forget_gate = input_gate + previous_cell * wci, forget_gate + previous_cell * wcf
    i, f, ci = tf.sigmoid(input_gate), tf.sigmoid(forget_gate), tf.tanh(gate_by_letter["c"])
    cs = ci * i + previous_cell * f
    if cell_clip > 0:
        cs = tf.clip_by_value(cs, -cell_clip, cell_clip)
    o = tf.sigmoid(output_gate + cs * wco if use_peephole else output_gate)
    co = tf.tanh(cs)
    return i, cs, f, o, ci, co, co * o


def _block_lstm(gates: str, forget_bias: float, cell_clip: float) -> Callable[..., object]:
    """Return the raw op of a block of steps with this order of gates, and these defaults of its attributes."""
    defaults = forget_bias, cell_clip

    def block(
        seq_len_max: TensorLike, x: TensorLike, cs_prev: TensorLike, h_prev: TensorLike, w: TensorLike,
        wci: TensorLike, wcf: TensorLike, wco: TensorLike, b: TensorLike, use_peephole: bool = False,
        forget_bias: float = defaults[0], cell_clip: float = defaults[1],
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return the cell's results for each step, zeros from `seq_len_max` on."""

        def step(state: Sequence[Tensor], x: Tensor) -> tuple[Any, ...]:
            _, cell, *_, hidden = state  # the results of the cell's last step
            return _lstm_cell(x, cell, hidden, w, wci, wcf, wco, b, forget_bias, cell_clip, use_peephole, gates)

        steps, cell, hidden = (tf.convert_to_tensor(value) for value in (x, cs_prev, h_prev))
        zero = tf.zeros_like(cell)
        results = tf.scan(step, steps, (zero, cell, zero, zero, zero, zero, hidden))
        is_counted = tf.range(tf.shape(steps)[0]) < tf.cast(seq_len_max, tf.int32)
        return tuple(result * tf.cast(is_counted, result.dtype)[:, None, None] for result in results)

    return block


def _gru_cell(
    x: TensorLike, h_prev: TensorLike, w_ru: TensorLike, w_c: TensorLike, b_ru: TensorLike, b_c: TensorLike
) -> tuple[Any, ...]:
    """Return the gates r and u, the candidate c, and the new state of one step."""
    previous_state: Any = tf.convert_to_tensor(h_prev)
    r, u = tf.split(tf.sigmoid(tf.concat([x, previous_state], 1) @ w_ru + b_ru), 2, axis=1)
    c = tf.tanh(tf.concat([x, previous_state * r], 1) @ w_c + b_c)
    return r, u, c, (1 - u) * c + u * previous_state


# cuDNN's steps. x and h are the products of the input and of the hidden state with their weights, one for each gate;
# the results are the new hidden state and the new cell.


def _cudnn_lstm(
    x: Sequence[Tensor], h: Sequence[Tensor], hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor]:
    i, f, c, o = (input_product + state_product for input_product, state_product in zip(x, h, strict=True))
    new_cell = tf.sigmoid(f) * cell + tf.sigmoid(i) * tf.tanh(c)
    return tf.sigmoid(o) * tf.tanh(new_cell), new_cell


def _cudnn_gru(
    x: Sequence[Tensor], h: Sequence[Tensor], hidden: Tensor, cell: Tensor
) -> tuple[Tensor, Tensor]:
    r, u = tf.sigmoid(x[0] + h[0]), tf.sigmoid(x[1] + h[1])
    return (1 - u) * tf.tanh(x[2] + r * h[2]) + u * hidden, cell


_MODES: dict[str, tuple[int, Callable[..., tuple[Any, Any]]]] = {  # the number of gates, and the step
    "lstm": (4, _cudnn_lstm),
    "gru": (3, _cudnn_gru),
    "rnn_relu": (1, lambda x, h, hidden, cell: (tf.nn.relu(x[0] + h[0]), cell)),
    "rnn_tanh": (1, lambda x, h, hidden, cell: (tf.tanh(x[0] + h[0]), cell)),
}


def _cudnn_rnn(
    input: TensorLike, input_h: TensorLike, input_c: TensorLike, params: TensorLike, rnn_mode: str = "lstm",
    input_mode: str = "linear_input", direction: str = "unidirectional", dropout: float = 0.0,
    lengths: Tensor | None = None,
    **_: object,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the outputs of the last layer, the hidden states and cells of all passes at the end, and an empty reserve.

    A pass is one direction of one layer. `params` has the weights of all passes, for the input and for the state, and
    then the biases in the same order. With `lengths`, states stay as they are after the last step of their sequence.
    """
    if dropout or input_mode not in ("linear_input", "auto_select"):
        raise tf.errors.UnimplementedError(
            None, None, "CudnnRNN supports only dropout=0 and input_mode 'linear_input' or 'auto_select'"
        )
    gate_count, step = _MODES[rnn_mode]
    values: Any = tf.convert_to_tensor(input)
    states: Any = tf.convert_to_tensor(input_h)
    cells: Any = tf.convert_to_tensor(input_c) if rnn_mode == "lstm" else tf.zeros_like(states)
    pass_count, units = states.shape[0], states.shape[2]
    direction_count = 2 if direction == "bidirectional" else 1
    count_after_first_layer = pass_count - direction_count
    input_sizes = [values.shape[2]] * direction_count + [units * direction_count] * count_after_first_layer
    weight_sizes = [gate_count * units * size for input_size in input_sizes for size in (input_size, units)]
    split_sizes = weight_sizes + [gate_count * units] * (2 * pass_count)
    parameters = tf.split(params, split_sizes)
    last_states = []
    for layer in range(pass_count // direction_count):
        outputs = []
        for pass_index in range(layer * direction_count, (layer + 1) * direction_count):
            matrices = parameters[2 * pass_index : 2 * pass_index + 2]
            weights = [tf.transpose(tf.reshape(matrix, [gate_count * units, -1])) for matrix in matrices]
            biases = parameters[2 * (pass_count + pass_index) : 2 * (pass_count + pass_index) + 2]
            is_reversed = pass_index % direction_count == 1
            layer_results = _run_layer(
                values, states[pass_index], cells[pass_index], weights, biases, step, gate_count, lengths, is_reversed
            )
            output, *last_state = layer_results
            outputs.append(output)
            last_states.append(last_state)
        values = tf.concat(outputs, 2)
    hidden, cell = (tf.stack(states_of_passes) for states_of_passes in zip(*last_states, strict=True))
    return values, hidden, cell, tf.zeros([0])


def _run_layer(
    values: Tensor, hidden: Tensor, cell: Tensor, weights: Sequence[Tensor], biases: Sequence[Tensor],
    step: Callable[..., tuple[Tensor, Tensor]], gate_count: int, lengths: Tensor | None, is_reversed: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Return a layer's outputs in one direction, and its hidden state and cell after the last step.

    `weights` and `biases` are pairs: for the input, and for the hidden state.
    """

    def reverse(steps: Tensor) -> Any:
        return tf.reverse(steps, [0]) if lengths is None else tf.reverse_sequence(steps, lengths, 0, 1)

    def advance(state: Sequence[Tensor], step_input: Sequence[Tensor]) -> tuple[Any, Any, Any]:
        (products, step_number), (old_hidden, old_cell, _) = step_input, state
        state_products = tf.split(old_hidden @ state_weights + state_biases, gate_count, axis=1)
        new_hidden, new_cell = step(tf.split(products, gate_count, axis=1), state_products, old_hidden, old_cell)
        if lengths is None:
            return new_hidden, new_cell, new_hidden
        is_running = (step_number < lengths)[:, None]
        output = tf.where(is_running, new_hidden, tf.zeros_like(new_hidden))
        return tf.where(is_running, new_hidden, old_hidden), tf.where(is_running, new_cell, old_cell), output

    (input_weights, state_weights), (input_biases, state_biases) = weights, biases
    products: Any = tf.tensordot(reverse(values) if is_reversed else values, input_weights, 1) + input_biases
    hiddens, cells, outputs = tf.scan(advance, (products, tf.range(tf.shape(values)[0])), (hidden, cell, hidden))
    return reverse(outputs) if is_reversed else outputs, hiddens[-1], cells[-1]


def _cudnn_rnn_with_lengths(
    input: TensorLike, input_h: TensorLike, input_c: TensorLike, sequence_lengths: TensorLike, time_major: bool = True,
    **options: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """Return the results of `_cudnn_rnn` for sequences of these lengths; unless `time_major`, batches come first."""

    def transpose(value: TensorLike) -> Any:
        tensor = tf.convert_to_tensor(value)
        return tensor if time_major or not tensor.shape.rank else tf.transpose(tensor, [1, 0, 2])

    results = _cudnn_rnn(
        transpose(input), transpose(input_h), transpose(input_c), lengths=tf.cast(sequence_lengths, tf.int32), **options
    )
    return (*map(transpose, results[:3]), tf.zeros([0]), tf.zeros([0], tf.int8))


# Name of a raw op -> a function with its parameters, written in public functions.
FORM_BY_OP: dict[str, Callable[..., object]] = {
    "LSTMBlockCell": _lstm_cell,
    "GRUBlockCell": _gru_cell,
    "BlockLSTM": _block_lstm("icfo", 1.0, 3.0),
    "BlockLSTMV2": _block_lstm("ifco", 0.0, cell_clip=0.0),
    "CudnnRNN": _cudnn_rnn,
    "CudnnRNNV2": lambda **options: (*_cudnn_rnn(**options), tf.zeros([0], tf.int8)),
    "CudnnRNNV3": _cudnn_rnn_with_lengths,
}
