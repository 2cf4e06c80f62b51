"""Functions of text that is executed have no source, also beside a program of `python -c` with the same lines."""

import os
import subprocess
import sys

PROGRAM = """def f(x): return x + 1 if x > 0 else x
import autoconv
namespace = {}
exec("def f(x): return x * 10 if x > 0 else x", namespace)
other = autoconv.compile(namespace["f"])
print([other(2), other(3), f(2), autoconv.compile(f)(2)])
exec("def f(x): return x * 10 if x > 0 else x")
other = autoconv.compile(f)
print([other(2), other(3)])
"""


def test_a_function_of_executed_text_is_not_that_of_the_program():
    environment = {**os.environ, "AUTOCONV_TIERS": "native"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout == "[20, 30, 3, 3]\n[20, 30]\n"
