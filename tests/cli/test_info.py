"""`autoconv info`."""

from __future__ import annotations

import json


def test_info_prints_versions_and_paths(program_folder, cli, monkeypatch):
    monkeypatch.setenv("AUTOCONV_CACHE", str(program_folder / "cache"))
    (program_folder / "cache/sub").mkdir(parents=True)
    (program_folder / "cache/sub/x").write_bytes(b"12345")
    text = cli("info").stdout
    for word in ("autoconv", "Python", "gast", "astunparse", "numpy", "click", "backends", "CPU", "cache"):
        assert word in text
    assert str(program_folder / "cache") in text
    facts = json.loads(cli("info", "--json").stdout)
    assert facts["cache"] == {"folder": str(program_folder / "cache"), "exists": True, "files": 1, "bytes": 5}
    assert facts["packages"]["numpy"] and facts["cpu"]["cores"] and "reference" in facts["backends"]
