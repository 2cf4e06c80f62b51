"""Random programs as C libraries, called by ctypes and compared with plain Python and NumPy.

    python tests/fuzz/clibraries.py --programs 200 [--seed 0]

The programs are by turns those of `arrays.py`, those of `sizes.py`, whose sizes are names, those of `numeric.py`
without output, and loops with tries. The results and the contents of the arguments afterwards are compared. Where plain
Python raises, the library's message has to name the exception. All calls of a program are made once more by 8 threads
together, which have to give the same bits. Headers are compiled by cc with its strictest warnings. Each tenth program
is called from C under the address sanitizer, and under valgrind where that is installed: an address out of range, an
uninitialized value or a leak is an error. The summary counts the calls by outcome, and the programs that have no form
by reason.
"""

from __future__ import annotations

import argparse
import ast
import collections
import importlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import autoconv as ac
from autoconv.errors import AutoconvError

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
array_programs = importlib.import_module("arrays")
numeric = importlib.import_module("numeric")
calling = importlib.import_module("tests.clibrary.calling")
counting = importlib.import_module("differential.counting")
sizes = importlib.import_module("sizes")
grammar = importlib.import_module("grammar.tries")

STRICT_FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]
THREADS = 8
KINDS = ("sizes", "names", "numbers", "tries")


class SilentGenerator(numeric.Generator):
    """A generator of numeric programs without output and without ints beyond 64 bits."""

    def program(self) -> str:
        text = super().program()
        while "print(" in text or re.search(r"\d{17}|\*\*", text):
            text = super().program()
        return text


class Program:
    """A program of one kind: its text, the types of its arguments, and its inputs."""

    def __init__(self, number: int) -> None:
        self.kind = KINDS[number % len(KINDS)]
        self.number = number
        self.contract = "compile"
        if self.kind == "sizes":
            generator = array_programs.Generator(number)
            self.source, self.dtype = generator.program(), generator.dtype
            self.spec = f"{self.dtype}[6,6] {self.dtype}[6,6] {self.dtype}[6] int64[] int64[]"
        elif self.kind == "names":
            self.generator = sizes.Generator(number)
            self.source = self.generator.program()
            shapes = [f"{self.generator.dtype}[{','.join(shape)}]" for shape in self.generator.pattern.values()]
            self.spec = " ".join([*shapes, "int64[]"])
            self.calls = [call for call in self.generator.calls() if "odd" not in call]
        elif self.kind == "numbers":
            self.source, self.spec = SilentGenerator(number).program(), "int64[] int64[]"
        else:
            self.source, self.spec = grammar.Generator(number).program(), "float64[n] int64[] int64[]"

    def inputs(self) -> list[tuple[Any, ...]]:
        if self.kind == "numbers":
            return list(numeric.INPUTS)
        if self.kind == "tries":
            return [tuple(call) for call in grammar.inputs()]
        if self.kind == "names":
            return [(*sizes.random_arguments(self.generator, call, call_number), (2, 1, 0, 3)[call_number % 4])
                    for call_number, call in enumerate(self.calls)]  # fmt: skip
        return [(*array_programs.arguments(self.dtype, call_number, False), *numbers)
                for call_number, numbers in enumerate(array_programs.NUMBERS)]  # fmt: skip


def check(program: Program, folder: Path, runs_in_c: bool) -> collections.Counter[str]:
    """Count the outcomes of the calls of one program; the text of a wrong outcome has the details."""
    name = f"<library {program.number}>"
    plain = counting.load_program(array_programs.copy_assigned_views(program.source), name, np=np)
    function = counting.load_program(program.source, name, np=np)
    counts: collections.Counter[str] = collections.Counter()
    path = folder / f"library{program.number}"
    try:
        library = ac.clibrary.build(function, program.spec, to=path, contract=program.contract)
    except AutoconvError as error:
        counts[f"no form, {program.kind}: {refusal_reason(error)}"] += 1
        return counts
    if problem := header_problem(library, folder):
        counts[f"WRONG: {problem}"] += 1
    call = calling.Caller(library)
    constants = re.findall(r"^ *.+? is always (.*), and no field", library.header.read_text(), flags=re.M)
    single_results = []
    for arguments, expected in zip(program.inputs(), program.inputs(), strict=True):
        result = call_library(call, arguments)
        single_results.append((result, arguments))
        counts[classify_call(result, arguments, plain, expected, constants)] += 1
    with ThreadPoolExecutor(THREADS) as pool:
        repeated_inputs = [arguments for _ in range(THREADS) for arguments in program.inputs()]
        threaded_results = list(pool.map(lambda arguments: call_library(call, arguments), repeated_inputs))
    for result, arguments, (single_result, single_arguments) in zip(
        threaded_results, repeated_inputs, single_results * THREADS, strict=True
    ):
        if result_bytes((result, arguments)) != result_bytes((single_result, single_arguments)):
            counts[f"WRONG: threads give {result}, {arguments}, one gives {single_result}, {single_arguments}"] += 1
    if runs_in_c and (problem := c_problem(program, library, folder)):
        counts[f"WRONG: {problem}"] += 1
    return counts


