"""The helper process of LLVM: a text that crashes it is compiled at a lower level or not at all."""

import os
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import autoconv
import autoconv.helper_process as helper_process
from autoconv.backends.llvm.jit import compiler, helper, helper_main, machine_code
from autoconv.backends.llvm.jit import engine as jit_engine
from autoconv.backends.llvm.jit.helper import HelperEnded
from autoconv.config import SETTINGS

pytestmark = [
    pytest.mark.optimised,
    pytest.mark.skipif(not hasattr(os, "posix_spawn"), reason="without posix_spawn, LLVM runs in this process"),
]
GOOD = "define i64 @answer() {\n  ret i64 42\n}\n"
FATAL = 'define void @f() gc "nothing" {\n  ret void\n}\n'  # LLVM's report_fatal_error
DEEP = "@g = global i64 " + "add (i64 " * 100_000 + "0" + ", i64 1)" * 100_000  # overflows LLVM's stack
ENDLESS = "define i99999 @f(i99999 %x) {\n  %y = mul i99999 %x, %x\n  ret i99999 %y\n}\n"


@pytest.fixture(autouse=True)
def own_helper():
    helper.drop_helper()
    yield
    helper.drop_helper()


def test_a_text_is_compiled_as_in_the_own_process():
    found = helper.object_files([(GOOD, 3), ("define nothing", 0), (GOOD, 0)])
    make = machine_code.object_file_compiler()
    assert found[0] == make(GOOD, 3) and found[2] == make(GOOD, 0)
    assert isinstance(found[1], machine_code.BadText)


def test_crashes_are_distinguished_from_errors():
    good_texts = [(GOOD.replace("42", str(number)), number % 2) for number in range(6)]
    found = helper.object_files([*good_texts[:3], (FATAL, 0), *good_texts[3:], (DEEP, 0)])
    assert [isinstance(item, HelperEnded) for item in found] == [False] * 3 + [True] + [False] * 3 + [True]
    assert "unsupported GC" in str(found[3])


def test_an_endless_compilation_is_ended(monkeypatch):
    monkeypatch.setattr(helper_process, "TIME_LIMIT", 0.1)
    found = helper.object_files([(ENDLESS, 0), (GOOD, 0)])
    assert isinstance(found[0], HelperEnded) and found[0].is_late
    assert isinstance(found[1], bytes)


def test_a_killed_helper_is_started_anew():
    (before,) = helper.object_files([(GOOD, 0)])
    helper._HELPER[0]._connection.shutdown(2)
    assert helper.object_files([(GOOD, 0)]) == [before]


def test_a_module_that_was_begun_is_compiled_once():
    others = [(GOOD.replace("42", str(number)), 0) for number in range(3)]
    expected = [machine_code.object_file_compiler()(text, level) for text, level in [*others, (GOOD, 3)]]
    helper.begin(GOOD, 3)
    requests = []
    (process,) = helper._HELPER
    send = process._request
    process._request = lambda number, *module: requests.append(module) or send(number, *module)
    assert helper.object_files(others) == expected[:3]  # the answer to the first request may come before these
    assert helper.object_files([others[0], (GOOD, 3)]) == [expected[0], expected[3]]
    assert sorted(requests) == sorted([*others, others[0]])


@pytest.mark.parametrize("text", [FATAL, "define nothing"])
def test_a_begun_module_without_code_is_reported_when_it_is_needed(text):
    helper.begin(text, 0)
    good, bad = helper.object_files([(GOOD, 0), (text, 0)])
    assert isinstance(good, bytes)
    assert isinstance(bad, HelperEnded if text == FATAL else machine_code.BadText)


def test_the_helper_starts_in_the_background():
    helper.start()
    first = helper._HELPER[0]
    helper.start()
    assert isinstance(helper.object_files([(GOOD, 0)])[0], bytes)
    assert helper._HELPER[0] is first
    first._connection.shutdown(2)
    helper.start()
    assert isinstance(helper.object_files([(GOOD, 0)])[0], bytes)


def test_a_helper_that_does_not_start_is_an_error_only_when_it_is_needed(monkeypatch):
    monkeypatch.setattr(helper_process, "_PROGRAM", "import nowhere")
    helper.start()
    for _ in range(2):
        with pytest.raises(helper_process.HelperUnavailable):
            helper.object_files([(GOOD, 0)])
    assert not helper._HELPER


