"""`tensorflow.sysconfig`: there are no headers or libraries to build against."""

from __future__ import annotations

from pathlib import Path
from typing import Any

CXX11_ABI_FLAG, CXX_VERSION, MONOLITHIC_BUILD = 1, 201703, 0


def get_build_info() -> dict[str, Any]:
    """Return the properties of the build: no GPU."""
    return {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}


def get_include() -> str:
    """Return the folder of the package; it has no headers."""
    return str(Path(__file__).parent.parent)


def get_lib() -> str:
    """Return the folder of the package; it has no libraries."""
    return str(Path(__file__).parent.parent)


def get_compile_flags() -> list[str]:
    """Return no flags."""
    return []


def get_link_flags() -> list[str]:
    """Return no flags."""
    return []
