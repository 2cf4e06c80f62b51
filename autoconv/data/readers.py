"""Public datasets of files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.data.csv import Csv, guess_dtypes, read_column_names
from autoconv.data.dataset import Dataset
from autoconv.data.files import FixedLengthRecords, Records, TextLines, match_patterns
from autoconv.data.nodes import Node
from autoconv.data.sources import Counter as CounterNode
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import IntLike


class _FilesDataset(Dataset):
    """A dataset of files; `_node_class` is the class of nodes of its format."""

    _node_class: ClassVar[Callable[[Any, str | None], Node]]

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(type(self)._node_class(filenames, compression_type))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}V2 element_spec={self.node.spec}>"  # TensorFlow's class of the second version


class TextLineDataset(_FilesDataset):
    """The lines of one or more text files, as bytes without line ends.

    `filenames` is a string, a list or tensor of strings, or a dataset of them. Iterating raises NotFoundError for a
    missing file.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w")
    >>> print("one\\ntwo", file=file, flush=True)
    >>> [line.numpy() for line in autoconv.data.TextLineDataset(file.name)]
    [b'one', b'two']
    """

    _node_class = TextLines


class TFRecordDataset(_FilesDataset):
    """The records of one or more TFRecord files, as bytes; `compression_type` is "", "GZIP" or "ZLIB".

    Iterating raises DataLossError for a file that is damaged or compressed in another way.

    >>> import tempfile
    >>> path = tempfile.mkstemp()[1]
    >>> with autoconv.io.TFRecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"one")
    >>> [record.numpy() for record in autoconv.data.TFRecordDataset(path, "GZIP")]
    [b'one']
    """

    _node_class = Records


class FixedLengthRecordDataset(Dataset):
    """The records of files whose records have `record_bytes` bytes each, after a header and before a footer.

    Iterating raises InvalidArgumentError for a file whose bytes between header and footer
    are not a whole number of records.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w")
    >>> print("aabb", end="", file=file, flush=True)
    >>> [record.numpy() for record in autoconv.data.FixedLengthRecordDataset(file.name, 2)]
    [b'aa', b'bb']
    """

    def __init__(
        self, filenames: Any, record_bytes: IntLike, header_bytes: IntLike | None = None,
        footer_bytes: IntLike | None = None, buffer_size: int | None = None, compression_type: str | None = None,
        num_parallel_reads: int | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        record_size, header_size, footer_size = (
            int(size or 0) for size in (record_bytes, header_bytes, footer_bytes)  # type: ignore[arg-type]
        )
        super().__init__(FixedLengthRecords(filenames, record_size, header_size, footer_size, compression_type))


class CsvDataset(Dataset):
    """The records of CSV files, one tuple of scalars each.

    `record_defaults` has for each column a dtype, for a required field, or a value for empty fields. Iterating raises
    InvalidArgumentError, with file and line, for a record that does not fit.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w")
    >>> print("1,0.5\\n2,1.5", file=file, flush=True)
    >>> rows = autoconv.data.experimental.CsvDataset(file.name, [autoconv.int32, autoconv.float32])
    >>> [(int(n), float(x)) for n, x in rows]
    [(1, 0.5), (2, 1.5)]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: str | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        if exclude_cols is not None:
            if select_cols is not None:
                raise ValueError("CsvDataset takes select_cols or exclude_cols, not both")
            column_count = len(record_defaults) + len(exclude_cols)
            select_cols = [column for column in range(column_count) if column not in set(exclude_cols)]
        super().__init__(
            Csv(
                filenames, record_defaults, compression_type, header, field_delim, use_quote_delim, na_value,
                select_cols,
            )
        )  # fmt: skip


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the records of CSV files: dicts of tensors by column name, or (dict, label) with `label_name`.

    The dtypes are inferred from the first rows unless `column_defaults` gives them. With `ignore_errors`, records that
    do not fit the columns are left out. Raises ValueError for unknown column names.

    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w")
    >>> print("n,x\\n1,0.5\\n2,1.5", file=file, flush=True)
    >>> batches = autoconv.data.experimental.make_csv_dataset(file.name, 2, num_epochs=1, shuffle=False)
    >>> [{name: part.numpy().tolist() for name, part in batch.items()} for batch in batches]
    [{'n': [1, 2], 'x': [0.5, 1.5]}]
    """

    paths = match_patterns(file_pattern)
    all_names = list(column_names) if column_names is not None else read_column_names(paths[0], field_delim, header)
    columns = range(len(all_names)) if select_columns is None else select_columns
    positions = sorted(_column_index(column, all_names) for column in columns)
    selected_names = [all_names[position] for position in positions]
    if label_name is not None and label_name not in selected_names:
        raise ValueError(f"`label_name` provided must be one of the columns: {label_name!r} is not in {selected_names}")
    if column_defaults is None:
        dtypes = guess_dtypes(paths[0], field_delim, positions, header, num_rows_for_inference)
        defaults = [np.array([b""], object) if dtype.is_string else np.zeros(1, dtype.numpy) for dtype in dtypes]
    else:
        defaults = _select_defaults(column_defaults, positions, len(all_names))
    file_format = compression_type, header, field_delim, use_quote_delim, na_value
    selected_columns = None if select_columns is None else positions
    dataset = Dataset(Csv(_encode_paths(paths), defaults, *file_format, selected_columns, selected_names))
    if ignore_errors:
        dataset = dataset.ignore_errors()
    if shuffle:
        dataset = dataset.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    if label_name is not None:
        dataset = dataset.map(_label_splitter(label_name))
    return dataset.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _select_defaults(defaults: Sequence[Any], positions: Sequence[int], column_count: int) -> list[Any]:
    """Return the defaults of the columns at `positions`, given for these or for all `column_count` columns."""
    if len(defaults) == column_count and len(positions) != column_count:
        return [defaults[position] for position in positions]
    return list(defaults)


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """start, start + step, … endlessly.

    >>> [int(n) for n in autoconv.data.experimental.Counter(5, 2).take(3)]
    [5, 7, 9]
    """
    return Dataset(CounterNode(start, step, dtype))


def _column_index(column: Any, names: Sequence[str]) -> int:
    """Return the position of a column, given by name or position."""
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"there is no column {column!r}; the columns are {list(names)}")
        return list(names).index(column)
    return int(column)


def _encode_paths(paths: Sequence[str]) -> np.ndarray:
    """Return paths as an array of bytes objects."""
    return np.array([os.fsencode(path) for path in paths], object)


def _label_splitter(label_name: str) -> Any:
    """Return a function from a dict of columns to (the other columns, the label)."""

    def split(columns: Any) -> Any:
        label = columns.pop(label_name)
        return columns, label

    return split
