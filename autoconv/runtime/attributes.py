"""What the `__dict__` of an object of the user's holds once it is in the graph: nothing that the program may see."""

from __future__ import annotations

from typing import Any

from autoconv.errors import StagingError
from autoconv.runtime.spans import current_place

# Where an object of the user's that is in the graph keeps what it is there, among its attributes.
HEAP = "__autoconv_heap__"


class GraphAttributes(dict[str, Any]):
    """The `__dict__` of an object that is in the graph. Whoever looks into it is refused; reads and writes of
    attributes go past this, and so does `held_by`."""

    __slots__ = ()


def held_by(value: Any) -> dict[str, Any]:
    """What the attributes of an object are, apart from its class's; a dict of its own."""
    held = getattr(value, "__dict__", None)
    return dict(dict.items(held)) if isinstance(held, dict) else {}


def _refused(*_: Any, **__: Any) -> Any:
    raise StagingError(
        "the __dict__ of an object is used that is in a list, dict or name which only the running graph knows",
        current_place(), "the attributes by their names",
    )  # fmt: skip


for _name in (
    "contains delitem eq getitem ior iter len ne or repr reversed ror setitem",
    "clear copy get items keys pop popitem setdefault update values",
):
    for _one in _name.split():
        setattr(GraphAttributes, f"__{_one}__" if _name.startswith("contains") else _one, _refused)
