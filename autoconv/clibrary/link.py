"""Link an object file to a shared library by the system's C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autoconv.errors import TargetError
from autoconv.storage.files import replacing


def link_library(object_: Path, path: Path) -> Path:
    """Return the shared library; raises TargetError if there is no compiler, or it fails."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or shutil.which(compiler.split()[0]) is None:
        raise TargetError(
            f"{object_} is written, but there is no C compiler to link {path.name} with; install one (cc, gcc or "
            "clang), or name one in the environment variable CC"
        )
    suffix = ".dylib" if sys.platform == "darwin" else ".so"
    shared = path.with_name(f"lib{path.name}{suffix}")
    options = ["-nostartfiles", "-Wl,-z,noexecstack", "-Wl,-z,defs"] if sys.platform == "linux" else []
    with replacing(os.fspath(shared)) as temporary:
        command = [*compiler.split(), "-shared", *options, "-o", temporary, os.fspath(object_), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise TargetError(f"{compiler} does not link {object_}: {done.stderr.strip()}")
    return shared


__all__ = ["link_library"]
