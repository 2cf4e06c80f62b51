"""Reruns of calls as plain Python, after values that the graph cannot represent, or errors of the graph.

Plain Python has unbounded ints and exact error messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from autoconv.errors import AutoconvError, OpError
from autoconv.ops.python.revocable_run import Revoked
from autoconv.ops.python.undo_log import UNDONE_ERRORS
from autoconv.runtime.support.skipped_frames import skipped_by_warnings
from autoconv.tracing.outputs.printed_output import drop_output

RERUN_ERRORS = (*UNDONE_ERRORS, OpError)  # errors of runs that may rerun as plain Python


def reruns_plain(concrete: Any, error: BaseException) -> bool:
    """Return whether a call of the trace `concrete` that ended with the error reruns as plain Python.

    It does if the run had no side effects and plain Python may end in another way: with an error that has a context, or
    after changes of lists, which the graph writes back only at its end.
    """
    if isinstance(error, Revoked):
        return True
    has_python_text = not isinstance(error, RERUN_ERRORS) or (isinstance(error, OpError) and error.plain is not None)
    stores_lists = any(node.op.name == "typed_list_store" for node in concrete.optimised.nodes)
    if has_python_text and not (isinstance(error, Exception) and (stores_lists or _may_lack_context(concrete))):
        return False
    can_run_again = stores_lists or concrete.can_run_again or hasattr(error, "_autoconv_undone")
    return concrete.contract.runs_plain and can_run_again


def _may_lack_context(concrete: Any) -> bool:
    """Return whether plain Python may give an error of the graph a context, or give warnings before it."""
    return bool(concrete.raises_in_handlers or concrete.float_errors.must_rerun_after_error())


def public_error_text(error: BaseException) -> str:
    """Return the error's text without the names of placeholder classes such as SymbolicTensor.

    For a value that a graph cannot represent, the advice after the semicolon is left out.
    """
    text = error.message if isinstance(error, AutoconvError) else str(error)
    text = text.partition(";")[0] if isinstance(error, UNDONE_ERRORS) else text
    return _PLACEHOLDER_NAMES.sub("a value known only at run time", text.replace(*_UNHASHABLE))


# A text, and what replaces it.
_UNHASHABLE = "Tensor is unhashable. Instead, use tensor.ref() as the key.", "a value known only at run time is hashed"
_PLACEHOLDER_NAMES = re.compile(
    r"<autoconv\.[\w.]+ object at 0x\w+>|(?:\ban? )?'?\bSymbolic(?:Object|Tensor|Array)\b'?|'Variant'"
)


@skipped_by_warnings
def rerun_plain(error: BaseException, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Run the plain function in place of the run that failed with `error`, and return its result.

    Text that was printed before the error is not printed again. If the function raises, its exception does not have the
    error as its context.
    """
    printed_count = getattr(error, "_autoconv_printed", 0)
    try:
        if printed_count:
            with drop_output(printed_count):
                return function(*args, **kwargs)
        return function(*args, **kwargs)
    except BaseException as raised:
        chained_error: BaseException | None = raised
        while chained_error is not None:
            if chained_error.__context__ is error:
                chained_error.__context__ = None
            chained_error = chained_error.__context__
        raise
