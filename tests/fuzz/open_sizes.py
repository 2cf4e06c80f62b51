"""Random graphs whose arguments have open dimensions, called with many shapes, against the same ops one by one.

    python tests/fuzz/open_sizes.py --programs 500 [--seed 0]

A program is one trace with an input signature of None dimensions. It is called with several shapes, including sizes 0
and 1 and equal sizes. Its results and exceptions must agree with those of its ops when they run eagerly, each by its
NumPy kernel. The summary counts the programs with code for any size, and those that were compiled for each shape.
"""

from __future__ import annotations

import collections
import random
import sys
from typing import Any

import numpy as np
from differential.counting import load_program, parse_options

import autoconv as ac
from autoconv.tracing.execute.symbolic_shapes import MultiShapeGraph

UNARY_STATEMENTS = [
    "{a} * 2.0 + 1.0", "ac.tanh({a})", "ac.sin({a})", "-{a}", "ac.square({a})", "ac.exp(-ac.abs({a}))",
    "ac.sigmoid({a})", "ac.reduce_sum({a}, axis={k})", "ac.reduce_mean({a}, axis={k})", "ac.reduce_max({a}, axis={k})",
    "ac.reduce_min({a}, axis={k}, keepdims=True)", "ac.reduce_sum({a}, axis={k}, keepdims=True)", "ac.reduce_sum({a})",
    "ac.reduce_mean({a})", "ac.reduce_prod({a}, axis={k})", "ac.transpose({a})", "ac.reshape({a}, [-1])",
    "ac.reshape({a}, [ac.shape({a})[0], -1])", "ac.reshape({a}, [-1, ac.shape({a})[-1]])",
    "ac.reshape({a}, [ac.shape({a})[0] * 2, -1])", "ac.expand_dims({a}, {k})", "ac.reverse({a}, [{k}])", "{a}[::-1]",
    "{a}[1:]", "{a}[:-1]", "{a}[::2]", "{a}[:2]", "{a}[-2:]", "{a}[..., 1:]", "{a}[..., :2]", "{a}[..., ::3]", "{a}[0]",
    "{a}[-1]", "{a}[..., 0]", "{a}[1]", "{a}[:, None]", "{a}[1:-1]", "{a}[5:]", "{a}[:5]", "{a}[-5:-1]", "{a}[3:0:-1]",
    "{a}[: ac.shape({a})[0] // 2]", "ac.nn.softmax({a})", "ac.nn.log_softmax({a})", "ac.tile({a}, [2] * {r})",
    "ac.tile({a}, [1] * ({r} - 1) + [3])", "ac.cumsum({a}, axis={k})", "ac.cumsum({a}, axis={k}, reverse=True)",
    "ac.cumsum({a}, axis={k}, exclusive=True)", "ac.math.cumprod({a}, axis={k})", "ac.sort({a}, axis={k})",
    "ac.sort({a}, axis=-1, direction='DESCENDING')", "ac.cast(ac.argsort({a}, axis={k}), {t})",
    "ac.nn.top_k({a}, 2)[0]", "ac.cast(ac.nn.top_k({a}, 2)[1], {t})", "ac.cast(ac.argmax({a}, axis={k}), {t})",
    "ac.cast(ac.argmin({a}, axis={k}), {t})", "ac.roll({a}, 1, axis={k})", "ac.roll({a}, -2, axis={k})",
    "ac.pad({a}, [[1, 2]] + [[0, 0]] * ({r} - 1))", "ac.pad({a}, [[0, 0]] * ({r} - 1) + [[0, 1]])",
    "ac.pad({a}, [[1, 1]] * {r}, mode='REFLECT')", "ac.pad({a}, [[1, 1]] * {r}, mode='SYMMETRIC')",
    "ac.repeat({a}, 2, axis={k})", "ac.split({a}, 2, axis={k})[1]", "ac.split({a}, [1, -1], axis={k})[1]",
    "ac.unstack({a}, axis={k})[-1]", "ac.unstack({a}, 3, axis={k})[2]", "ac.linalg.band_part({a}, 1, 0)",
    "ac.linalg.diag_part({a})", "ac.linalg.diag({a})", "ac.linalg.matrix_transpose({a})", "ac.zeros_like({a}) + {a}",
    "ac.ones([ac.shape({a})[0], 3], {t})", "ac.fill([ac.shape({a})[-1]], {a}[0, 0])",
    "ac.cast(ac.range(ac.shape({a})[0]), {t})", "ac.cast(ac.shape({a})[0], {t}) * {a}",
    "ac.cast(ac.size({a}), {t}) + {a}", "ac.one_hot(ac.cast({a} * 2.0, ac.int32), 4, dtype={t})",
    "ac.nn.l2_normalize({a}, axis={k})", "ac.reduce_logsumexp({a}, axis={k})", "ac.math.reduce_std({a}, axis={k})",
    "ac.norm({a})", "ac.boolean_mask({a}, {a}[..., 0] > 0.0)", "ac.gather({a}, [1, 0, 1], axis={k})",
    "ac.squeeze({a}[:1], 0)", "ac.gather({a}, ac.argsort({a}[..., 0]))", "ac.gather({a}, ac.shape({a})[0] - 1)",
    "ac.real(ac.complex({a}, {a} * 0.5) * ac.complex({a} + 1.0, {a}))", "ac.abs(ac.complex({a}, {a} + 1.0))",
    "ac.imag(ac.complex({a}, -{a})[1:])", "ac.real(ac.cumsum(ac.complex({a}, {a} * {a}), axis={k}))",
    "ac.abs(ac.concat([ac.complex({a}, {a})] * 2, {k}))", "ac.real(ac.reduce_sum(ac.complex({a}, {a}), axis={k}))",
    "ac.linalg.diag_part({a}, k=1)", "ac.linalg.svd({a}, compute_uv=False)", "ac.abs(ac.linalg.qr({a})[1])",
    "ac.linalg.inv(ac.matmul({a}, {a}, transpose_b=True) + 9.0 * ac.eye(ac.shape({a})[0], dtype={t}))",
    "ac.linalg.cholesky(ac.matmul({a}, {a}, transpose_b=True) + 9.0 * ac.eye(ac.shape({a})[0], dtype={t}))",
    "ac.linalg.solve(ac.matmul({a}, {a}, transpose_b=True) + 9.0 * ac.eye(ac.shape({a})[0], dtype={t}), {a})",
    "ac.linalg.slogdet(ac.matmul({a}, {a}, transpose_b=True) + 9.0 * ac.eye(ac.shape({a})[0], dtype={t}))[1]",
    "ac.linalg.eigvalsh(ac.matmul({a}, {a}, transpose_b=True))", "ac.signal.irfft(ac.signal.rfft({a}))",
    "ac.abs(ac.signal.rfft({a}))", "ac.real(ac.signal.fft(ac.complex({a}, {a})))", "ac.reshape({a}, [-1, 2])",
    "ac.reshape({a}, [ac.shape({a})[0] // 2, 2, -1])", "{a}[ac.shape({a})[0] // 2 :]", "{a}[1 : ac.shape({a})[0] - 1]",
    "{a}[::-2]", "ac.random.stateless_normal(ac.shape({a}), [1, 2], dtype={t}) * {a}",
    "ac.cast(ac.rank({a}), {t}) + {a}", "ac.one_hot([1, 0], ac.shape({a})[-1], dtype={t})",
    "ac.cast(ac.reduce_mean(ac.cast({a} * 9.0, ac.int32), axis={k}), {t})", "np.var({a}, ddof=1)", "np.argmax({a})",
    "ac.imag(ac.exp(ac.complex({a} * 0.1, {a})))", "ac.linalg.trace(ac.matmul({a}, {a}, transpose_b=True))",
]  # fmt: skip
BINARY_STATEMENTS = [
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "ac.maximum({a}, {b})", "ac.where({a} > {b}, {a}, {b} * 2.0)",
    "{a} / ({b} * {b} + 1.0)", "ac.where({a} > 0.0, {b}, 0.0)", "ac.concat([{a}, {b}], 0)", "ac.concat([{a}, {b}], -1)",
    "ac.stack([{a}, {b}], {k})", "ac.matmul({a}, {b})", "ac.matmul({a}, {b}, transpose_b=True)",
    "ac.matmul({a}, {b}, transpose_a=True)", "ac.einsum('ij,kj->ik', {a}, {b})", "ac.einsum('bij,bjk->bik', {a}, {b})",
    "ac.einsum('i,j->ij', {a}, {b})", "ac.einsum('bij,bkj->bik', {a}, {b})", "ac.einsum('bi,bi->b', {a}, {b})",
    "ac.einsum('bij,j->bi', {a}, {b})", "ac.tensordot({a}, {b}, 1)", "ac.broadcast_to({b}, ac.shape({a}))",
    "ac.reshape({b}, ac.shape({a}))", "ac.linalg.outer({a}, {b})", "ac.searchsorted(ac.sort({a}), {b})",
    "ac.math.squared_difference({a}, {b})", "ac.nn.sigmoid_cross_entropy_with_logits(ac.sigmoid({a}), {b})",
    "ac.linalg.matvec({a}, {b})", "ac.nn.softmax_cross_entropy_with_logits(ac.nn.softmax({a}), {b})",
    "ac.tensor_scatter_nd_add({a}, [[0], [1]], {a}[:2])", "ac.concat([{a}, {b}, {a}], 0)",
]  # fmt: skip
INDEX_STATEMENTS = [  # i and j are vectors of positions, s is one position
    "ac.gather({a}, i)", "ac.gather({a}, i, axis={k})", "{a}[i]", "{a}[:, j]", "{a}[i, j]", "{a}[i, 1:]", "{a}[..., j]",
    "{a}[s]", "{a}[s:]", "{a}[:s]", "{a}[s : s + 2]", "{a}[:, s]", "{a}[s, ::2]",
    "ac.gather_nd({a}, ac.expand_dims(i, 1))",
    "ac.tensor_scatter_nd_update({a}, ac.expand_dims(i, 1), ac.gather({a}, i) * 2.0)",
    "ac.tensor_scatter_nd_add({a}, ac.expand_dims(i, 1), ac.gather({a}, i))",
    "ac.slice({a}, [s] + [0] * ({r} - 1), [1] + [-1] * ({r} - 1))",
    "ac.math.unsorted_segment_sum(ac.gather({a}, i), i, 4)",
    "ac.scatter_nd(ac.expand_dims(i, 1), ac.gather({a}, i), ac.shape({a}))", "ac.gather({a}, j, axis=-1)",
    "ac.cast(i, {t}) * 0.5", "ac.roll({a}, s, axis=0)", "{a} + ac.cast(s, {t})",
    "ac.one_hot(i, ac.shape({a})[0], dtype={t})", "ac.tile({a}[:1], [s] + [1] * ({r} - 1))",
    "ac.sequence_mask(i, ac.shape({a})[0], dtype={t})", "ac.nn.embedding_lookup({a}, i)",
]  # fmt: skip
ROW_STATEMENTS = [  # chains of reductions over one axis, and selections by masks, which several results share
    "ac.exp({a}) / ac.reduce_sum(ac.exp({a}), axis={k}, keepdims=True)", "ac.exp({a}) * {b}", "ac.sqrt(ac.abs({a}))",
    "{a} - ac.reduce_logsumexp({a}, axis={k}, keepdims=True)", "{a} - ac.reduce_max({a}, axis={k}, keepdims=True)",
    "({a} - ac.reduce_mean({a}, axis={k}, keepdims=True)) / (ac.math.reduce_std({a}, axis={k}, keepdims=True) + 1.0)",
    "{a} * ac.math.rsqrt(ac.reduce_sum({a} * {a}, axis={k}, keepdims=True) + 1.0)",
    "{b} - ac.nn.softmax({a}) * ac.reduce_sum({b}, axis=-1, keepdims=True)", "ac.cumsum(ac.nn.softmax({a}), axis={k})",
    "ac.math.cumulative_logsumexp({a}, axis={k})", "ac.nn.moments({a}, [{k}], keepdims=True)[1] + {b}",
    "{a}[{a} > 0.0]", "{a}[{b}[..., 0] > 0.0]", "ac.boolean_mask({a}, {b}[..., 0] > 0.5)", "{a}[s:] * {a}[s:]",
    "ac.cast(ac.where({a} > 0.0), {t})", "ac.gather({a}, ac.where({b}[..., 0] > 0.0)[:, 0])",
    "ac.math.cumprod({a}[s:], axis={k})", "ac.reduce_mean({a}[s : s + 2], axis={k})", "ac.sort({a}[s:], axis={k})",
]  # fmt: skip
IMAGE_STATEMENTS = [
    "ac.nn.conv2d({a}, w, 1, 'SAME')", "ac.nn.conv2d({a}, w, 2, 'VALID')",
    "ac.nn.relu(ac.nn.conv2d({a}, w, 1, 'VALID'))", "ac.reduce_mean({a}, [1, 2])",
    "ac.nn.conv2d({a}, w, 1, 'SAME', dilations=2)", "ac.reshape({a}, [ac.shape({a})[0], -1])",
    "ac.nn.moments({a}, [0, 1, 2])[1]", "ac.nn.conv2d({a}, w, 2, 'SAME')", "ac.nn.conv2d({a}, w, (3, 2), 'SAME')",
    "ac.nn.conv2d({a}, w, (1, 2), [[0, 0], [2, 0], [0, 3], [0, 0]])", "ac.nn.conv2d({a}, w[:, :, :1], 1, 'SAME')",
    "ac.nn.max_pool2d({a}, 2, 2, 'VALID')", "ac.nn.max_pool2d({a}, 3, 2, 'SAME')",
    "ac.nn.avg_pool2d({a}, (2, 3), (1, 2), 'SAME')", "ac.nn.avg_pool2d({a}, 2, 1, 'VALID')",
    "ac.pad({a}, [[0, 0], [1, ac.shape({a})[1]], [0, ac.shape({a})[2] // 2], [0, 0]])",
]  # fmt: skip

