"""Every place that raises an error has a program in fixtures/errors that shows its text.

A place is a call of one of the classes below, or a `raise` in the parts that meet the user's code. Its message, with
wildcards for inserted values, has to be in one of the texts."""

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXTS = "\n".join(path.read_text() for path in sorted((ROOT / "fixtures" / "errors").glob("*.txt")))

REFUSALS = {
    "AutoconvError", "ConversionError", "InaccessibleTensorError", "OperatorNotAllowedInGraphError", "RunPlain",
    "NotInGraphError", "SourceError", "StagingError", "TargetError", "UnsupportedError",
}  # fmt: skip
EVERY_RAISE_IN = ("autoconv/emit", "autoconv/operators", "autoconv/tracing")

PASSED_ON = "passes on a text that is made elsewhere"
CANNOT = "states what holds if there is no bug here"
ONLY_COMPILE = "met under `compile` alone, where the call runs as plain Python"

NUMPYS_WORDS = "NumPy's own words: tests/numpy/test_callbacks.py"

DRAWS = "depends on whether matplotlib is installed; tests/bench and tests/cli/test_bench.py show it"

# (file, start of the message): the reason why no program shows it.
BY_OBJECT = "the call runs as Python objects, or as plain Python, and explain() says so"
OF_ONNX = "depends on the packages that are installed; tests/backends/test_onnx.py shows it"
OF_DRAWS = "met where a graph leaves the process; tests/tracing/test_exported_generators.py shows it"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("autoconv/operators/values/random_methods.py", "Cannot choose from an empty sequence"):
        "Python's own words: tests/tracing/test_python_random.py",
    ("autoconv/operators/values/random_methods.py", "…"): "Python's own words: tests/tracing/test_python_random.py",
    ("autoconv/clibrary/build.py", "…"): "LLVM's words: tests/clibrary/test_build.py",
    ("autoconv/backends/onnx/model.py", "the package … is not installed"): OF_ONNX,
    ("autoconv/onnx/loading.py", "the package onnxruntime is not installed"): OF_ONNX,
    ("autoconv/onnx/loading.py", "ONNX Runtime refuses the model: …"): OF_ONNX,
    ("autoconv/onnx/loading.py", "the model … cannot be read: …"): OF_ONNX,
    ("autoconv/tracing/api/exported_generators.py", "a generator with the bits of …, not …, has no form"): OF_DRAWS,
    (
        "autoconv/tracing/api/exported_generators.py",
        "a generator that keeps a normal number has no form outside o",
    ): OF_DRAWS,
    ("cli/show_graph.py", "…"): "the command's: tests/cli/test_show_graph.py",
    ("cli/tracebacks.py", "…: …"): "the command's: tests/cli/test_show_graph.py",
    ("autoconv/autodiff/cotangents.py", "the gradient of … used more than once cannot be added up"): CANNOT,
    ("autoconv/emit/function.py", "no code for …"): CANNOT,
    (
        "autoconv/emit/function.py", "this generator function cannot pass its values to a consumer"
    ): "Python iterates over it instead",
    (
        "autoconv/emit/converted.py", "the file of this loop was changed after it was imported"
    ): "the loop runs as plain Python, and explain() says so",
    ("autoconv/operators/regions/marshalling.py", "… is not an arm of …"): ONLY_COMPILE,
    (
        "autoconv/operators/regions/marshalling.py",
        "which … a name refers to depends on a tensor, and another na",
    ): ONLY_COMPILE,
    (
        "autoconv/operators/regions/layout_join.py",
        "… has no common type on two paths: …",
    ): "two TensorArrays that a tensor chooses between become a variant first",
    ("autoconv/operators/numpy/arrays.py", "…"): PASSED_ON,
    ("autoconv/tracing/api/declared_arguments.py", "…"): PASSED_ON,
    ("autoconv/operators/numpy/callbacks.py", "…"): ONLY_COMPILE,
    ("autoconv/operators/values/library_functions.py", "…"): ONLY_COMPILE,
    (
        "autoconv/operators/numpy/callbacks.py", "Cannot apply_along_axis when any iteration dimensions are 0"
    ): NUMPYS_WORDS,
    (
        "autoconv/operators/numpy/callbacks.py", "cannot call `vectorize` on size 0 inputs unless `otypes` is "
    ): NUMPYS_WORDS,
    (
        "autoconv/operators/numpy/callbacks.py", "with … condition(s), either … or … functions are expected"
    ): NUMPYS_WORDS,
    ("autoconv/operators/values/numbers.py", "math.dist is given an array of unknown length"): ONLY_COMPILE,
    ("autoconv/operators/values/ordering.py", "…"): ONLY_COMPILE,
    ("autoconv/runtime/tensors/binary_dispatch.py", "an index is out of range"): ONLY_COMPILE,
    ("autoconv/ops/record.py", "… has no rule for …"): CANNOT,
    ("autoconv/operators/support/held_iterators.py", "…"): "no attribute of an iterator's: Python's own words",
    (
        "autoconv/runtime/support/attributes.py",
        "the __dict__ of an object is used that is in a list, dict or",
    ): ONLY_COMPILE,
    (
        "autoconv/runtime/objects/refused_values.py",
        "… of values known only at run time becomes part of a list, d",
    ): ONLY_COMPILE,
    (
        "autoconv/runtime/objects/symbolic_objects.py",
        "an array of constants is stored on several paths",
    ): ONLY_COMPILE,
    ("autoconv/runtime/objects/rebuilt_arguments.py", "… …"): ONLY_COMPILE,
    ("autoconv/runtime/objects/refused_values.py", "an object becomes part of a loop that replaces a range"):
        "the loop is unrolled instead: tests/tracing/test_unroll_budget.py",
    ("autoconv/operators/values/instances.py", "…"): "no error: has a region recorded again",
    ("autoconv/operators/values/not_implemented.py", "…"): "Python's own words",
    ("autoconv/tracing/api/active_traces.py", "…"): "no error: has a call recorded inline",
    ("autoconv/operators/support/generator_expressions.py", "…"): "no attribute of a generator's: Python's own words",
    ("autoconv/operators/support/protected_names.py", "…"): PASSED_ON,
    ("autoconv/operators/control/conditionals.py", "…"): PASSED_ON,
    (
        "autoconv/operators/control/try_rounds.py",
        "the types of the lists that this try statement changes do no",
    ): CANNOT,
    (
        "autoconv/operators/regions/container_promotion.py",
        "… is changed, and which object that is depends on a tensor",
    ): ONLY_COMPILE,
    (
        "autoconv/operators/regions/loop_aliases.py",
        "a loop rebinds …, and another name refers to a list in its v",
    ): CANNOT,
    (
        "autoconv/operators/control/recursive_graphs.py",
        "…",
    ): "no error: leaves what is recorded of a function that calls itself",
    ("autoconv/operators/control/staging.py", "…"): "no error: leaves an arm of a function that calls itself",
    (
        "autoconv/operators/control/try_join.py",
        "…",
    ): "no error: leaves what all ways through a try do not come to the end of",
    ("autoconv/operators/control/try_rounds.py", "…"): "no error: enters the except clauses while tracing",
    (
        "autoconv/operators/calls/match_patterns.py",
        "…",
    ): "Python's own words: tests/tracing/test_match_patterns.py",
    (
        "autoconv/operators/regions/shared_identity.py",
        "the attribute … of … is changed, and which one that is depen",
    ): ONLY_COMPILE,
    ("autoconv/operators/control/variants.py", "…"): PASSED_ON,
    ("autoconv/ops/python/objects.py", "which … is called is known only at run time, and a graph can"): ONLY_COMPILE,
    ("autoconv/ops/python/objects.py", "the … whose method … is called is known only at run time, an"): ONLY_COMPILE,
    (
        "autoconv/operators/control/loop_recording.py",
        "the test of a loop changes an object, and which one depends ",
    ): ONLY_COMPILE,
    (
        "autoconv/tracing/guards/trace_restrictions.py",
        "… is returned that has another name too",
    ): "what has two names is one object of the graph before it comes to this",
    ("autoconv/passes/base.py", "…"): "no pass refuses a construct of the language now",
    ("autoconv/operators/support/optional_attributes.py", "…"): "Python's own words",
    ("autoconv/operators/values/symbolic_subscript.py", "…"): "Python's own words",
    ("autoconv/operators/values/builtins.py", "…"): "Python's own words",
    ("autoconv/operators/control/generators.py", "…"): PASSED_ON,
    ("autoconv/operators/control/unrolling.py", "…"): "Python's own words",
    ("autoconv/operators/control/iterables.py", "…"): "Python's own words",
    (
        "autoconv/runtime/arrays/symbolic_arrays.py",
        "an array of a graph is used after the graph was recorded",
    ): BY_OBJECT,
    (
        "autoconv/runtime/arrays/symbolic_arrays.py",
        "how many dimensions an array has is known only at run time",
    ): BY_OBJECT,
    (
        "autoconv/runtime/arrays/symbolic_arrays.py",
        "the length of an array is known only at run time",
    ): BY_OBJECT,
    ("autoconv/autodiff/memory_views.py", "no gradient is defined where …"): BY_OBJECT,
    (
        "autoconv/runtime/objects/symbolic_objects.py",
        "a value that belongs to a graph is used after the graph was ",
    ): ONLY_COMPILE,
    ("autoconv/runtime/tensors/remote_ops.py", "…"): PASSED_ON,
    ("autoconv/runtime/recording/regions.py", "…"): PASSED_ON,
    ("autoconv/tracing/execute/taped_calls.py", "…"): "no error: a tape has the call run as plain Python",
    (
        "autoconv/operators/control/loops.py",
        "whether the generator in a zip() is iterated depends on a te",
    ): ONLY_COMPILE,
    ("autoconv/runtime/tensors/symbolic.py", "…"): PASSED_ON,
    ("autoconv/operators/calls/try_statements.py", "…"): "raises the program's own exception, to link it",
    ("autoconv/tracing/guards/fingerprints.py", "…"): PASSED_ON,
    ("autoconv/tracing/execute/internal_errors.py", "autoconv failed while it traced or compiled …: …"): CANNOT,
    (
        "autoconv/tracing/guards/external_writes.py",
        "an array without dimensions is passed beside tensors",
    ): ONLY_COMPILE,
    ("autoconv/tracing/guards/external_writes.py", "…"): "no error: asks for a trace with more inputs",
    ("autoconv/tracing/guards/trace_restrictions.py", "…"): "a budget of a trace: what goes beyond it takes seconds",
    ("autoconv/tracing/key/signature.py", "…"): PASSED_ON,
    (
        "autoconv/tracing/specialise/compile_contract.py",
        "…",
    ): "no error: asks for a trace of its own for the value of a number",
    (
        "autoconv/tracing/specialise/compile_contract.py",
        "the argument … is changed",
    ): "changes of arguments are noticed where they are made",
    ("autoconv/bench/picture.py", "--plot needs matplotlib, which is not installed: pip install"): DRAWS,
    ("autoconv/bench/picture.py", "…: the picture cannot be written: …"): DRAWS,
    ("cli/sources.py", "standard input is closed"): "needs a process without standard input",
    (
        "cli/own_files.py",
        "cannot read the folder …: …",
    ): "needs a folder that may not be read, which the superuser always may",
    ("autoconv/emit/module.py", "the converted text is not Python: …"): "would be a fault of the passes",
    ("cli/sources.py", "…"): PASSED_ON,
    ("cli/targets.py", "…"): PASSED_ON,
}