def call_library(call, arguments: tuple[Any, ...]) -> Any:
    """Return the leaves of the result, or the message of the error."""
    try:
        return leaves(call(*arguments))
    except calling.LibraryError as error:
        return error.args[1]


def classify_call(
    actual: Any, arguments: tuple[Any, ...], plain, expected: tuple[Any, ...], constants: list[str]
) -> str:
    """Return the outcome of a call of a library: how it agrees, or "WRONG" with the difference."""
    try:
        with np.errstate(all="ignore"):
            result, expected_error = leaves(plain(*expected)), None
    except Exception as error:
        result, expected_error = [], error
    result = drop_constants(result, constants, actual)
    arrays = [
        (array, expected_array) for array, expected_array in zip(
            arguments, expected, strict=True
        ) if isinstance(array, np.ndarray)
    ]
    context = f"{[x for x in expected if not isinstance(x, np.ndarray)]}: "
    if isinstance(actual, str) and "64 bits" in actual and (
        expected_error is None or type(expected_error).__name__ not in actual
    ):
        return "beyond 64 bits, or perhaps"
    if isinstance(actual, str) and "no code for these sizes" in actual:
        return "no code for these sizes" + (", for which Python raises" if expected_error is not None else "")
    if isinstance(actual, str) != (expected_error is not None):
        return f"WRONG {context}{actual!r} for {expected_error or result!r}"
    if expected_error is not None and type(expected_error).__name__ not in actual:
        return f"WRONG {context}{actual!r} for {expected_error!r}"
    if expected_error is None and not are_equal(actual, result):
        return f"WRONG {context}{actual!r} for {result!r}"
    for array, expected_array in arrays:
        if not is_equal(array, expected_array):
            return f"WRONG {context}an argument holds {array!r} for {expected_array!r}"
    return "agrees" if expected_error is None else "agrees on an error"


def drop_constants(result: list[Any], constants: list[str], actual: Any) -> list[Any]:
    """Return the result without the parts that are constants by the header; of equal parts, those that `actual` lacks.
    """
    choices = [result]
    for text in (part for constant in constants for part in literals_of_constant(constant)):
        choices = [
            [*parts[:i], *parts[i + 1 :]] for parts in choices for i, x in enumerate(parts) if repr(x) == text
        ] or choices
    return next((parts for parts in choices if are_equal(actual, parts)), choices[0])


def literals_of_constant(constant: str) -> list[str]:
    """Return the texts of the numbers of a constant, which may be a tuple, as in the header."""
    try:
        return [repr(leaf) for leaf in leaves(ast.literal_eval(constant))]
    except (ValueError, SyntaxError):  # nan, infinity
        return [constant]


def is_equal(actual: Any, expected: Any) -> bool:
    actual, expected = np.asarray(actual), np.asarray(expected)
    with np.errstate(all="ignore"):
        if actual.dtype.kind == "f" and actual.shape == expected.shape:  # sums have another order
            tolerance = 1e-5 if actual.dtype == np.float32 else 1e-12
            return np.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        return actual.shape == expected.shape and np.array_equal(actual, expected)


def are_equal(actual: Any, expected: list[Any]) -> bool:
    return len(actual) == len(expected) and all(map(is_equal, actual, expected))


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None or isinstance(value, str) else [value]


