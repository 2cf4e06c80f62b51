"""Names that exist so that libraries can refer to them, and raise when they are used."""

from __future__ import annotations

from typing import Any

from autoconv.errors import UnimplementedError


class Missing:
    """A stand-in for a function or class of TensorFlow that autoconv does not have.

    A call raises UnimplementedError with its name, and `isinstance` with it is False. Attributes are stand-ins, too.
    """

    def __init__(self, name: str, remedy: str = "") -> None:
        self.name = name
        self.remedy = remedy
        self.__name__ = self.__qualname__ = name.rpartition(".")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise UnimplementedError(f"tensorflow.{self.name} is not implemented by autoconv. {self.remedy}".rstrip())

    def __instancecheck__(self, value: object) -> bool:
        return False

    def __getattr__(self, name: str) -> Missing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}", self.remedy)

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        """Return the base of a class that derives from the stand-in; to create an object of the class raises."""
        return (type(self.__name__, (), {"__init__": lambda _, *args, **kwargs: self(*args, **kwargs)}),)

    def __repr__(self) -> str:
        return f"<tensorflow.{self.name}, not implemented by autoconv>"
