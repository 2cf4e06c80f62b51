"""Fields of CSV records as tensors."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from autoconv.data.csv import column_default, parse_number
from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, string
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def decode_csv(
    records: TensorLike,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Return the columns of CSV records, a list of tensors with the shape of `records`.

    `record_defaults` has for each column the value of an empty field, of the column's dtype, or an empty tensor of
    that dtype for a required field. `select_cols` are the columns to read. Raises InvalidArgumentError for a record
    with another number of fields, or with a field that does not fit.

    >>> [column.numpy().tolist() for column in autoconv.io.decode_csv(["1,a", "2,"], [0, "b"])]
    [[1, 2], [b'a', b'b']]
    """
    if len(field_delim) != 1:
        raise ValueError(f"field_delim is a single character, found {field_delim!r}")
    columns = None if select_cols is None else tuple(int(column) for column in select_cols)
    if columns is not None and (len(columns) != len(record_defaults) or list(columns) != sorted(set(columns))):
        raise ValueError(f"select_cols has increasing columns, one for each default; found {list(columns)}")
    dtypes_and_defaults = [column_default(entry) for entry in record_defaults]
    dtypes = tuple(dtype for dtype, _ in dtypes_and_defaults)
    defaults = tuple(None if default is None else np.asarray(default).item() for _, default in dtypes_and_defaults)
    texts = convert_to_tensor(records, string)
    function = DecodeCsv(dtypes, defaults, field_delim, bool(use_quote_delim), na_value, columns)
    return call_on_host(function, [texts], [TensorSpec(texts.shape, dtype) for dtype in dtypes])


@attribute_class
@dataclass(frozen=True)
class DecodeCsv:
    """Return the columns of CSV records, each an array of one field's values in all records.

    A default is None for a field that is required. `quotes` tells whether fields may be quoted, `missing` is a further
    text of an empty field, and `columns` are the fields to read, or None for all.
    """

    graphdef_name: ClassVar = "DecodeCSV"
    dtypes: tuple[DType, ...]
    defaults: tuple[Any, ...]
    delimiter: str
    quotes: bool
    missing: str
    columns: tuple[int, ...] | None

    def __call__(self, records: np.ndarray) -> list[np.ndarray]:
        array = np.asarray(records, object)
        texts = [bytes(record).decode("latin-1") for record in array.ravel()]
        rows = [self._parse_record(text, record_number) for record_number, text in enumerate(texts)]
        results = []
        for column, dtype in enumerate(self.dtypes):
            values = np.empty(len(rows), object if dtype.is_string else dtype.numpy)
            values[:] = [row[column] for row in rows]
            results.append(values.reshape(array.shape))
        return results

    def _parse_record(self, record: str, record_number: int) -> list[Any]:
        """Return the values of the record `record_number`; raise InvalidArgumentError if the record does not fit."""
        quoting: Any = csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE
        try:
            lines = list(csv.reader([record], delimiter=self.delimiter, quoting=quoting, strict=True))
        except csv.Error as error:
            raise InvalidArgumentError(f"record {record_number}: {error}") from None
        if len(lines) > 1:
            raise InvalidArgumentError(f"record {record_number} has a line break outside of quotes")
        fields = lines[0] if lines and lines[0] else [""]
        if self.columns is not None:
            if max(self.columns, default=-1) >= len(fields):
                raise InvalidArgumentError(
                    f"Expect at least {max(self.columns) + 1} fields but have {len(fields)} in record {record_number}"
                )
            fields = [fields[column] for column in self.columns]
        elif len(fields) != len(self.dtypes):
            counts_text = f"Expect {len(self.dtypes)} fields but have {len(fields)}"
            raise InvalidArgumentError(f"{counts_text} in record {record_number}")
        return [self._parse_field(i, field, record_number) for i, field in enumerate(fields)]

    def _parse_field(self, position: int, field: str, record_number: int) -> Any:
        """Return the value of a field, or for an empty field the default of its column."""
        dtype, default = self.dtypes[position], self.defaults[position]
        if field in ("", self.missing):
            if default is None:
                raise InvalidArgumentError(f"Field {position} is required but missing in record {record_number}!")
            return default
        if dtype.is_string:
            return field.encode("latin-1")
        try:
            return parse_number(field, dtype)
        except (ValueError, OverflowError):
            raise InvalidArgumentError(
                f"Field {position} in record {record_number} is not a valid {dtype.name}: {field}"
            ) from None
