"""Link an object file into a new shared library by the system's C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from autoconv.errors import TargetError


def find_compiler() -> str | None:
    """Return the command of a C compiler, or None if there is none."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    return compiler if compiler and shutil.which(compiler.split()[0]) else None


def missing_compiler_error(object_path: Path, base_path: Path) -> TargetError:
    """Return the error for a library that is not linked; see `shared_path` for `base_path`."""
    return TargetError(
        f"{object_path} is written, but there is no C compiler to link {base_path.name} with; install one (cc, gcc or "
        "clang), or name one in the environment variable CC"
    )


def shared_path(base_path: Path) -> Path:
    """Return the path of the shared library: `base_path` with `lib` before the name, and this system's suffix."""
    return base_path.with_name(f"lib{base_path.name}{'.dylib' if sys.platform == 'darwin' else '.so'}")


def link(compiler: str, object_path: str, shared: str) -> None:
    """Link an object file into a new shared library, `shared`; raises TargetError where the compiler fails."""
    options = ["-nostartfiles", "-Wl,-z,noexecstack", "-Wl,-z,defs"] if sys.platform == "linux" else []
    command = [*compiler.split(), "-shared", *options, "-o", shared, object_path, "-lm"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise TargetError(f"{compiler} failed to link the shared library:\n{process.stderr.strip()}")
