"""Programs of the kind "loops" as C, compiled by clang: the times that a C compiler reaches for the same loops.

One time is that of the call in C, another that of a call from Python by ctypes, which allocates the results.
"""

from __future__ import annotations

import ast
import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"float64": "double", "int64": "I"}  # of the arrays; NumPy computes others in types that C does not have
_OPERATORS: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<",
    ast.RShift: ">>", ast.Gt: ">", ast.Lt: "<", ast.Eq: "==", ast.GtE: ">=", ast.LtE: "<=", ast.NotEq: "!=",
}  # fmt: skip
_HEAD = """\
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef long long I;
static inline I floor_mod(I a, I b) { I r = a % b; return r && (r < 0) != (b < 0) ? r + b : r; }
static inline I floor_div(I a, I b) { return (a - floor_mod(a, b)) / b; }
static inline double max_double(double a, double b) { return a > b ? a : b; }
static inline double min_double(double a, double b) { return a < b ? a : b; }
static inline I max_I(I a, I b) { return a > b ? a : b; }
static inline I min_I(I a, I b) { return a < b ? a : b; }
"""
_MEASURE = """
double measure(I rounds, I n, I m, const T *x0, const T *y0, const T *A0, T *x, T *y, T *A, const I *places,
               const I *bits, I k, double *s, I *t, T *out, double *B, I *counts) {
    double best = 1e300;
    for (I round = 0; round < rounds; round++) {
        memcpy(x, x0, n * sizeof(T)); memcpy(y, y0, n * sizeof(T)); memcpy(A, A0, n * m * sizeof(T));
        struct timespec start, end;
        clock_gettime(CLOCK_MONOTONIC, &start);
        T *made = calloc(n, sizeof(T));
        double *matrix = calloc(n * m, sizeof(double));
        I *numbers = calloc(n, sizeof(I));
        program(n, m, x, y, A, places, bits, k, s, t, made, matrix, numbers);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds = (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
        if (seconds < best) best = seconds;
        memcpy(out, made, n * sizeof(T)); memcpy(B, matrix, n * m * sizeof(double));
        memcpy(counts, numbers, n * sizeof(I));
        free(made); free(matrix); free(numbers);
    }
    return best;
}
"""


