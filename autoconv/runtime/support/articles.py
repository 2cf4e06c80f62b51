"""Names of classes with an article, for messages."""

from __future__ import annotations


def with_article(cls: type) -> str:
    """Return the name of a class with `a` or `an`.

    >>> with_article(int), with_article(set)
    ('an int', 'a set')
    """
    name = cls.__name__
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"


__all__ = ["with_article"]
