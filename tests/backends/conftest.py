"""Tests of native code: each graph is translated, also where an earlier test compiled an equal one."""

from __future__ import annotations

import pytest

from autoconv.backends.llvm import stored_code


@pytest.fixture(autouse=True)
def _translate_every_graph(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use no code of equal graphs from the disk: tests of this folder change the compiler, and read its texts."""
    if "test_stored_code" not in request.path.name:
        monkeypatch.setattr(stored_code, "digest_of", lambda *arguments, **options: None)
