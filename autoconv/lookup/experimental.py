"""Lookup tables whose entries a program can change."""

from autoconv.api.lookup.mutable_tables import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
