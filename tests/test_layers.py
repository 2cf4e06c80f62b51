"""Imports between parts of the package, read from the source: the source tower, the graph tower, and the layers that
join them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests import layer_tables as tables


def test_layer():
    for path in tables.FILES:
        check_layer(path)


def check_layer(path: Path) -> None:
    part = tables.part_of(path)
    if part not in tables.MAY_IMPORT:
        return  # a public name: see test_nothing_inside_imports_the_public_names
    for module, _ in tables.imports(path):
        names = module.split(".")
        if names[0] == "autoconv":
            imported_part = names[1] if len(names) > 1 else "the package itself"
            is_allowed = imported_part in {part, tables.DATACLASSES, *tables.MAY_IMPORT[part]}
            assert is_allowed, f"{path}: {part} may not import {module}"
        elif names[0] not in sys.stdlib_module_names:
            assert names[0] in tables.THIRD_PARTY.get(part, set()), f"{path}: {part} may not import {module}"


def test_dataclasses_of_the_core_compile_their_methods_at_the_first_use():
    """Those of the standard library take a quarter of the time to import the package."""
    for path in tables.FILES:
        if tables.part_of(path) in tables.CORE - {tables.DATACLASSES}:
            assert "from dataclasses import dataclass" not in path.read_text("utf-8"), path


def test_nothing_inside_imports_the_public_names():
    """The core imports neither the public names nor the features that are built on them."""
    for path in tables.FILES:
        for module, _ in tables.imports(path) if tables.part_of(path) in tables.CORE else ():
            names = module.split(".")
            assert names[0] != "autoconv" or (len(names) > 1 and names[1] in tables.CORE), f"{path} imports {module}"


def test_the_source_tower_never_imports_numpy_and_the_graph_tower_never_gast():
    for path in tables.FILES:
        found = {module.partition(".")[0] for module, _ in tables.imports(path)}
        if tables.part_of(path) in tables.SOURCE:
            assert "numpy" not in found, path
        elif tables.part_of(path) != "importing":
            assert "gast" not in found, path


@pytest.mark.parametrize("path", sorted((tables.ROOT / "cli").rglob("*.py")), ids=lambda path: path.name)
def test_the_command_line_uses_the_upper_layers(path):
    """The command line converts without numpy: it takes the public names, conversion and the errors. The runtime
    presents the errors of a program that ran."""
    allowed = {
        "errors",
        "config",
        "cli",
        "emit",
        "passes",
        "importing",
        "code_cache",
        "backends",
        "onnx",
        "stablehlo",
        "bench",
        "upgrade",
        "_start",
        "runtime" if path.name == "tracebacks.py" else "tracing",
    }
    for module, _ in tables.imports(path):
        names = module.split(".")
        if names[0] == "autoconv" and len(names) > 1:
            assert names[1] in allowed, f"{path.name} imports {module}"


def test_imports_inside_functions():
    found = {
        (path.relative_to(tables.ROOT).as_posix(), module)
        for path in tables.FILES
        for module, inside in tables.imports(path)
        if inside and tables.part_of(path) in tables.CORE
    }
    harmless = tables.LAZY_LIBRARIES | sys.stdlib_module_names
    unexpected = {entry for entry in found if entry[1].partition(".")[0] not in harmless}
    assert unexpected - set(tables.LAZY_IMPORTS) == set(), "imports inside functions"
    assert set(tables.LAZY_IMPORTS) - unexpected == set(), "no longer needed in the table"


def test_only_syntax_parses_with_gast():
    for path in tables.FILES:
        if tables.part_of(path) == "syntax" or "gast" not in path.read_text(encoding="utf-8"):
            continue
        for node in ast.walk(tables.tree_of(path)):
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
    command = [sys.executable, "-c", program, str(tables.ROOT / "autoconv")]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the modules on import circles.

    Modules that import no other remaining module, or that none imports, are removed until none is left (Kahn).
    """
    remaining = {module: {target for target in targets if target != module} for module, targets in graph.items()}
    while True:
        ends = {module for module, targets in remaining.items() if not targets & remaining.keys()}
        imported = {target for targets in remaining.values() for target in targets}
        ends |= remaining.keys() - imported
        if not ends:
            return [sorted(remaining)] if remaining else []
        remaining = {module: targets for module, targets in remaining.items() if module not in ends}


