"""Options of sessions, which are accepted and have no effect."""

from __future__ import annotations

from typing import Any


class Options:
    """Settings by name; reading an unset name creates a nested group of settings.

    >>> config = autoconv.compat.v1.ConfigProto(allow_soft_placement=True)
    >>> config.gpu_options.allow_growth = True
    >>> config.gpu_options.allow_growth
    True
    """

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        result = Options()
        setattr(self, name, result)
        return result

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


ConfigProto = GPUOptions = GraphOptions = OptimizerOptions = RunOptions = RunMetadata = Options
