"""`autoconv info`."""

from __future__ import annotations

import json


def test_info_prints_versions_and_paths(here, cli, monkeypatch):
    monkeypatch.setenv("AUTOCONV_CACHE", str(here / "cache"))
    (here / "cache/sub").mkdir(parents=True)
    (here / "cache/sub/x").write_bytes(b"12345")
    text = cli("info").stdout
    for word in ("autoconv", "Python", "gast", "astunparse", "numpy", "click", "backends", "CPU", "cache"):
        assert word in text
    assert str(here / "cache") in text
    facts = json.loads(cli("info", "--json").stdout)
    assert facts["cache"] == {"folder": str(here / "cache"), "exists": True, "files": 1, "bytes": 5}
    assert facts["packages"]["numpy"] and facts["cpu"]["cores"] and "reference" in facts["backends"]
