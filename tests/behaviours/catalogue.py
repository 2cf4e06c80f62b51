"""Sections of the catalogue, and lines that need no test yet, with the reason for each."""

from __future__ import annotations

SECTIONS = {
    "A": ("Calling, tracing, cache key", range(1, 43)),
    "B": ("Concrete functions and graphs", range(43, 63)),
    "C": ("Variables", range(63, 76)),
    "D": ("Side effects, order, pruning", range(76, 90)),
    "E": ("Conditionals", range(90, 103)),
    "F": ("Loops", range(103, 116)),
    "G": ("Conversion, tools, errors", range(116, 128)),
    "H": ("Gradients, data, others", range(128, 138)),
}

# Lines that need no test yet; one that has a test all the same is judged by it.
EXCEPTED = {
    26: "ragged and sparse tensors and extension types are to come",
    57: "counts of nodes of a graph need not match",
    61: "atomic functions are not needed",
    75: "needs layers of Keras",
    131: "needs models, optimizers and metrics of Keras",
    132: "needs summary writers",
    133: "needs layers of Keras",
    134: "needs SavedModel",
}

# Lines that their tests cover in part.
IN_PART = {
    55: "same ops by shape, not by exact nodes",
    68: "without the second half, on optimizers",
    119: "by shape: the text is this project's own",
    135: "device names and the two enums",
}


def section_of(line: int) -> str:
    """Return the letter of the section of a line; raise KeyError for an unknown number."""
    for letter, (_, lines) in SECTIONS.items():
        if line in lines:
            return letter
    raise KeyError(line)
