"""Cache of a converted module's text beside its bytecode: data, not a pickle, which each process compiles anew."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from autoconv.emit.conversion import Options
from autoconv.emit.converter import converter_key


class ConversionCache:
    """The entry of one module under one set of options.

    Its file is `__pycache__/NAME.autoconv-<tag>-<options>-<source>.json`, where the last part is a hash of the source
    and the converter. The entry's checksum covers this name, so that an entry under another name is invalid. There is
    no entry where Python would keep no bytecode either, or where the file cannot be written.
    """

    def __init__(self, file: str, data: bytes, options: Options) -> None:
        self.path: Path | None = None
        self.source = file
        tag = sys.implementation.cache_tag
        keeps_bytecode = not sys.dont_write_bytecode and tag is not None
        if not keeps_bytecode or not file.endswith(".py") or not os.path.isfile(file):
            return
        options_digest = _digest(
            *(f"{field.name}={_stable_text(getattr(options, field.name))}" for field in fields(options))
        )
        key = hashlib.sha256(converter_key().encode() + data).hexdigest()[:32]
        stem = f"{Path(file).stem}.autoconv-{tag}-{options_digest[:8]}-"
        self.path = Path(importlib.util.cache_from_source(file)).with_name(f"{stem}{key}.json")

    def load(self) -> tuple[str, tuple[int, ...], tuple[str, ...]] | None:
        """Return the converted text, the origins of its lines and the names of generated functions, if valid."""
        if self.path is None:
            return None
        try:
            entry = json.loads(self.path.read_text("utf-8"))
            text, origins, generated = entry["text"], tuple(entry["origins"]), tuple(entry["generated"])
            if entry["check"] != _digest(self.path.name, text, repr(origins), *generated):
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return text, origins, generated

    def store(self, text: str, origins: Sequence[int], generated: Sequence[str]) -> None:
        """Write the entry and remove those of earlier versions of the same file."""
        if self.path is None:
            return
        check = _digest(self.path.name, text, repr(tuple(origins)), *generated)
        entry = {"text": text, "origins": list(origins), "generated": list(generated), "check": check}
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            try:
                with open(descriptor, "w", encoding="utf-8") as stream:
                    json.dump(entry, stream)
                os.chmod(temporary, os.stat(self.source).st_mode & 0o666)
                os.replace(temporary, self.path)
            except BaseException:
                os.unlink(temporary)
                raise
            self._remove_stale()

    def _remove_stale(self) -> None:
        """Remove the entries of the same module and options under other texts."""
        assert self.path is not None
        common_stem = self.path.name.rpartition("-")[0]
        for other_file in self.path.parent.glob(f"{glob.escape(common_stem)}-*.json"):
            if other_file != self.path:
                with contextlib.suppress(OSError):
                    other_file.unlink()


def _digest(*parts: str) -> str:
    """Return the digest of several texts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _stable_text(value: object) -> str:
    """Return a text for an option that does not depend on the order of a set."""
    if isinstance(value, frozenset):
        return repr(sorted(value))
    return repr(sorted(value.items())) if isinstance(value, dict) else repr(value)
