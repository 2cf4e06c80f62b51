"""A few files of the standard library convert; `python tests/emit/library.py` converts the whole library."""

from pathlib import Path

import pytest

from tests.module_loading import load_module


def load(path):
    return load_module(path, registered=True)


library = load(Path(__file__).resolve().parent / "library.py")


@pytest.fixture(scope="module")
def report():
    small = [path for path in library.library_files() if path.stat().st_size < 6_000]
    return library.convert_files(small[::18], jobs=1)


def test_nothing_crashes(report):
    assert report.crashes == report.misprinted == []


def test_most_lines_are_read(report):
    assert report.files > 40 and len(report.unreadable) <= report.files // 10


def test_nothing_is_refused(report):
    assert report.refused == []


def test_control_flow_is_rewritten(report):
    assert report.rewritten_share >= 0.99


def test_most_statements_become_regions(report):
    functional = sum(n for (kind, form), n in report.forms.items() if form == "functional")
    statement = sum(
        n for (kind, form), n in report.forms.items() if form == "statement" and kind in library.STATEMENTS
    )
    assert functional > 5 * statement


def test_plain_statements_have_a_reason():
    text = "async def f(xs):\n    async for x in xs:\n        pass\n    return [x async for x in xs]\n"
    constructs = library.convert_source(text, "example.py").constructs
    assert all(construct.reason for construct in constructs if construct.form == "plain")
