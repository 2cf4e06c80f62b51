"""Files: reading and writing them in graphs, and `gfile`, the functions of folders."""

from autoconv.api.files import decode_raw, read_file, write_file
from autoconv.io import gfile
from autoconv.runtime.recording.tracebacks import present_functions as _present_functions

__all__ = ["decode_raw", "gfile", "read_file", "write_file"]

_present_functions(globals())
