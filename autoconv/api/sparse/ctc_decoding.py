"""Decoders of connectionist temporal classification (CTC), and the edit distance of label sequences."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.api.sparse.tensor import SparseTensor
from autoconv.errors import DtypeError, InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, float32, int32, int64
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor

Labels = tuple[int, ...]  # of one sequence
_ARRAYS_OF_SPARSE = 3  # the indices, values and shape of a sparse tensor


def ctc_greedy_decoder(
    inputs: TensorLike, sequence_length: TensorLike, merge_repeated: bool = True, blank_index: int | None = None
) -> tuple[list[SparseTensor], Tensor]:
    """The labels of the largest logit of each frame, without blanks: a list of one sparse tensor, and scores.

    `inputs` is [frames, batch, classes]; the blank is the class `blank_index`, the last one by default. With
    `merge_repeated`, equal labels of neighbouring frames become one. The scores [batch, 1] are minus the sums of the
    largest logits.

    >>> labels, scores = autoconv.nn.ctc_greedy_decoder([[[3.0, 0.0]], [[2.0, 0.0]], [[0.0, 1.0]]], [3])
    >>> labels[0].values.numpy(), scores.numpy()
    (array([0]), array([[-6.]], dtype=float32))
    """
    logits = convert_to_tensor(inputs)
    function = GreedyDecoder(bool(merge_repeated), blank_index, logits.dtype)
    specs = [*_label_specs(), TensorSpec((logits.shape[1] if logits.shape.rank == 3 else None, 1), logits.dtype)]
    lengths = convert_to_tensor(sequence_length, int32)
    *arrays, scores = numpy_function(function, [logits, lengths], specs, name="CTCGreedyDecoder")
    return [SparseTensor(*arrays)], scores


def ctc_beam_search_decoder(
    inputs: TensorLike, sequence_length: TensorLike, beam_width: int = 100, top_paths: int = 1
) -> tuple[list[SparseTensor], Tensor]:
    """The `top_paths` most probable label sequences, each as a sparse tensor, and log-probabilities [batch, top_paths].

    `inputs` is [frames, batch, classes], where the last class is the blank. After each frame the `beam_width` most
    probable sequences are kept. Raises InvalidArgumentError if there are fewer sequences than `top_paths`.

    >>> labels, scores = autoconv.nn.ctc_beam_search_decoder([[[3.0, 0.0]], [[2.0, 0.0]], [[0.0, 1.0]]], [3])
    >>> labels[0].values.numpy(), scores.numpy().round(3)
    (array([0]), array([[-0.035]], dtype=float32))
    """
    logits = convert_to_tensor(inputs)
    function = BeamSearchDecoder(int(beam_width), int(top_paths), logits.dtype)
    batch = logits.shape[1] if logits.shape.rank == 3 else None
    specs = [*(spec for _ in range(top_paths) for spec in _label_specs()), TensorSpec((batch, top_paths), logits.dtype)]
    lengths = convert_to_tensor(sequence_length, int32)
    *arrays, scores = numpy_function(function, [logits, lengths], specs, name="CTCBeamSearchDecoder")
    starts = range(0, top_paths * _ARRAYS_OF_SPARSE, _ARRAYS_OF_SPARSE)
    return [SparseTensor(*arrays[start : start + _ARRAYS_OF_SPARSE]) for start in starts], scores


def edit_distance(
    hypothesis: SparseTensor, truth: SparseTensor, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The least number of insertions, deletions and replacements that turn each sequence of `hypothesis` into `truth`.

    The sequences lie along the last dimension. With `normalize` the number is divided by the length of the truth, and
    infinite if only the truth is empty. Raises TypeError unless both are sparse.

    >>> first, second = autoconv.sparse.from_dense([[1, 2, 3]]), autoconv.sparse.from_dense([[1, 3]])
    >>> autoconv.edit_distance(first, second, normalize=False).numpy()
    array([1.], dtype=float32)
    """
    for sparse in (hypothesis, truth):
        if not isinstance(sparse, SparseTensor):
            raise TypeError(f"edit_distance takes sparse tensors, found {sparse!r}")
    if hypothesis.dtype is not truth.dtype:
        raise DtypeError(f"edit_distance takes values of one dtype, found {hypothesis.dtype} and {truth.dtype}")
    arrays = [array for x in (hypothesis, truth) for array in (x.indices, x.values, x.dense_shape)]
    rank = truth.shape.rank
    spec = TensorSpec(None if rank is None else (None,) * (rank - 1), float32)
    return numpy_function(EditDistance(bool(normalize)), arrays, [spec], name="EditDistance")[0]


