"""Run programs with three virtual devices in new processes, as devices are fixed once they are used."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """
    import numpy as np
    import autoconv as tf
    tf.config.set_soft_device_placement(False)
    virtual_devices = [tf.config.experimental.VirtualDeviceConfiguration() for _ in range(3)]
    tf.config.experimental.set_virtual_device_configuration(
        tf.config.experimental.list_physical_devices('CPU')[0], virtual_devices)
    def error_of(call):
        try:
            return call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    def place_of_refusal(function):
        try:
            return function(tf.constant(1.0))
        except tf.errors.InvalidArgumentError as error:
            return f"{error.message.partition(': Could')[0]} at {error.place.text.strip()}"
"""


@pytest.fixture
def run(tmp_path: Path, forker: Any) -> Callable[[str], list[str]]:
    """Return a function that runs a program after the three devices were made, and returns the lines that it prints."""

    def run_program(program: str) -> list[str]:
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(HEAD) + textwrap.dedent(program))
        completed = forker.run([path], timeout=400)
        assert completed.returncode == 0, completed.stderr
        return [line for line in completed.stdout.splitlines() if "(raylet)" not in line]

    return run_program
