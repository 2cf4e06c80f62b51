"""Machine code on disk: reused by other processes, checked, bounded, and ignored where other users could write."""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from autoconv.cli import main
from autoconv.cli.info import collect_facts
from click.testing import CliRunner

from autoconv.code_cache import FUNCTIONS, NATIVE, CodeCache
from autoconv.emit import converted

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


@pytest.fixture
def run(tmp_path: Path, forker: Any) -> Callable[[], str]:
    """Return a function that runs the program in a new process, and returns what it prints."""

    def run_program() -> str:
        script = tmp_path / "program.py"
        script.write_text(PROGRAM)
        completed = forker.run([script])
        assert completed.returncode == 0 and not completed.stderr
        return str(completed.stdout)

    return run_program


def test_another_process_uses_the_compiled_code(cache, run):
    assert run() == "67.5 15.0\n"
    first = {path: path.stat().st_mtime_ns for path in cache.glob("*.o")}
    assert first
    assert run() == "67.5 15.0\n"
    assert {path: path.stat().st_mtime_ns for path in cache.glob("*.o")} == first
    assert cache.stat().st_mode & 0o777 == 0o700


def test_a_conversion_is_used_again_until_its_file_changes(cache, tmp_path):
    """The second process converts nothing: neither gast nor LLVM is loaded. A changed file is another function."""
    script = tmp_path / "program.py"
    end = "import pathlib, sys\nloaded = set(sys.modules)\nmaps = pathlib.Path('/proc/self/maps')\n"
    end += "loaded.update(['LLVM'] if maps.exists() and 'libllvmlite' in maps.read_text() else [])\n"
    end += "print(sorted({'gast', 'llvmlite.binding', 'LLVM'} & loaded))\n"
    outputs = []
    for text in (PROGRAM, PROGRAM, PROGRAM.replace("x * i", "x - i")):
        script.write_text(text + end)
        command = [sys.executable, str(script)]
        outputs.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())
    assert outputs[0][0] == outputs[1][0] == "67.5 15.0"
    assert outputs[2][0] == "-30.0 4.0"
    assert "gast" in outputs[0][1] and "gast" in outputs[2][1]
    assert outputs[1][1] == "[]"
    assert len(list((cache.parent / "functions").glob("*.o"))) == 2


OUTLINED_PROGRAM = """
import time
import autoconv as ac

@ac.compile
def f(x, n):
    times, total = [], 0.0
    for i in range(n):
        times.append(time.time())
        for j in range(n):
            total += x * j
            if total > 1000:
                return total
    return total

print(f(1.5, 4), f(1.5, 4), f(1.5, 40), sum("1 trace" in line for line in f.explain().splitlines()))
"""


def test_loops_that_are_compiled_by_themselves_are_converted_once(cache, tmp_path):
    """The second process converts no loop: gast is not loaded. A changed file has other loops."""
    script = tmp_path / "program.py"
    outputs = []
    for text in (OUTLINED_PROGRAM, OUTLINED_PROGRAM, OUTLINED_PROGRAM.replace("x * j", "x - j")):
        script.write_text(text + "import sys\nprint('gast' in sys.modules)\n")
        command = [sys.executable, str(script)]
        environment = {**os.environ, "AUTOCONV_TIERS": "native"}
        completed = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        outputs.append(completed.stdout.splitlines())
    assert outputs[0] == ["36.0 36.0 1054.5 1", "True"]
    assert outputs[1] == ["36.0 36.0 1054.5 1", "False"]
    assert outputs[2] == ["0.0 0.0 -28800.0 1", "True"]


def test_broken_and_foreign_conversions_are_made_anew(cache, run):
    functions = cache.parent / "functions"
    run()
    (entry,) = functions.glob("*.o")
    data = entry.read_bytes()
    entry.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert run() == "67.5 15.0\n"
    assert content(entry) == marshal.loads(data[32:])
    functions.chmod(0o755)
    entry.write_bytes(b"")
    assert run() == "67.5 15.0\n"
    assert entry.read_bytes() == b""


def content(entry: Path) -> object:
    """Return the content of an entry; its bytes depend on the reference counts of its parts when it was written."""
    kept = FUNCTIONS.load(entry.stem)
    assert kept is not None
    return marshal.loads(kept)


def test_a_broken_entry_is_made_anew(cache, run):
    run()
    for path in cache.glob("*.o"):
        data = path.read_bytes()
        path.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    for path in list(cache.glob("*.o"))[:1]:
        path.write_bytes(b"")
    assert run() == "67.5 15.0\n"


