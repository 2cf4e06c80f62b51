"""Turns ordinary Python into compiled, differentiable dataflow graphs."""

# ruff: noqa: E402
from autoconv._start import leave_current_folder

leave_current_folder()  # before anything third-party is imported

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autoconv._public import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The public names of `_public`, loaded with the first of them.

    The command line and the import hook convert without NumPy and the ops, and do not wait for those.
    """
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module 'autoconv' has no attribute {name!r}")
    from autoconv import _public

    public = {key: vars(_public)[key] for key in _public.__all__}
    globals().update(public, __all__=_public.__all__)
    if name not in globals():
        raise AttributeError(f"module 'autoconv' has no attribute {name!r}")
    return globals()[name]


def __dir__() -> list[str]:
    from autoconv import _public

    return sorted({*globals(), *_public.__all__})
