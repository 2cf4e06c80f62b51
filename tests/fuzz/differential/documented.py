"""Check whether fixtures/errors has an example of a reason why programs were not staged."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_TEXTS = Path(__file__).resolve().parents[3] / "fixtures" / "errors"
_RAISED = "raised while tracing: "


def is_documented(kind: str) -> bool:
    """Return whether a line there has the words of that kind, with anything for "…" and for the function's name; of
    what the program itself raises while it is traced, whether a line has an exception of that class."""
    if kind.startswith(_RAISED):
        kind = f"plain Python: …: {kind.removeprefix(_RAISED).partition(':')[0]}: "
    kind = re.sub(r"^\w+Error: |^[\w.]+(?= is not converted)", "", kind)
    return re.search(".*".join(map(re.escape, kind.split("…"))), _text()) is not None


@functools.cache
def _text() -> str:
    return "\n".join(path.read_text() for path in sorted(_TEXTS.glob("*.txt")))
