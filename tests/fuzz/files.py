"""Random files of every kind, given to the commands that read Python.

    python tests/fuzz/files.py [--files N] [--seed N] [--lines N]

Draws files: random bytes, null bytes, other encodings, coding lines, byte-order marks, tabs, form feeds, all ends of
lines, very long lines, deep nesting, huge literals, damaged programs, and many lines (up to --lines). Each goes
through `autoconv convert`, `show-code` and `run`, in this process; `run` gets only files that Python rejects. No
command may show an internal error or a traceback, end with an exit code that is not documented, take more than 10 s of
processor time, or both write a file and fail. A file that Python accepts may be refused only for its nesting depth.
The last line has the figures, with the peak memory of the whole process. The exit code is 1 if anything was wrong."""

from __future__ import annotations

import argparse
import builtins
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from autoconv.cli import main
from click.testing import CliRunner

MAX_SECONDS = 10.0
MAX_BYTES = 2**30
PROGRAM = """\
import math


class Box:
    def size(self, n=3):
        return [k for k in range(n) if k % 2]


def f(x, y=2):
    # a comment
    while x < 10 and y:
        x += 1
        if x == 7:
            break
    else:
        y = "ü"
    try:
        return x if y else f"{x!r:>{y}}"
    except (ValueError, KeyError) as error:
        raise error
"""

Draw = random.Random


def random_bytes(draw: Draw) -> bytes:
    return draw.randbytes(draw.choice([0, 1, 7, 200, 5000]))


def printable_text(draw: Draw) -> bytes:
    words = [
        *"()[]{}:;,=+-*<>@\\\"'#\n\t ",
        "def ",
        "if ",
        "x",
        "1",
        "lambda ",
        "\n    ",
        "f'{",
        "'''",
        "else",
        "async ",
    ]
    return "".join(draw.choices(words, k=draw.choice([5, 50, 500]))).encode()


def damaged_program(draw: Draw) -> bytes:
    """Return a program in which bytes are dropped, doubled, inserted or replaced."""
    data = bytearray(PROGRAM.encode())
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(data))
        end = min(len(data), start + draw.randint(0, 20))
        data[start:end] = draw.choice(
            [b"", data[start:end] * 2, b"\0", b"\xff", b"\f", b"\t", b"\r", draw.randbytes(2)]
        )
    return bytes(data)


def encoded_program(draw: Draw) -> bytes:
    names = ["utf-8", "latin-1", "cp1252", "utf-16", "utf-32", "utf-7", "ascii", "shift_jis", "rot13", "hex", "idna"]
    declared, actual = draw.choice([*names, "klingon", "utf-8-sig", "unicode_escape"]), draw.choice(names[:5])
    coding_line = draw.choice(
        ["", f"# coding: {declared}\n", f"#!/bin/python\n# -*- coding: {declared} -*-\n", f"\n\n# coding={declared}\n"]
    )
    return draw.choice([b"", b"", b"\xef\xbb\xbf", b"\xff\xfe"]) + (coding_line + PROGRAM).encode(actual)


def line_ends(draw: Draw) -> bytes:
    end = draw.choice(["\r", "\r\n", "\n\f", "\n\r", "\v", "\x1c", "\u2028", "\\\n"])
    text = PROGRAM.replace("\n", end)
    text = draw.choice([text, text.rstrip(), text.replace("    ", "\t"), text.replace("    ", "\t", 3), text + "\\"])
    return text.encode()


def deep_expression(draw: Draw) -> bytes:
    n = draw.choice([10, 19, 50, 99, 150, 250, 1000, 5000])
    opening, closing = draw.choice(
        [
            ("(", ")"),
            ("[", "]"),
            ("{0: ", "}"),
            ("-", ""),
            ("not ", ""),
            ("x(", ")"),
            ("(x if ", " else 0)"),
            ("x[", "]"),
            ("lambda: ", ""),
            ("(lambda a: ", ")(1)"),
            ("", ".a"),
            ("", ".a()"),
            ("", "[0]"),
            ("", " + x"),
            ("", " < x"),
            ("x or (", ")"),
            ("[", " for x in x]"),
            ("(", " for x in x)"),
            ("(y := ", ")"),
            ("await ", ""),
            ("f'{", "}'"),
            ("*", ""),
            ("", " if x else 1"),
        ]
    )
    expression = opening * n + "x" + closing * n
    return draw.choice([f"y = {expression}\n", f"def f(x):\n    return {expression}\n"]).encode()


def deep_blocks(draw: Draw) -> bytes:
    n = draw.choice([5, 18, 21, 60, 99, 101, 300])
    head = draw.choice(
        ["if x:", "while x:", "for x in x:", "with x:", "def f(x):", "class C:", "match x:\n{0}  case 1:"]
    )
    lines = [" " * (4 * k + 4) + head.format(" " * (4 * k + 4)) for k in range(n)]
    return "\n".join(["def f(x):", *lines, " " * (4 * n + 4) + "x = 1\n"]).encode()