class Writer:
    """A writer of a program in C. `types` are the C types of its names: "double", "I", or with a star for arrays."""

    def __init__(self, dtype: str) -> None:
        self._element = DTYPES[dtype]
        arrays = dict.fromkeys(("x", "y", "A", "out"), "T*") | dict.fromkeys(("places", "bits", "counts"), "I*")
        self.types = arrays | {"B": "double*", "n": "I", "m": "I", "k": "I"}
        self._declared: list[str] = []
        self._freed: list[str] = []

    def text(self, source: str) -> str:
        """Return the program and the function that measures it."""
        (function,) = ast.parse(source).body
        assert isinstance(function, ast.FunctionDef)
        body = [line for statement in function.body for line in self.statement(statement)]
        head = (
            "__attribute__((noinline)) void program(I n, I m, T *x, T *y, T *A, const I *places, const I *bits, "
            "I k, double *s_result, I *t_result, T *out, double *B, I *counts) {"
        )
        return "\n".join([_HEAD, f"typedef {self._element} T;", head, *self._declared, *body, "}", _MEASURE])

    # ---- statements

    def statement(self, node: ast.stmt) -> list[str]:
        writer = getattr(self, f"_{type(node).__name__.lower()}")
        lines: list[str] = writer(node)
        return lines

    def _block(self, statements: Sequence[ast.stmt]) -> list[str]:
        return ["{", *(line for statement in statements for line in self.statement(statement)), "}"]

    def _assign(self, node: ast.Assign) -> list[str]:
        (target,) = node.targets
        if isinstance(target, ast.Tuple):
            if isinstance(node.value, ast.Attribute):  # n, m = A.shape
                return []
            assert isinstance(node.value, ast.Tuple)
            first, second = (self.expression(part)[0] for part in node.value.elts)
            to_first, to_second = (self.expression(part)[0] for part in target.elts)
            return [f"{{ T first = {first}, second = {second}; {to_first} = first; {to_second} = second; }}"]
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Call) and "zeros" in ast.unparse(node.value):
            if target.id in ("out", "B", "counts"):
                return []  # made by the caller
            kind = self.types.setdefault(target.id, "I*")
            self._freed.append(target.id)
            return [f"{kind} {target.id} = calloc(n + 1, sizeof(*{target.id}));"]
        value, kind = self.expression(node.value)
        if isinstance(target, ast.Name) and target.id not in self.types:
            self.types[target.id] = kind
            self._declared.append(f"{kind} {target.id};")
        return [f"{self.expression(target)[0]} = {value};"]

    def _augassign(self, node: ast.AugAssign) -> list[str]:
        return [f"{self.expression(node.target)[0]} {_OPERATORS[type(node.op)]}= {self.expression(node.value)[0]};"]

    def _for(self, node: ast.For) -> list[str]:
        assert isinstance(node.iter, ast.Call) and isinstance(node.target, ast.Name)
        bounds = [self.expression(bound)[0] for bound in node.iter.args]
        begin, end = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2] if len(bounds) == 3 else "1"
        name, sign = node.target.id, ">" if step.strip("()").startswith("-") else "<"
        self.types[name] = "I"
        return [f"for (I {name} = {begin}; {name} {sign} {end}; {name} += {step})", *self._block(node.body)]

    def _while(self, node: ast.While) -> list[str]:
        return [f"while ({self.expression(node.test)[0]})", *self._block(node.body)]

    def _if(self, node: ast.If) -> list[str]:
        lines = [f"if ({self.expression(node.test)[0]})", *self._block(node.body)]
        return [*lines, "else", *self._block(node.orelse)] if node.orelse else lines

    def _break(self, node: ast.Break) -> list[str]:
        return ["break;"]

    def _continue(self, node: ast.Continue) -> list[str]:
        return ["continue;"]

    def _return(self, node: ast.Return) -> list[str]:
        results = [f"*{name}_result = {name};" for name in ("s", "t")]
        return [*results, *(f"free({name});" for name in self._freed)]

    # ---- expressions: their text and type

    def expression(self, node: ast.expr) -> tuple[str, str]:
        writer = getattr(self, f"_{type(node).__name__.lower()}")
        result: tuple[str, str] = writer(node)
        return result

    def _name(self, node: ast.Name) -> tuple[str, str]:
        return node.id, self.types[node.id].replace("T", self._element)

    def _constant(self, node: ast.Constant) -> tuple[str, str]:
        return (f"{node.value}LL", "I") if isinstance(node.value, int) else (repr(node.value), "double")

    def _subscript(self, node: ast.Subscript) -> tuple[str, str]:
        name, kind = self.expression(node.value)
        if isinstance(node.slice, ast.Tuple):
            row, column = (self.expression(index)[0] for index in node.slice.elts)
            return f"{name}[({row}) * m + ({column})]", kind[:-1]
        return f"{name}[{self.expression(node.slice)[0]}]", kind[:-1]

    def _unaryop(self, node: ast.UnaryOp) -> tuple[str, str]:
        text, kind = self.expression(node.operand)
        return f"(-{text})", kind

    def _binop(self, node: ast.BinOp) -> tuple[str, str]:
        (left, left_type), (right, right_type) = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.Div):
            return f"((double)({left}) / ({right}))", "double"
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)):
            return f"floor_{'mod' if isinstance(node.op, ast.Mod) else 'div'}({left}, {right})", "I"
        return f"({left} {_OPERATORS[type(node.op)]} {right})", _common_type(left_type, right_type)

    def _compare(self, node: ast.Compare) -> tuple[str, str]:
        left, right = self.expression(node.left)[0], self.expression(node.comparators[0])[0]
        return f"({left} {_OPERATORS[type(node.ops[0])]} {right})", "I"

    def _boolop(self, node: ast.BoolOp) -> tuple[str, str]:
        joint = " && " if isinstance(node.op, ast.And) else " || "
        return f"({joint.join(self.expression(value)[0] for value in node.values)})", "I"

    def _ifexp(self, node: ast.IfExp) -> tuple[str, str]:
        test, (body, body_type), (other, other_type) = (
            self.expression(node.test)[0], self.expression(node.body), self.expression(node.orelse),
        )  # fmt: skip
        return f"({test} ? {body} : {other})", _common_type(body_type, other_type)

    def _call(self, node: ast.Call) -> tuple[str, str]:
        name = ast.unparse(node.func).removeprefix("np.")
        parts = [self.expression(argument) for argument in node.args]
        kind = _common_type(*(kind for _, kind in parts))
        texts = ", ".join(text for text, _ in parts)
        if name == "abs":
            return f"{'fabs' if kind == 'double' else 'llabs'}({texts})", kind
        if name == "int":
            return f"((I)({texts}))", "I"
        if name in ("max", "min", "maximum"):
            return f"{name[:3]}_{kind}({texts})", kind
        return f"{name}({texts})", "double"