def test_a_folder_that_others_can_write_to_is_ignored(cache, run):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert run() == "67.5 15.0\n"
    assert not list(cache.iterdir())


def test_a_link_is_ignored(cache, tmp_path, run):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    cache.parent.mkdir()
    cache.symlink_to(elsewhere)
    assert run() == "67.5 15.0\n"
    assert not list(elsewhere.iterdir())


def test_an_entry_that_others_could_have_written_is_not_loaded(cache):
    NATIVE.store("a", b"code")
    assert NATIVE.load("a") == b"code"
    (cache / "a.o").chmod(0o666)
    assert NATIVE.load("a") is None
    NATIVE.store("b", b"other")
    (cache / "b.o").rename(cache / "c.o")
    (cache / "b.o").symlink_to(cache / "c.o")
    assert NATIVE.load("b") is None
    assert NATIVE.load("none") is None


def test_entries_under_swapped_keys_are_ignored(cache):
    NATIVE.store("a", b"code")
    NATIVE.store("b", b"other")
    (cache / "a.o").rename(cache / "c.o")
    (cache / "b.o").rename(cache / "a.o")
    (cache / "c.o").rename(cache / "b.o")
    assert NATIVE.load("a") is None
    assert NATIVE.load("b") is None
    FUNCTIONS.store("a", b"code")
    (FUNCTIONS.folder() / "a.o").rename(cache / "a.o")
    assert NATIVE.load("a") is None
    NATIVE.store("a", b"code")
    assert NATIVE.load("a") == b"code"


def test_entries_that_are_no_regular_files_are_ignored(cache):
    NATIVE.store("a", b"code")
    (cache / "b.o").mkdir(mode=0o700)
    os.mkfifo(cache / "c.o", mode=0o600)
    with open(cache / "d.o", "wb") as sparse:
        sparse.truncate(1 << 40)
    open_files = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    assert [NATIVE.load(key) for key in "bcd"] == [None] * 3
    assert open_files is None or len(os.listdir("/proc/self/fd")) == open_files
    NATIVE.store("b", b"code")  # its place is taken
    assert NATIVE.load("b") is None
    assert NATIVE.load("a") == b"code"


@pytest.mark.parametrize("data", [b"", b"\xff", b"N", b"i\x01\x00\x00\x00"], ids=["nothing", "noise", "None", "int"])
def test_a_conversion_of_another_format_is_ignored(cache, data):
    FUNCTIONS.store("key", data)
    assert FUNCTIONS.load("key") == data
    assert converted._load_code("key") is None


def test_the_oldest_entries_are_removed_first(cache):
    small = CodeCache("native", "", byte_limit=2 * 1100)
    for i in range(5):
        small.store(f"{i}", bytes(1000))
        os.utime(cache / f"{i}.o", (i, i))
    small.prune()
    assert sorted(path.name for path in cache.glob("*.o")) == ["3.o", "4.o"]
    assert small.clear() == 2
    assert small.files() == []


@pytest.mark.parametrize("text", ["0", "off", "OFF", ""])
def test_a_cache_that_is_switched_off_keeps_nothing(text, monkeypatch, tmp_path):
    monkeypatch.setenv("AUTOCONV_CACHE", text)
    monkeypatch.chdir(tmp_path)
    NATIVE.store("a", b"code")
    assert NATIVE.load("a") is None and NATIVE.files() == [] and NATIVE.folder() is None
    assert CliRunner().invoke(main, ["cache", "clear"]).output == "the cache is switched off by AUTOCONV_CACHE\n"
    assert collect_facts()["cache"] == {"folder": None, "exists": False, "files": 0, "bytes": 0}
    assert not list(tmp_path.iterdir())


def test_the_command(cache, run):
    run()
    command = [sys.executable, "-m", "autoconv", "cache"]
    shown = subprocess.run([*command, "info"], capture_output=True, text=True, check=True).stdout
    count = len(list(cache.glob("*.o")))  # of a graph several, and what all graphs share
    assert count > 1 and f"{cache}: {count} pieces of machine code" in shown
    assert f"{cache.parent / 'functions'}: 1 converted functions" in shown
    shown = subprocess.run([*command, "clear"], capture_output=True, text=True, check=True).stdout
    assert f"removed {count} pieces of machine code" in shown
    assert "removed 1 converted functions" in shown
    assert not list(cache.parent.rglob("*.o"))
