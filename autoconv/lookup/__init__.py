"""Lookup tables: values by keys, from tensors or text files."""

from autoconv.api.lookup.initializers import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer
from autoconv.api.lookup.static_tables import StaticHashTable, StaticVocabularyTable
from autoconv.lookup import experimental

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "StaticVocabularyTable", "TextFileIndex", "TextFileInitializer",
    "experimental",
]  # fmt: skip
