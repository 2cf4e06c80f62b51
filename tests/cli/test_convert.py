"""`autoconv convert` on single files."""

from __future__ import annotations

import ast
import json
import os
import stat
from pathlib import Path

import pytest

from autoconv.emit.locate import is_converted


def load(path: Path) -> dict:
    names: dict = {"__name__": path.stem}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names


def _without_map(path):
    """Return the converted text without its last statement, which has the path of the source."""
    return path.read_text().partition("__autoconv__.came_from")[0]


def test_the_default_output_is_beside_the_file(program_folder, cli):
    result = cli("convert", "newton.py")
    assert result.exit_code == 0, result.output
    assert "wrote newton_graph.py" in result.stderr and result.stdout == ""
    assert ast.parse((program_folder / "newton_graph.py").read_text())
    assert sorted(path.name for path in program_folder.iterdir()) == ["newton.py", "newton_graph.py"]


def test_converted_file_behaves_as_the_original(program_folder, cli):
    cli("convert", "newton.py")
    before, after = load(program_folder / "newton.py"), load(program_folder / "newton_graph.py")
    assert after["solve"](2.0) == before["solve"](2.0)
    assert after["Solver"]().step(3) == 2 and after["Solver"]().step(-3) == -3
    assert after["solve"].__doc__ == "The root of a."


def test_named_output_folder_and_missing_parents(program_folder, cli):
    assert cli("convert", "newton.py", "-o", "out.py").exit_code == 0
    assert cli("convert", "newton.py", "-o", "deep/er/out.py").exit_code == 0
    (program_folder / "folder").mkdir()
    assert cli("convert", "newton.py", "-o", "folder").exit_code == 0
    text = _without_map(program_folder / "out.py")
    assert _without_map(program_folder / "deep/er/out.py") == _without_map(program_folder / "folder/newton.py") == text


def test_standard_streams(program_folder, cli):
    source = (program_folder / "newton.py").read_text()
    piped = cli("convert", "-", stdin=source)
    assert piped.exit_code == 0 and ast.parse(piped.stdout)
    assert cli("convert", "newton.py", "-o", "-").stdout == piped.stdout
    assert cli("convert", "-", "-o", "x.py", stdin=source).exit_code == 0
    assert (program_folder / "x.py").read_text() == piped.stdout
    assert sorted(path.name for path in program_folder.iterdir()) == ["newton.py", "x.py"]


def test_several_files_import_each_other_converted(program_folder, cli):
    (program_folder / "uses.py").write_text("import newton\n\n\ndef use(a):\n    return newton.solve(a)\n")
    assert cli("convert", "newton.py", "uses.py").exit_code == 0
    assert "newton_graph" in (program_folder / "uses_graph.py").read_text()
    assert cli("convert", "newton.py", "uses.py", "-o", "all").exit_code == 0
    assert "newton_graph" not in (program_folder / "all/uses.py").read_text()


def test_existing_output_is_kept_without_force(program_folder, cli):
    (program_folder / "newton_graph.py").write_text("mine\n")
    result = cli("convert", "newton.py")
    assert result.exit_code == 2 and "newton_graph.py exists already" in result.stderr
    assert (program_folder / "newton_graph.py").read_text() == "mine\n"
    assert cli("convert", "newton.py", "--force").exit_code == 0
    assert (program_folder / "newton_graph.py").read_text() != "mine\n"


def test_check_names_missing_and_different_files(program_folder, cli):
    missing = cli("convert", "newton.py", "--check")
    assert missing.exit_code == 1 and "would write newton_graph.py" in missing.stderr
    assert not (program_folder / "newton_graph.py").exists()
    cli("convert", "newton.py")
    assert cli("convert", "newton.py", "--check").exit_code == 0
    (program_folder / "newton_graph.py").write_text("old = 1\n")
    differs = cli("convert", "newton.py", "--check", "--diff")
    assert differs.exit_code == 1 and "would change" in differs.stderr and "-old = 1" in differs.stdout


def test_diff_is_unified_plain_in_a_pipe_and_writes_nothing(program_folder, cli):
    result = cli("convert", "newton.py", "--diff")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- newton.py\n+++ newton_graph.py\n@@")
    assert "\x1b[" not in result.stdout and not (program_folder / "newton_graph.py").exists()


def test_explain_has_a_row_for_each_construct_and_a_total(program_folder, cli):
    result = cli("convert", "newton.py", "--explain")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["line", "kind", "function", "form", "stages", "why", "not"] in rows
    assert any(row[1:3] == ["while", "solve"] for row in rows if len(row) > 2)
    assert any(row[1:3] == ["and", "solve"] for row in rows if len(row) > 2)
    assert any(row[1:3] == ["if", "Solver.step"] for row in rows if len(row) > 2)
    assert "3 constructs, 3 rewritten (100.0 %), 3 would stage" in result.stdout
    assert not (program_folder / "newton_graph.py").exists()


def test_json_is_one_document(program_folder, cli):
    document = json.loads(cli("convert", "newton.py", "--json").stdout)
    (file,) = document["files"]
    assert document["outputs"] == ["newton_graph.py"] and document["exit_code"] == 0
    assert file["status"] == "converted" and file["written"] and "solve" in file["functions"]
    assert {item["kind"] for item in file["constructs"]} == {"while", "and", "if"}
    assert all(item["file"] == "newton.py" and item["line"] for item in file["constructs"])


