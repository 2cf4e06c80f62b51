"""`autoconv run`: a script as Python would run it, converted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture
def script(program_folder: Path) -> Path:
    path = program_folder / "project" / "main.py"
    path.parent.mkdir()
    path.write_text(
        """import os
import sys

import helper

if __name__ == "__main__":
    print(__file__ == os.path.abspath(sys.argv[0]), os.path.isabs(__file__), type(__builtins__).__name__)
    print(sys.argv, sys.modules["__main__"].helper is helper)
    print(os.path.realpath(sys.path[0]) == os.path.realpath(os.path.dirname(__file__)))
    print(helper.halve(10), "helper" in sys.modules, helper.__file__.endswith("helper.py"))
"""
    )
    (path.parent / "helper.py").write_text(
        """def halve(x):
    while x > 3:
        x = x / 2
    return x


def fail(x):
    if x > 0:
        # here it comes
        raise KeyError("missing")
    return x
"""
    )
    return path


def test_a_script_runs_as_main_with_its_arguments(script, command):
    completed = command("run", "project/main.py", "--flag", "a b", "-v")
    assert completed.returncode == 0, completed.stderr
    lines = completed.stdout.splitlines()
    assert lines[0] == "True True module"
    assert lines[1] == "['project/main.py', '--flag', 'a b', '-v'] True"
    assert lines[2:] == ["True", "2.5 True True"]


def test_the_folder_of_the_script_is_left_clean(script, command):
    command("run", "project/main.py", PYTHONDONTWRITEBYTECODE="", PYTHONPYCACHEPREFIX="")
    assert sorted(path.name for path in script.parent.iterdir()) == ["__pycache__", "helper.py", "main.py"]
    kept = [path.name for path in (script.parent / "__pycache__").iterdir()]
    assert [name.split("-")[0] for name in kept] == ["helper.autoconv"]


def test_an_exception_shows_the_users_frames_only(script, command):
    script.write_text("import helper\n\n\ndef go():\n    return helper.fail(1)\n\n\ngo()\n")
    completed = command("run", script)
    plain = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=script.parent.parent)
    assert completed.returncode == plain.returncode == 1
    without_carets = [line for line in plain.stderr.splitlines() if set(line.strip()) - set("^~")]
    assert [line for line in completed.stderr.splitlines() if set(line.strip()) - set("^~")] == without_carets


def test_chained_exceptions_keep_their_form(script, command):
    script.write_text(
        """import helper

try:
    helper.fail(2)
except KeyError as error:
    raise ValueError("outer") from error
"""
    )
    completed = command("run", script)
    assert "The above exception was the direct cause" in completed.stderr
    assert "autoconv" not in completed.stderr and completed.stderr.count("Traceback") == 2
    assert 'line 10, in fail\n    raise KeyError("missing")' in completed.stderr


@pytest.mark.parametrize(("leave", "code"), [("7", 7), ("None", 0), ("'sorry'", 1)])
def test_exit_codes_of_the_script(script, command, leave, code):
    script.write_text(f"import sys\n\nsys.exit({leave})\n")
    completed = command("run", script)
    assert completed.returncode == code and "Traceback" not in completed.stderr
    assert completed.stderr.strip() == ("sorry" if code == 1 else "")


def test_the_scripts_own_excepthook_is_called(script, command):
    script.write_text("import sys\n\nsys.excepthook = lambda *e: print('mine', e[1])\nraise ValueError(3)\n")
    assert command("run", script).stdout == "mine 3\n"


def test_modules_beside_the_script_come_first(script, command):
    (script.parent / "click.py").write_text("mine = 'own click'\n")
    (script.parent / "queue.py").write_text("mine = 'own queue'\n")
    script.write_text("import click\nimport queue\n\nprint(click.mine, queue.mine)\n")
    completed = command("run", script)
    assert completed.stdout == "own click own queue\n", completed.stderr


def test_functions_to_compile(script, command):
    (script.parent / "helper.py").write_text("def halve(x):\n    return x / 2\n")
    script.write_text("import helper\n\n\ndef f(x):\n    return helper.halve(x) + 1\n\n\nprint(f(4.0))\n")
    completed = command("run", "--compile", "f", "--compile", "helper:halve", script)
    assert completed.stdout == "3.0\n", completed.stderr
    assert "did you mean f?" in command("run", "--compile", "ff", script).stderr


def test_loops_of_compiled_functions_that_cannot_be_traced(script, command):
    script.write_text(
        """import time

def total(n):
    time.time()
    s = 0
    for i in range(n):
        s += i
        print("at", s)
    return s

print(total(1), total(3))
print("total_loop_6: 1 trace" in total.explain())
"""
    )
    completed = command("run", "--compile", "total", "project/main.py", AUTOCONV_TIERS="native")
    assert completed.stdout == "at 0\nat 0\nat 1\nat 3\n0 3\nTrue\n", completed.stderr


def test_a_script_in_place_of_a_functions_name(script, command):
    run = command("run", "--compile", str(script))
    assert run.returncode == 2 and f"write --compile NAME {script}" in " ".join(run.stderr.split())


def test_missing_scripts_and_files_that_are_not_python(script, command):
    for name, text, code in (("no.py", None, 2), ("bad.py", "def f(:\n", 3), ("late.py", "while 1: pass\nbreak\n", 3)):
        if text:
            (script.parent / name).write_text(text)
        completed = command("run", f"project/{name}")
        assert completed.returncode == code and "Traceback" not in completed.stderr and name in completed.stderr
    assert command("run", "project").returncode == 2


def test_a_bad_module_is_a_plain_syntax_error(script, command):
    (script.parent / "helper.py").write_text("def f(:\n")
    completed = command("run", script)
    assert completed.returncode == 1
    assert "SyntaxError" in completed.stderr and "helper.py" in completed.stderr and "autoconv" not in completed.stderr


def test_disabled(script, command):
    completed = command("run", script, AUTOCONV_DISABLE="1")
    assert completed.returncode == 0 and not list(script.parent.glob("__pycache__/*autoconv*"))


def test_an_interrupt_ends_the_script(script):
    lines = (
        "import os, signal",
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # runs in the background ignore the signal",
        "os.kill(os.getpid(), signal.SIGINT)",
        "while True:",
        "    pass",
    )
    script.write_text("\n".join(lines))
    completed = subprocess.run(
        [sys.executable, "-m", "autoconv", "run", str(script)],
        capture_output=True, text=True, env=os.environ, timeout=60,
    )  # fmt: skip
    assert completed.returncode == 130 and "KeyboardInterrupt" in completed.stderr
