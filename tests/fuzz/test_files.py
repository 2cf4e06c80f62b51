"""A few files of each kind; `python tests/fuzz/files.py --files N` makes more."""

from pathlib import Path

import pytest
from autoconv.cli import main

from tests.module_loading import load_module

files = load_module(Path(__file__).with_name("files.py"), "drawn_files")


def test_files(capsys):
    assert not files.run(files=20, seed=2, lines=200), capsys.readouterr().out


@pytest.mark.parametrize(
    "expression",
    [
        "x" + " < x" * 300,
        "x" + ".a()" * 300,
        "[*" * 150 + "x" + "]" * 150,
        "".join(f"{k} if x else " for k in range(300)) + "x",
    ],
)
def test_a_valid_function_whose_converted_form_is_nested_too_deeply(expression, tmp_path):
    """The error names the line of the function; with --keep-going only this function is not converted."""
    source = f"def f(x):\n    return 1 if x else 2\n\n\ndef g(x):\n    return {expression}\n"
    wrong, _, code = files.judge_file(source.encode(), tmp_path)
    assert not wrong and code == 1
    path = tmp_path / "drawn.py"
    for command in (["convert"], ["show-code"], ["run"]):
        result = files.CliRunner().invoke(main, [*command, str(path)])
        assert result.exit_code == 1
        assert f"{path}:6:" in result.stderr and "nested too deeply to be converted" in result.stderr
    result = files.CliRunner().invoke(main, ["convert", "--keep-going", str(path), "-o", "-"])
    converted, kept = result.stdout.split("def g(x):")
    assert "ag__.if_exp" in converted and "ag__" not in kept
    result = files.CliRunner().invoke(main, ["run", "--keep-going", str(path)])
    assert result.exit_code == 0, result.output
