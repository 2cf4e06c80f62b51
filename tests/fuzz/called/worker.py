"""Run calls over one framework in a process of its own, and write an outcome a line.

    python tests/fuzz/called/worker.py FRAMEWORK {search|eager|function} CASES OUTCOMES

For `search`, accepted templates are written. Otherwise CASES has a call a line; a line that names the number of the
call is written before it runs, so that a call that ends the process can be told.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

MAX_ELEMENTS = 300


def main() -> None:
    framework, mode, cases_path, outcomes_path = sys.argv[1:]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    tf = importlib.import_module(framework)
    with Path(outcomes_path).open("a", encoding="utf-8", buffering=1) as outcomes:
        if mode == "search":
            from called.templates import search

            lines = Path(outcomes_path).read_text("utf-8").splitlines()
            finished = {json.loads(line)["function"] for line in lines}

            def is_accepted(text: str, operands: list[str]) -> bool:
                return "result" in outcome(tf, text, operands, "eager")

            for template in search(is_accepted, tf, finished):
                outcomes.write(json.dumps(template) + "\n")
            return
        for line in Path(cases_path).read_text("utf-8").splitlines():
            number, text, operands = json.loads(line)
            outcomes.write(json.dumps([number, None]) + "\n")
            outcomes.write(json.dumps([number, outcome(tf, text, operands, mode)]) + "\n")


def outcome(tf: Any, text: str, operand_texts: list[str], mode: str) -> dict[str, Any]:
    """Return the description of the result, or the names of the exception's classes and its text."""
    namespace = {"tf": tf, "np": np}
    tf.random.set_seed(1)
    names = [f"operand{number}" for number in range(len(operand_texts))]
    call = compile(text.format(*names), "<call>", "eval")
    try:
        operands = dict(zip(names, (eval(operand, dict(namespace)) for operand in operand_texts), strict=True))
    except Exception as error:
        return {"operand": [cls.__name__ for cls in type(error).__mro__[:-2]]}
    tensors = {name: value for name, value in operands.items() if hasattr(value, "dtype")}
    tensors = {name: value for name, value in tensors.items() if not isinstance(value, (np.ndarray, np.generic))}

    def run(*values: Any) -> Any:
        return eval(call, namespace | operands | dict(zip(tensors, values, strict=True)))

    try:
        result = tf.function(run, autograph=False)(*tensors.values()) if mode == "function" else run(*tensors.values())
        return {"result": list(describe(result))}
    except Exception as error:
        return {"error": [cls.__name__ for cls in type(error).__mro__[:-2]], "text": str(error)[:300]}


def describe(value: Any) -> list[Any]:
    """Return the kind of a result, and for arrays dtype, shape and the first values."""
    if isinstance(value, (tuple, list)):
        return ["list" if isinstance(value, list) else "tuple", *map(describe, value)]
    if isinstance(value, dict):
        return ["dict", *([str(key), describe(item)] for key, item in value.items())]
    if hasattr(value, "nested_row_splits"):
        return ["ragged", describe(value.flat_values), *map(describe, value.nested_row_splits)]
    if hasattr(value, "dense_shape"):
        return [type(value).__name__, describe(value.indices), describe(value.values), describe(value.dense_shape)]
    if hasattr(value, "numpy") and hasattr(value, "dtype"):
        array = value.numpy()
        return ["tensor", value.dtype.name, list(value.shape), elements(array)]
    if isinstance(value, (np.ndarray, np.generic)):
        return [type(value).__name__, value.dtype.name, list(value.shape), elements(value)]
    is_literal = isinstance(value, (bool, int, float, str, bytes, complex))
    return ["other", repr(value) if is_literal else type(value).__name__]


def elements(array: Any) -> list[Any]:
    flat = np.asarray(array).ravel()[:MAX_ELEMENTS]
    if flat.dtype.kind == "c":
        return [[part.real, part.imag] for part in flat.astype(np.complex128).tolist()]
    if flat.dtype.kind in "OSU":
        return [item.decode("latin-1") if isinstance(item, bytes) else str(item) for item in flat.tolist()]
    return flat.tolist() if flat.dtype.kind in "biu" else flat.astype(np.float64).tolist()


if __name__ == "__main__":
    main()