def _label_specs() -> list[TensorSpec]:
    """Return the specs of the indices, values and shape of a sparse tensor of labels."""
    return [TensorSpec((None, 2), int64), TensorSpec((None,), int64), TensorSpec((2,), int64)]


@attribute_class
@dataclass(frozen=True)
class GreedyDecoder:
    """A function that takes the largest logit of each frame; see `ctc_greedy_decoder`.

    It returns indices, values and shape of the sparse tensor of labels, and the scores.

    With `merge`, equal labels of neighbouring frames become one. `blank` is the blank's class, None for the last one.
    """

    graphdef_name: ClassVar = "CTCGreedyDecoder"
    merge: bool
    blank: int | None
    dtype: DType

    def __call__(self, logits: Any, lengths: Any) -> Any:
        _, batch, classes = _check_sizes(logits, lengths)
        blank = classes - 1 if self.blank is None else self.blank % classes
        best_labels = logits.argmax(-1)
        scores = np.zeros((batch, 1), logits.dtype)
        sequences: list[Labels] = []
        for row, length in enumerate(lengths.tolist()):
            labels, previous = [], -1
            for frame in range(length):
                label = int(best_labels[frame, row])
                scores[row, 0] -= logits[frame, row, label]
                is_merged = self.merge and label == previous
                if label != blank and not is_merged:
                    labels.append(label)
                previous = label
            sequences.append(tuple(labels))
        return *_sparse_arrays(sequences), scores


@attribute_class
@dataclass(frozen=True)
class BeamSearchDecoder:
    """A function that keeps the most probable label sequences after each frame; see `ctc_beam_search_decoder`.

    It returns indices, values and shape of the labels of each path, and the scores. `width` is the number of sequences
    that are kept, `paths` the number of sequences that are returned.
    """

    graphdef_name: ClassVar = "CTCBeamSearchDecoder"
    width: int
    paths: int
    dtype: DType

    def __call__(self, logits: Any, lengths: Any) -> Any:
        _, batch, classes = _check_sizes(logits, lengths)
        if self.paths > self.width:
            raise InvalidArgumentError(f"top_paths ({self.paths}) is larger than beam_width ({self.width})")
        sequences_by_path: list[list[Labels]] = [[] for _ in range(self.paths)]
        scores = np.zeros((batch, self.paths), logits.dtype)
        for row, length in enumerate(lengths.tolist()):
            row_logits = np.asarray(logits[:length, row], np.float64)
            maxima = row_logits.max(-1, keepdims=True)
            logarithms = row_logits - maxima - np.log(np.exp(row_logits - maxima).sum(-1, keepdims=True))
            beam = self._search(logarithms.tolist(), classes - 1)
            if len(beam) < self.paths:
                raise InvalidArgumentError(f"found {len(beam)} label sequences, fewer than top_paths ({self.paths})")
            for path, (labels, score) in enumerate(beam[: self.paths]):
                sequences_by_path[path].append(labels)
                scores[row, path] = score
        return *(array for sequences in sequences_by_path for array in _sparse_arrays(sequences)), scores

    def _search(self, frames: list[list[float]], blank: int) -> list[tuple[Labels, float]]:
        """Return the most probable label sequences and their log-probabilities, in descending order.

        The beam has two log-probabilities for each sequence: of frames that end in a blank, and in the last label.
        """
        beam: dict[Labels, tuple[float, float]] = {(): (0.0, -math.inf)}
        for frame in frames:
            next_beam: dict[Labels, tuple[float, float]] = {}
            for labels, (after_blank, after_label) in beam.items():
                total = _log_sum(after_blank, after_label)
                _add_probabilities(next_beam, labels, total + frame[blank], -math.inf)
                if labels:
                    _add_probabilities(next_beam, labels, -math.inf, after_label + frame[labels[-1]])
                for label in range(blank):
                    # A label that equals the last one extends the sequence only after a blank.
                    prefix_score = after_blank if labels and labels[-1] == label else total
                    _add_probabilities(next_beam, (*labels, label), -math.inf, prefix_score + frame[label])
            best_sequences = sorted(next_beam, key=lambda labels: -_log_sum(*next_beam[labels]))[: self.width]
            beam = {labels: next_beam[labels] for labels in best_sequences}
        return [(labels, _log_sum(*probabilities)) for labels, probabilities in beam.items()]


