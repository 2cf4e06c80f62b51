"""The texts of ragged tensors: for `repr`, and for `print` when a graph runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from autoconv.api.gradients.callbacks import numpy_function
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import string
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


def ragged_text(rows: object) -> str:
    """Return NumPy's text of an array of rows, with commas between elements."""
    with np.printoptions(formatter={"all": _element}):
        return _element(rows)


def _element(value: object) -> str:
    """Return the text of an element, or of a row of elements."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


def text_tensor(flat_values: Tensor, nested_row_splits: Sequence[Tensor], summarize: int) -> Tensor:
    """Return the text of a ragged tensor as a scalar; of long rows, it has `summarize` elements at either end.

    Floats have six decimals, strings are quoted; with a negative `summarize` the text has all elements.
    """
    function = RaggedText(int(summarize), flat_values.dtype.is_string)
    texts = flat_values if function.has_quotes else apply(
        "as_string", flat_values, precision=-1, scientific=False, shortest=False, width=-1, fill=""
    )  # fmt: skip
    (text,) = numpy_function(function, [texts, *nested_row_splits], [TensorSpec([], string)], name="RaggedText")
    return text  # type: ignore[no-any-return]


@attribute_class
@dataclass(frozen=True)
class RaggedText:
    """Return the text of rows, from texts of their elements and the splits of all ragged dimensions."""

    graphdef_name: ClassVar = "PyFunc"
    summarize: int
    has_quotes: bool

    def __call__(self, values: np.ndarray, *nested_splits: np.ndarray) -> list[Any]:
        rows = [self._element(value) for value in values]
        for splits in reversed(nested_splits):
            rows = [self._row(rows[start:end]) for start, end in pairwise(splits.tolist())]
        return [self._row(rows)]

    def _element(self, value: Any) -> bytes:
        """Return the text of a value, or of an array of values in the uniform inner dimensions."""
        if isinstance(value, np.ndarray):
            return self._row([self._element(item) for item in value])
        escaped = value.replace(b"\\", b"\\\\").replace(b"'", b"\\'")
        return b"'" + escaped + b"'" if self.has_quotes else value  # type: ignore[no-any-return]

    def _row(self, texts: list[bytes]) -> bytes:
        """Return the text of a row from the texts of its elements, or of `summarize` elements at either end."""
        end_count = self.summarize
        if 0 <= 2 * end_count < len(texts):
            texts = [*texts[:end_count], b"...", *texts[len(texts) - end_count :]]
        return b"[" + b", ".join(texts) + b"]"
