"""Check whether fixtures/errors has an example of a reason why programs were not staged."""

from __future__ import annotations

import functools
import re
from pathlib import Path

_ERRORS_FOLDER = Path(__file__).resolve().parents[3] / "fixtures" / "errors"
_RAISED_PREFIX = "raised while tracing: "


def is_documented(kind: str) -> bool:
    """Return whether a line of the examples matches the kind, with any text for "…" and for the function's name.

    For an exception that the program raises while it is traced, the class alone has to match.
    """
    if kind.startswith(_RAISED_PREFIX):
        kind = f"plain Python: …: {kind.removeprefix(_RAISED_PREFIX).partition(':')[0]}: "
    kind = re.sub(r"^\w+Error: |^[\w.]+(?= is not converted)", "", kind)
    return re.search(".*".join(map(re.escape, kind.split("…"))), _documented_texts()) is not None


@functools.cache
def _documented_texts() -> str:
    return "\n".join(path.read_text() for path in sorted(_ERRORS_FOLDER.glob("*.txt")))