def test_a_short_pause_does_not_end_the_helper():
    helper.object_files([(GOOD, 0)])
    first = helper._HELPER[0]
    time.sleep(2.5 * helper_main._CHECK_INTERVAL)
    helper.object_files([(GOOD, 3)])
    assert helper._HELPER[0] is first


def test_an_answer_waits_until_it_is_read(monkeypatch):
    """The program reads a large object file later than the interval of the helper's checks, as on a busy machine."""
    send = helper.Helper._send

    def send_and_pause(self, data):
        send(self, data)
        time.sleep(4 * helper_main._CHECK_INTERVAL)

    monkeypatch.setattr(helper.Helper, "_send", send_and_pause)
    text = "@g = constant [4000000 x i8] zeroinitializer\n" + GOOD
    first, second = helper.object_files([(text, 0), (GOOD, 0)])
    assert len(first) > 4_000_000 and isinstance(second, bytes)


def _end_llvm_on_loops(monkeypatch, ends):
    """Replace each text that has a loop by one that ends LLVM, at the levels in `ends`."""
    real = helper.object_files

    def replaced(modules):
        return real([(FATAL if level in ends and "br " in text else text, level) for text, level in modules])

    monkeypatch.setattr(helper, "object_files", replaced)


def total(x, n):
    for i in range(n):
        x = x + i * 2.5
    return x


@pytest.mark.parametrize(
    ("ends", "line"),
    [((3,), "compiled at level"), ((3, 2, 1), "compiled at level 0"), ((0, 1, 2, 3), "no native code")],
)
@pytest.mark.parametrize("decorator", [autoconv.compile, autoconv.function])
def test_a_program_goes_on_with_less_optimised_code(monkeypatch, tmp_path, ends, line, decorator):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path))
    monkeypatch.setattr(jit_engine, "_DOWNGRADES", {})
    monkeypatch.setattr(jit_engine, "_FAILURES", {})
    _end_llvm_on_loops(monkeypatch, ends)
    staged = decorator(total)
    for size in (3, 4, 3):
        x = np.arange(size, dtype=np.float64)
        np.testing.assert_array_equal(staged(x, 5), total(x, 5))
    assert line in staged.explain() or ends == (3,)


@pytest.mark.parametrize("level", [1, 2, 3])
def test_texts_that_crashed_the_helper_are_remembered(monkeypatch, tmp_path, level):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path))
    monkeypatch.setattr(SETTINGS, "llvm_level", level)
    requests = []
    real = helper.object_files
    monkeypatch.setattr(helper, "object_files", lambda modules: requests.append(modules) or real(modules))
    for _ in range(3):
        with pytest.raises(jit_engine.NoMachineCode, match="unsupported GC"):
            jit_engine.prepare_object_files({f"{FATAL}; once at {level}": 3})
    assert len(requests) == 1 + level  # each level is tried once


def test_without_a_process_llvm_runs_here(monkeypatch, tmp_path):
    requests = []
    real = compiler.object_files
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path))  # without code of earlier runs
    monkeypatch.setattr(compiler, "object_files", lambda modules: requests.append(modules) or real(modules))
    with monkeypatch.context() as without_python:
        without_python.setattr(sys, "executable", "")
        jit_engine.prepare_object_files({GOOD + "; here": 1})
    monkeypatch.setattr(SETTINGS, "helper", False)
    jit_engine.prepare_object_files({GOOD + "; here, too": 1})
    assert len(requests) == 2


@pytest.mark.parametrize("body", ["return x + 1.0", "return x + 1.0 if x > 0 else x"])
def test_new_functions_start_it_before_their_trace(tmp_path, body):
    """New functions start the helper before their trace, also those that need no conversion."""
    script = tmp_path / "script.py"
    script.write_text(
        f"""
import autoconv
import autoconv.helper_process as helper_process
from autoconv.backends.llvm.jit import helper
assert not helper._HELPER
started = []
real = helper.start
helper.start = lambda: started.append(1) or real()
@autoconv.function
def f(x):
    {body}
f(1.0)
print(bool(started))
"""
    )
    environment = {"AUTOCONV_CACHE": str(tmp_path / "cache"), "AUTOCONV_NUM_THREADS": "2"}
    program = f"import runpy; runpy.run_path({str(script)!r})"
    assert [_run(program, **environment) for _ in range(2)] == [["True"], ["False"]]


