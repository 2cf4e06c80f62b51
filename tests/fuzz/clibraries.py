"""Random programs as C libraries, called by ctypes and compared with plain Python and NumPy.

    python tests/fuzz/clibraries.py --programs 200 [--seed 0]

The programs are by turns those of `arrays.py`, those of `sizes.py`, whose sizes are names, those of `numeric.py`
without output, and loops with tries. Compared are the results, what the arguments hold afterwards, and
errors: where plain Python raises the message has to name the exception. All calls of a program are made once more by 8
threads together, which have to give the same bits. Headers are compiled by cc, as strictly as it can. Each tenth
program is called from C under the address sanitizer, and under valgrind where that is installed: an address out of
range, a value that was never set, or memory that nobody frees is an error. The summary counts the calls by what became
of them, and the programs that have no form by the reason.
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

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]
THREADS = 8
KINDS = ("sizes", "names", "numbers", "tries")


class Silent(numeric.Generator):
    """Numbers without output and without ints beyond 64 bits."""

    def program(self) -> str:
        text = super().program()
        while "print(" in text or re.search(r"\d{17}|\*\*", text):
            text = super().program()
        return text


class Program:
    """A program of one kind: its text, the types of its arguments, and what it is called with."""

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
            self.calls = [one for one in self.generator.calls() if "odd" not in one]
        elif self.kind == "numbers":
            self.source, self.spec = Silent(number).program(), "int64[] int64[]"
        else:
            self.source, self.spec = grammar.Generator(number).program(), "float64[n] int64[] int64[]"

    def inputs(self) -> list[tuple[Any, ...]]:
        if self.kind == "numbers":
            return list(numeric.INPUTS)
        if self.kind == "tries":
            return [tuple(one) for one in grammar.inputs()]
        if self.kind == "names":
            return [(*sizes.arguments(self.generator, one, turn), (2, 1, 0, 3)[turn % 4])
                    for turn, one in enumerate(self.calls)]  # fmt: skip
        return [(*array_programs.arguments(self.dtype, turn, False), *numbers)
                for turn, numbers in enumerate(array_programs.NUMBERS)]  # fmt: skip


def check(program: Program, folder: Path, by_c: bool) -> collections.Counter[str]:
    """What became of the calls of one program; of a wrong one the text has the details."""
    name = f"<library {program.number}>"
    plain = counting.made(array_programs.copying(program.source), name, np=np)
    function = counting.made(program.source, name, np=np)
    counts: collections.Counter[str] = collections.Counter()
    path = folder / f"library{program.number}"
    try:
        library = ac.clibrary.build(function, program.spec, to=path, contract=program.contract)
    except AutoconvError as error:
        counts[f"no form, {program.kind}: {reason(error)}"] += 1
        return counts
    if problem := header_problem(library, folder):
        counts[f"WRONG: {problem}"] += 1
    call = calling.Caller(library)
    constants = re.findall(r"^ *.+? is always (.*), and no field", library.header.read_text(), flags=re.M)
    alone = []
    for given, expected in zip(program.inputs(), program.inputs(), strict=True):
        found = called(call, given)
        alone.append((found, given))
        counts[judged(found, given, plain, expected, constants)] += 1
    with ThreadPoolExecutor(THREADS) as pool:
        again = [given for _ in range(THREADS) for given in program.inputs()]
        together = list(pool.map(lambda given: called(call, given), again))
    for found, given, (first, before) in zip(together, again, alone * THREADS, strict=True):
        if bits((found, given)) != bits((first, before)):
            counts[f"WRONG: threads give {found}, {given}, one gives {first}, {before}"] += 1
    if by_c and (problem := c_problem(program, library, folder)):
        counts[f"WRONG: {problem}"] += 1
    return counts


def called(call, given: tuple[Any, ...]) -> Any:
    """The leaves of the result, or the message of the error."""
    try:
        return leaves(call(*given))
    except calling.Failed as error:
        return error.args[1]


def judged(found: Any, given: tuple[Any, ...], plain, expected: tuple[Any, ...], constants: list[str]) -> str:
    try:
        with np.errstate(all="ignore"):
            result, raised = leaves(plain(*expected)), None
    except Exception as error:
        result, raised = [], error
    result = without(result, constants)
    arrays = [(one, other) for one, other in zip(given, expected, strict=True) if isinstance(one, np.ndarray)]
    told = f"{[x for x in expected if not isinstance(x, np.ndarray)]}: "
    if isinstance(found, str) and "64 bits" in found and (raised is None or type(raised).__name__ not in found):
        return "beyond 64 bits, or perhaps"
    if isinstance(found, str) and "no code for these sizes" in found:
        return "no code for these sizes" + (", for which Python raises" if raised is not None else "")
    if isinstance(found, str) != (raised is not None):
        return f"WRONG {told}{found!r} for {raised or result!r}"
    if raised is not None and type(raised).__name__ not in found:
        return f"WRONG {told}{found!r} for {raised!r}"
    if raised is None and (len(found) != len(result) or not all(map(is_equal, found, result))):
        return f"WRONG {told}{found!r} for {result!r}"
    for one, other in arrays:
        if not is_equal(one, other):
            return f"WRONG {told}an argument holds {one!r} for {other!r}"
    return "agrees" if raised is None else "agrees on an error"


def without(result: list[Any], constants: list[str]) -> list[Any]:
    """The result without the parts that the header says are always the same."""
    found = list(result)
    for text in (part for constant in constants for part in parts_of(constant)):
        same = [i for i, x in enumerate(found) if repr(x) == text]
        del found[slice(same[0], same[0] + 1) if same else slice(0)]
    return found


def parts_of(constant: str) -> list[str]:
    """The numbers of a constant that may be a tuple, as the header writes them."""
    try:
        return [repr(leaf) for leaf in leaves(ast.literal_eval(constant))]
    except (ValueError, SyntaxError):  # nan, infinity
        return [constant]


def is_equal(found: Any, expected: Any) -> bool:
    found, expected = np.asarray(found), np.asarray(expected)
    with np.errstate(all="ignore"):
        if found.dtype.kind == "f" and found.shape == expected.shape:  # sums have another order
            tolerance = 1e-5 if found.dtype == np.float32 else 1e-12
            return np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
        return found.shape == expected.shape and np.array_equal(found, expected)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [] if value is None or isinstance(value, str) else [value]


def bits(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [bits(part) for part in value]
    return value if isinstance(value, str) else np.asarray(value).tobytes()


def reason(error: AutoconvError) -> str:
    """The first of the ops that need Python, without its line, or what else refuses the program."""
    text = str(error).splitlines()[0]
    found = re.search(r"has no code without Python: ([\w.]+)", text)
    return found.group(1) if found else re.sub(r"<[^>]*>:[\d:]+|library\d+|program", "", text)[:110].strip()


def header_problem(library, folder: Path) -> str:
    source = folder / "header.c"
    source.write_text(f'#include "{library.header.name}"\nint main(void) {{ return 0; }}\n')
    made = subprocess.run(["cc", *STRICT, "-c", source.name, "-o", "header.o"], cwd=folder, capture_output=True)
    return made.stderr.decode()


def c_problem(program: Program, library, folder: Path) -> str:
    """What the sanitizers say of a C program that makes all calls."""
    (folder / "calls.c").write_text(c_text(program, library))
    tools = [("asan", ["-fsanitize=address,undefined"], [])]
    if shutil.which("valgrind"):
        tools.append(("memcheck", [], ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]))
    for name, options, runner in tools:
        command = ["cc", *STRICT, "-Wno-conversion", *options, "-g", "calls.c", library.object.name, "-lm", "-o", name]
        made = subprocess.run(command, cwd=folder, capture_output=True)
        if made.returncode:
            return made.stderr.decode()
        done = subprocess.run([*runner, f"./{name}"], cwd=folder, capture_output=True)
        if done.returncode:
            return f"{name}: {done.stdout.decode()[-2000:]}{done.stderr.decode()[-4000:]}"
    return ""


def c_text(program: Program, library) -> str:
    """A C program that makes all calls with memory of its own for each array, and frees the results."""
    header = library.header.read_text()
    name, listed = re.search(r"^int (\w+)\((.*)\);", re.sub(r"/\*.*?\*/", "", header, flags=re.S), re.M).groups()
    parameters = [one.removeprefix("const ").rsplit(" ", 1) for one in listed.split(", ")][:-1]
    lines = [f'#include "{library.header.name}"', "#include <stdlib.h>", "#include <string.h>", "", "int main(void) {"]
    for given in program.inputs():
        lines.append("    {")
        passed, memory = [], []
        for i, ((kind, called_), value) in enumerate(zip(parameters, given, strict=True)):
            if not called_.startswith("*"):
                passed.append(str(int(value)))
                continue
            element = {"float64": "double", "float32": "float"}.get(str(value.dtype), f"{value.dtype}_t")
            items = ", ".join(map(str, value.ravel().tolist())) or "0"
            lines += [
                f"        static const {element} from{i}[] = {{{items}}};",
                f"        {element} *data{i} = malloc({max(value.nbytes, 1)});",
                f"        memcpy(data{i}, from{i}, {value.nbytes});",
                f"        {kind} given{i} = {kind}_of(data{i}, {', '.join(map(str, value.shape))});",
            ]
            passed.append(f"&given{i}")
            memory.append(f"data{i}")
        lines += [f"        {name}_result result;", f"        if (!{name}({', '.join([*passed, '&result'])})) {{"]
        lines += [f"            {name}_free(result.{path}.data);" for path in tensors(header, name)]
        lines += ["        }", *(f"        free({one});" for one in memory), "    }"]
    return "\n".join([*lines, "    return 0;", "}", ""])


def tensors(header: str, name: str) -> list[str]:
    """The paths of the tensors in the result."""
    body = re.search(rf"typedef struct {name}_result {{\n(.*?)\n}} {name}_result;", header, re.S).group(1)
    return found_in(iter([line.strip() for line in body.splitlines()]))[0]


def found_in(lines) -> tuple[list[str], str]:
    found: list[str] = []
    for line in lines:
        if line == "struct {":
            inner, name = found_in(lines)
            found += [f"{name}.{one}" for one in inner]
        elif line.startswith("}"):
            return found, line[1:].strip(" ;")
        elif re.match(r"autoconv_\w+?_\d+ ", line):
            found.append(line.split()[1].rstrip(";"))
    return found, ""


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
                found = check(program, Path(folder), number % 10 < 1)
            except Exception:
                found = collections.Counter([f"WRONG: {traceback.format_exc()}"])
            for kind, count in found.items():
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