def _common_type(*kinds: str) -> str:
    return "double" if "double" in kinds else "I"


@dataclass
class CMeasurement:
    """The best time of a call in C, the results with the arguments after it, and the program as a Python function.

    The function takes the program's arguments, which may not be of other types or layouts, and returns its results.
    """

    seconds: float
    results: Any
    function: Callable[..., Any]


def measure_c(source: str, dtype: str, arguments: Sequence[Any], rounds: int) -> CMeasurement | None:
    """Measure a program in C; None if there is no C form of it.

    `arguments` are those of the program, its arrays contiguous in C's order.
    """
    clang = shutil.which("clang")
    x, y, A, places, bits, k = arguments
    arrays = [x, y, A]
    if clang is None or dtype not in DTYPES or not all(array.flags.c_contiguous for array in arrays):
        return None
    n, m = A.shape
    with tempfile.TemporaryDirectory() as folder:
        program, path = Path(folder, "program.c"), Path(folder, "program.so")
        program.write_text(Writer(dtype).text(source))
        flags = ["-O3", "-march=native", "-fwrapv", "-shared", "-fPIC", "-w"]
        subprocess.run([clang, *flags, "-o", path, program, "-lm"], check=True, capture_output=True)
        library = ctypes.CDLL(str(path))
    library.measure.restype = ctypes.c_double
    s, t = ctypes.c_double(), ctypes.c_longlong()
    copies = [array.copy() for array in arrays]
    results = [np.empty(n, x.dtype), np.empty((n, m)), np.empty(n, np.int64)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, *copies, places, bits)]
    sizes = [ctypes.c_longlong(number) for number in (rounds, n, m)]
    result_pointers = [ctypes.c_void_p(array.ctypes.data) for array in results]
    numbers = ctypes.c_longlong(k), ctypes.byref(s), ctypes.byref(t)
    seconds = library.measure(*sizes, *pointers, *numbers, *result_pointers)
    return CMeasurement(seconds, ((s.value, t.value, *results), copies), _python_function(library))


def _python_function(library: ctypes.CDLL) -> Callable[..., Any]:
    """Return the program as a function that converts its arguments and allocates its results, as users of C write."""
    integer, pointer = ctypes.c_longlong, ctypes.c_void_p
    library.program.restype = None
    library.program.argtypes = [integer, integer, *[pointer] * 5, integer, *[pointer] * 5]

    def program(x: Any, y: Any, A: Any, places: Any, bits: Any, k: int) -> Any:
        n, m = A.shape
        s, t = ctypes.c_double(), ctypes.c_longlong()
        out, B, counts = np.zeros_like(x), np.zeros((n, m)), np.zeros(n, np.int64)
        addresses = [array.ctypes.data for array in (x, y, A, places, bits)]
        result_addresses = [array.ctypes.data for array in (out, B, counts)]
        library.program(n, m, *addresses, k, ctypes.byref(s), ctypes.byref(t), *result_addresses)
        return s.value, t.value, out, B, counts

    return program
