"""Read Python files as Python does, and report the exact position where one cannot be read."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from pathlib import Path

from autoconv.emit.module import parse_ast
from autoconv.errors import Place, SourceError

_CODING_LINE = re.compile(r"^([ \t\f]*#.*?coding[:=][ \t]*)([-\w.]+)")


def read_source(path: Path) -> str:
    """Return the text of a Python file, with any coding line changed to utf-8, the encoding of converted text.

    Raises SourceError, with its position, for a file that cannot be read or decoded.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror or error}") from error
    return decode_source(data, str(path))


def standard_input() -> bytes:
    """Return all bytes of standard input; raises SourceError where it is closed."""
    if sys.stdin is None:
        raise SourceError("standard input is closed")
    return sys.stdin.buffer.read()


def decode_source(data: bytes, name: str) -> str:
    """Return the text of a Python file's bytes, as `read_source`; `name` is the file's name in errors."""
    if b"\0" in data:
        raise _error_at("a null byte: this is not a Python source", data, data.index(b"\0"), name)
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise _decoding_error(data, error, name) from error
    except (SyntaxError, LookupError) as error:
        raise _encoding_error(data, name, error) from error
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if encoding not in ("utf-8", "utf-8-sig"):
        lines[:2] = [_CODING_LINE.sub(r"\1utf-8", line) for line in lines[:2]]
    return "\n".join(lines)


def parse(source: str, name: str) -> ast.Module:
    """Return the tree of a module's text; raise SourceError, with its position, for invalid Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, name)
    except SyntaxError as error:
        raise syntax_error(error, name) from error
    except (ValueError, RecursionError, MemoryError):
        return parse_ast(source, name)  # reports the position


def syntax_error(error: SyntaxError, name: str) -> SourceError:
    """Return the SourceError for an exception of Python's parser."""
    column, end_column = error.offset or 0, error.end_offset or 0
    is_one_line = error.end_lineno in (None, error.lineno)
    place = Place(
        name, error.lineno or 1, column, end_column if is_one_line and end_column > column else 0, error.text or ""
    )
    return SourceError(f"this is not Python: {error.msg}", place)


def _decoding_error(data: bytes, error: UnicodeDecodeError, name: str) -> SourceError:
    """Return the error for a byte that the encoding does not allow."""
    offset = len(data) - len(error.object) + error.start  # `object` does not include a byte-order mark
    return _error_at(f"not {error.encoding}: byte 0x{data[offset]:02x} ({error.reason})", data, offset, name)


def _error_at(message: str, data: bytes, offset: int, name: str) -> SourceError:
    """Return an error with the position of a byte in `data`."""
    preceding_bytes = data[:offset]
    line = preceding_bytes.count(b"\n") + 1
    line_start = preceding_bytes.rfind(b"\n") + 1
    line_end = data.find(b"\n", offset)
    line_text = data[line_start : line_end if line_end >= 0 else len(data)][:500].decode("utf-8", "replace")
    column = len(data[line_start:offset].decode("utf-8", "replace")) + 1
    place = Place(name, line, column, column + 1, line_text.rstrip("\r"))
    remedy = 'save the file as UTF-8, or name its encoding in line 1: "# -*- coding: latin-1 -*-"'
    return SourceError(message, place, remedy if message.startswith("not ") else "")


def _encoding_error(data: bytes, name: str, error: Exception) -> SourceError:
    """Return the error for an unknown encoding in the coding line, or for first lines that are not UTF-8."""
    for number, line_bytes in enumerate(data.split(b"\n")[:2], start=1):
        line = line_bytes.decode("latin-1").rstrip("\r")
        coding_line = _CODING_LINE.match(line)
        if coding_line:
            first, last = coding_line.span(2)
            return SourceError(
                f"unknown encoding {coding_line[2]!r}", Place(name, number, first + 1, last + 1, line), "utf-8"
            )
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as decoding_failure:
        return _decoding_error(data, decoding_failure, name)
    return SourceError(str(error), Place(name, 1))
