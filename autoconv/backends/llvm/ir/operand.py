"""Operands of instructions: registers and constants that carry their type."""

from __future__ import annotations


class Operand(str):
    """A register or a constant with its LLVM type.

    A plain str or int has the type that the instruction requires. It is an i64 where any type is allowed.
    """

    __slots__ = ("type",)

    type: str

    @classmethod
    def of(cls, name: object, type_: str) -> Operand:
        operand = cls(name)
        operand.type = type_
        return operand


class WrongType(AssertionError):
    """An operand has another type than its instruction takes."""


def type_of(*operands: object) -> str:
    """Return the type of the first operand that has one, or i64."""
    for operand in operands:
        if isinstance(operand, Operand):
            return operand.type
    return "i64"


def check_type(operand: object, type_: str) -> object:
    """Return the operand, which must have that type where its own is known."""
    if isinstance(operand, Operand) and operand.type != type_:
        raise WrongType(f"{operand} is of type {operand.type}, and not {type_}")
    return operand


NULL = Operand.of("null", "ptr")
TRUE, FALSE = Operand.of("true", "i1"), Operand.of("false", "i1")
