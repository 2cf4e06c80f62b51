"""Settings and the environment variables behind them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(slots=True)
class Settings:
    """`disabled`: decorators and import hooks do nothing. `run_eagerly`: functions run their Python on every call.
    `verbosity`: 0 is silent, 3 prints converted code. `log_to_stdout`: verbose output goes there as well."""

    disabled: bool = False
    run_eagerly: bool = False
    verbosity: int = 0
    log_to_stdout: bool = False


def _from_environment() -> Settings:
    verbosity = os.environ.get("AUTOCONV_VERBOSITY", os.environ.get("AUTOGRAPH_VERBOSITY", "0"))
    return Settings(
        disabled=os.environ.get("AUTOCONV_DISABLE", "") not in ("", "0"),
        verbosity=int(verbosity) if verbosity.isdigit() else 0,
    )


def cache_folder() -> Path:
    """Where converted modules and compiled code are kept: AUTOCONV_CACHE, or the user's cache folder."""
    override = os.environ.get("AUTOCONV_CACHE")
    if override:
        return Path(override)
    import platformdirs  # only asked for by those who use the cache

    return Path(platformdirs.user_cache_dir("autoconv"))


SETTINGS = _from_environment()
