"""Constants of a module as text: bytes, lists of numbers, structs."""

from __future__ import annotations

from collections.abc import Sequence


def bytes_constant(name: str, data: bytes, alignment: int = 1) -> str:
    """Return the definition of a constant that holds the bytes."""
    escapes = "".join(f"\\{byte:02X}" for byte in data)
    return f'@{name} = internal constant [{len(data)} x i8] c"{escapes}", align {alignment}'


def list_constant(name: str, numbers: Sequence[int]) -> str:
    """Return the definition of a constant that holds i64 numbers, at least one."""
    items = [f"i64 {number}" for number in numbers] or ["i64 0"]
    return f"@{name} = internal constant [{len(items)} x i64] [{', '.join(items)}]"


def table_constant(name: str, targets: Sequence[str]) -> str:
    """Return the definition of a constant that holds the addresses of globals."""
    return f"@{name} = internal constant [{len(targets)} x ptr] [{', '.join(f'ptr {target}' for target in targets)}]"


def struct_constant(name: str, fields: Sequence[tuple[str, object]]) -> str:
    """Return the definition of a constant with these fields, each a type and a value."""
    types = ", ".join(type_ for type_, _ in fields)
    values = ", ".join(f"{type_} {value}" for type_, value in fields)
    return f"@{name} = internal constant {{ {types} }} {{ {values} }}"
