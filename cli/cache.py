"""`autoconv cache`: inspect the cache of compiled and converted code, or empty it."""

from __future__ import annotations

import click

from autoconv.code_cache import CACHES
from autoconv.config import cache_folder


@click.group(short_help="Show or empty the cache of compiled and converted code.")
@click.pass_context
def cache(context: click.Context) -> None:
    """Show or empty the cache of compiled and converted code.

    Its folders are accessible to you alone; AUTOCONV_CACHE sets their location, or switches the cache off (`off`, `0`).
    """
    if cache_folder() is None:
        click.echo("the cache is switched off by AUTOCONV_CACHE")
        context.exit()


@cache.command(short_help="Print where the cache is, and how much is in it.")
def info() -> None:
    """Print where the cache is, and how much is in it."""
    for code_cache in CACHES:
        files = code_cache.files()
        size = sum(file.size for file in files)
        limit = f"(at most {code_cache.byte_limit >> 20} MB)"
        click.echo(f"{code_cache.folder()}: {len(files)} {code_cache.description}, {size / 1e6:.1f} MB {limit}")


@cache.command(short_help="Remove all compiled and converted code from the cache.")
def clear() -> None:
    """Remove all compiled and converted code from the cache; running programs are not disturbed."""
    for code_cache in CACHES:
        click.echo(f"removed {code_cache.clear()} {code_cache.description} from {code_cache.folder()}")
