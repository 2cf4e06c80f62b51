"""Workloads of `plain_slowdown.py`: functions of the standard library on plain values, and tight loops."""

from __future__ import annotations

import io
import random
import textwrap as text_wrapping
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

Modules = Mapping[str, ModuleType]
LOOPS = Path(__file__).resolve().parent / "tight_loops.py"


@dataclass(frozen=True)
class Workload:
    """A workload: `prepare` takes the modules, original or converted, and returns the function to time."""

    name: str
    modules: tuple[str, ...]
    prepare: Callable[[Modules], Callable[[], Any]]


def _words(count: int, seed: int = 0) -> list[str]:
    chooser = random.Random(seed)
    syllables = ["ka", "lo", "mi", "ter", "an", "so", "ve", "ru", "den", "if", "for"]
    return ["".join(chooser.choices(syllables, k=chooser.randint(1, 4))) for _ in range(count)]


def _numbers(count: int) -> list[int]:
    chooser = random.Random(1)
    return [chooser.randrange(1_000_000) for _ in range(count)]


def _difflib_ratio(modules: Modules) -> Callable[[], Any]:
    a, b = " ".join(_words(60, 1)), " ".join(_words(60, 2))
    return lambda: modules["difflib"].SequenceMatcher(None, a, b, autojunk=False).ratio()


def _difflib_diff(modules: Modules) -> Callable[[], Any]:
    a, b = _words(150, 1), _words(150, 2)
    return lambda: list(modules["difflib"].unified_diff(a, b))


def _statistics_mean(modules: Modules) -> Callable[[], Any]:
    values = [x / 7 for x in _numbers(300)]
    module = modules["statistics"]
    return lambda: (module.mean(values), module.stdev(values), module.median(values))


def _statistics_quantiles(modules: Modules) -> Callable[[], Any]:
    values = _numbers(400)
    other = _numbers(401)[1:]
    module = modules["statistics"]
    return lambda: (module.quantiles(values, n=100), module.correlation(values, other), module.mode(values))


def _textwrap_fill(modules: Modules) -> Callable[[], Any]:
    text = " ".join(_words(500))
    return lambda: modules["textwrap"].fill(text, 60)


def _textwrap_dedent(modules: Modules) -> Callable[[], Any]:
    text = text_wrapping.indent("\n".join(_words(300)), "    ")
    module = modules["textwrap"]
    return lambda: module.indent(module.dedent(text), "> ")


DOCUMENT = (
    '{"title": "a \\u00e9 list", "items": ['
    + ", ".join(f'{{"id": {i}, "name": "item \\"{i}\\"", "tags": ["x", "y"], "price": {i / 8}}}' for i in range(60))
    + "]}"
)


def _json_decode(modules: Modules) -> Callable[[], Any]:
    decoder = modules["json.decoder"].JSONDecoder()
    decoder.parse_string = modules["json.decoder"].py_scanstring
    decoder.scan_once = modules["json.scanner"].py_make_scanner(decoder)
    return lambda: decoder.decode(DOCUMENT)


def _json_encode(modules: Modules) -> Callable[[], Any]:
    value = [{"a": i, "b": [1.5, None, True, "text é"], "c": {"d": "e"}} for i in range(60)]
    encoder = modules["json.encoder"].JSONEncoder(indent=1)
    return lambda: encoder.encode(value)


def _heap_pushes(modules: Modules) -> Callable[[], Any]:
    numbers = _numbers(400)
    module = modules["heapq"]

    def run() -> list[int]:
        heap: list[int] = []
        for number in numbers:
            module.heappush(heap, number)
        return [module.heappop(heap) for _ in numbers]

    return run


def _heap_merge(modules: Modules) -> Callable[[], Any]:
    parts = [sorted(_numbers(n)) for n in (200, 300, 400)]
    module = modules["heapq"]
    return lambda: (list(module.merge(*parts)), module.nsmallest(20, parts[2]), module.nlargest(20, parts[1]))


def _fractions(modules: Modules) -> Callable[[], Any]:
    fraction = modules["fractions"].Fraction
    values = [fraction(a, b) for a, b in zip(_numbers(60), _numbers(61)[1:], strict=True)]

    def run() -> tuple[Any, ...]:
        total = fraction(0)
        for value in values:
            total += value * value - value / 3
            if total > 5:
                total -= 5
        return total, max(values), values[0].limit_denominator(100), fraction("3.14159")

    return run


INI = "\n".join(
    f"[section {i}]\n# comment\nname = value {i}\nport: {i}\npath = %(name)s/x\n  more\n" for i in range(40)
)


def _configparser(modules: Modules) -> Callable[[], Any]:
    def run() -> list[list[tuple[str, str]]]:
        parser = modules["configparser"].ConfigParser()
        parser.read_string(INI)
        return [parser.items(name) for name in parser.sections()]

    return run


