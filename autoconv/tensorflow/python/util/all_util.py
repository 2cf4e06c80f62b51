"""The public names of a module, as its docstring lists them: a line `@@name` for each."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from types import ModuleType


def make_all(module_name: str, doc_string_modules: Sequence[ModuleType] | None = None) -> list[str]:
    """Return the names of a module that its docstring lists, or instead the docstrings of `doc_string_modules`."""
    module = sys.modules[module_name]
    texts = [documented.__doc__ or "" for documented in doc_string_modules or [module]]
    listed_names = {name for text in texts for name in re.findall(r"^@@(\w+)$", text, re.MULTILINE)}
    return sorted(listed_names & set(dir(module)))


def remove_undocumented(
    module_name: str,
    allowed_exception_list: Sequence[str] | None = None,
    doc_string_modules: Sequence[ModuleType] | None = None,
) -> None:
    """Delete the public names of a module that are not listed."""
    kept_names = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in set(vars(sys.modules[module_name])) - kept_names:
        if not name.startswith("_"):
            delattr(sys.modules[module_name], name)
