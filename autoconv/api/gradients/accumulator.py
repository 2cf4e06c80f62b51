"""Forward-mode differentiation: the change of results along one direction of the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autoconv.api.gradients.dense_gradients import dense, zeros_of_source
from autoconv.api.gradients.tape import GradientTape, UnconnectedGradients
from autoconv.runtime.recording.tracebacks import wrap_public_methods
from autoconv.runtime.support.structure import flatten, pack
from autoconv.runtime.tensors.conversion import convert_to_tensor
from autoconv.runtime.tensors.dispatch import apply
from autoconv.runtime.tensors.tensor import Tensor


@wrap_public_methods
class ForwardAccumulator:
    """Jacobian-vector products of the computation inside its `with` block.

    `primals` are tensors or variables, `tangents` their directions, of the same structure, shapes and dtypes. The
    product is computed by two reverse passes: the vjp is linear in its cotangent, and the gradient of the vjp with
    respect to that cotangent is the product. A tape therefore keeps the intermediate values of the block in memory.
    Raises ValueError for tangents of another structure or shape.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._primals, template = flatten(primals)
        tangent_leaves, tangent_template = flatten(tangents)
        if template != tangent_template:
            raise ValueError(
                f"the primals and the tangents have different structures: {template} and {tangent_template}"
            )
        pairs = zip(self._primals, tangent_leaves, strict=True)
        self._tangents = [convert_to_tensor(tangent, primal.dtype) for primal, tangent in pairs]
        for primal, tangent in zip(self._primals, self._tangents, strict=True):
            if not primal.shape.is_compatible_with(tangent.shape):
                raise ValueError(f"a primal has the shape {primal.shape}, its tangent {tangent.shape}")
        self._tape = GradientTape(persistent=True, watch_accessed_variables=False)

    def __enter__(self) -> ForwardAccumulator:
        self._tape.__enter__()
        self._tape.watch(self._primals)
        return self

    def __exit__(self, *error: object) -> None:
        self._tape.__exit__(*error)

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The change of `primals`, results of the block or a structure of them, along the tangents.

        The change is None (or zeros) for results that do not depend on the accumulator's primals.
        """
        fills_zeros = UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
        leaves, template = flatten(primals)
        return pack(template, [jvp_of(self._tape, leaf, self._primals, self._tangents, fills_zeros) for leaf in leaves])


def jvp_of(
    tape: GradientTape, result: Any, primals: Sequence[Any], tangents: Sequence[Any], fills_zeros: bool
) -> Any:
    """Return the jvp of `result`, which the persistent `tape` recorded.

    If `result` does not depend on the primals, the jvp is None, or zeros with `fills_zeros`.
    """
    vjp_tape = GradientTape(watch_accessed_variables=False)
    with vjp_tape:
        seed = apply("zeros_like", result if isinstance(result, Tensor) else convert_to_tensor(result))
        vjp_tape.watch(seed)
        pairs = list(zip(tape.gradient(result, primals, output_gradients=seed), tangents, strict=True))
        gradients = [dense(gradient) for gradient, _ in pairs if gradient is not None]
    connected_tangents = [tangent for gradient, tangent in pairs if gradient is not None]
    if not gradients:
        return zeros_of_source(result) if fills_zeros else None
    return vjp_tape.gradient(gradients, seed, connected_tangents, UnconnectedGradients.ZERO)