@pytest.mark.parametrize("first_name", ["compile", "constant"])
def test_a_new_file_starts_it_when_a_function_is_decorated(tmp_path, first_name):
    """The helper starts once for each version of a file, and neither os.wait nor a forked child finds it."""
    script = tmp_path / "script.py"
    text = """
import os
import sys
import autoconv
getattr(autoconv, sys.argv[1])
decorator = autoconv.compile(lambda x: x + 1.0)
from autoconv.backends.llvm.jit import helper
print(len(helper._HELPER))
try:
    os.wait()
except ChildProcessError:
    print("nobody")
child = os.fork()
if not child:
    os._exit(len(helper._HELPER))
print(os.wait()[1])
assert decorator(2.0) == 3.0
"""
    script.write_text(text)
    program = f"import runpy, sys; sys.argv = ['', {first_name!r}]; runpy.run_path({str(script)!r})"
    cache = str(tmp_path / "cache")
    shown = [_run(program, AUTOCONV_CACHE=cache) for _ in range(2)]
    script.write_text(text + "# changed")
    shown += [_run(program, AUTOCONV_CACHE=cache), _run(program, AUTOCONV_CACHE=cache, AUTOCONV_HELPER="0")]
    assert [lines[0] for lines in shown] == ["1", "0", "1", "0"]
    assert all(lines[1:] == ["nobody", "0"] for lines in shown)


def _run(program, **environment):
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True, text=True, timeout=60, env={**os.environ, **environment},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return found.stdout.split()


def test_children_have_a_helper_of_their_own_that_no_wait_sees(tmp_path):
    """A program that waits for all of its children does not see the helper, and each child has its own helper."""
    assert _run(
        """
        import os
        from autoconv.backends.llvm.jit import helper
        GOOD = "define i64 @answer() {\\n  ret i64 42\\n}\\n"
        first = helper.object_files([(GOOD, 1)])
        child = os.fork()
        if not child:
            from autoconv.backends.llvm.jit import engine
            engine._compile_texts([(GOOD, 1)]) == first or os._exit(1)
            os._exit(0)
        pid, status = os.wait()
        print(pid == child, status)
        try:
            os.wait()
        except ChildProcessError:
            print("nobody")
        print(helper.object_files([(GOOD, 1)]) == first)
        """,
        AUTOCONV_CACHE=str(tmp_path),
    ) == ["True", "0", "nobody", "True"]


def test_closed_streams_and_signals_have_no_effect(tmp_path):
    """The helper uses no streams of the program and triggers no signal handlers; SIGPIPE ends no process."""
    result = tmp_path / "result"
    _run(
        f"""
        import os, signal
        os.close(0), os.close(1), os.close(2)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        from autoconv.backends.llvm.jit import helper
        GOOD = "define i64 @answer() {{\\n  ret i64 42\\n}}\\n"
        first = helper.object_files([(GOOD, 1)])
        fds = [fd for fd in range(3) if os.path.exists(f"/proc/self/fd/{{fd}}")]
        helper._HELPER[0]._connection.shutdown(2)
        again = helper.object_files([(GOOD, 1)]) == first
        open({str(result)!r}, "w").write(f"{{len(fds)}} {{again}}")
        """,
        AUTOCONV_CACHE=str(tmp_path),
    )
    assert result.read_text() == "0 True"


def test_the_helper_ends_with_the_program(tmp_path):
    """The helper ends even where the program is killed in the middle of a compilation."""
    program = f"""
        import os, threading, time
        from autoconv.backends.llvm.jit import helper
        helper.object_files([("define i64 @answer() {{\\n  ret i64 42\\n}}\\n", 1)])
        print(os.getpid(), flush=True)
        threading.Thread(target=helper.object_files, args=([({ENDLESS!r}, 0)],)).start()
        time.sleep(0.2)
        os.kill(os.getpid(), 9)
        """
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60
    )  # fmt: skip
    assert found.returncode == -9
    # A process with the pipe of the program's standard error would have blocked `run`.


def test_threads_share_the_helper(tmp_path, monkeypatch):
    monkeypatch.setenv("AUTOCONV_CACHE", str(tmp_path))
    texts = [GOOD.replace("42", str(number)) for number in range(100, 116)]
    threads = [threading.Thread(target=jit_engine.prepare_object_files, args=({text: 1},)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(jit_engine._OBJECT_FILES.pop(text) for text in texts)
