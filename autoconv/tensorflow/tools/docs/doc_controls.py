"""Marks for the generator of TensorFlow's reference pages, which have no effect here."""

from __future__ import annotations

from typing import TypeVar

Item = TypeVar("Item")


def do_not_generate_docs(obj: Item) -> Item:
    """Return the function or class unchanged."""
    return obj


do_not_doc_inheritable = do_not_doc_in_subclasses = for_subclass_implementers = do_not_generate_docs
doc_private = doc_in_current_and_subclasses = do_not_generate_docs
