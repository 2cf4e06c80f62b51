"""Who may import whom, read from the source: the source tower, the graph tower, and the storeys where they
meet."""

import ast
import functools
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autoconv.ops import OPS

ROOT = Path(__file__).resolve().parents[1]

SOURCE = {"syntax", "analysis", "passes", "emit"}
GRAPH = {"graph", "ops", "autodiff", "optimise", "backends"}
BASE = {"errors", "config", "forks", "process_state", "hooks", "paths"}

# What each part may import from autoconv, itself aside; what is imported for annotations only does not count.
MAY_IMPORT = {
    "errors": set(),
    "config": {"errors"},
    "forks": set(),
    "hooks": set(),
    "paths": set(),
    "process_state": {"forks"},
    # Python in, Python out
    "syntax": {"errors", "process_state"},
    "analysis": {"errors", "syntax"},
    "passes": {"errors", "syntax", "analysis"},
    "emit": BASE | {"syntax", "analysis", "passes", "code_cache"},
    "conversion_cache": BASE | {"emit"},
    "importing": BASE | {"emit", "conversion_cache"},
    # graphs in, results out
    "graph": {"errors", "hooks"},
    "ops": {"errors", "forks", "graph"},
    "autodiff": {"errors", "forks", "graph", "ops"},
    "optimise": {"errors", "graph", "ops"},
    "code_cache": {"config"},
    "backends": BASE | {"graph", "ops", "code_cache"},
    # where they meet
    "runtime": BASE | {"graph", "ops", "autodiff"},
    "operators": BASE | {"runtime", "graph", "ops", "emit"},
    "tracing": BASE | SOURCE | GRAPH | {"runtime", "operators"},
    "api": BASE | {"graph", "ops", "autodiff", "runtime", "operators", "tracing"},
    # what users see beyond the core
    "bench": {"errors"},
    "numpy": BASE | {"graph", "ops", "runtime"},
    "xp": {"graph", "numpy", "runtime"},
    "data": BASE | {"graph", "ops", "optimise", "backends", "runtime", "operators", "storage", "tracing"},
    "storage": {"errors", "graph"},
    "train": {"errors", "graph", "runtime", "storage", "api"},
    "saved_model": {"errors", "graph", "ops", "runtime", "operators", "storage", "tracing", "api", "train"},
}
BEYOND = {"api", "bench", "data", "numpy", "saved_model", "storage", "train", "xp"}
INNER = set(MAY_IMPORT) - {"importing", "conversion_cache"}
CORE = INNER - BEYOND

THIRD_PARTY = {
    "syntax": {"gast"}, "analysis": {"gast"}, "passes": {"gast"}, "emit": {"gast", "astunparse"},
    "graph": {"numpy", "ml_dtypes", "tensorboard"}, "ops": {"numpy"}, "autodiff": {"numpy"}, "optimise": {"numpy"},
    "backends": {"numpy", "llvmlite"}, "runtime": {"numpy"}, "operators": {"numpy"},
    "storage": {"numpy", "safetensors"}, "train": {"numpy", "google"}, "saved_model": {"numpy"},
    "tracing": {"numpy"}, "api": {"numpy"}, "data": {"numpy"}, "numpy": {"numpy"}, "xp": {"numpy"},
    "bench": {"numpy", "rich"},
    "config": {"platformdirs"},
}  # fmt: skip

