"""Damage a saved object at random: `python tests/saved_model/damage.py --trials 1000 --seed 1`.

Each trial changes bits or a word of one file, cuts it, exchanges two of its parts, or empties it. Loading has to raise
an error of ours, or give the same values. With `--function` the file of one function is damaged. With `--forged`, the
graphs' text is damaged and all checksums are made to fit: then loading raises DataLossError, or what is loaded raises
or computes anything, in this process.

The script prints the seed and the outcomes by kind of damage. It ends with the exit code 1 where one is wrong.
"""

from __future__ import annotations

import argparse
import collections
import functools
import hashlib
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from runpy import run_path

import numpy as np

import autoconv as ac
from autoconv.storage.files import read_json, write_json

_objects = run_path(str(Path(__file__).with_name("objects.py")))
Sample, values_of, results_of = _objects["Sample"], _objects["values_of"], _objects["results_of"]
ALLOWED = (ac.errors.DataLossError, ac.errors.NotFoundError, ValueError, OSError)


def damage_bytes(whole: bytes, draw: random.Random) -> tuple[str, bytes]:
    """Return the kind of damage and the damaged bytes."""
    kind = draw.choice(["one bit", "five bits", "one byte", "cut", "exchanged", "one word", "zeros", "empty"])
    data = bytearray(whole)
    if kind in ("one bit", "five bits"):
        for _ in range(1 if kind == "one bit" else 5):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == "one byte":
        data[draw.randrange(len(data))] = draw.randrange(256)
    elif kind == "cut":
        del data[draw.randrange(len(data)) :]
    elif kind == "exchanged":
        size = draw.randint(1, max(len(data) // 4, 1))
        a, b = draw.randrange(len(data) - size), draw.randrange(len(data) - size)
        data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    elif kind == "one word":
        words = list(re.finditer(rb"[\w.]+", whole))
        target, source = draw.choice(words), draw.choice(words)
        data[target.start() : target.end()] = source.group()
    elif kind == "zeros":
        start = draw.randrange(len(data))
        data[start : start + 16] = bytes(len(data[start : start + 16]))
    else:
        data.clear()
    return kind, bytes(data)


def trial(folder: str, draw: random.Random) -> tuple[str, str]:
    """Damage one file, load, and put the file back; return the kind of damage and the outcome."""
    return _outcome(folder, draw, lambda: values_of(ac.saved_model.load(folder)), values_of(_sample()))


def function_trial(folder: str, draw: random.Random) -> tuple[str, str]:
    """Do the same with the file of one function."""
    home = os.path.join(folder, "function")
    path = os.path.join(home, "function.safetensors")
    if not os.path.exists(path):
        os.mkdir(home)
        ac.saved_model.save_function(_sample().__call__, path)
    return _outcome(home, draw, lambda: results_of(ac.saved_model.load_function(path)), results_of(_sample()))


def _outcome(
    folder: str, draw: random.Random, load: Callable[[], list[np.ndarray]], expected: list[np.ndarray]
) -> tuple[str, str]:
    path = os.path.join(folder, draw.choice(sorted(os.listdir(folder))))
    with open(path, "rb") as file:
        whole = file.read()
    kind, data = damage_bytes(whole, draw)
    with open(path, "wb") as file:
        file.write(data)
    try:
        found = load()
    except ALLOWED as error:
        outcome = "unchanged file refused" if data == whole else type(error).__name__
    except Exception as error:
        outcome = f"WRONG: {type(error).__name__}: {error}"
    else:
        same = all(a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        outcome = "the same values" if same else "WRONG: other values"
    with open(path, "wb") as file:
        file.write(whole)
    return kind, outcome


@functools.cache
def _sample() -> Sample:
    return Sample()


def forged(folder: str, draw: random.Random) -> tuple[str, str]:
    """Damage the graphs' text under a checksum that fits, load, call, and put the files back."""
    index = os.path.join(folder, "saved_model.json")
    content = read_json(index, "index")
    path = os.path.join(folder, content["files"]["graphs"])
    with open(path, "rb") as file:
        whole = file.read()
    kind, data = damage_bytes(whole, draw)
    with open(path, "wb") as file:
        file.write(data)
    write_json(index, {**content, "graphs_sha256": hashlib.sha256(data).hexdigest()})
    try:
        loaded = ac.saved_model.load(folder)
    except ac.errors.DataLossError:
        outcome = "DataLossError"
    except Exception as error:
        outcome = f"WRONG: {type(error).__name__}: {error}"
    else:
        try:
            values_of(loaded)
        except Exception as error:  # the forged graph's own error
            outcome = f"loads; a call raises {type(error).__name__}"
        else:
            outcome = "loads and runs"
    with open(path, "wb") as file:
        file.write(whole)
    write_json(index, content)
    return kind, outcome


def run(trials: int, seed: int, one: Callable[..., tuple[str, str]]) -> collections.Counter[tuple[str, str]]:
    """Return how often each kind of damage had each outcome."""
    folder = tempfile.mkdtemp()
    try:
        ac.saved_model.save(Sample(), folder)
        draw = random.Random(seed)
        return collections.Counter(one(folder, draw) for _ in range(trials))
    finally:
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--forged", action="store_true", help="make the checksums fit the damage")
    parser.add_argument("--function", action="store_true", help="damage the file of one function")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.trials} trials")
    chosen_trial = forged if options.forged else function_trial if options.function else trial
    found = run(options.trials, options.seed, chosen_trial)
    for (kind, outcome), count in sorted(found.items()):
        print(f"{count:6}  {kind:10}  {outcome}")
    return 1 if any(outcome.startswith(("WRONG", "unchanged")) for _, outcome in found) else 0


if __name__ == "__main__":
    sys.exit(main())
