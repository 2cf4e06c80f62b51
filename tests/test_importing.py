"""The import hook: converted modules without files beside the source."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path

import pytest

import autoconv.importing
import autoconv.operators
from autoconv.config import SETTINGS
from autoconv.emit.locate import compile_with_origins, definitions

CORE = """\
# a comment
def halve(x):
    while x > 3:
        x = x / 2
    return x


def fail(x):
    if x > 0:

        raise KeyError("missing")
    return x
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Make a package `hooked` on the path; it and all hooks are removed after the test."""
    folder = tmp_path / "hooked"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import core\n")
    (folder / "core.py").write_text(CORE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    before = list(sys.meta_path)
    yield folder
    sys.meta_path[:] = before
    forget()


def forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "hooked"]:
        del sys.modules[name]
    importlib.invalidate_caches()


def is_converted(module) -> bool:
    return hasattr(module, "__autoconv__")


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "__pycache__").glob("core.autoconv-*.json"))


def load(name: str = "hooked.core"):
    return importlib.import_module(name)


def test_install_and_uninstall(package):
    hook = autoconv.importing.install("hooked")
    core = load()
    assert is_converted(core) and core.halve(10) == 2.5
    assert core.__file__ == str(package / "core.py")
    hook.uninstall()
    forget()
    assert not is_converted(load())


def test_context_manager(package):
    with autoconv.importing.converted("hooked.core"):
        assert is_converted(load()) and not is_converted(sys.modules["hooked"])
    forget()
    assert not is_converted(load())


def test_only_whole_names_match(package):
    with autoconv.importing.converted("hook"):
        assert not is_converted(load())
    with pytest.raises(ValueError, match="at least one package"):
        autoconv.importing.install()


def test_the_users_source_and_lines_show(package):
    with autoconv.importing.converted("hooked"):
        core = load()
    assert inspect.getsource(core) == CORE
    assert inspect.getsource(core.halve).startswith("def halve(x):\n    while x > 3:")
    assert core.fail.__code__.co_firstlineno == 8
    with pytest.raises(KeyError) as caught:
        core.fail(1)
    frames = traceback.extract_tb(caught.value.__traceback__)
    last = [frame for frame in frames if frame.filename == core.__file__][-1]
    assert (last.lineno, last.line) == (11, 'raise KeyError("missing")')


def test_cache_is_used_renewed_and_cleaned(package, monkeypatch):
    with autoconv.importing.converted("hooked"):
        load()
        (first,) = entries(package)
        forget()
        with monkeypatch.context() as patch:
            patch.setattr(autoconv.importing, "convert_source", None)
            assert is_converted(load())
        (package / "core.py").write_text(CORE.replace("3", "4"))
        forget()
        assert load().halve(10) == 2.5
    (second,) = entries(package)
    assert second != first and not list(package.glob("*.json")) and not list(package.glob(".*"))


@pytest.mark.parametrize(
    "damage",
    ["", "{}", "[]", "[" * 100_000, '{"text": 1, "origins": 2, "check": 3}', "flip"],
    ids=lambda damage: damage[:30],
)
def test_a_damaged_cache_is_not_trusted(package, damage):
    with autoconv.importing.converted("hooked"):
        load()
        (path,) = entries(package)
        entry = json.loads(path.read_text())
        path.write_text(json.dumps(entry | {"text": "x = 1"}) if damage == "flip" else damage)
        forget()
        assert load().halve(10) == 2.5
    assert json.loads(path.read_text()) == entry


def test_the_entry_of_another_version_is_ignored(package):
    """The entry has the name of the present version."""
    with autoconv.importing.converted("hooked"):
        load()
        (first,) = entries(package)
        entry = first.read_text()
        (package / "core.py").write_text(CORE.replace("3", "4"))
        forget()
        load()
        (second,) = entries(package)
        second.write_text(entry)
        forget()
        assert load().halve(8) == 4


def test_without_bytecode_there_is_no_cache(package, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    with autoconv.importing.converted("hooked"):
        assert is_converted(load())
    assert not (package / "__pycache__").exists()


def test_a_cache_that_cannot_be_written_is_ignored(package):
    (package / "__pycache__").write_text("a file in the way")
    with autoconv.importing.converted("hooked"):
        assert is_converted(load())


def test_plain_bytecode_and_converted_text_do_not_mix(package):
    load()
    forget()
    with autoconv.importing.converted("hooked"):
        assert is_converted(load())
    forget()
    assert not is_converted(load())


def test_disabled(package, monkeypatch):
    monkeypatch.setattr(SETTINGS, "disabled", True)
    with autoconv.importing.converted("hooked"):
        assert not is_converted(load())


def test_functions_to_compile(package):
    hook = autoconv.importing.install(
        "hooked", compile=["hooked.core:halve", "fail", "nothing", "other:halve"]
    )
    assert hook.options_for("hooked.core", CORE).compile_names == {"halve", "fail"}
    assert hook.options_for("elsewhere", CORE).compile_names == {"fail"}


def test_a_syntax_error_is_pythons_own(package):
    (package / "core.py").write_text("x = 1\ndef f(:\n")
    with autoconv.importing.converted("hooked"), pytest.raises(SyntaxError) as caught:
        load()
    assert caught.value.filename == str(package / "core.py") and caught.value.lineno == 2


def test_a_module_that_is_already_imported(package):
    load()
    with pytest.warns(UserWarning, match="hooked"), autoconv.importing.converted("hooked"):
        pass


def test_zip_archives(package, tmp_path, monkeypatch):
    archive = tmp_path / "zipped.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.write(package / "__init__.py", "hooked/__init__.py")
        file.write(package / "core.py", "hooked/core.py")
    monkeypatch.syspath_prepend(str(archive))
    with autoconv.importing.converted("hooked"):
        core = load()
    assert is_converted(core) and ".zip" in core.__file__ and core.halve(10) == 2.5
    assert inspect.getsource(core) == CORE


def test_lines_without_an_origin_have_that_of_the_previous_line():
    code = compile_with_origins("a = 1\nb = 2\nc = d\n", (4, 0, 9), "user.py")
    assert {line for _, _, line in code.co_lines() if line} == {4, 9}
    with pytest.raises(NameError) as caught:
        exec(code, {})
    assert traceback.extract_tb(caught.value.__traceback__)[-1].lineno == 9


def test_positions_stay_where_statements_or_their_parts_are_the_same():
    source = "if True:\n    x = one + two\n"
    code = compile_with_origins("x = one + two\n", (2,), "user.py", source=source)
    assert (2, 2, 8, 11) in list(code.co_positions())
    code = compile_with_origins("y = one + two\n", (2,), "user.py", source=source)
    assert (2, 2, 8, 11) in list(code.co_positions())
    code = compile_with_origins("x = one + three\n", (2,), "user.py", source=source)
    assert not {(8, 11), (8, 17), (14, 17)} & {position[2:] for position in code.co_positions()}


@pytest.mark.parametrize(
    "body",
    [
        'x = table["key"]  # quotes and a comment',
        "x = 1; y = table['key']; z = 2",
        "return (table['a'] +\n            table['key'])",
        "return max(1 , (table['key']),)",
        'return f"{table["a"]:>5}" + f\'{table["key"]}\''.replace('"a"', "'a'"),
        "with open(table['key']) as file:\n        pass",
        "if table['key'] > 0:\n        return 1",
        "for x in [table['key']]:\n        pass",
        "é = 'é' + table['key']",
    ],
)
def test_tracebacks_of_converted_code_have_the_lines_and_carets_of_the_source(body, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(f"def look_up(table):\n    {body}\n\n\nlook_up({{'a': 1}})\n", encoding="utf-8")
    plain, converted = (
        subprocess.run([*command, file], capture_output=True, text=True).stderr
        for command in ([sys.executable], [sys.executable, "-m", "autoconv", "run"])
    )
    assert "KeyError: 'key'" in plain and converted == plain


def test_definitions_are_found_wherever_statements_are():
    text = """
