"""The types of the public surface, as mypy finds them in programs, and the share of parameters without one."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests import layer_tables as tables

ROOT = Path(__file__).resolve().parents[1]

# Each line with a comment is a case: `# : TYPE` is what reveal_type shows, `# ! TEXT` a part of the error.
PROGRAM = """\
import autoconv
from autoconv.types.experimental import PolymorphicFunction

@autoconv.function
def bare(x: float, y: int = 1) -> str: return ""

@autoconv.compile
def compiled(x: list[int]) -> dict[str, int]: return {}

@autoconv.function(reduce_retracing=True)
def given(x: float, *, y: int) -> bytes: return b""

@autoconv.compile(donate=("x",))
def donating(x: float) -> complex: return 1j

class Model:
    @autoconv.compile
    def scored(self, a: int) -> str: return ""

    @autoconv.function(autograph=False)
    def stepped(self, a: int) -> bytes: return b""

    @staticmethod
    @autoconv.compile
    def static(a: int) -> complex: return 1j

    @property
    @autoconv.compile
    def size(self) -> int: return 1

def called(f: PolymorphicFunction[[int], str]) -> str: return f(1)

reveal_type(bare)                # : autoconv.tracing.api.function.Function[[x: float, y: int =], str]
reveal_type(given)               # : autoconv.tracing.api.function.Function[[x: float, *, y: int], bytes]
reveal_type(bare(1.0))           # : str
reveal_type(compiled([1]))       # : dict[str, int]
reveal_type(given(1.0, y=2))     # : bytes
reveal_type(donating(1.0))       # : complex
reveal_type(Model().scored)      # : autoconv.tracing.api.function.Function[[a: int], str]
reveal_type(Model().scored(1))   # : str
reveal_type(Model.scored(Model(), 1))  # : str
reveal_type(Model().stepped(1))  # : bytes
reveal_type(Model.static(1))     # : complex
reveal_type(Model().size)        # : int
reveal_type(bare.python_function(1.0))  # : str
reveal_type(bare.explain())      # : str
called(Model().scored)
bare("a")          # ! incompatible type "str"; expected "float"
given(1.0)         # ! Missing named argument "y"
compiled([1], 2)   # ! Too many arguments
Model().scored()   # ! Missing positional argument "a"
Model().scored("")  # ! incompatible type "str"; expected "int"
called(compiled)   # ! incompatible type "Function[[list[int]], dict[str, int]]"
bare.nosuch        # ! has no attribute "nosuch"
"""
# A name that each namespace has; others are errors.
NAMESPACES = {
    "autoconv": "constant", "autoconv.autodiff": "ForwardAccumulator", "autoconv.bitwise": "bitwise_and",
    "autoconv.data": "Dataset", "autoconv.linalg": "inv", "autoconv.math": "sin", "autoconv.nest": "flatten",
    "autoconv.nn": "relu", "autoconv.numpy": "ufuncs", "autoconv.random": "normal", "autoconv.signal": "fft",
    "autoconv.strings": "length", "autoconv.xp": "sin",
}  # fmt: skip

CONFIGURATION = """\
[mypy]
python_version = 3.11
mypy_path = {root}
cache_dir = {cache}
follow_imports = skip
[mypy-autoconv,autoconv._public,autoconv.tracing,autoconv.tracing.api.*,autoconv.types.*,{namespaces}]
follow_imports = silent
"""


def test_a_program_keeps_its_types(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is not installed: it is in the extra `lint`")
    lines = PROGRAM.splitlines()
    lines += [f"{space}.nosuch  # ! has no attribute" for space in NAMESPACES]
    lines += [f"{space}.{name}" for space, name in NAMESPACES.items()]
    program, configuration = tmp_path / "program.py", tmp_path / "mypy.ini"
    program.write_text("\n".join(lines) + "\n")
    namespaces = ",".join(NAMESPACES)
    configuration.write_text(CONFIGURATION.format(root=ROOT, cache=tmp_path / "cache", namespaces=namespaces))
    limit = sys.getrecursionlimit()
    reported, faults, _ = api.run(["--config-file", str(configuration), "--no-error-summary", str(program)])
    sys.setrecursionlimit(limit)  # a limit that mypy raises
    assert not faults
    found: dict[int, str] = {}
    for line in reported.splitlines():
        number, text = re.fullmatch(r".*?program\.py:(\d+): (.*)", line).groups()  # type: ignore[union-attr]
        if "defined in" not in text:
            found[int(number)] = found.get(int(number), "") + text
    for number, line in enumerate(lines, 1):
        _, _, revealed = line.partition("# : ")
        _, _, refused = line.partition("# ! ")
        text = found.pop(number, "")
        if revealed:
            assert f'"{revealed}"' in text, line
        elif refused:
            assert "error: " in text and refused in text, line
        else:
            assert not text, line
    assert not found


def test_stubs_list_the_real_names() -> None:
    stubs = list((ROOT / "autoconv").rglob("*.pyi"))
    assert stubs
    for stub in stubs:
        parts = stub.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(part for part in parts if part != "__init__"))
        names: set[str] = set()
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                names |= {alias.asname for alias in node.names if alias.asname}  # other names are not exported
                if node.names[0].name == "*":
                    names |= set(importlib.import_module(str(node.module)).__all__)
            elif isinstance(node, ast.AnnAssign):
                names.add(ast.unparse(node.target))
            elif isinstance(node, ast.FunctionDef):
                names.add(node.name)
        assert names
        assert all(hasattr(module, name) for name in names)
        assert names == set(getattr(module, "__all__", names))


# Parameters of each hundred that are annotated as Any, or not at all. Not to rise.
MOST_ANY = {
    "analysis": 17, "api": 16, "autodiff": 2, "autograph": 60, "backends": 8, "bench": 11, "clibrary": 7, "cluster": 25,
    "compat": 38,
    "config": 0, "data": 29, "distribute": 37, "emit": 15, "experimental": 0, "graph": 5, "io": 8,
    "linear_operators": 26, "numpy": 24, "operators": 18, "ops": 42,
    "onnx": 24, "optimise": 2, "passes": 54, "runtime": 15, "saved_model": 16,
    "stablehlo": 20, "storage": 0, "summary": 21, "syntax": 23, "tensorflow": 4, "tracing": 22,
    "train": 19, "types": 0, "upgrade": 0, "xp": 23,
}  # fmt: skip


def shares_of_any() -> dict[str, float]:
    untyped: Counter[str] = Counter()
    parameters: Counter[str] = Counter()
    for path in (ROOT / "autoconv").rglob("*.py"):
        package = path.relative_to(ROOT / "autoconv").parts[0]
        for node in tables.statements(tables.tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for parameter in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
                    if parameter.arg not in ("self", "cls"):
                        parameters[package] += 1
                        untyped[package] += parameter.annotation is None or _is_any(parameter.annotation)
    return {package: 100 * untyped[package] / parameters[package] for package in parameters}


def _is_any(annotation: ast.expr) -> bool:
    """Return whether the annotation is Any, or a union with it."""
    return "Any" in ast.unparse(annotation).partition("[")[0].split()


def test_the_share_of_any_does_not_rise() -> None:
    shares = shares_of_any()
    packages = {package: share for package, share in shares.items() if not package.endswith(".py")}
    assert packages.keys() == MOST_ANY.keys()
    above = {package: share for package, share in packages.items() if share > MOST_ANY[package]}
    assert not above
    loose = {package: share for package, share in packages.items() if share < MOST_ANY[package] - 3}
    assert not loose, "fewer than the table has: lower its numbers"
