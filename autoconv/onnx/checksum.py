"""The checksum of a model in a file: an entry of its metadata, which is the file's last bytes."""

from __future__ import annotations

import hashlib

from autoconv.errors import DataLossError

_KEY = b"autoconv.sha256"
# metadata_props is field 14 of a ModelProto; key and value are fields 1 and 2 of its entries, all of them of kind 2.
_ENTRY = bytes([14 << 3 | 2, 4 + len(_KEY) + 64, 1 << 3 | 2, len(_KEY)]) + _KEY + bytes([2 << 3 | 2, 64])
_SIZE = len(_ENTRY) + 64


def add_checksum(model: bytes) -> bytes:
    """Return a model's bytes with the entry, which other readers take for metadata."""
    return model + _ENTRY + hashlib.sha256(model).hexdigest().encode()


def check(model: bytes, name: str) -> None:
    """Raise DataLossError where a file's bytes have such an entry, and not its checksum."""
    alike = sum(one == other for one, other in zip(model[-_SIZE:], _ENTRY, strict=False))
    if 2 * alike > len(_ENTRY) and add_checksum(model[:-_SIZE]) != model:  # the entry may be damaged, too
        raise DataLossError(
            f"{name}: the model does not have its checksum: it is damaged, or was changed after the export. One that "
            "was changed on purpose is given to load as onnx.load(path)"
        )
