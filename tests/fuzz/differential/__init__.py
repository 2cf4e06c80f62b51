"""What became of a program: plain Python against converted code and against graphs, counted."""

import os

from autoconv.config import SETTINGS

if "AUTOCONV_TIERS" not in os.environ:
    SETTINGS.tiers = "native"  # graphs are what is compared, however quick they are
