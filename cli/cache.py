"""`autoconv cache`: what is kept of compiled graphs, and how to be rid of it."""

from __future__ import annotations

import click

import autoconv.code_cache as code_cache


@click.group(short_help="Look at the cache of machine code, or empty it.")
def cache() -> None:
    """Look at the cache of machine code, or empty it.

    The cache is a folder that only you can enter; AUTOCONV_CACHE says where it lies.
    """


@cache.command(short_help="Print where the cache is, and how much is in it.")
def info() -> None:
    """Print where the cache is, and how much is in it."""
    found = code_cache.entries()
    size = sum(entry[1] for entry in found)
    click.echo(f"{code_cache.folder()}: {len(found)} pieces of machine code, {size / 1e6:.1f} MB")
    click.echo(f"the oldest go beyond {code_cache.LIMIT >> 20} MB")


@cache.command(short_help="Remove all compiled code from the cache.")
def clear() -> None:
    """Remove all compiled code from the cache; running programs are not disturbed."""
    click.echo(f"removed {code_cache.clear()} pieces of machine code from {code_cache.folder()}")
