"""Values and gradients of random programs of whole arrays, compiled and by JAX, which must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from grammar import whole_arrays

import autoconv as ac
from measured.cases import (
    SIZE_CLASSES,
    Case,
    best_times,
    clock,
    execution_kind,
    load_function,
    random_case,
    results_agree,
)

_LOSS = """
def loss({names}):
    found = program({names}, 2)
    total = 0.0
    for part in found if isinstance(found, tuple) else (found,):
        total = total + (np.abs(part) ** 2.0).sum()
    return total
"""


def gradient_case(number: int) -> Case:
    """Return the program of that number over float64 arrays, with the sum of the squares of its results, `loss`."""
    generator: Any = whole_arrays.Generator(number)
    generator.dtype, generator.in_place = "float64", False
    source = generator.program() + _LOSS.format(names=", ".join(generator.pattern))
    sizes = random_case(number, "arrays").sizes
    shapes = list(generator.pattern.values())
    return Case(number, source, "float64", SIZE_CLASSES[number % 3], sizes, shapes, "gradients")


def measure_gradient(number: int) -> dict[str, Any]:
    """Measure the value and the gradients with respect to all arguments: JAX's time over that of compiled code."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    case = gradient_case(number)
    measurement: dict[str, Any] = {"number": number, "class": case.size, "dtype": case.dtype, "source": case.source}
    draw = np.random.default_rng(number)
    arrays = [array + draw.normal(0, 1e-3, array.shape) for array in case.arguments()[:-1]]  # without ties
    measurement["shapes"] = [array.shape for array in arrays]
    positions = tuple(range(len(arrays)))
    device_arrays = [jnp.asarray(array) for array in arrays]
    jitted = jax.jit(jax.value_and_grad(load_function(case.source, f"<jax {number}>", jnp, "loss"), positions))
    try:
        value, gradients = jax.block_until_ready(jitted(*device_arrays))
    except Exception as error:  # its messages are long
        return measurement | {"status": "left out", "details": f"JAX: {type(error).__name__}"}
    compiled = ac.value_and_grad(ac.compile(load_function(case.source, f"<gradient {number}>", np, "loss")), positions)
    start = clock()
    try:
        result = compiled(*arrays)
    except ac.errors.AutoconvError as error:
        return measurement | {"status": "refused", "details": str(error)}
    measurement["first"] = clock() - start
    if not results_agree((np.float64(value), tuple(map(np.asarray, gradients))), (np.float64(result[0]), result[1])):
        return measurement | {"status": "WRONG", "details": case.source}
    jax_seconds, compiled_seconds = best_times(
        [lambda *_: jax.block_until_ready(jitted(*device_arrays)), lambda *arguments: compiled(*arguments[:-1])], case
    )
    return measurement | {
        "status": "measured",
        "ratio": jax_seconds / compiled_seconds,
        "theirs": jax_seconds,
        "ours": compiled_seconds,
        "way": execution_kind(compiled),
    }
