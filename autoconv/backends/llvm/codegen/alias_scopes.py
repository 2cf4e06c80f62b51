"""Alias scopes: LLVM metadata that marks loads and stores of different arrays as disjoint.

LLVM then keeps an element that a loop reads in a register while the loop stores to other arrays.
"""

from __future__ import annotations

from autoconv.backends.llvm.ir.module import ModuleText
from autoconv.graph.graph import Value
from autoconv.ops.analysis.alias import Overlaps

_ROOT_LIMIT = 24  # graphs with more roots get no scopes, as the metadata of each access names all of them


class AliasScopes:
    """The scopes of a graph's arrays, one for each root: an array that is no view.

    The metadata of an access names the scopes of all roots that its view may belong to, and excludes the other scopes.
    An access to an unknown array has no metadata.
    """

    def __init__(self, module: ModuleText, overlaps: Overlaps) -> None:
        self._module = module
        self._overlaps = overlaps
        self._scopes: dict[Value, str] | None = None  # root -> scope; None before the first access
        self._metadata: dict[frozenset[Value], str] = {}  # roots of an access -> its metadata
        self.access_group = ""  # LLVM's access group of the innermost loop if its iterations are independent, else ""

    def metadata_of(self, array: Value) -> str:
        """Return the metadata of a load or store of elements of an array in memory."""
        group = f", !llvm.access.group {self.access_group}" if self.access_group else ""
        roots = self._overlaps.known_roots(array)
        if not roots:
            return group
        if roots not in self._metadata:
            self._metadata[roots] = self._write_metadata(roots)
        return self._metadata[roots] + group

    def _write_metadata(self, roots: frozenset[Value]) -> str:
        """Return the metadata of accesses to these roots; "" if the graph has no scopes, or none for one of them."""
        if self._scopes is None:
            all_roots = self._overlaps.all_roots()
            is_useful = 1 < len(all_roots) <= _ROOT_LIMIT
            self._scopes = {root: self._module.new_alias_scope() for root in all_roots if is_useful}
        if not roots <= self._scopes.keys():
            return ""
        own_scopes = [scope for root, scope in self._scopes.items() if root in roots]
        other_scopes = [scope for root, scope in self._scopes.items() if root not in roots]
        noalias = f", !noalias !{{{', '.join(other_scopes)}}}" if other_scopes else ""
        return f", !alias.scope !{{{', '.join(own_scopes)}}}{noalias}"