def places():
    """Yield (file, line, the call that makes the error, literals of its module by name)."""
    for folder in ("autoconv", "cli"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text()
            if not name.startswith(EVERY_RAISE_IN) and not any(cls in text for cls in REFUSALS):
                continue
            nodes = list(ast.walk(ast.parse(text)))
            known = {
                target.id: node.value
                for node in nodes
                if isinstance(node, ast.Assign)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            raised = {node.exc for node in nodes if isinstance(node, ast.Raise) and name.startswith(EVERY_RAISE_IN)}
            for node in nodes:
                if isinstance(node, ast.Call) and (node in raised or class_of(node) in REFUSALS):
                    yield name, node.lineno, node, known


def class_of(call):
    return getattr(call.func, "attr", None) or getattr(call.func, "id", None)


def message_pieces(node, known):
    """Return the parts of a message: strings, and None for inserted values."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return [piece for value in node.values for piece in message_pieces(value, known)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*message_pieces(node.left, known), *message_pieces(node.right, known)]
    if isinstance(node, ast.Call) and class_of(node) == "place_at_definition":
        return message_pieces(node.args[0].args[0], known)
    if isinstance(node, ast.Name) and node.id in known:
        return message_pieces(known[node.id], {})
    return [None]


def is_shown(message):
    """Return whether a text has the words of the message in order; False for a message without words."""
    words = [piece for piece in message if piece]
    if len(re.findall(r"\w+", "".join(words))) < 2:
        return False
    start = TEXTS.find(words[0])
    while start >= 0:
        end = start
        for piece in words:
            found = TEXTS.find(piece, end, end + 800 + len(piece))
            end = found + len(piece) if found >= 0 else -1
            if end < 0:
                break
        else:
            return True
        start = TEXTS.find(words[0], start + 1)
    return False


def start_of(message):
    return "".join("…" if piece is None else piece for piece in message)[:60]


@functools.cache
def places_not_shown():
    found = []
    for name, line, call, known in places():
        text = call if class_of(call) == "place_at_definition" or not call.args else call.args[0]
        message = message_pieces(text, known) if call.args else [None]
        if not is_shown(message):
            found.append((name, start_of(message), line))
    return found


def test_every_refusal_is_shown():
    missing = [f"{name}:{line}: {start}" for name, start, line in places_not_shown() if (name, start) not in EXCEPTIONS]
    assert not missing, "no program in fixtures/errors shows:\n" + "\n".join(missing)


def test_exceptions_are_needed():
    assert set(EXCEPTIONS) == {(name, start) for name, start, _ in places_not_shown()}


@pytest.mark.parametrize("cls", sorted(REFUSALS - {"RunPlain", "AutoconvError", "NotInGraphError"}))
def test_every_class_is_shown(cls):
    # files and names that are not there are the command's business, and no pass refuses a construct now
    assert f"autoconv.errors.{cls}: " in TEXTS or cls in ("SourceError", "TargetError", "UnsupportedError")