def test_json_holds_errors_too(program_folder, cli):
    (program_folder / "bad.py").write_text("x = (\n")
    result = cli("convert", "bad.py", "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 3 and document["exit_code"] == 3
    assert document["files"][0]["error"]["line"] == 1 and not document["files"][0]["written"]


@pytest.mark.parametrize("arguments", [["--compile", "solve"], ["--compile-all"]])
def test_marking_functions_for_compilation(program_folder, cli, arguments):
    assert cli("convert", "newton.py", *arguments).exit_code == 0
    tree = ast.parse((program_folder / "newton_graph.py").read_text())
    (solve,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "solve"]
    assert any("compile" in ast.unparse(item) for item in solve.decorator_list)


def test_unknown_function_to_compile(program_folder, cli):
    result = cli("convert", "newton.py", "--compile", "solv")
    assert result.exit_code == 2 and "did you mean solve?" in result.stderr
    assert not (program_folder / "newton_graph.py").exists()


def test_renamed_imports(program_folder, cli):
    (program_folder / "model.py").write_text("import tensorflow as tf\n\n\ndef f(x):\n    return tf.square(x)\n")
    assert cli("convert", "model.py", "--rename-import", "tensorflow=autoconv").exit_code == 0
    assert "import autoconv as tf" in (program_folder / "model_graph.py").read_text()
    for wrong in ("tensorflow", "a=1b", "=x"):
        assert cli("convert", "model.py", "--rename-import", wrong, "--force").exit_code == 2


def test_comments_above_statements(program_folder, cli):
    assert "# the root" in cli("convert", "newton.py", "-o", "-").stdout
    assert "# the root" not in cli("convert", "newton.py", "-o", "-", "--no-comments").stdout


def test_quiet_and_verbose(program_folder, cli):
    assert cli("convert", "newton.py", "-q").output == ""
    assert "constructs rewritten" in cli("convert", "newton.py", "-v", "--force").stderr


def test_converted_files_are_not_converted_again(program_folder, cli):
    cli("convert", "newton.py")
    assert is_converted((program_folder / "newton_graph.py").read_text())
    result = cli("convert", "newton_graph.py")
    assert result.exit_code == 2 and "converted file already" in result.stderr


def test_permissions_are_those_of_the_source_then_of_the_output(program_folder, cli):
    os.chmod("newton.py", 0o750)
    cli("convert", "newton.py")
    assert stat.S_IMODE(os.stat("newton_graph.py").st_mode) == 0o750
    os.chmod("newton_graph.py", 0o600)
    cli("convert", "newton.py", "--force")
    assert stat.S_IMODE(os.stat("newton_graph.py").st_mode) == 0o600


def test_an_output_that_is_a_link_stays_one(program_folder, cli):
    (program_folder / "real.py").write_text("old\n")
    (program_folder / "link.py").symlink_to("real.py")
    assert cli("convert", "newton.py", "-o", "link.py").exit_code == 2
    assert cli("convert", "newton.py", "-o", "link.py", "--force").exit_code == 0
    assert (program_folder / "link.py").is_symlink() and (program_folder / "real.py").read_text() != "old\n"
    assert cli("convert", "newton.py", "-o", os.devnull).exit_code == 0


def test_encodings_become_utf8(program_folder, cli):
    (program_folder / "latin.py").write_bytes("# -*- coding: latin-1 -*-\ns = 'é'\n".encode("latin-1"))
    (program_folder / "bom.py").write_bytes(b"\xef\xbb\xbfs = '\xc3\xa9'\r\n")
    for name in ("latin", "bom"):
        assert cli("convert", f"{name}.py").exit_code == 0
        data = (program_folder / f"{name}_graph.py").read_bytes()
        assert not data.startswith(b"\xef\xbb\xbf") and b"latin-1" not in data
        assert "é" in data.decode("utf-8") and load(program_folder / f"{name}_graph.py")["s"] == "é"


def test_an_empty_file_is_an_empty_module(program_folder, cli):
    (program_folder / "empty.py").write_text("")
    assert cli("convert", "empty.py").exit_code == 0
    assert ast.parse((program_folder / "empty_graph.py").read_text()) is not None


def test_help_has_examples_and_limits(cli):
    text = cli("convert", "--help").stdout
    assert "Examples:" in text and "lost" in text and "Exit codes" in text
    assert "_AUTOCONV_COMPLETE=bash_source" in cli("--help").stdout
    for name in ("show-code", "run", "info"):
        assert "Examples:" in cli(name, "--help").stdout
    assert cli("--version").stdout.startswith("autoconv ")


@pytest.mark.parametrize(
    "first", ["#!/usr/bin/env python\n", "# coding: utf-8\n", "#!/usr/bin/env python\n# coding: utf-8\n"]
)
def test_the_first_lines_stay_first(program_folder, cli, first):
    Path("script.py").write_text(f"{first}# about os\nimport os\n")
    assert cli("convert", "script.py").exit_code == 0
    text = Path("script_graph.py").read_text()
    assert text.startswith(f"{first}import autoconv.operators as ag__\n") and "# about os\nimport os\n" in text


def test_many_nots_do_not_nest(program_folder, cli):
    for count in (250, 251):
        Path("nots.py").write_text(f"def f(x):\n    return {'not ' * count}x\n")
        result = cli("convert", "nots.py", "-o", "-")
        assert result.exit_code == 0, result.stderr
        names: dict = {"__name__": "nots"}
        exec(result.stdout, names)
        assert names["f"](3) is (count % 2 == 0)
