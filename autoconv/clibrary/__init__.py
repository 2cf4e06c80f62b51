"""C libraries of functions: graphs as machine code that needs neither Python nor this package."""

from autoconv.clibrary.build import Library, build

__all__ = ["Library", "build"]