def test_no_import_circles():
    """Imports inside of functions and for annotations count."""
    # The package itself gives its public names on first use, and nothing inside imports these.
    graph = {module: targets - {"autoconv"} for module, targets in tables.edges().items() if module != "autoconv"}
    assert circles(graph) == []


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}
    assert circles(graph) == [["b", "c"]]


@pytest.mark.parametrize("parent", tables.SUB_PACKAGES)
def test_sub_packages_in_order(parent):
    order, below = tables.SUB_PACKAGES[parent], tables.LOWEST_MODULES.get(parent, set())
    prefix = "autoconv." + parent.replace("/", ".") + "."
    folders = {path.name for path in (tables.ROOT / "autoconv" / parent).iterdir() if (path / "__init__.py").exists()}
    assert folders == set(order)

    def rank(module: str) -> int:
        first, _, _ = module.removeprefix(prefix).partition(".")
        if first in order:
            return order.index(first)
        return -1 if first in below else len(order)

    for module, targets in tables.edges().items():
        if module.startswith(prefix):
            for target in targets:
                if target.startswith(prefix):
                    assert rank(target) <= rank(module), f"{module} imports {target}"


def test_backends_are_used_through_their_protocol():
    for module, targets in tables.edges().items():
        if not module.startswith("autoconv.backends"):
            inner = {target for target in targets if target.startswith("autoconv.backends")}
            assert inner <= tables.BACKEND_INTERFACE, f"{module} imports {inner - tables.BACKEND_INTERFACE}"


# Modules whose names are public, or collect what other modules define.
NAMESPACES = {
    "experimental.py", "api/nn/layers.py", "api/scopes.py", "config/optimizer.py", "config/threading.py",
    "distribute/cluster_resolver.py", "distribute/coordinator.py", "io/gfile.py", "tensorflow/experimental/numpy.py",
    "tensorflow/test.py", "tracing/views/autograph.py",
}  # fmt: skip


def is_namespace(path: Path) -> bool:
    inner = path.relative_to(tables.ROOT / "autoconv")
    return path.name == "__init__.py" or len(inner.parts) == 1 or inner.parts[0] == "xp" or bool(
        {path.name, inner.as_posix()} & NAMESPACES
    )


def test_only_namespaces_list_their_names():
    """Elsewhere the underscore states which names are private, and a name is imported from where it is defined."""
    assert [str(path) for path in tables.FILES if not is_namespace(path) and lists_names(path)] == []


# Public functions that have the names of the files in which they are defined.
PUBLIC_FUNCTIONS = {"autoconv.clibrary.build", "autoconv.saved_model.load", "autoconv.saved_model.save"}


def test_modules_are_not_hidden_by_functions():
    """`import autoconv.a.b as b` is the module `b`: the package binds its name to nothing else."""
    hidden = set()
    for path in tables.FILES:
        if path.name == "__init__.py":
            package = ".".join(path.parent.relative_to(tables.ROOT).parts)
            inner = {sub.stem for sub in path.parent.iterdir()}
            imports = (node for node in tables.tree_of(path).body if isinstance(node, ast.ImportFrom))
            bound = {alias.asname or alias.name for node in imports if node.module != package for alias in node.names}
            hidden |= {f"{package}.{name}" for name in bound & inner}
    assert hidden == PUBLIC_FUNCTIONS


def lists_names(path: Path) -> bool:
    targets = [target for node in tables.tree_of(path).body if isinstance(node, ast.Assign) for target in node.targets]
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
