"""Datasets of CSV files, and the parsing of their fields."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from autoconv.data.files import FileNode
from autoconv.data.nodes import SKIPPED, Bindings, Element
from autoconv.data.sources import object_scalar
from autoconv.errors import InvalidArgumentError
from autoconv.graph.dtypes import DType, as_dtype, float32, float64, int32, int64, string
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.static_values import static_value

_CANDIDATE_DTYPES = (int32, int64, float32, float64, string)  # from the narrowest to the widest


class Csv(FileNode):
    """The records of CSV files as tuples of scalars, or as dicts of them if `names` are given.

    `defaults` has for each column its dtype if a value is required, or else the value of an empty field.
    """

    name = "csv"

    def __init__(
        self,
        filenames: Any,
        defaults: Sequence[Any],
        compression_type: str | None = None,
        header: bool = False,
        delimiter: str = ",",
        has_quotes: bool = True,
        missing_value: str = "",
        columns: Sequence[int] | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.columns = None if columns is None else [int(column) for column in columns]
        if not len(defaults):
            raise ValueError("record_defaults has one dtype or default value for each column, found none")
        if self.columns is not None and len(self.columns) != len(defaults):
            raise ValueError(f"select_cols has {len(self.columns)} columns and record_defaults {len(defaults)}")
        if len(delimiter) != 1:
            raise ValueError(f"field_delim is a single character, found {delimiter!r}")
        self.dtypes, self.defaults = (list(column) for column in zip(*map(column_default, defaults), strict=True))
        self.has_header, self.delimiter = header, delimiter
        self.has_quotes, self.missing_value = has_quotes, missing_value
        specs: Any = tuple(TensorSpec((), dtype) for dtype in self.dtypes)
        if names is not None:
            specs = dict(zip(names, specs, strict=True))
            leaf_order = sorted(range(len(names)), key=lambda i: names[i])  # leaves of dicts are sorted by key
        else:
            leaf_order = list(range(len(specs)))
        self.leaf_order = leaf_order
        super().__init__(filenames, specs, compression_type)

    def read(self, file: IO[bytes], path: str, bindings: Bindings) -> Iterator[Element]:
        # Latin-1 maps every byte to itself; `_parse_field` encodes texts back.
        lines = io.TextIOWrapper(file, "latin-1", newline="")
        records = read_records(lines, self.delimiter, self.has_quotes, path, self.has_header)
        elements = map(bindings.skip_errors(self._parse_record), records)
        yield from (element for element in elements if element is not SKIPPED)

    def _parse_record(self, location_and_record: Sequence[Any]) -> Element:
        """Return the leaves of a record, given as ("file:line", texts of the fields)."""
        location, record = location_and_record
        fields = record
        if self.columns is not None:
            if max(self.columns) >= len(record):
                raise InvalidArgumentError(
                    f"{location}: Expect at least {max(self.columns) + 1} fields but have {len(record)} in record"
                )
            fields = [record[column] for column in self.columns]
        elif len(record) != len(self.dtypes):
            raise InvalidArgumentError(f"{location}: Expect {len(self.dtypes)} fields but have {len(record)} in record")
        values = [self._parse_field(i, field, location) for i, field in enumerate(fields)]
        return [values[i] for i in self.leaf_order]

    def _parse_field(self, position: int, field: str, location: str) -> Any:
        """Return the value of the field at a position of the record, or the default of its column if it is empty."""
        dtype, default = self.dtypes[position], self.defaults[position]
        if field in ("", self.missing_value):
            if default is None:
                raise InvalidArgumentError(f"{location}: Field {position} is required but missing in record!")
            return default
        if dtype.is_string:
            return object_scalar(field.encode("latin-1"))
        try:
            return parse_number(field, dtype)
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"{location}: Field {position} in record is not a valid {dtype.name}: {field}"
            ) from None


def read_records(
    lines: Any, delimiter: str, has_quotes: bool, path: str, skips_header: bool
) -> Iterator[tuple[str, list[str]]]:
    """Yield ("file:line", fields) for each record that is not empty."""
    quoting: Any = csv.QUOTE_MINIMAL if has_quotes else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    is_header = skips_header
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InvalidArgumentError(f"{path}:{reader.line_num}: {error}") from None
        if is_header:
            is_header = False
        elif record:
            yield f"{path}:{reader.line_num}", record


def read_column_names(path: str, delimiter: str, has_header: bool) -> list[str]:
    """Return the names in the header of a file; raise ValueError if there is none, or for a repeated name."""
    if not has_header:
        raise ValueError(f"column_names has to name the columns of {path}, which has no header")
    with open(path, encoding="utf-8", newline="") as file:
        names = next(csv.reader(file, delimiter=delimiter), [])
    if not names or len(set(names)) < len(names):
        raise ValueError(f"the first line of {path} has to name every column once, found {names}")
    return names


def guess_dtypes(path: str, delimiter: str, columns: Sequence[int], header: bool, row_limit: int = 100) -> list[DType]:
    """Return for each column the first of `_CANDIDATE_DTYPES` that fits the values of the first `row_limit` rows."""
    candidate_indices = [0] * len(columns)
    with open(path, encoding="latin-1", newline="") as file:
        records = read_records(file, delimiter, has_quotes=True, path=path, skips_header=header)
        for row_number, (_, record) in enumerate(records):
            if row_number == row_limit:
                break
            for i, column in enumerate(columns):
                field = record[column] if column < len(record) else ""
                while field and not _is_valid_as(field, _CANDIDATE_DTYPES[candidate_indices[i]]):
                    candidate_indices[i] += 1
    return [_CANDIDATE_DTYPES[i] for i in candidate_indices]


def _is_valid_as(field: str, dtype: DType) -> bool:
    """Return whether the text of a field is a value of the dtype."""
    try:
        value = None if dtype.is_string else parse_number(field, dtype)
    except (ValueError, OverflowError):
        return False
    # A column with values beyond the range of float32 is float64, as in TensorFlow.
    return dtype is not float32 or value is None or bool(np.isfinite(value))


def parse_number(field: str, dtype: DType) -> Any:
    """Return the number or bool of a field; raises ValueError or OverflowError for any other text."""
    if "_" in field:
        raise ValueError("an underscore in a number is only valid in Python")
    if dtype.is_bool:
        if field.strip().lower() not in ("true", "false"):
            raise ValueError(f"{field!r} is neither true nor false")
        return np.bool_(field.strip().lower() == "true")
    if dtype.is_integer:
        value = int(field)
        if not int(dtype.min) <= value <= int(dtype.max):
            raise OverflowError(field)
        return dtype.numpy.type(value)
    with np.errstate(over="ignore"):
        return dtype.numpy.type(float(field))


def column_default(entry: Any) -> tuple[DType, Any]:
    """Return (dtype, default) of a column; the default is None for a required field."""
    if isinstance(entry, (DType, type)):
        try:
            return as_dtype(entry), None
        except TypeError:
            pass
    tensor = convert_to_tensor(entry)
    static_default = static_value(tensor)
    if static_default is None:
        raise ValueError(f"the default of a column has to be a constant, found {entry!r}")
    values = np.ravel(static_default)
    if len(values) > 1:
        raise ValueError(f"each column has one default, found {entry!r}")
    if not len(values):  # an empty tensor means a required field of its dtype
        return tensor.dtype, None
    return tensor.dtype, object_scalar(bytes(values[0])) if tensor.dtype.is_string else values[0]
