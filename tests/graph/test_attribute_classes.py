"""Classes of attribute values are found by name in a process that has not imported their modules."""

import ast
from pathlib import Path

import autoconv as ac
from autoconv.graph.attribute_classes import MODULE_BY_CLASS_NAME

ROOT = Path(__file__).parents[2]


def test_every_class_has_its_provider():
    expected = {}
    for path in (ROOT / "autoconv").rglob("*.py"):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.parse(path.read_text("utf-8")).body if not module.startswith("autoconv.ops.") else ():
            if isinstance(node, ast.ClassDef) and "attribute_class" in map(ast.unparse, node.decorator_list):
                assert node.name not in expected
                expected[node.name] = module
    assert expected == MODULE_BY_CLASS_NAME


def test_a_saved_function_reads_files_in_a_new_process(forker, tmp_path):
    words, folder = tmp_path / "words.txt", tmp_path / "saved"
    words.write_text("one two")
    module = ac.Module()
    module.words = ac.saved_model.Asset(words)
    module.read = ac.function(lambda: ac.io.read_file(module.words.asset_path), input_signature=[])
    ac.saved_model.save(module, folder)
    words.unlink()
    program = "import sys, autoconv as ac; print(ac.saved_model.load(sys.argv[1]).read().numpy())"
    assert forker.run(["-c", program, str(folder)], check=True).stdout == f"{b'one two'}\n"
