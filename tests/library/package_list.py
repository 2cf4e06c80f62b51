"""The packages of the registry that `packages.py` runs, and what may differ in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Package:
    """A package of the registry.

    `imports` are its top-level packages, `needs` further packages that its tests import. `tests` are globs in the
    archive, where the tests are in none of TEST_FOLDERS; `skip` selects tests that need no network and no terminal.
    `installed`: the tests are installed with the package. `importlib`: pytest imports the files of tests by their
    paths. `doctests`: the tests are in the docstrings of those files. `options` are further options of pytest,
    `variables` of the environment. `converted` are the packages to convert, if not all of `imports`.
    """

    name: str
    imports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    skip: str = ""
    installed: bool = False
    importlib: bool = False
    doctests: bool = False
    options: tuple[str, ...] = ()
    converted: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        return self.imports or (self.name.replace("-", "_"),)


PACKAGES = (
    Package("toolz", ("toolz", "tlz"), tests=("toolz/tests",)),
    Package("more-itertools"),
    Package("attrs", ("attr", "attrs"), ("hypothesis", "cloudpickle")),
    Package("sortedcontainers", tests=("sortedcontainers/sorted*.py",), doctests=True),
    Package("markdown-it-py", ("markdown_it",), ("pytest-regressions", "linkify-it-py", "requests")),
    Package("pyparsing", needs=("railroad-diagrams", "jinja2"), skip="not matplotlib"),
    Package("networkx", needs=("numpy",), tests=("networkx/algorithms/tests",)),
    Package("mpmath", tests=("mpmath/tests",), needs=("hypothesis", "pexpect"), skip="not test_round_bulk"),
    Package("jinja2", needs=("trio",)),
    Package("packaging", needs=("pretend", "hypothesis", "tomli_w")),
    Package("sqlparse"),
    Package("cachetools"),
    Package("tabulate"),
    Package("boltons"),
    Package("humanize", needs=("freezegun",)),
    Package("parso", needs=("docopt",)),
    Package("lark", needs=("regex", "interegular")),
    Package("itsdangerous", needs=("freezegun",)),
    Package("blinker", needs=("pytest-asyncio",), options=("-o", "asyncio_default_fixture_loop_scope=function")),
    Package("mistune"),
    Package("funcy", needs=("whatever",)),
    Package("pyrsistent", needs=("hypothesis",)),
    Package("natsort", needs=("hypothesis", "pytest-mock")),
    Package("intervaltree", needs=("sortedcontainers",)),
    Package("idna", needs=("hypothesis",)),
    Package(
        "wcwidth",
        needs=("pytest-codspeed", "pytest-cov"),
        options=("--no-cov",),
        variables=(("WCWIDTH_PYTHON", "1"),),
    ),
    Package("inflection", tests=("test_inflection.py",), importlib=True),
    Package("semver", needs=("pytest-cov",), options=("--no-cov",)),
    Package("isodate"),
    Package("textdistance", needs=("hypothesis",)),
    Package("xmltodict"),
    Package("markdown", needs=("pyyaml",), options=("-o", "filterwarnings=ignore", "-o", "python_classes=Unittests")),
    Package("portion", needs=("pytest-benchmark",)),
    Package("webcolors"),
    Package("click"),
    Package("python-dateutil", ("dateutil",), ("hypothesis", "freezegun", "pytest-subtests"), options=("-W", "ignore")),
    Package("anytree", needs=("pytest-cov", "rich", "test2ref"), options=("--no-cov",)),
    Package("arrow", needs=("python-dateutil", "pytz", "simplejson", "dateparser", "pytest-cov", "pytest-mock")),
    Package("asteval", needs=("pytest-cov", "numpy"), options=("--no-cov",)),
    Package("ftfy"),
    Package("marshmallow", needs=("simplejson",)),
    Package("pycparser"),
    Package("rfc3986", needs=("idna",)),
    Package("geographiclib", tests=("geographiclib/test/test_*.py",)),
    Package("jsonpath-ng", needs=("hypothesis", "pytest-benchmark")),
    Package("jsonpointer", tests=("tests.py",), importlib=True),
    Package("parse", needs=("pytest-cov",), options=("--no-cov",)),
    Package("pathspec"),
    Package("prettytable", needs=("pytest-lazy-fixtures",)),
    Package("pyasn1"),
    Package("python-slugify", ("slugify",)),
    Package("simpleeval"),
    Package("soupsieve", needs=("beautifulsoup4", "html5lib", "lxml")),
    Package("texttable", tests=("tests.py",), importlib=True),
    Package("tinycss2", needs=("webencodings",)),
    Package("tomlkit", needs=("pyyaml",)),
    Package("uncertainties", needs=("numpy",)),
    Package("uritemplate"),
    Package(
        "sympy", needs=("hypothesis",), importlib=True,
        tests=tuple(f"sympy/{part}/tests" for part in ("core", "ntheory", "sets")),
    ),
    Package(
        "numpy",
        ("numpy.polynomial", "numpy.ma", "numpy.lib", "numpy.linalg", "numpy.fft", "numpy.testing", "numpy._core"),
        ("hypothesis", "pytest-timeout"),
        ("numpy/polynomial/tests", "numpy/lib/tests", "numpy/linalg/tests", "numpy/ma/tests", "numpy/fft/tests"),
        skip="not slow",
        installed=True,
        converted=("numpy.polynomial", "numpy.ma"),
    ),
    Package(
        "scipy",
        needs=("hypothesis", "pytest-timeout"),
        tests=tuple(f"scipy/{part}/tests" for part in ("optimize", "integrate", "signal", "interpolate", "cluster")),
        skip="not slow and not xslow",
        installed=True,
    ),
)

# Reasons of tests and functions that may differ, by package and pattern of names.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("boltons", r"ObjectInputType\.(guess_headers|get_entry)$"): (
        "lists `__weakref__` among the attributes of an object, which is None until something refers to it weakly"
    ),
    ("pyparsing", r"Forward\.(__init__|__lshift__)$"): (
        "keeps the frame of its caller, and the call of a compiled function has frames of its own"
    ),
    ("arrow", r"Arrow\.humanize$"): "tells how long ago a time was, by a clock that goes on between calls",
    ("markdown", r"(recursionlimit\.__init__|_get_stack_depth)$"): (
        "counts the frames on the stack, where the call of a compiled function has frames of its own"
    ),
}
