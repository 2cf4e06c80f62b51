"""Tables of the parts of the package and of their allowed imports, and helpers that read the package's source."""

import ast
import functools
import gc
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SOURCE = {"syntax", "analysis", "passes", "emit"}
GRAPH = {"graph", "ops", "autodiff", "optimise", "backends"}
BASE = {"errors", "config", "forks", "process_state", "hooks"}

# What each part may import from autoconv, beside itself and the decorator of dataclasses, which takes the place of a
# module of the standard library. What is imported for annotations only does not count.
DATACLASSES = "lazy_dataclass"
MAY_IMPORT = {
    DATACLASSES: set(),
    "errors": set(),
    "config": {"errors", "forks", "hooks"},
    "_start": set(),
    "forks": {"_start"},
    "hooks": set(),
    "process_state": {"forks"},
    # the source tower, from Python to Python
    "syntax": {"errors", "process_state"},
    "analysis": {"errors", "syntax"},
    "passes": {"errors", "syntax", "analysis"},
    "emit": BASE | {"syntax", "analysis", "passes", "code_cache"},
    "importing": BASE | {"emit"},
    # the graph tower, from graphs to results
    "graph": {"errors", "hooks"},
    "ops": {"errors", "forks", "process_state", "graph"},
    "autodiff": {"errors", "forks", "graph", "ops"},
    "optimise": {"errors", "graph", "ops"},
    "code_cache": {"config"},
    "helper_process": {"config", "forks", "code_cache"},
    "backends": BASE | {"graph", "ops", "code_cache", "helper_process"},
    # the layer that joins the towers
    "runtime": BASE | {"graph", "ops", "autodiff"},
    "operators": BASE | {"runtime", "graph", "ops", "emit"},
    "tracing": BASE | SOURCE | GRAPH | {"runtime", "operators"},
    "api": BASE | {"graph", "ops", "autodiff", "runtime", "operators", "tracing"},
    # features for users, outside of the core
    "bench": {"errors"},
    "numpy": BASE | {"graph", "ops", "runtime"},
    "xp": {"graph", "numpy", "runtime"},
    "data": BASE | {"graph", "ops", "optimise", "backends", "runtime", "operators", "storage", "tracing", "api"},
    "storage": {"errors", "graph"},
    "clibrary": {"errors", "graph", "numpy", "optimise", "backends", "runtime", "operators", "storage", "tracing"},
    "onnx": BASE | {"graph", "backends", "numpy", "runtime", "storage", "tracing"},
    "stablehlo": {"backends", "graph", "numpy", "tracing"},
    "train": {"errors", "forks", "graph", "runtime", "storage", "api"},
    "saved_model": {"errors", "graph", "ops", "runtime", "operators", "storage", "tracing", "api", "train"},
}
FEATURES = {"api", "bench", "clibrary", "data", "numpy", "onnx", "saved_model", "stablehlo", "storage", "train", "xp"}
INNER = set(MAY_IMPORT) - {"importing"}
CORE = INNER - FEATURES

THIRD_PARTY = {
    "syntax": {"gast"}, "analysis": {"gast"}, "passes": {"gast"}, "emit": {"gast", "astunparse"},
    "graph": {"numpy", "ml_dtypes", "tensorboard"}, "ops": {"numpy"}, "autodiff": {"numpy"}, "optimise": {"numpy"},
    "backends": {"numpy", "llvmlite"}, "runtime": {"numpy"}, "operators": {"numpy"},
    "storage": {"numpy", "safetensors"}, "train": {"numpy", "google"}, "saved_model": {"numpy"}, "onnx": {"numpy"},
    "stablehlo": set(), "clibrary": {"numpy"},
    "tracing": {"numpy"}, "api": {"numpy"}, "data": {"numpy"}, "numpy": {"numpy"}, "xp": {"numpy"},
    "bench": {"numpy", "rich"},
    "config": {"platformdirs"}, "helper_process": {"llvmlite"},
}  # fmt: skip

