"""Bitwise operations on integers."""

from autoconv.api.bitwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]

_present_functions(globals())
