"""Strings in base 64, compressed strings, and the names of files that match patterns."""

from __future__ import annotations

import base64
import binascii
import glob
import os
import zlib
from typing import Any, ClassVar

import numpy as np

from autoconv.errors import InvalidArgumentError
from autoconv.graph.attribute_classes import attribute_class
from autoconv.graph.dtypes import string
from autoconv.io.host_function import call_on_host
from autoconv.lazy_dataclass import dataclass
from autoconv.runtime.annotations import TensorLike
from autoconv.runtime.objects.variable import Variable
from autoconv.runtime.support.shape import TensorSpec
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.tensor import Tensor


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Tensor:
    """Encode strings as web-safe base 64, with "=" at the end if `pad`.

    >>> autoconv.io.encode_base64(["a?", "bc"]).numpy()
    array([b'YT8', b'YmM'], dtype=object)
    """
    return _convert_strings(EncodeBase64(bool(pad)), input)


def decode_base64(input: TensorLike, name: str | None = None) -> Tensor:
    """Decode strings of web-safe base 64; raises InvalidArgumentError for other characters.

    >>> autoconv.io.decode_base64(["YT8", "YmM="]).numpy()
    array([b'a?', b'bc'], dtype=object)
    """
    return _convert_strings(DecodeBase64(), input)


def decode_compressed(bytes: TensorLike, compression_type: str = "", name: str | None = None) -> Tensor:
    """Decompress strings; `compression_type` is "GZIP", "ZLIB" or "" for none.

    >>> import zlib
    >>> autoconv.io.decode_compressed(zlib.compress(b"abc"), "ZLIB").numpy()
    b'abc'
    """
    if compression_type not in ("", "ZLIB", "GZIP"):
        raise InvalidArgumentError(f"Only ZLIB, GZIP or NONE are supported compressions, found {compression_type!r}")
    return _convert_strings(Decompress(compression_type), bytes)


def matching_files(pattern: TensorLike, name: str | None = None) -> Tensor:
    """Return the sorted names of the files that match one or more patterns; files are matched when the graph runs.

    >>> autoconv.io.matching_files("/no such folder/*").numpy()
    array([], dtype=object)
    """
    return call_on_host(MatchFiles(), [convert_to_tensor(pattern, string)], [TensorSpec((None,), string)])[0]


def match_filenames_once(pattern: TensorLike, name: str | None = None) -> Variable:
    """Return a variable with the names of the files that match when it is created, sorted; see `matching_files`.

    >>> autoconv.io.match_filenames_once("/no such folder/*").numpy()
    array([], dtype=object)
    """
    return Variable(matching_files(pattern), trainable=False, name=name, shape=[None])


def _convert_strings(function: Any, strings: TensorLike) -> Tensor:
    """Return the strings converted one by one by a host function, in the same shape."""
    texts = convert_to_tensor(strings, string)
    shape = None if texts.shape.rank is None else tuple(texts.shape.as_list())
    return call_on_host(function, [texts], [TensorSpec(shape, string)])[0]


class _StringConversion:
    """Apply `convert` to each string of an array."""

    def convert(self, text: bytes) -> bytes:
        """Return the converted string; raise InvalidArgumentError if it cannot be converted."""
        raise NotImplementedError

    def __call__(self, texts: object) -> Any:
        array = np.asarray(texts, object)
        result = np.empty(array.shape, object)
        for index in np.ndindex(array.shape):
            result[index] = self.convert(bytes(array[index]))
        return result


@attribute_class
@dataclass(frozen=True)
class EncodeBase64(_StringConversion):
    """Write web-safe base 64."""

    graphdef_name: ClassVar = "EncodeBase64"
    pad: bool

    def convert(self, text: bytes) -> bytes:
        encoding = base64.urlsafe_b64encode(text)
        return encoding if self.pad else encoding.rstrip(b"=")


@attribute_class
@dataclass(frozen=True)
class DecodeBase64(_StringConversion):
    """Read web-safe base 64."""

    graphdef_name: ClassVar = "DecodeBase64"

    def convert(self, text: bytes) -> bytes:
        try:
            unpadded_text = text.rstrip(b"=")
            return base64.b64decode(unpadded_text + b"=" * (-len(unpadded_text) % 4), altchars=b"-_", validate=True)
        except binascii.Error:
            raise InvalidArgumentError("Invalid character found in base64.") from None


_ZLIB_FORMAT_BITS = {"GZIP": 31, "ZLIB": 15}  # zlib's `wbits`: 16 is added for gzip's header


@attribute_class
@dataclass(frozen=True)
class Decompress(_StringConversion):
    """Read compressed bytes."""

    graphdef_name: ClassVar = "DecodeCompressed"
    compression_type: str

    def convert(self, text: bytes) -> bytes:
        try:
            return zlib.decompress(text, _ZLIB_FORMAT_BITS[self.compression_type]) if self.compression_type else text
        except zlib.error as error:
            raise InvalidArgumentError(f"the bytes cannot be decompressed: {error}") from None


@attribute_class
@dataclass(frozen=True)
class MatchFiles:
    """List files by patterns."""

    graphdef_name: ClassVar = "MatchingFiles"

    def __call__(self, patterns: object) -> Any:
        texts = [os.fsdecode(text) for text in np.asarray(patterns, object).ravel()]
        names = sorted({os.fsencode(path) for text in texts for path in glob.glob(text)})
        result = np.empty(len(names), object)
        result[:] = names
        return result
