"""Names of classes with an article, for messages."""

from __future__ import annotations


def with_article(cls: type | str) -> str:
    """Return the name of a class with `a` or `an`.

    >>> with_article(int), with_article(set), with_article("enumerate")
    ('an int', 'a set', 'an enumerate')
    """
    name = cls if isinstance(cls, str) else cls.__name__
    return f"{'an' if name[:1] in 'aeioAEIO' or name.startswith('ndarray') else 'a'} {name}"