if a:
    def f(): pass
else:
    def f(): pass
try:
    class C:
        async def m(self):
            def inner(): pass
except E:
    def g(): pass
match x:
    case 1:
        def h(): pass
"""
    found = definitions(ast.parse(text))
    assert set(found) == {"f", "C", "C.m", "C.m.inner", "g", "h"} and len(found["f"]) == 2


def test_operators_of_converted_code_have_a_module():
    """Tests of `operator`, and others, read `__module__` of everything in a module's namespace."""
    assert autoconv.operators.__module__ == "autoconv.operators"


def test_the_hook_needs_only_the_import_of_the_package():
    """The hook of docs/guides/importing.md needs no further import, and no NumPy."""
    program = "import sys, autoconv\nautoconv.importing.install('solver')\nassert 'numpy' not in sys.modules\n"
    program += "assert 'importing' in dir(autoconv)\n"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_error_without_a_name():
    with pytest.raises(ValueError, match=r"needs the name of at least one package, e\.g\. install\('solver'\)"):
        autoconv.importing.install()


def test_a_package_sees_another_module_where_it_imports_one(tmp_path, monkeypatch):
    package = tmp_path / "renamed_client"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import sys\nimport importlib\nimport nothere\nimport nothere as n\nfrom nothere import sqrt\n"
        "import nothere.sub\nlate = importlib.import_module('nothere')\nloaded = 'nothere' in sys.modules\n"
        "computed = [sys.modules[n] for n in ('nothere', 'sys')] + [importlib.import_module(n) for n in ['nothere']]\n"
        "def fails():\n    raise ValueError('here')\ndef get(name):\n    return name\nown = get('nothere')\n"
    )
    (package / "plain.py").write_text("value = 3\n")
    stands = tmp_path / "standing_in"
    stands.mkdir()
    (stands / "__init__.py").write_text("from math import sqrt\n")
    (stands / "sub.py").write_text("deep = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    hook = autoconv.importing.rename("nothere", "standing_in", packages=["renamed_client"])
    try:
        import renamed_client
        import renamed_client.plain
        import standing_in
    finally:
        hook.uninstall()
    assert renamed_client.nothere is renamed_client.n is renamed_client.late is standing_in
    assert renamed_client.sqrt(4) == 2 and renamed_client.nothere.sub.deep == 1 and renamed_client.loaded
    assert renamed_client.computed == [standing_in, sys, standing_in]
    assert "nothere" not in sys.modules and renamed_client.plain.value == 3 and renamed_client.own == "nothere"
    with pytest.raises(ModuleNotFoundError):
        import nothere  # noqa: F401
    with pytest.raises(ValueError, match="here") as caught:
        renamed_client.fails()
    assert caught.traceback[-1].lineno == 10
    with pytest.raises(ValueError, match="name of a package"):
        autoconv.importing.rename("nothere", packages=[])


def test_names_of_compat_are_those_of_version_2(tmp_path, monkeypatch):
    (tmp_path / "compat_client.py").write_text(
        "import tensorflow.compat.v2 as tf\nimport tensorflow\nfrom tensorflow.compat import as_text, v2\n"
        "found = v2.ones([1]).shape[0], as_text(b'a'), tensorflow.compat.v2.ones([2]).shape[0]\n"
        "kinds = [isinstance(3, tf.compat.integral_types), isinstance(1j, tf.compat.real_types)]\n"
        "size = tf.compat.dimension_at_index(tf.TensorShape([2, None]), 1).value\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    hook = autoconv.importing.rename("tensorflow", packages=["compat_client"])
    try:
        import compat_client
    finally:
        hook.uninstall()
    assert compat_client.found == (1, "a", 2) and compat_client.kinds == [True, False] and compat_client.size is None
