"""`compat.v1.logging`: logging of a TensorFlow 1 program through Python's `logging`."""

from __future__ import annotations

import logging

_LOGGER = logging.getLogger("autoconv.program")
DEBUG, INFO, WARN, ERROR, FATAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.FATAL

debug, info, error, fatal = _LOGGER.debug, _LOGGER.info, _LOGGER.error, _LOGGER.fatal
warning = warn = _LOGGER.warning
log = _LOGGER.log


def set_verbosity(v: int) -> None:
    """Show the messages of this level and above.

    >>> autoconv.compat.v1.logging.set_verbosity(autoconv.compat.v1.logging.ERROR)
    >>> autoconv.compat.v1.logging.get_verbosity() == autoconv.compat.v1.logging.ERROR
    True
    """
    if not _LOGGER.handlers and not logging.getLogger().handlers:
        _LOGGER.addHandler(logging.StreamHandler())
    _LOGGER.setLevel(v)


def get_verbosity() -> int:
    """Return the level from which messages are shown.

    >>> autoconv.compat.v1.logging.get_verbosity() > 0
    True
    """
    return _LOGGER.getEffectiveLevel()


def log_first_n(level: int, msg: str, n: int, *args: object) -> None:
    """Log a message; messages with the same text are logged at most n times.

    >>> autoconv.compat.v1.logging.log_first_n(autoconv.compat.v1.logging.DEBUG, "seen", 1)
    """
    _FIRST_N_COUNTS[msg] = _FIRST_N_COUNTS.get(msg, 0) + 1
    if _FIRST_N_COUNTS[msg] <= n:
        _LOGGER.log(level, msg, *args)


def log_every_n(level: int, msg: str, n: int, *args: object) -> None:
    """Log the first of the messages with the same text, and then each n-th.

    >>> autoconv.compat.v1.logging.log_every_n(autoconv.compat.v1.logging.DEBUG, "step", 100)
    """
    count = _EVERY_N_COUNTS.get(msg, 0)
    _EVERY_N_COUNTS[msg] = count + 1
    log_if(level, msg, count % n == 0, *args)


def log_if(level: int, msg: str, condition: object, *args: object) -> None:
    """Log a message if the condition is true.

    >>> autoconv.compat.v1.logging.log_if(autoconv.compat.v1.logging.DEBUG, "never", False)
    """
    if condition:
        _LOGGER.log(level, msg, *args)


def vlog(level: int, msg: str, *args: object) -> None:
    """Log a message at a level.

    >>> autoconv.compat.v1.logging.vlog(autoconv.compat.v1.logging.DEBUG, "details")
    """
    _LOGGER.log(level, msg, *args)


def TaskLevelStatusMessage(msg: str) -> None:
    """Log a message about the whole program, as an error.

    >>> autoconv.compat.v1.logging.TaskLevelStatusMessage("the input has ended")
    """
    _LOGGER.error(msg)


def flush() -> None:
    """Flush the handlers of the logger.

    >>> autoconv.compat.v1.logging.flush()
    """
    for handler in _LOGGER.handlers:
        handler.flush()


_EVERY_N_COUNTS: dict[str, int] = {}  # by the text of the message, how often `log_every_n` was called
_FIRST_N_COUNTS: dict[str, int] = {}  # by the text of the message, how often `log_first_n` was called
