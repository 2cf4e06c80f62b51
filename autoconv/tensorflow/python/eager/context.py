"""The context of eager execution: nothing of it is to be set here."""

from __future__ import annotations


class Context:
    """The state of eager execution, of which there is none to forget."""

    def clear_kernel_cache(self) -> None:
        """Return: compiled code is kept by the text of graphs, and stays valid."""


def context() -> Context:
    """Return the context of this process."""
    return _CONTEXT


def async_wait() -> None:
    """Return: ops are done when they return."""


_CONTEXT = Context()