# The sub-packages of a part, in order: each may import those before it. Modules beside them may import all of them,
# but for those in `BELOW`, which stand below the sub-packages.
WITHIN = {
    "backends/llvm": (
        "target", "ir", "jit", "runtime", "analysis", "legalize", "schedule", "codegen", "entry",
    ),
    "operators": ("support", "inference", "regions", "control", "values", "numpy", "calls"),
    "tracing": ("key", "views", "guards", "outputs", "execute", "specialise", "api"),
    "runtime": ("support", "recording", "tensors", "objects", "arrays"),
    "ops": (
        "values", "elements", "elementwise", "text", "control", "lists", "movement", "reduction", "random", "python",
        "numpy", "linalg", "analysis",
    ),
    "api": ("tensors", "control", "gradients", "nn", "random"),
    "optimise": ("symbolic", "unboxing"),
}  # fmt: skip
BELOW = {
    "runtime": {"annotations", "protocols"},
    "ops": {"record", "rules", "gradients", "index_spec", "builder", "traits"},
    "optimise": {
        "common", "dead", "fold", "hoist", "inline", "list_elements", "memory_to_value", "overflow", "promote_arrays",
        "simplify",
    },
}  # fmt: skip
MOST_MODULES = 25  # of a package
MOST_LINES = 500  # of a file: to fall to 400

# Libraries that are imported inside functions because they are heavy and only some need them.
LAZY_LIBRARIES = {"ml_dtypes", "platformdirs", "rich", "pygments", "llvmlite", "tensorboard", "safetensors", "google"}

# Imports inside functions that break a cycle, with the reason. This table only gets shorter: an entry that is
# not needed any more fails the test.
TOLERATED = {
    ("autoconv/emit/converted.py", "autoconv.emit.function"): "lazy: brings gast",
    ("autoconv/emit/converted.py", "autoconv.emit.shown"): "lazy: brings gast and astunparse",
    ("autoconv/tracing/views/logs.py", "autoconv.passes"): "lazy: brings gast",
}


def part_of(path: Path) -> str:
    """The part a file belongs to: its folder under autoconv, or its own name."""
    return path.relative_to(ROOT / "autoconv").parts[0].removesuffix(".py")


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """(module, whether it is imported inside a function) for what is imported when the program runs."""
    waiting: list[tuple[ast.AST, bool]] = [(tree_of(path), False)]
    while waiting:
        node, inside = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                continue  # within its own folder
            module = node.module or ""
            known = (ROOT / module.replace(".", "/")).is_dir()
            yield from ((f"{module}.{alias.name}" if known else module, inside) for alias in node.names)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        waiting.extend((child, inside) for child in ast.iter_child_nodes(node))


FILES = sorted((ROOT / "autoconv").rglob("*.py"))


def test_layer():
    for path in FILES:
        check_layer(path)


def check_layer(path: Path) -> None:
    part = part_of(path)
    if part not in MAY_IMPORT:
        return  # a public name of its own: see test_nothing_inside_imports_the_public_names
    for module, _ in imports(path):
        names = module.split(".")
        if names[0] == "autoconv":
            wanted = names[1] if len(names) > 1 else "the package itself"
            assert wanted == part or wanted in MAY_IMPORT[part], f"{path}: {part} may not import {module}"
        elif names[0] not in sys.stdlib_module_names:
            assert names[0] in THIRD_PARTY.get(part, set()), f"{path}: {part} may not import {module}"


def test_nothing_inside_imports_the_public_names():
    """The core imports neither the public names nor the features that are built on them."""
    for path in FILES:
        for module, _ in imports(path) if part_of(path) in CORE else ():
            names = module.split(".")
            assert names[0] != "autoconv" or (len(names) > 1 and names[1] in CORE), f"{path} imports {module}"


def test_the_source_tower_never_imports_numpy_and_the_graph_tower_never_gast():
    for path in FILES:
        found = {module.partition(".")[0] for module, _ in imports(path)}
        if part_of(path) in SOURCE:
            assert "numpy" not in found, path
        elif part_of(path) != "importing":
            assert "gast" not in found, path


@pytest.mark.parametrize("path", sorted((ROOT / "cli").rglob("*.py")), ids=lambda path: path.name)
def test_the_command_line_uses_what_stands_above(path):
    """The command line converts without numpy: it takes the public names, conversion and the errors. The runtime
    presents the errors of a program that ran."""
    allowed = {
        "errors",
        "config",
        "cli",
        "emit",
        "passes",
        "importing",
        "conversion_cache",
        "code_cache",
        "backends",
        "bench",
        "_start",
        "runtime" if path.name == "tracebacks.py" else "tracing",
    }
    for module, _ in imports(path):
        names = module.split(".")
        if names[0] == "autoconv" and len(names) > 1:
            assert names[1] in allowed, f"{path.name} imports {module}"


