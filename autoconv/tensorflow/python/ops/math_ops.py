"""Ops under their private path."""

from autoconv import math

is_nan = math.is_nan