@attribute_class
@dataclass(frozen=True)
class EditDistance:
    """Return the Levenshtein distance of each pair of sequences of two sparse tensors."""

    graphdef_name: ClassVar = "EditDistance"
    normalize: bool

    def __call__(
        self, indices: Any, values: Any, shape: Any, true_indices: Any, true_values: Any, true_shape: Any
    ) -> Any:
        if len(shape) != len(true_shape):
            raise InvalidArgumentError(f"the ranks differ: {shape.tolist()} and {true_shape.tolist()}")
        sequences, true_sequences = _sequences(indices, values), _sequences(true_indices, true_values)
        result = np.zeros(np.maximum(shape, true_shape)[:-1], np.float32)
        for sequence_index in {*sequences, *true_sequences}:
            sequence, truth = sequences.get(sequence_index, []), true_sequences.get(sequence_index, [])
            distance = float(_levenshtein_distance(sequence, truth))
            if self.normalize:
                distance = distance / len(truth) if truth else math.inf
            result[sequence_index] = distance
        return result


def _sequences(indices: Any, values: Any) -> dict[tuple[int, ...], list[Any]]:
    """Return the sequences along the last dimension, by their coordinates in the dimensions before it."""
    result: dict[tuple[int, ...], list[Any]] = {}
    for index, value in zip(indices.tolist(), values.tolist(), strict=True):
        result.setdefault(tuple(index[:-1]), []).append(value)
    return result


def _levenshtein_distance(first: list[Any], second: list[Any]) -> int:
    """Return the least number of insertions, deletions and replacements that turn one sequence into the other."""
    # distances[j] is the distance between the first i items of `first` and the first j items of `second`.
    distances = list(range(len(second) + 1))
    for i, first_item in enumerate(first, 1):
        diagonal, distances[0] = distances[0], i
        for j, second_item in enumerate(second, 1):
            least = min(distances[j] + 1, distances[j - 1] + 1, diagonal + (first_item != second_item))
            diagonal, distances[j] = distances[j], least
    return distances[-1]


class _LogitSizes(NamedTuple):
    """The numbers of frames, of sequences in the batch, and of classes."""

    frames: int
    batch: int
    classes: int


def _check_sizes(logits: Any, lengths: Any) -> _LogitSizes:
    """Return the sizes of the logits; raise InvalidArgumentError for `lengths` that do not fit them."""
    if logits.ndim != 3:
        raise InvalidArgumentError(f"inputs is not a 3-Tensor: [frames, batch, classes], found {list(logits.shape)}")
    sizes = _LogitSizes(*logits.shape)
    if lengths.shape != (sizes.batch,):
        raise InvalidArgumentError(f"len(sequence_length) != batch_size: {list(lengths.shape)} and {sizes.batch}")
    if (lengths > sizes.frames).any():
        raise InvalidArgumentError(f"sequence_length(b) <= {sizes.frames}, found {lengths.tolist()}")
    return sizes


def _sparse_arrays(rows: list[Labels]) -> tuple[Any, Any, Any]:
    """Return indices, values and shape of the sparse tensor with these rows."""
    coordinates = [(row, position) for row, labels in enumerate(rows) for position in range(len(labels))]
    values = [label for labels in rows for label in labels]
    max_length = max(map(len, rows), default=0)
    indices = np.array(coordinates, np.int64).reshape(-1, 2)
    return indices, np.array(values, np.int64), np.array([len(rows), max_length], np.int64)


def _add_probabilities(
    beam: dict[Labels, tuple[float, float]], labels: Labels, after_blank: float, after_label: float
) -> None:
    """Add probabilities, given by their logarithms, to those of a sequence in the beam."""
    former_after_blank, former_after_label = beam.get(labels, (-math.inf, -math.inf))
    beam[labels] = _log_sum(former_after_blank, after_blank), _log_sum(former_after_label, after_label)


def _log_sum(first: float, second: float) -> float:
    """Return log(exp(first) + exp(second)), without overflow."""
    low, high = min(first, second), max(first, second)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
