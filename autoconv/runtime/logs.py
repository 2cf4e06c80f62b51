"""What AUTOCONV_LOGS and `set_verbosity` ask for, as lines on standard error.

AUTOCONV_LOGS is a list of: `retraces` (each trace, why, from where, how long it took), `graph` (the graph as it was
recorded and as it runs), `passes` (what each pass of conversion and each optimisation took and left).
"""

from __future__ import annotations

import logging
import sys

from autoconv.config import SETTINGS

_LOGGER = logging.getLogger("autoconv")


def wanted(kind: str) -> bool:
    """Whether AUTOCONV_LOGS names that kind."""
    return kind in SETTINGS.logs


def log(kind: str, text: str) -> None:
    """Writes the text, each line marked with the kind, when that is wanted."""
    if wanted(kind):
        sys.stderr.write("".join(f"[autoconv {kind}] {line}\n" for line in text.splitlines()))


def tell(text: str) -> None:
    """What verbosity asks for: to the logger, or to standard error where nobody listens to that."""
    if _LOGGER.isEnabledFor(logging.INFO) and _LOGGER.hasHandlers():
        _LOGGER.info(text)
    elif not SETTINGS.log_to_stdout:
        sys.stderr.write(f"{text}\n")
    if SETTINGS.log_to_stdout:
        print(text)
