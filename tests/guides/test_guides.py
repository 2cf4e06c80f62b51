"""Programs in the manner of TensorFlow's guides print what TensorFlow 2.21 prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run

# Cells that print something else, by program, with the reason.
EXCEPTIONS = {
    "advanced_autodiff": {},
    "extension_specs": {},
    "flat_calls": {},
    "generative": {},
    "mistakes": {},
    "images": {},
    "texts": {},
    "training_loops": {},
    "data": {},
    "autodiff": {
        9: "a gradient goes through NumPy's functions",
        12: "adjust_contrast has a gradient",
    },
    "modules": {
        6: "the default repr has the module's path",
    },
    "ragged": {},
    "randoms": {
        5: "a copied generator shares no state with the first",
    },
    "saving": {
        6: "a list of variables prints as a list",
        8: "saving does not trace again; the only function of one trace is a signature",
        9: "saving does not trace again; names of results",
    },
    "slicing": {},
    "sparse": {},
    "tensors": {
        11: "the message of a reshape shows the line",
        16: "the message of a ragged list has NumPy's reason",
    },
    "variables": {3: "TensorFlow's message has a space too much and one too few"},
}


@pytest.mark.parametrize("name", sorted(EXCEPTIONS))
def test_prints_what_tensorflow_prints(name: str) -> None:
    path = run.HERE / "programs" / f"{name}.py"
    differing = set()
    pairs = zip(run.read_outputs(path), run.outputs(path, "autoconv"), strict=True)
    for number, (expected_output, own_output) in enumerate(pairs, 1):
        assert bool(own_output["error"]) == bool(expected_output["error"]), (number, own_output["error"])
        if not run.agree(expected_output["printed"], own_output["printed"]):
            differing.add(number)
    assert differing == set(EXCEPTIONS[name])
