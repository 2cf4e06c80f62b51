"""Values and gradients of random programs of whole arrays: compiled, and by JAX, which has to agree."""

from __future__ import annotations

from typing import Any

import numpy as np
from grammar import whole_arrays

import autoconv as ac
from measured.cases import CLASSES, Case, alike, clock, drawn_case, in_turns, made, way

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
    sizes = drawn_case(number, "arrays").sizes
    return Case(number, source, "float64", CLASSES[number % 3], sizes, list(generator.pattern.values()), "gradients")


def measured_gradient(number: int) -> dict[str, Any]:
    """Return the measurement of the value and the gradients by all arguments: JAX's time over ours."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    case = gradient_case(number)
    told: dict[str, Any] = {"number": number, "class": case.size, "dtype": case.dtype, "source": case.source}
    draw = np.random.default_rng(number)
    given = [array + draw.normal(0, 1e-3, array.shape) for array in case.arguments()[:-1]]  # without ties
    told["shapes"] = [array.shape for array in given]
    positions = tuple(range(len(given)))
    on_device = [jnp.asarray(array) for array in given]
    jitted = jax.jit(jax.value_and_grad(made(case.source, f"<jax {number}>", jnp, "loss"), positions))
    try:
        value, slopes = jax.block_until_ready(jitted(*on_device))
    except Exception as error:  # it refuses in many words
        return told | {"status": "left out", "details": f"JAX: {type(error).__name__}"}
    compiled = ac.value_and_grad(ac.compile(made(case.source, f"<gradient {number}>", np, "loss")), positions)
    start = clock()
    found = compiled(*given)
    told["first"] = clock() - start
    if not alike((np.float64(value), tuple(map(np.asarray, slopes))), (np.float64(found[0]), found[1])):
        return told | {"status": "WRONG", "details": case.source}
    theirs, ours = in_turns(
        [lambda *_: jax.block_until_ready(jitted(*on_device)), lambda *arguments: compiled(*arguments[:-1])], case
    )
    return told | {"status": "measured", "ratio": theirs / ours, "theirs": theirs, "ours": ours, "way": way(compiled)}
