"""Output on standard error as configured by AUTOCONV_LOGS and `set_verbosity`.

AUTOCONV_LOGS is a list of these kinds:

- `retraces`: each trace, its cause, its call site and its duration;
- `graph`: the graph as recorded and as executed;
- `passes`: duration and result of each conversion pass and each optimisation.
"""

from __future__ import annotations

import logging
import sys

from autoconv.config import SETTINGS

_LOGGER = logging.getLogger("autoconv")


def is_logged(kind: str) -> bool:
    """Return whether AUTOCONV_LOGS contains the kind."""
    return kind in SETTINGS.logs


def log(kind: str, text: str) -> None:
    """Write the text if its kind is enabled, each line marked with the kind."""
    if is_logged(kind):
        sys.stderr.write("".join(f"[autoconv {kind}] {line}\n" for line in text.splitlines()))


def log_verbose(text: str) -> None:
    """Write verbose output to the logger, or to standard error where the logger has no handler."""
    if _LOGGER.isEnabledFor(logging.INFO) and _LOGGER.hasHandlers():
        _LOGGER.info(text)
    elif not SETTINGS.log_to_stdout:
        sys.stderr.write(f"{text}\n")
    if SETTINGS.log_to_stdout:
        print(text)