def result_bytes(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [result_bytes(part) for part in value]
    return value if isinstance(value, str) else np.asarray(value).tobytes()


def refusal_reason(error: AutoconvError) -> str:
    """Return the first op that needs Python, without its line, or another reason for the refusal."""
    text = str(error).splitlines()[0]
    match = re.search(r"has no code without Python: ([\w.]+)", text)
    return match.group(1) if match else re.sub(r"<[^>]*>:[\d:]+|library\d+|program", "", text)[:110].strip()


def header_problem(library, folder: Path) -> str:
    source = folder / "header.c"
    source.write_text(f'#include "{library.header.name}"\nint main(void) {{ return 0; }}\n')
    command = ["cc", *STRICT_FLAGS, "-c", source.name, "-o", "header.o"]
    compilation = subprocess.run(command, cwd=folder, capture_output=True)
    return compilation.stderr.decode()


def c_problem(program: Program, library, folder: Path) -> str:
    """Return the report of the sanitizers about a C program that makes all calls, "" without errors."""
    (folder / "calls.c").write_text(c_text(program, library))
    tools = [("asan", ["-fsanitize=address,undefined"], [])]
    if shutil.which("valgrind"):
        tools.append(("memcheck", [], ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]))
    for name, options, runner in tools:
        flags = [*STRICT_FLAGS, "-Wno-conversion", *options, "-g"]
        command = ["cc", *flags, "calls.c", library.object.name, "-lm", "-o", name]
        compilation = subprocess.run(command, cwd=folder, capture_output=True)
        if compilation.returncode:
            return compilation.stderr.decode()
        execution = subprocess.run([*runner, f"./{name}"], cwd=folder, capture_output=True)
        if execution.returncode:
            return f"{name}: {execution.stdout.decode()[-2000:]}{execution.stderr.decode()[-4000:]}"
    return ""


def c_text(program: Program, library) -> str:
    """Return the text of a C program that makes all calls, with separate memory for each array, and frees results."""
    header = library.header.read_text()
    name, listed = re.search(r"^int (\w+)\((.*)\);", re.sub(r"/\*.*?\*/", "", header, flags=re.S), re.M).groups()
    parameters = [text.removeprefix("const ").rsplit(" ", 1) for text in listed.split(", ")][:-1]
    lines = [f'#include "{library.header.name}"', "#include <stdlib.h>", "#include <string.h>", "", "int main(void) {"]
    for arguments in program.inputs():
        lines.append("    {")
        call_arguments, memory = [], []
        for i, ((kind, parameter_name), value) in enumerate(zip(parameters, arguments, strict=True)):
            if not parameter_name.startswith("*"):
                call_arguments.append(str(int(value)))
                continue
            element = {"float64": "double", "float32": "float"}.get(str(value.dtype), f"{value.dtype}_t")
            items = ", ".join(map(str, value.ravel().tolist())) or "0"
            lines += [
                f"        static const {element} from{i}[] = {{{items}}};",
                f"        {element} *data{i} = malloc({max(value.nbytes, 1)});",
                f"        memcpy(data{i}, from{i}, {value.nbytes});",
                f"        {kind} given{i} = {kind}_of(data{i}, {', '.join(map(str, value.shape))});",
            ]
            call_arguments.append(f"&given{i}")
            memory.append(f"data{i}")
        lines += [
            f"        {name}_result result;", f"        if (!{name}({', '.join([*call_arguments, '&result'])})) {{"
        ]
        lines += [f"            {name}_free(result.{path}.data);" for path in tensor_paths(header, name)]
        lines += ["        }", *(f"        free({text});" for text in memory), "    }"]
    return "\n".join([*lines, "    return 0;", "}", ""])


def tensor_paths(header: str, name: str) -> list[str]:
    """Return the paths of the tensors in the result."""
    body = re.search(rf"typedef struct {name}_result {{\n(.*?)\n}} {name}_result;", header, re.S).group(1)
    return parse_paths(iter([line.strip() for line in body.splitlines()]))[0]


def parse_paths(lines) -> tuple[list[str], str]:
    paths: list[str] = []
    for line in lines:
        if line == "struct {":
            inner_paths, name = parse_paths(lines)
            paths += [f"{name}.{path}" for path in inner_paths]
        elif line.startswith("}"):
            return paths, line[1:].strip(" ;")
        elif re.match(r"autoconv_\w+?_\d+ ", line):
            paths.append(line.split()[1].rstrip(";"))
    return paths, ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=KINDS)
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.seed, options.seed + options.programs):
            program = Program(number)
            if options.kind not in (None, program.kind):
                continue
            try:
                program_counts = check(program, Path(folder), number % 10 < 1)
            except Exception:
                program_counts = collections.Counter([f"WRONG: {traceback.format_exc()}"])
            for kind, count in program_counts.items():
                if kind.startswith("WRONG"):
                    print(f"--- program {number}, {program.spec}\n{program.source}\n{kind}\n", flush=True)
                counts["WRONG" if kind.startswith("WRONG") else kind] += count
            for path in Path(folder).glob(f"*library{number}.*"):
                path.unlink()
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
