"""The contract of `@autoconv.function`: TensorFlow's.

The converted code runs once for each signature, and later calls run its graph. Effects of Python happen while tracing.
Numbers and arrays become tensors; an error is raised for other values in a graph. All predicates of `Contract` keep
their default, False.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from autoconv.runtime.objects.number_methods import complex_attribute
from autoconv.runtime.recording.regions import Trace
from autoconv.runtime.recording.tracebacks import place_at_definition
from autoconv.tracing.key.signature import Signature
from autoconv.tracing.specialise.session_contract import SessionContract


class FunctionContract(SessionContract):
    """The contract of traces under `function`; see `Contract` for its members."""

    name = "function"

    def attribute(self, tensor: Any, name: str) -> Any:
        return complex_attribute(tensor, name)

    def refuse_modified(self, names: Sequence[str], signature: Signature, function: Callable[..., Any]) -> NoReturn:
        """Raise TensorFlow's ValueError for a function that changes its arguments."""
        signature_text = signature.format_text().replace("=<captured_default_value>", "")
        raise place_at_definition(ValueError(
            f"{signature.name}{signature_text} should not modify its "
            "Python input arguments. Modifying a copy is allowed. The following parameter(s) were modified: "
            + ", ".join(names)
        ), function)  # fmt: skip

    def close(self, trace: Trace) -> None:
        super().close(trace)
        trace.rebuilt_arguments.clear()