def huge_literals(draw: Draw) -> bytes:
    n = draw.choice([100, 5000, 200_000])
    literal = draw.choice(
        ["9" * n, "0x" + "f" * n, "0b" + "1" * n, "1e" + "9" * n, "1" * n + ".5j", f"'{'ü' * n}'", f"b'{'a' * n}'"]
    )
    return f"def f(x):\n    return x or {literal}\n".encode()


def long_lines(draw: Draw) -> bytes:
    n = draw.choice([1000, 10_000])
    part, opening, closing = draw.choice(
        [
            ("x, ", "[", "]"),
            ("x; ", "", "x"),
            ("'a' ", "(", ")"),
            ("1: x, ", "{", "}"),
            ("# ", "1", ""),
            ("x=1, ", "f(", ")"),
            ("{x}", "f'", "'"),
        ]
    )
    return f"def f(x):\n    {opening}{part * n}{closing}\n".encode()


def many_lines(draw: Draw, max_lines: int) -> bytes:
    n = draw.choice([max_lines // 10, max_lines])
    line = draw.choice(["x = 1\n", "\n", "# a comment\n", "f(x)\n", "    pass\n", "x = (\n", "'''\n"])
    return (line * n).encode()


def file_kinds(lines: int) -> dict[str, Callable[[Draw], bytes]]:
    makers = (
        random_bytes, printable_text, damaged_program, encoded_program, line_ends, deep_expression, deep_blocks,
        huge_literals, long_lines,
    )  # fmt: skip
    return {**{make.__name__: make for make in makers}, "many_lines": lambda draw: many_lines(draw, lines)}


def judge_file(data: bytes, folder: Path) -> tuple[list[str], float, int]:
    """Return (problems, largest time of a command in seconds, exit code of `convert`) for one file."""
    path = folder / "drawn.py"
    path.write_bytes(data)
    problems: list[str] = []
    max_seconds, convert_code = 0.0, 0
    compiles = _compiles(data)
    for command in ("convert", "show-code", "run"):
        before = {entry.name for entry in folder.iterdir()}
        if command == "run" and compiles:  # what it does when it runs is the program's own business
            continue
        start = time.process_time()
        result = CliRunner().invoke(main, [command, str(path)])
        seconds = time.process_time() - start
        max_seconds = max(max_seconds, seconds)
        errors = result.stderr
        new_files = {entry.name for entry in folder.iterdir()} - before
        if command == "convert":
            convert_code = result.exit_code
        if result.exit_code not in (0, 1, 3):
            problems.append(f"{command}: exit code {result.exit_code}: {errors[:300]}")
        if "Traceback" in errors or "bug in autoconv" in errors:
            problems.append(f"{command}: {errors[:300]}")
        if result.exit_code and (new_files or not errors):
            problems.append(f"{command}: exit code {result.exit_code}, wrote {sorted(new_files)}, {errors[:100]!r}")
        if compiles and result.exit_code and "nested too deeply" not in errors:
            problems.append(f"{command}: Python takes it: {errors[:300]}")
        if not compiles and not result.exit_code:
            problems.append(f"{command}: Python does not take it")
        if seconds > MAX_SECONDS:
            problems.append(f"{command}: {seconds:.1f} s")
        for name in new_files:
            (folder / name).unlink()
    return problems, max_seconds, convert_code


def _compiles(data: bytes) -> bool:
    try:
        builtins.compile(data, "drawn.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return False
    return True


def run(files: int, seed: int, lines: int) -> int:
    """Judge `files` drawn files, print the problems, and return the number of files that have any."""
    kinds = file_kinds(lines)
    codes: Counter[int] = Counter()
    wrong, slowest = 0, (0.0, "")
    initial_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024  # of other work of the process
    with tempfile.TemporaryDirectory() as folder:
        for number in range(files):
            kind = list(kinds)[number % len(kinds)]
            data = kinds[kind](random.Random(f"{seed} {number}"))
            problems, seconds, code = judge_file(data, Path(folder))
            codes[code] += 1
            slowest = max(slowest, (seconds, kind))
            wrong += bool(problems)
            for line in problems:
                print(f"file {number} ({kind}, {len(data)} bytes): {line}\n    {data[:60]!r}", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if peak > max(MAX_BYTES, initial_peak):
        wrong += 1
    print(
        f"files: {files}, seed {seed}; converted {codes[0]}, unsupported {codes[1]}, not Python {codes[3]}; "
        f"slowest {slowest[0]:.1f} s ({slowest[1]}); {peak / 2**20:.0f} MB at most; WRONG {wrong}"
    )
    return wrong


def run_command() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", type=int, default=100_000)
    options = parser.parse_args()
    return int(run(options.files, options.seed, options.lines) > 0)


if __name__ == "__main__":
    sys.exit(run_command())
