"""Comparison of programs in plain Python with converted code and with graphs, and counts of the outcomes."""

import os

from autoconv.config import SETTINGS

if "AUTOCONV_TIERS" not in os.environ:
    SETTINGS.tiers = "native"  # compare graphs, even slow ones
