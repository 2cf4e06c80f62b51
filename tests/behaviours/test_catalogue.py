"""Names of the tests of the catalogue's lines, by which `report.py` counts them."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from catalogue import EXCEPTED, IN_PART, section_of

FOLDER = Path(__file__).resolve().parent


def test_every_test_is_in_the_file_of_its_section():
    for file in FOLDER.glob("test_[a-h]_*.py"):
        for number in re.findall(r"^def test_line_(\d+)_", file.read_text("utf-8"), re.MULTILINE):
            assert len(number) == 3, f"{file.name}: {number} has to have three digits"
            assert section_of(int(number)) == file.name.split("_")[1].upper(), f"{file.name}: line {number}"


def test_exceptions_have_reasons():
    for line, reason in {**EXCEPTED, **IN_PART}.items():
        assert section_of(line)
        assert reason
