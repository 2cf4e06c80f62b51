"""Call a library from Python through the types in its C header."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy as np

_NUMBERS = {
    "bool": ctypes.c_bool, "float": ctypes.c_float, "double": ctypes.c_double, "char": ctypes.c_char,
    **{f"{sign}int{bits}_t": getattr(ctypes, f"c_{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
_DTYPES = {"bfloat16": "uint16", "float16": "uint16"}


class LibraryError(Exception):
    """An error of a library, with the code that its function returned and the message."""


class Caller:
    """The function of a library, for arrays and numbers; it returns a dict with the fields of the C structure."""

    def __init__(self, library: Any) -> None:
        text = Path(library.header).read_text(encoding="utf-8")
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.types: dict[str, Any] = dict(_NUMBERS)
        for body, name in re.findall(r"typedef struct \w+ \{\n(.*?)\n\} (\w+);", code, flags=re.S):
            self.types[name] = self._structure(name, body.splitlines())
        name, parameters = re.search(r"^int (\w+)\((.*)\);", code, flags=re.M).groups()
        self.parameters = [item.removeprefix("const ").rsplit(" ", 1) for item in parameters.split(", ")][:-1]
        self.code = ctypes.CDLL(str(library.shared))
        self.function = self.code[name]
        self.message = self.code[f"{name}_message"]
        self.message.restype = ctypes.c_char_p
        self.free = self.code[f"{name}_free"]
        self.free.argtypes = [ctypes.c_void_p]
        self.result = self.types[f"{name}_result"]

    def _structure(self, name: str, lines: list[str]) -> Any:
        fields: list[tuple[str, Any]] = []
        lines = [line.strip() for line in lines if line.strip()]
        while lines:
            line = lines.pop(0)
            if line == "struct {":
                depth, inner = 1, []
                while depth:
                    line = lines.pop(0)
                    depth += line == "struct {"
                    depth -= line.startswith("}")
                    inner.append(line)
                fields.append((line[1:].strip(" ;"), self._structure("inner", inner[:-1])))
                continue
            kind, pointer, field, size = re.fullmatch(r"(\w+) (\*?)(\w+)(?:\[(\d+)\])?;", line).groups()
            c_type = ctypes.c_void_p if pointer else self.types[kind]
            fields.append((field, c_type * int(size) if size else c_type))
        return type(name, (ctypes.Structure,), {"_fields_": fields})

    def __call__(self, *arguments: Any) -> Any:
        c_arguments, references = [], []
        for (kind, name), argument in zip(self.parameters, arguments, strict=True):
            if not name.startswith("*"):
                number = np.asarray(argument)
                number = number.view(np.uint16) if number.dtype.itemsize == 2 else number
                c_arguments.append(self.types[kind](number.item()))
                continue
            array = argument if isinstance(argument, np.ndarray) else np.array(argument)
            references.append(array)
            if array.ndim == 0:
                c_arguments.append(ctypes.c_void_p(array.ctypes.data))
                continue
            tensor = self.types[kind](array.ctypes.data)
            tensor.shape[:], tensor.strides[:] = array.shape, array.strides
            references.append(tensor)
            c_arguments.append(ctypes.byref(tensor))
        result = self.result()
        code = self.function(*c_arguments, ctypes.byref(result))
        if code:
            raise LibraryError(code, self.message(code).decode())
        return self._value(result)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, ctypes.Structure):
            return value
        name = type(value).__name__
        if name in ("autoconv_complex64", "autoconv_complex128"):
            return complex(value.real, value.imag)
        if name.startswith("autoconv_"):
            dtype = np.dtype(_DTYPES.get(name.split("_")[1], name.split("_")[1]))
            shape = tuple(value.shape)
            size = int(np.prod(shape)) * dtype.itemsize
            assert tuple(value.strides) == np.empty(shape, dtype).strides or 0 in shape
            array = np.frombuffer(ctypes.string_at(value.data, size), dtype).reshape(shape)
            self.free(value.data)
            return array
        return {field: self._value(getattr(value, field)) for field, _ in value._fields_ if field != "nothing"}