def test_imports_inside_functions():
    found = {
        (path.relative_to(ROOT).as_posix(), module)
        for path in FILES
        for module, inside in imports(path)
        if inside and part_of(path) in CORE
    }
    harmless = LAZY_LIBRARIES | sys.stdlib_module_names
    dodging = {entry for entry in found if entry[1].partition(".")[0] not in harmless}
    assert dodging - set(TOLERATED) == set(), "imports inside functions"
    assert set(TOLERATED) - dodging == set(), "no longer needed in the table"


def test_only_syntax_parses_with_gast():
    for path in FILES:
        if part_of(path) == "syntax":
            continue
        for node in ast.walk(tree_of(path)):
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "gast"
            ):
                assert node.attr not in ("parse", "ast_to_gast", "gast_to_ast"), f"{path}: gast.{node.attr}"


def test_conversion_runs_without_numpy():
    """The package itself brings numpy; its source tower does not, and neither does what it is built on."""
    program = """
import sys, types
sys.modules["numpy"] = None
package = types.ModuleType("autoconv")
package.__path__ = [sys.argv[1]]
sys.modules["autoconv"] = package
from autoconv.emit.module import convert_source
assert "ag__.and_" in convert_source("def f(a, b): return a and b", "example.py").text
"""
    command = [sys.executable, "-c", program, str(ROOT / "autoconv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def edges() -> dict[str, set[str]]:
    """The modules that each module imports, imports inside functions and for annotations included."""
    known = {module_of(path) for path in FILES}
    found: dict[str, set[str]] = {}
    for path in FILES:
        targets = found.setdefault(module_of(path), set())
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names if alias.name in known)
            elif isinstance(node, ast.ImportFrom) and node.module in known:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets.update(inner & known or {node.module})
    return found


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of several modules, by removing what imports nothing that is left (Kahn), and
    what nothing that is left imports."""
    left = {module: {target for target in targets if target != module} for module, targets in graph.items()}
    while True:
        ends = {module for module, targets in left.items() if not targets & left.keys()}
        imported = {target for targets in left.values() for target in targets}
        ends |= left.keys() - imported
        if not ends:
            return [sorted(left)] if left else []
        left = {module: targets for module, targets in left.items() if module not in ends}


def test_no_import_circles():
    # The package itself gives its public names on first use, and nothing inside imports these.
    graph = {module: targets - {"autoconv"} for module, targets in edges().items() if module != "autoconv"}
    lazy = {(*file.removesuffix(".py").split("/"), target) for file, target in TOLERATED}
    for *parts, target in lazy:
        graph[".".join(parts)].discard(target)
    assert circles(graph) == []


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert circles(graph) == [["b", "c"]]


@pytest.mark.parametrize("parent", WITHIN)
def test_sub_packages_in_order(parent):
    order, below = WITHIN[parent], BELOW.get(parent, set())
    prefix = "autoconv." + parent.replace("/", ".") + "."
    folders = {path.name for path in (ROOT / "autoconv" / parent).iterdir() if (path / "__init__.py").exists()}
    assert folders == set(order)

    def rank(module: str) -> int:
        first, _, _ = module.removeprefix(prefix).partition(".")
        if first in order:
            return order.index(first)
        return -1 if first in below else len(order)

    for module, targets in edges().items():
        if module.startswith(prefix):
            for target in targets:
                if target.startswith(prefix):
                    assert rank(target) <= rank(module), f"{module} imports {target}"


# What other parts of the package may import of the backends; the modules of a backend are its own.
OF_BACKENDS = {f"autoconv.backends{name}" for name in ("", ".protocol", ".call_form", ".interpreter")}


def test_backends_are_used_through_their_protocol():
    for module, targets in edges().items():
        if not module.startswith("autoconv.backends"):
            inner = {target for target in targets if target.startswith("autoconv.backends")}
            assert inner <= OF_BACKENDS, f"{module} imports {inner - OF_BACKENDS}"


def test_packages_are_small():
    for folder in {path.parent for path in FILES}:
        modules = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(modules) <= MOST_MODULES, folder


def test_files_are_short():
    for path in FILES:
        lines = path.read_text(encoding="utf-8").count("\n")
        assert lines <= (560 if path.name == "references.py" else MOST_LINES), path


# Modules whose names are public: they collect what other modules define.
NAMESPACES = {"experimental.py", "api/nn/layers.py", "api/scopes.py", "tracing/views/autograph.py"}


def is_namespace(path: Path) -> bool:
    inner = path.relative_to(ROOT / "autoconv")
    return path.name == "__init__.py" or len(inner.parts) == 1 or inner.parts[0] == "xp" or bool(
        {path.name, inner.as_posix()} & NAMESPACES
    )


def test_all_names_are_defined_here():
    """`__all__` lists what a module defines: what it only imports is imported from where it is defined."""
    for path in FILES:
        if not is_namespace(path):
            assert not listed_imports(path), path


def listed_imports(path: Path) -> set[str]:
    listed: set[str] = set()
    imported: set[str] = set()
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            listed = set(ast.literal_eval(node.value)) if isinstance(node.value, ast.List | ast.Tuple) else set()
        elif isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {alias.asname or alias.name for alias in node.names}
    return listed & imported


# Figures that only fall: who lowers one lowers it here.
BUDGETS = {
    "files over 400 lines": 20,
    "functions over 60 lines": 5,
    "functions of a complexity over 25": 29,
    "functions of more than 8 parameters": 12,
    "lines of LLVM text outside of ir": 192,
    "types of LLVM in text outside of ir": 524,
    "tables by op outside of rules": 42,
}
_BRANCHES = (
    ast.If, ast.For, ast.While, ast.IfExp, ast.ExceptHandler, ast.With, ast.Assert, ast.comprehension, ast.match_case,
)  # fmt: skip


# Packages whose tables by op are rules, which are code; elsewhere a fact about an op is a trait of its record.
_OF_RULES = ("ops", "autodiff", "optimise/symbolic", "optimise/unboxing", "backends/llvm/legalize")
_OF_USERS = ("api", "numpy", "xp")  # names of functions
# Packages whose functions have the signatures of TensorFlow's or NumPy's.
_SIGNATURES_OF_PEERS = (*_OF_USERS, "data", "io", "summary", "train")


def tables_of_ops(path: Path) -> list[str]:
    """The names of collections in a module that are mostly names of ops."""
    inner = path.relative_to(ROOT / "autoconv").as_posix()
    if "/" not in inner or inner.startswith((*_OF_RULES, *_OF_USERS)):
        return []
    found = []
    for node in tree_of(path).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            constants = [inner.value for inner in ast.walk(node.value) if isinstance(inner, ast.Constant)]
            literals = [constant for constant in constants if isinstance(constant, str)]
            names = [literal for literal in literals if literal in OPS]
            if target != "__all__" and "[" not in target and len(set(names)) > 1 and 2 * len(names) > len(literals):
                found.append(target)
    return found


def complexity(function: ast.AST) -> int:
    """McCabe's: one, and one more for each branch and each operand of `and` and `or` behind the first."""
    nodes = list(ast.walk(function))
    operands = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    return 1 + operands + sum(isinstance(node, _BRANCHES) for node in nodes)


def test_budgets():
    found = dict.fromkeys(BUDGETS, 0)
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        found["files over 400 lines"] += text.count("\n") > 400
        found["tables by op outside of rules"] += len(tables_of_ops(path))
        inner = path.relative_to(ROOT / "autoconv").parts
        if inner[:2] == ("backends", "llvm") and inner[2] != "ir":
            found["lines of LLVM text outside of ir"] += len(re.findall(r"\b(?:new|line)\(\s*f?[\"']", text))
            found["types of LLVM in text outside of ir"] += len(re.findall(r"\b(?:i\d+|ptr|double|float) [%{]", text))
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = node.args
                count = len(arguments.args) + len(arguments.kwonlyargs) + len(arguments.posonlyargs)
                found["functions over 60 lines"] += (node.end_lineno or 0) - node.lineno >= 60
                found["functions of a complexity over 25"] += complexity(node) > 25
                found["functions of more than 8 parameters"] += count > 8 and part_of(path) not in _SIGNATURES_OF_PEERS
    assert {name: count for name, count in found.items() if count > BUDGETS[name]} == {}


def test_attributes_of_protocols():
    """An attribute by which parts of the package recognise objects is declared once, with what it means."""
    used: dict[str, Path] = {}
    for path in FILES:
        if path.name != "protocols.py":
            used |= dict.fromkeys(re.findall(r"__autoconv_[a-z_]+__", path.read_text(encoding="utf-8")), path)
    declared = {
        name
        for node in ast.walk(tree_of(ROOT / "autoconv" / "runtime" / "protocols.py"))
        for name in (getattr(node, "name", None), getattr(getattr(node, "target", None), "id", None))
        if name is not None and name.startswith("__autoconv_")
    }
    assert {name: path for name, path in used.items() if name not in declared} == {}, "not in runtime/protocols.py"
    assert declared - used.keys() == set(), "of no use"


# Files that go into loops and conditionals by themselves, where `graph/region_flow.py` would serve: they read the
# state of a loop's node, or compare an op's name with one of `CONTROL`. The list only gets shorter.
CONTROL = {"cond", "while", "call", "try"}
READS_CONTROL = {
    "autodiff/checkpoints.py",
    "autodiff/dependence.py",
    "autodiff/loops.py",
    "autodiff/memory.py",
    "backends/heap_stack.py",
    "backends/interpreter.py",
    "backends/llvm/analysis/classify.py",
    "backends/llvm/analysis/induction.py",
    "backends/llvm/analysis/list_stacks.py",
    "backends/llvm/analysis/ownership.py",
    "backends/llvm/codegen/control/interchanged_loop.py",
    "backends/llvm/codegen/control/structured.py",
    "backends/llvm/legalize/complex/split.py",
    "backends/llvm/legalize/interchange_loops.py",
    "backends/llvm/legalize/promote_handler_cells.py",
    "backends/llvm/legalize/rotate_loops.py",
    "graph/graph.py",
    "graph/graphdef.py",
    "graph/region_flow.py",
    "optimise/dead.py",
    "optimise/fold.py",
    "optimise/hoist.py",
    "optimise/inline.py",
    "optimise/memory_to_value.py",
    "optimise/overflow.py",
    "optimise/promote_arrays.py",
    "optimise/specialise.py",
    "optimise/unboxing/irreversible.py",
    "optimise/unboxing/writer.py",
    "tracing/guards/captured_arrays.py",
    "tracing/outputs/aliases.py",
    "tracing/specialise/tiers.py",
    "tracing/specialise/value_specialisation.py",
}


def reads_control(path: Path) -> bool:
    if 'attributes["state"]' in path.read_text(encoding="utf-8"):
        return True
    compared = (
        node
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith("op.name")
    )
    constants = (part for node in compared for other in node.comparators for part in ast.walk(other))
    return any(isinstance(part, ast.Constant) and part.value in CONTROL for part in constants)


def test_files_that_read_control():
    found = {path.relative_to(ROOT / "autoconv").as_posix() for path in FILES if reads_control(path)}
    assert found - READS_CONTROL == set(), "use graph/region_flow.py"
    assert READS_CONTROL - found == set(), "no longer needed in the list"
