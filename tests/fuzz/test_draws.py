"""A small budget of the programs that draw from NumPy's generators; `python tests/fuzz/draws.py` is the large one."""

from pathlib import Path

from tests.module_loading import load_module

draws = load_module(Path(__file__).with_name("draws.py"), "programs_of_draws")


def test_compiled_programs_draw_the_numbers_of_plain_python():
    kinds = []
    for number in range(9):
        source = draws.Program(number).text()
        kind, details = draws.check(source, number)
        assert kind != "WRONG", f"{source}\n{details}"
        kinds.append(kind)
    assert kinds.count("graph") >= 6
