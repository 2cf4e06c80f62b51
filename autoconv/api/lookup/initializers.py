"""Initializers of static tables: the entries are tensors of keys and values, or come from the lines of a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from autoconv.errors import InvalidArgumentError, NotFoundError
from autoconv.graph.dtypes import DType, as_dtype, int64, string
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.recording.regions import recording
from autoconv.runtime.tensors.conversion import convert_to_tensor


class TextFileIndex:
    """Constants for `key_index` and `value_index` that name no column: the whole line, or the line's number from 0 on.

    >>> autoconv.lookup.TextFileIndex.WHOLE_LINE
    -2
    """

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TableInitializer:
    """Base of initializers: `initialize(table)` fills a new table."""

    _key_dtype: DType
    _value_dtype: DType

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._value_dtype

    def initialize(self, table: Any) -> None:
        """Call `table.fill` with the keys and values."""
        raise NotImplementedError(f"{type(self).__name__}.initialize")


class KeyValueTensorInitializer(TableInitializer):
    """Keys and values of a table, vectors of one length.

    >>> initializer = autoconv.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
    >>> initializer.key_dtype, initializer.value_dtype
    (autoconv.string, autoconv.int32)
    """

    def __init__(
        self, keys: TensorLike, values: TensorLike, key_dtype: DTypeLike | None = None,
        value_dtype: DTypeLike | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        with recording(region=None):
            self._keys = convert_to_tensor(keys, key_dtype)
            self._values = convert_to_tensor(values, value_dtype)
        self._key_dtype, self._value_dtype = self._keys.dtype, self._values.dtype

    def initialize(self, table: Any) -> None:
        table.fill(self._keys.numpy(), self._values.numpy())  # type: ignore[attr-defined]


class TextFileInitializer(TableInitializer):
    """Keys and values of a table from the lines of a text file: columns, whole lines, or numbers of lines.

    `value_index_offset` is added to numbers of lines. Raises ValueError for numbers of lines that are no int64, and for
    whole lines that are neither strings nor int64; InvalidArgumentError for a file with fewer lines than `vocab_size`.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("red\\ngreen\\n")
    ...     file.flush()
    ...     index = autoconv.lookup.TextFileIndex
    ...     initializer = autoconv.lookup.TextFileInitializer(
    ...         file.name, autoconv.string, index.WHOLE_LINE, autoconv.int64, index.LINE_NUMBER
    ...     )
    ...     table = autoconv.lookup.StaticHashTable(initializer, default_value=-1)
    >>> table.lookup(autoconv.constant(["green", "blue"])).numpy()
    array([ 1, -1])
    """

    def __init__(
        self, filename: Any, key_dtype: DTypeLike, key_index: int, value_dtype: DTypeLike, value_index: int,
        vocab_size: int | None = None, delimiter: str = "\t", name: str | None = None, value_index_offset: int = 0,
    ) -> None:  # fmt: skip
        self._key_dtype, self._value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        for index, dtype in ((key_index, self._key_dtype), (value_index, self._value_dtype)):
            if index == TextFileIndex.LINE_NUMBER and dtype is not int64:
                raise ValueError(f"numbers of lines are int64, found the dtype {dtype.name}")
            if index == TextFileIndex.WHOLE_LINE and dtype not in (string, int64):
                raise ValueError(f"whole lines are strings or int64, found the dtype {dtype.name}")
            if index < TextFileIndex.WHOLE_LINE:
                raise ValueError(f"Invalid index {index}: it is a column, WHOLE_LINE or LINE_NUMBER")
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"vocab_size must be positive, found {vocab_size}")
        self._filename = filename
        self._key_and_value_fields, self._vocab_size = (key_index, value_index), vocab_size
        self._delimiter, self._value_offset = delimiter, value_index_offset

    def initialize(self, table: Any) -> None:
        lines = self._read_lines()
        keys, values = (
            [self._parse_field(line, line_number, field, dtype) for line_number, line in enumerate(lines)]
            for field, dtype in zip(self._key_and_value_fields, (self._key_dtype, self._value_dtype), strict=True)
        )
        if self._key_and_value_fields[1] == TextFileIndex.LINE_NUMBER:
            values = [value + self._value_offset for value in values]
        table.fill(_array(keys, self._key_dtype), _array(values, self._value_dtype))

    def _read_lines(self) -> list[bytes]:
        """Return the lines of the file, the first `vocab_size` of them if this is given."""
        name = self._filename.numpy().decode() if hasattr(self._filename, "numpy") else self._filename
        try:
            with open(name, "rb") as file:
                lines = file.read().splitlines()
        except FileNotFoundError:
            raise NotFoundError(f"{name}; No such file or directory") from None
        if self._vocab_size is None:
            return lines
        if len(lines) < self._vocab_size:
            raise InvalidArgumentError(
                f"Invalid vocab_size in {name}: expected {self._vocab_size} but got {len(lines)} lines"
            )
        return lines[: self._vocab_size]

    def _parse_field(self, line: bytes, line_number: int, field: int, dtype: DType) -> Any:
        """Return the key or value in a line, where `field` is a column or a constant of TextFileIndex."""
        if field == TextFileIndex.LINE_NUMBER:
            return line_number
        text = line if field == TextFileIndex.WHOLE_LINE else self._read_column(line, line_number, field)
        if dtype.is_string:
            return text
        try:
            return float(text) if dtype.is_floating else int(text)
        except ValueError:
            error_text = f"line {line_number} of {self._filename} has {text!r}"
            raise InvalidArgumentError(f"{error_text} for a {dtype.name}") from None

    def _read_column(self, line: bytes, line_number: int, index: int) -> bytes:
        """Return a column of a line; raise InvalidArgumentError if the line has fewer."""
        columns = line.split(self._delimiter.encode())
        if index >= len(columns):
            raise InvalidArgumentError(
                f"Invalid number of columns in {self._filename} line {line_number} ({line!r}): "
                f"expected {index + 1}, got {len(columns)}"
            )
        return columns[index]


def _array(values: list[Any], dtype: DType) -> np.ndarray:
    """Return the values as a vector of the dtype; strings are objects."""
    array = np.empty(len(values), object if dtype.is_string else dtype.numpy)
    array[:] = values
    return array
