"""Machine code on disk: used again by other processes, checked, bounded, and left alone where others could write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import autoconv.code_cache as code_cache

PROGRAM = """
import autoconv as ac

@ac.compile
def f(x, n):
    total = 0.0
    for i in range(n):
        total += x * i
    return total

print(f(1.5, 10), f(2.5, 4))
"""


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "native"


def run(tmp_path: Path, **environment: str) -> str:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env={**os.environ, **environment}, check=True
    )
    assert not done.stderr
    return done.stdout


def test_another_process_uses_what_was_compiled(cache, tmp_path):
    assert run(tmp_path) == "67.5 15.0\n"
    first = {path: path.stat().st_mtime_ns for path in cache.glob("*.o")}
    assert first
    assert run(tmp_path) == "67.5 15.0\n"
    assert {path: path.stat().st_mtime_ns for path in cache.glob("*.o")} == first
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_broken_entry_is_made_anew(cache, tmp_path):
    run(tmp_path)
    for path in cache.glob("*.o"):
        data = path.read_bytes()
        path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    for path in list(cache.glob("*.o"))[:1]:
        path.write_bytes(b"")
    assert run(tmp_path) == "67.5 15.0\n"


def test_a_folder_that_others_can_write_to_is_ignored(cache, tmp_path):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert run(tmp_path) == "67.5 15.0\n"
    assert not list(cache.iterdir())


def test_a_link_is_ignored(cache, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    cache.parent.mkdir()
    cache.symlink_to(elsewhere)
    assert run(tmp_path) == "67.5 15.0\n"
    assert not list(elsewhere.iterdir())


def test_an_entry_that_others_could_have_written_is_not_loaded(cache):
    code_cache.store("a", b"code")
    assert code_cache.load("a") == b"code"
    (cache / "a.o").chmod(0o666)
    assert code_cache.load("a") is None
    code_cache.store("b", b"other")
    (cache / "b.o").rename(cache / "c.o")
    (cache / "b.o").symlink_to(cache / "c.o")
    assert code_cache.load("b") is None
    assert code_cache.load("none") is None


def test_the_oldest_go_first(cache):
    for i in range(5):
        code_cache.store(f"{i}", bytes(1000))
        os.utime(cache / f"{i}.o", (i, i))
    code_cache.prune(limit=2 * 1100)
    assert sorted(path.name for path in cache.glob("*.o")) == ["3.o", "4.o"]
    assert code_cache.clear() == 2
    assert code_cache.entries() == []


def test_the_command(cache, tmp_path):
    run(tmp_path)
    command = [sys.executable, "-m", "autoconv", "cache"]
    shown = subprocess.run([*command, "info"], capture_output=True, text=True, check=True).stdout
    assert f"{cache}: 2 pieces of machine code" in shown  # a graph, and what all graphs share
    shown = subprocess.run([*command, "clear"], capture_output=True, text=True, check=True).stdout
    assert "removed 2 pieces of machine code" in shown
    assert not list(cache.glob("*.o"))
