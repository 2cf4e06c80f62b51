"""Element rules: how an op computes one element of its result, shared by all code generators (see `registry`)."""

from autoconv.ops.elements import (  # noqa: F401 (each registers its rules)
    arithmetic,
    cube_root,
    incomplete_gamma_beta,
    inverse_functions,
    list_positions,
    logarithms,
    maths,
    powers,
    python_complex,
    python_inverses,
    python_math,
    python_numbers,
    special,
    zeta,
)
from autoconv.ops.elements.registry import ELEMENTS, Elements, Rule, Step, element

__all__ = ["ELEMENTS", "Elements", "Rule", "Step", "element"]
