"""The checksum of a model in a file: an entry of its metadata, which is the file's last bytes."""

from __future__ import annotations

import hashlib

from autoconv.errors import DataLossError

_KEY = b"autoconv.sha256"
_DIGEST_SIZE = 64  # characters of a SHA-256 in hexadecimal
# metadata_props is field 14 of a ModelProto; key and value are fields 1 and 2 of its entries. All have the wire type 2:
# a byte with the number and type of the field, a byte with the length, and the content.
_ENTRY_HEAD = (
    bytes([14 << 3 | 2, 2 + len(_KEY) + 2 + _DIGEST_SIZE, 1 << 3 | 2, len(_KEY)])
    + _KEY + bytes([2 << 3 | 2, _DIGEST_SIZE])
)  # fmt: skip
_ENTRY_SIZE = len(_ENTRY_HEAD) + _DIGEST_SIZE


def add_checksum(model: bytes) -> bytes:
    """Return a model's bytes with the entry appended, which other readers treat as metadata."""
    return model + _ENTRY_HEAD + hashlib.sha256(model).hexdigest().encode()


def check_checksum(model: bytes, name: str) -> None:
    """Raise DataLossError if the model ends with the entry, and its checksum differs; `name` is that of the file."""
    matching_bytes = sum(byte == expected for byte, expected in zip(model[-_ENTRY_SIZE:], _ENTRY_HEAD, strict=False))
    has_entry = 2 * matching_bytes > len(_ENTRY_HEAD)  # its head may be damaged, too: more than half of it has to match
    if has_entry and add_checksum(model[:-_ENTRY_SIZE]) != model:
        raise DataLossError(
            f"{name}: the model does not match its checksum: it is damaged, or was changed after the export. To load "
            "a model that was changed on purpose, call load(onnx.load(path))"
        )
