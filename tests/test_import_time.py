"""Importing is quick, and brings in only what it needs. Loose guards, not benchmarks.

The times are the process's own: what else the machine does would be measured otherwise. The time of the first
use is in multiples of the import time of NumPy, as machines differ.
"""

from __future__ import annotations

import json
import subprocess
import sys

CODE = """
import json, sys, time
before = time.process_time()
import autoconv
imported = time.process_time()
after_import = sorted({name.partition(".")[0] for name in sys.modules})
begun = time.process_time()
import numpy
with_numpy = time.process_time()
autoconv.constant
used = time.process_time()
after_use = sorted({name.partition(".")[0] for name in sys.modules})
print(json.dumps([imported - before, after_import, (used - with_numpy) / (with_numpy - begun), after_use]))
"""

COLLECTIONS = """
import gc, weakref

class Node:
    def __init__(self):
        self.itself = self
        self.function = lambda: self.itself

nodes = [Node() for _ in range(4)]
references = [weakref.ref(node) for node in nodes]
import autoconv
autoconv.constant
assert gc.isenabled() and len(gc.get_objects()) < 50_000 < gc.get_freeze_count()
del nodes
gc.collect()
assert [reference() for reference in references] == [None] * 4
nodes = [Node() for _ in range(4)]
references = [weakref.ref(node) for node in nodes]
autoconv.data
del nodes
gc.collect()
assert [reference() for reference in references] == [None] * 4
"""
FROZEN = """
import gc
gc.freeze()
count = gc.get_freeze_count()
import autoconv
autoconv.constant
assert 0 < gc.get_freeze_count() <= count
"""


def measure() -> tuple[float, set[str], float, set[str]]:
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    imported, after_import, used, after_use = json.loads(run.stdout)
    return imported, set(after_import), used, set(after_use)


def test_import_and_first_use_are_quick_and_bring_in_little() -> None:
    runs = [measure() for _ in range(4)]  # the first may write bytecode
    assert min(run[0] for run in runs) < 0.2
    assert min(run[2] for run in runs) < 6  # 2 to 3
    _, after_import, _, after_use = runs[0]
    assert "numpy" not in after_import  # converting needs none of it
    assert not {"gast", "astunparse", "click", "rich", "pygments", "llvmlite"} & after_use


def test_collections_examine_the_objects_of_the_program_and_not_of_the_package() -> None:
    """Full collections by the package's 140,000 objects made programs with many objects half again as slow."""
    subprocess.run([sys.executable, "-c", COLLECTIONS], check=True)


def test_objects_that_the_program_has_frozen_stay_so_and_no_others_are() -> None:
    subprocess.run([sys.executable, "-c", FROZEN], check=True)