# The sub-packages of a part, in order: each may import those before it. Modules beside them may import all of them,
# but for those in `LOWEST_MODULES`, which stand below the sub-packages.
SUB_PACKAGES = {
    "backends/llvm": (
        "target", "ir", "jit", "runtime", "analysis", "legalize", "schedule", "codegen", "entry",
        "library",
    ),
    "operators": ("support", "inference", "regions", "control", "values", "numpy", "calls"),
    "tracing": ("key", "views", "guards", "outputs", "execute", "specialise", "api"),
    "runtime": ("support", "recording", "tensors", "objects", "arrays"),
    "ops": (
        "values", "elements", "elementwise", "text", "control", "lists", "movement", "reduction", "random", "python",
        "numpy", "linalg", "analysis",
    ),
    "api": (
        "tensors", "control", "gradients", "matrices", "nn", "random", "sparse", "ragged", "lookup", "boxes", "signals",
    ),
    "optimise": ("symbolic", "unboxing"),
}  # fmt: skip
LOWEST_MODULES = {
    "runtime": {"annotations", "protocols"},
    "ops": {"record", "rule_table", "rules", "gradients", "index_spec", "builder", "traits", "program_errors"},
    "optimise": {
        "common", "dead", "fold", "hoist", "inline", "memory_to_value", "overflow", "promote_arrays", "simplify",
    },
}  # fmt: skip

# Libraries that are imported inside functions because they are heavy and only some need them.
LAZY_LIBRARIES = {"ml_dtypes", "platformdirs", "rich", "pygments", "llvmlite", "tensorboard", "safetensors", "google"}

# Imports inside functions that break a cycle, with the reason. This table only gets shorter: an entry that is
# not needed any more fails the test.
LAZY_IMPORTS = {
    ("autoconv/emit/converted.py", "autoconv.emit.function"): "lazy: brings gast",
    ("autoconv/emit/converted.py", "autoconv.emit.unparse"): "lazy: brings astunparse",
    ("autoconv/tracing/views/logs.py", "autoconv.passes"): "lazy: brings gast",
}

# What other parts of the package may import of the backends; the modules of a backend are its own.
BACKEND_INTERFACE = {
    f"autoconv.backends{name}" for name in (
        "", ".protocol", ".call_form", ".interpreter", ".library_form",
        ".portable", ".stablehlo", ".onnx", ".onnx.model",
    )
}  # fmt: skip


# ---- the source

FILES = sorted((ROOT / "autoconv").rglob("*.py"))


def part_of(path: Path) -> str:
    """Return the part that a file belongs to: its folder under autoconv, or its own name."""
    return path.relative_to(ROOT / "autoconv").parts[0].removesuffix(".py")


def tree_of(path: Path) -> ast.Module:
    return _trees()[path]


@functools.cache
def _trees() -> dict[Path, ast.Module]:
    """Parse all source files, and exclude the trees, millions of objects, from garbage collections."""
    gc.disable()
    try:
        return {path: ast.parse(path.read_text(encoding="utf-8")) for path in (*FILES, *(ROOT / "cli").rglob("*.py"))}
    finally:
        gc.freeze()
        gc.enable()


@functools.cache
def imports(path: Path) -> tuple[tuple[str, bool], ...]:
    return tuple(_imports(path))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a tree that are no expressions."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


def _imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield (module, whether it is imported inside a function) for imports that run, not those for annotations."""
    pending: list[tuple[ast.AST, bool]] = [(tree_of(path), False)]
    while pending:
        node, inside = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                continue  # within its own folder
            module = node.module or ""
            known = _is_package(module)
            yield from ((f"{module}.{alias.name}" if known else module, inside) for alias in node.names)
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        pending.extend((child, inside) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr))


@functools.cache
def _is_package(module: str) -> bool:
    return (ROOT / module.replace(".", "/")).is_dir()


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def edges() -> dict[str, set[str]]:
    """Return the modules that each module imports, with imports inside functions and for annotations."""
    known = {module_of(path) for path in FILES}
    found: dict[str, set[str]] = {}
    for path in FILES:
        targets = found.setdefault(module_of(path), set())
        for node in statements(tree_of(path)):
            if isinstance(node, ast.Import):
                targets.update(alias.name for alias in node.names if alias.name in known)
            elif isinstance(node, ast.ImportFrom) and node.module in known:
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                targets.update(inner & known or {node.module})
    return found