TOML = "\n".join(
    f'[table.part{i}]\nname = "text \\n {i}"\ncount = {i}\nratio = {i}.25\nlist = [1, 2, {{a = 1}}]\n'
    f"day = 2024-01-0{i % 9 + 1}\n"
    for i in range(30)
)


def _tomllib(modules: Modules) -> Callable[[], Any]:
    return lambda: modules["tomllib._parser"].loads(TOML)


def _ipaddress(modules: Modules) -> Callable[[], Any]:
    four = [f"{n % 223 + 1}.{n % 251}.{n % 13}.{n % 241}" for n in _numbers(60)]
    six = [f"2001:db8:{n % 65536:x}::{n % 4096:x}" for n in _numbers(40)]
    module = modules["ipaddress"]

    def run() -> list[Any]:
        addresses = [str(module.ip_address(text)) for text in four + six]
        network = module.ip_network("10.0.0.0/20")
        return [*addresses, [str(n) for n in network.subnets(new_prefix=25)], module.ip_address("10.0.3.4") in network]

    return run


def _csv(modules: Modules) -> Callable[[], Any]:
    rows = [{"a": str(n), "b": "x,y", "c": None} for n in _numbers(100)]
    module = modules["csv"]

    def run() -> Any:
        out = io.StringIO()
        writer = module.DictWriter(out, ["a", "b", "c"])
        writer.writeheader()
        writer.writerows(rows)
        return [dict(row) for row in module.DictReader(io.StringIO(out.getvalue()))]

    return run


def _shlex(modules: Modules) -> Callable[[], Any]:
    text = " ".join(f"'{w} x' {w}\\ y \"{w}\"" for w in _words(40))
    return lambda: modules["shlex"].split(text)


def _html(modules: Modules) -> Callable[[], Any]:
    text = "".join(f'<p class="a{i}">text &amp; <b>{i}</b><br/><!-- note --></p>\n' for i in range(60))

    def run() -> None:
        parser = modules["html.parser"].HTMLParser()
        parser.feed(text)
        parser.close()

    return run


def _copy(modules: Modules) -> Callable[[], Any]:
    value = {"a": [1, 2, (3, [4])], "b": {i: [i] for i in range(60)}}
    return lambda: modules["copy"].deepcopy(value)


def _argparse(modules: Modules) -> Callable[[], Any]:
    module = modules["argparse"]

    def run() -> Any:
        parser = module.ArgumentParser(prog="tool")
        for name in "abcdef":
            parser.add_argument(f"-{name}", f"--{name}{name}", type=int, default=0)
        parser.add_argument("files", nargs="*")
        namespace = parser.parse_args(["-a", "1", "--bb=2", "-c3", "x", "y", "z"])
        return sorted(vars(namespace).items()), parser.format_help()

    return run


def _loop(name: str, *arguments: Any) -> Workload:
    def prepare(modules: Modules) -> Callable[[], Any]:
        function = getattr(modules["tight_loops"], name)
        return lambda: function(*arguments)

    return Workload(f"loop: {name}", ("tight_loops",), prepare)


WORKLOADS = (
    Workload("difflib: ratio", ("difflib",), _difflib_ratio),
    Workload("difflib: unified_diff", ("difflib",), _difflib_diff),
    Workload("statistics: mean, stdev, median", ("fractions", "statistics"), _statistics_mean),
    Workload("statistics: quantiles, correlation", ("statistics",), _statistics_quantiles),
    Workload("textwrap: fill", ("textwrap",), _textwrap_fill),
    Workload("textwrap: dedent, indent", ("textwrap",), _textwrap_dedent),
    Workload("json: decode", ("json.scanner", "json.decoder"), _json_decode),
    Workload("json: encode", ("json.encoder",), _json_encode),
    Workload("heapq: push, pop", ("heapq",), _heap_pushes),
    Workload("heapq: merge, nsmallest", ("heapq",), _heap_merge),
    Workload("fractions: arithmetic", ("fractions",), _fractions),
    Workload("configparser: read, items", ("configparser",), _configparser),
    Workload("tomllib: loads", ("tomllib._re", "tomllib._parser"), _tomllib),
    Workload("ipaddress: parse, subnets", ("ipaddress",), _ipaddress),
    Workload("csv: DictReader, DictWriter", ("csv",), _csv),
    Workload("shlex: split", ("shlex",), _shlex),
    Workload("html.parser: feed", ("_markupbase", "html.parser"), _html),
    Workload("copy: deepcopy", ("copy",), _copy),
    Workload("argparse: parse_args, help", ("argparse",), _argparse),
    _loop("collatz", 400),
    _loop("sieve", 10_000),
    _loop("nested_loops", 40),
    _loop("nqueens", 5),
    _loop("scan_words", "The 39 steps of a 1915 novel , read twice . " * 20),
)