Dimension = Any
SIZES = (2, 3, 4, 5, 7)


class Generator:
    """A writer of a function, without statements that raise for typical sizes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        r = self.random
        self.is_float64 = r.random() < 0.5
        self.has_images = r.random() < 0.12
        names = ["n", "m", "k"]
        self.arguments: list[tuple[Dimension, ...]] = []  # names of open dimensions, or numbers
        if self.has_images:
            self.arguments = [r.choice((("n", 6, 5, 3), ("n", "m", "k", 3), ("n", "m", "m", 3)))]
        else:
            for _ in range(r.randint(1, 3)):
                rank = r.choice((1, 2, 2, 2, 3))
                shape = tuple(r.choice([*names, *names, 3, 4]) for _ in range(rank))
                self.arguments.append(shape)
            if not any(isinstance(d, str) for shape in self.arguments for d in shape):
                self.arguments[0] = ("n", *self.arguments[0][1:])
        self.typical_sizes = [{"n": 5, "m": 4, "k": 3}, {"n": 4, "m": 4, "k": 6}]

    def sizes(self) -> dict[str, int]:
        r = self.random
        if r.random() < 0.3:
            return {name: r.choice((0, 1, 1, 2, 3)) for name in "nmk"}
        return {name: r.choice((*SIZES, 12)) for name in "nmk"}

    def inputs(self, sizes: dict[str, int], number: int, broadcast: bool = False) -> list[np.ndarray]:
        draw = np.random.default_rng(number)
        dtype = np.float64 if self.is_float64 else np.float32
        arrays: list[np.ndarray] = []
        for shape in self.arguments:
            sizes_of_shape = tuple(d if isinstance(d, int) else sizes[d] for d in shape)
            if broadcast:
                pairs = zip(shape, sizes_of_shape, strict=True)
                sizes_of_shape = tuple(1 if isinstance(d, str) and draw.random() < 0.3 else n for d, n in pairs)
            arrays.append(draw.standard_normal(sizes_of_shape).astype(dtype))
        count = int(draw.integers(0, 5))
        arrays += [draw.integers(0, 3, (count,)).astype(np.int32) for _ in "ij"]
        arrays.append(np.asarray(draw.integers(0, 4), np.int32))
        if self.has_images:
            arrays.append(np.random.default_rng(1).standard_normal((3, 2, 3, 3)).astype(dtype))
        return arrays

    def signature(self) -> list[Any]:
        dtype = ac.float64 if self.is_float64 else ac.float32
        specs = [ac.TensorSpec([d if isinstance(d, int) else None for d in shape], dtype) for shape in self.arguments]
        specs += [ac.TensorSpec([None], ac.int32)] * 2 + [ac.TensorSpec([], ac.int32)]
        return [*specs, ac.TensorSpec([3, 2, 3, 3], dtype)] if self.has_images else specs

    def program(self) -> str:
        r, kind = self.random, "ac.float64" if self.is_float64 else "ac.float32"
        names = [f"x{i}" for i in range(len(self.arguments))]
        parameters = [*names, "i", "j", "s", *(["w"] if self.has_images else [])]
        scopes = []
        for number, sizes in enumerate(self.typical_sizes):
            inputs = self.inputs(sizes, number)
            values = {name: ac.constant(x) for name, x in zip(parameters, inputs, strict=True)}
            scopes.append({"ac": ac, "np": np, **values})
            scopes[-1]["i"] = ac.constant(np.arange(3, dtype=np.int32))
            scopes[-1]["j"] = ac.constant(np.array([1, 0, 2], np.int32))
        lines: list[str] = []
        for number in range(r.randint(2, 5)):
            for _ in range(40):
                statement = self.statement(names, kind, scopes[0])
                try:
                    values = [eval(statement, scope) for scope in scopes]
                except Exception:
                    continue
                if all(v.dtype is values[0].dtype and np.size(v) < 3000 and np.all(np.isfinite(v)) for v in values):
                    if str(values[0].dtype.name) not in ("float32", "float64"):
                        statement = f"ac.cast({statement}, {kind})"
                        values = [eval(statement, scope) for scope in scopes]
                    if max(float(np.max(np.abs(v), initial=0)) for v in values) < 1e3:
                        break
            else:
                continue
            name = f"y{number}"
            for scope, value in zip(scopes, values, strict=True):
                scope[name] = value
            lines.append(f"{name} = {statement}")
            names.append(name)
        results = names[len(self.arguments) :] or names
        watched = names[: len(self.arguments)]
        body = ["with ac.GradientTape() as tape:", f"    tape.watch([{', '.join(watched)}])"]
        body += [f"    {line}" for line in lines]
        if r.random() < 0.5:
            body = [*lines, f"return [{', '.join(results)}]"]
        else:
            loss = " + ".join(f"ac.reduce_sum({name} * {name})" for name in results[-2:])
            body += [f"    loss = {loss}"]
            gradients = f"tape.gradient(loss, [{', '.join(watched)}], unconnected_gradients='zero')"
            body.append(f"return [{', '.join(results)}, *{gradients}]")
        return f"def program({', '.join(parameters)}):\n" + "\n".join("    " + line for line in body) + "\n"

    def statement(self, names: list[str], kind: str, scope: dict[str, Any]) -> str:
        r = self.random
        recent = [*names, *names[-2:]]
        a, b = r.choice(recent), r.choice(recent)
        rank = len(scope[a].shape)
        if self.has_images and r.random() < 0.5:
            table = IMAGE_STATEMENTS
        else:
            table = r.choice((*[UNARY_STATEMENTS] * 3, *[BINARY_STATEMENTS] * 2, INDEX_STATEMENTS, ROW_STATEMENTS))
        axis = r.randrange(-rank, rank) if rank else 0
        return r.choice(table).format(a=a, b=b, k=axis, r=rank, t=kind)


def call_arguments(generator: Generator, number: int) -> list[list[np.ndarray]]:
    """The arguments of the calls: with typical sizes first, then with any sizes."""
    inputs = [generator.inputs(sizes, number + i) for i, sizes in enumerate(generator.typical_sizes)]
    for i in range(4):
        inputs.append(generator.inputs(generator.sizes(), number + 10 + i, broadcast=i == 3))
    inputs.append(generator.inputs({"n": 9, "m": 6, "k": 2}, number + 20))
    return inputs


def outcome(function: Any, arguments: list[np.ndarray]) -> tuple[str, Any]:
    try:
        return "value", [np.asarray(ac.convert_to_tensor(value)) for value in function(*map(ac.constant, arguments))]
    except Exception as error:
        return "raised", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def outcomes_agree(expected: tuple[str, Any], actual: tuple[str, Any]) -> bool:
    if expected[0] != actual[0]:
        return False
    if expected[0] == "raised":
        return bool(expected[1].partition(":")[0] == actual[1].partition(":")[0])
    return all(map(is_close, expected[1], actual[1]))


def is_close(expected: np.ndarray, actual: np.ndarray) -> bool:
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return False
    finite = expected[np.isfinite(expected)]
    scale = float(np.max(np.abs(finite), initial=1.0))
    tolerance = 2e-3 if expected.dtype == np.float32 else 1e-7
    return bool(np.allclose(expected, actual, rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def check(number: int, counts: collections.Counter[str] | None = None) -> tuple[str, str]:
    """Compare the calls of a program; return "one compilation", "WRONG" or another kind, and details."""
    generator = Generator(number)
    source = generator.program()
    plain = load_program(source, f"<program {number}>", ac=ac, np=np)
    compiled = ac.function(plain, input_signature=generator.signature())
    details = ""
    has_result = False
    for arguments in call_arguments(generator, number):
        with np.errstate(all="ignore"):
            expected = outcome(plain, arguments)
            actual = outcome(compiled, arguments)
        shapes = ", ".join(str(x.shape) for x in arguments)
        if not outcomes_agree(expected, actual):
            try:
                explanation = compiled.explain()
            except Exception as error:
                explanation = repr(error)
            if not has_result and actual[0] == "raised" and expected[0] == "value":
                return "not traced", f"{source}{actual[1]}"
            return "WRONG", f"{source}for {shapes}\nexpected {expected}\nfound    {actual}\n{explanation}"
        has_result = has_result or actual[0] == "value"
    kind = compilation_kind(compiled, counts)
    return (kind if has_result else "raises"), details


def compilation_kind(compiled: Any, counts: collections.Counter[str] | None) -> str:
    """The kind of compilation of a program; count the ops without code for any size."""
    try:
        by_shape = compiled.get_concrete_function().executable.compiled
    except Exception:
        return "raises"
    if not isinstance(by_shape, MultiShapeGraph):
        return "no shapes"
    kernel_ops = {name for code in by_shape._code_by_pattern.values() if code is not None for name in code.kernel_ops}
    has_failed = any(code is None for code in by_shape._code_by_pattern.values())
    if counts is not None:
        counts.update(kernel_ops)
        counts.update(["(the graph as a whole)"] * has_failed)
        called_ops = {name for name, _ in by_shape.kernel_calls or ()}
        counts.update(f"always by kernels: {name}" for name in called_ops - kernel_ops)
    if kernel_ops or has_failed:
        return "compiled for each shape"
    return "one compilation"


def main() -> int:
    options = parse_options(__doc__, programs=200)
    counts: collections.Counter[str] = collections.Counter()
    kernel_counts: collections.Counter[str] = collections.Counter()
    for number in range(options.seed, options.seed + options.programs):
        kind, details = check(number, kernel_counts)
        counts[kind] += 1
        if details and counts[kind] <= options.show:
            print(f"program {number}: {kind}\n{details}\n", flush=True)
    print(f"{options.programs} programs: " + ", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    print("compiled for each shape: " + ", ".join(f"{name} {n}" for name, n in kernel_counts.most_common()))
    return 1 if counts["WRONG"] else 0


if __name__ == "__main__":
    sys.exit(main())
