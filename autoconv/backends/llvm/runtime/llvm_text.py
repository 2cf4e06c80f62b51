"""Reader of the native code that is written as LLVM text: the `.ll` files of this folder.

`$NAME` is a placeholder of a value that the reading module passes: an offset, a flag, or generated functions. Lines
that begin with a semicolon are comments.
"""

from __future__ import annotations

from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


def read(name: str, **values: int | str) -> str:
    """Return the text of a file, with values in place of exactly its placeholders."""
    lines = (_FOLDER / f"{name}.ll").read_text(encoding="utf-8").splitlines(keepends=True)
    template = Template("".join(line for line in lines if not line.startswith(";")).lstrip("\n"))
    names = set(template.get_identifiers())
    if names != values.keys():
        raise ValueError(f"{name}.ll has the placeholders {sorted(names)}, but got values for {sorted(values)}")
    return template.substitute(values)
