"""Options of the test run."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="rewrite the goldens under fixtures/")


def pytest_configure(config: pytest.Config) -> None:
    """Machine code that tests make goes into a folder of theirs. Graphs run wherever there is one: which form of a
    function is quicker depends on the machine."""
    os.environ["AUTOCONV_TIERS"] = "native"
    folder = tempfile.mkdtemp(prefix="autoconv-tests-")
    before = os.environ.get("AUTOCONV_CACHE")
    os.environ["AUTOCONV_CACHE"] = folder

    def put_back() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        if before is None:
            os.environ.pop("AUTOCONV_CACHE", None)
        else:
            os.environ["AUTOCONV_CACHE"] = before

    config.add_cleanup(put_back)


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be rewritten."""
    return bool(request.config.getoption("--update"))
