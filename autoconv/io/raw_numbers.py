"""Numbers from strings of their bytes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import DType, as_dtype, string
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import DTypeLike, TensorLike
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def decode_raw(
    input_bytes: TensorLike, out_type: DTypeLike, little_endian: bool = True, fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Decode the bytes of strings of one length as numbers, along a further dimension.

    With `fixed_length`, strings are first cut, or filled up with zeros, to this number of bytes. Raises
    InvalidArgumentError for strings of several lengths, or of a length that is no multiple of a number's size.

    >>> autoconv.io.decode_raw([b"\\x01\\x00\\x02\\x00"], autoconv.int16).numpy()
    array([[1, 2]], dtype=int16)
    """
    dtype = as_dtype(out_type)
    texts = convert_to_tensor(input_bytes, string)
    shape = None if texts.shape.rank is None else (*texts.shape.as_list(), None)
    byte_count = None if fixed_length is None else int(fixed_length)
    return call_on_host(DecodeRaw(dtype, bool(little_endian), byte_count), [texts], [TensorSpec(shape, dtype)])[0]


@attribute_class
@dataclass(frozen=True)
class DecodeRaw:
    """Read numbers of the dtype from bytes, with a `fixed_length` from as many bytes of each string."""

    graphdef_name: ClassVar = "DecodeRaw"
    dtype: DType
    little_endian: bool
    fixed_length: int | None = None

    def __call__(self, texts: np.ndarray) -> np.ndarray:
        stored_dtype = self.dtype.numpy.newbyteorder("<" if self.little_endian else ">")
        array = np.asarray(texts, object)
        byte_strings = [bytes(text) for text in array.ravel()]
        if self.fixed_length is not None:
            byte_strings = [text[: self.fixed_length].ljust(self.fixed_length, b"\0") for text in byte_strings]
        if len({len(text) for text in byte_strings}) > 1:
            raise InvalidArgumentError("DecodeRaw requires input strings to all be the same size: of one length")
        if byte_strings and len(byte_strings[0]) % stored_dtype.itemsize:
            raise InvalidArgumentError(
                f"Input to DecodeRaw has length {len(byte_strings[0])} that is not a multiple of "
                f"{stored_dtype.itemsize}, the size of {self.dtype.name}"
            )
        numbers = np.frombuffer(b"".join(byte_strings), stored_dtype).astype(self.dtype.numpy)
        return numbers.reshape((*array.shape, len(byte_strings[0]) // stored_dtype.itemsize if byte_strings else 0))
