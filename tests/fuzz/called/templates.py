"""Search for calls of public functions that a framework accepts: candidates for each required parameter, in turns."""

from __future__ import annotations

import inspect
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

from called.operands import HINTS, Operand, candidates

NAMESPACES = (
    "", "math", "linalg", "nn", "strings", "image", "signal", "sparse", "ragged", "bitwise", "random", "sets",
)  # fmt: skip
OPERATORS = (
    *(f"{{0}} {sign} {{1}}" for sign in ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^")),
    *(f"{{0}} {sign} {{1}}" for sign in ("<", "<=", ">", ">=", "==", "!=")),
    "-{0}", "~{0}", "abs({0})", "{0}[{1}]",
)  # fmt: skip
LEFT_OUT = frozenset({  # they take functions, act on the process, or have no result to compare
    "all_candidate_sampler", "approx_top_k", "as_dtype", "batch_norm_with_global_normalization", "case",
    "check_pinned", "cond", "control_dependencies", "conv", "conv2d_backprop_filter_v2", "conv2d_backprop_input_v2",
    "create_rng_state", "custom_gradient", "decode_jxl", "device", "executing_eagerly",
    "fixed_unigram_candidate_sampler", "function", "gamma", "get_current_name_scope", "get_global_generator",
    "get_logger", "grad_pass_through", "gradients", "group", "guarantee_const", "hessians", "import_graph_def",
    "init_scope", "inside_function", "is_symbolic_tensor", "learned_unigram_candidate_sampler", "load_library",
    "load_op_library", "log_uniform_candidate_sampler", "make_ndarray", "make_tensor_proto", "no_gradient", "no_op",
    "nondifferentiable_batch_function", "numpy_function", "parallel_stack", "poisson", "print", "py_function",
    "random_index_shuffle", "recompute_grad", "register_tensor_conversion_function", "set_global_generator",
    "set_seed", "shuffle", "stateless_binomial", "stateless_gamma", "stateless_parameterized_truncated_normal",
    "stateless_poisson", "switch_case", "timestamp", "tuple", "type_spec_from_value", "uniform_candidate_sampler",
    "variable_creator_scope", "while_loop",
})  # fmt: skip
MAX_TRIALS = 300
MAX_TEMPLATES = 5


def functions(tf: Any) -> Iterator[tuple[str, str, list[str], list[str]]]:
    """Yield a name, the text of a call before its arguments, required and optional parameters of each function."""
    seen = set()
    for namespace in NAMESPACES:
        module = getattr(tf, namespace) if namespace else tf
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith("_") or name in LEFT_OUT or inspect.isclass(function) or not callable(function):
                continue
            if id(function) in seen or inspect.ismodule(function):
                continue
            seen.add(id(function))
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                continue
            named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
            required = [p.name for p in named if p.default is p.empty and p.kind is not p.KEYWORD_ONLY]
            optional = [p.name for p in named if p.default is not p.empty]
            full = f"tf.{namespace}.{name}" if namespace else f"tf.{name}"
            yield full, "", required, optional
    for text in OPERATORS:
        yield text, "operator", ["x", "begin" if "[" in text else "y"][: text.count("{")], []


def search(run: Callable[[str, list[str]], bool], tf: Any, finished: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the accepted templates; `run` returns whether a call with these texts of operands has a result.

    A template without a text begins each function, so that a function that ended the process is not searched again.
    """
    for name, kind, required, optional in functions(tf):
        if name in finished:
            continue
        yield {"function": name}
        text = name if kind else f"{name}({', '.join(f'{{{number}}}' for number in range(len(required)))})"
        found: list[tuple[Operand, ...]] = []
        for operands in trials(required, name):
            similar = [form(operands) == form(other) for other in found]
            if any(similar) or not run(text, [operand.text() for operand in operands]):
                continue
            found.append(operands)
            yield template(name, text, operands)
            if len(found) == MAX_TEMPLATES:
                break
        for parameter in optional:
            extended = f"{text[:-1]}, {parameter}={{{len(required)}}})"
            for hint, operands in itertools.product(candidates(parameter)[: len(HINTS.get(parameter, ()))], found[:2]):
                if run(extended, [operand.text() for operand in (*operands, hint)]):
                    yield template(name, extended, (*operands, hint))
                    break


def template(name: str, text: str, operands: tuple[Operand, ...]) -> dict[str, Any]:
    fields = [[o.form, o.dtype, list(o.shape), o.style, o.literal] for o in operands]
    return {"function": name, "text": text, "operands": fields}


def form(operands: tuple[Operand, ...]) -> list[Any]:
    """Return by what templates differ: forms, ranks, and dtypes by their kind."""
    return [(operand.form, operand.dtype[:3], len(operand.shape), operand.literal) for operand in operands]


def trials(parameters: list[str], name: str) -> Iterator[tuple[Operand, ...]]:
    """Yield operands for the required parameters: equal ones first, then drawn ones."""
    choices = [candidates(parameter) for parameter in parameters]
    if len(choices) < 2:
        yield from itertools.product(*choices)
        return
    for index in range(max(map(len, choices))):
        yield tuple(options[min(index, len(options) - 1)] for options in choices)
    hints = [len(options) for options in choices]
    everything = list(itertools.islice(itertools.product(*choices), 200_000)) if len(hints) < 4 else []
    generator = random.Random(name)
    if everything:
        yield from generator.sample(everything, min(MAX_TRIALS, len(everything)))
    else:
        for _ in range(MAX_TRIALS):
            yield tuple(generator.choice(options[:8]) for options in choices)
