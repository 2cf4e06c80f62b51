"""Bitwise operations on integers."""

from autoconv.api.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

_wrap_public_functions(globals())
