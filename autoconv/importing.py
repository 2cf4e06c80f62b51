"""Import modules converted, without writing a converted file beside the source.

    import autoconv.importing
    autoconv.importing.install("solver", compile=["newton"])
    import solver                      # solver and its submodules are converted

The module keeps the user's file name and line numbers, so tracebacks, `inspect` and debuggers show the user's
source.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.abc
import importlib.util
import os
import sys
import sysconfig
import warnings
import zipimport
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from autoconv.config import SETTINGS
from autoconv.emit.columns import register_module_text
from autoconv.emit.conversion import Options
from autoconv.emit.conversion_cache import ConversionCache
from autoconv.emit.import_renames import new_module_name, rename_imports
from autoconv.emit.locate import compile_with_origins, is_converted
from autoconv.emit.module import check_source, convert_source, qualified_functions
from autoconv.errors import SourceError


def install(*packages: str, compile: Iterable[str] = (), keep_going: bool = False) -> ImportHook:
    """Convert the modules of `packages` (and of their subpackages) from now on, as they are imported.

    `compile` names functions to put under `@autoconv.compile`: `f` or `Class.method` in any module that defines it,
    `package.module:f` in that module alone. With `keep_going`, a function that cannot be converted stays unchanged;
    without it, importing such a module raises UnsupportedError. Returns the hook; `hook.uninstall()` removes it. With
    AUTOCONV_DISABLE=1 the hook does nothing.

    >>> hook = autoconv.importing.install("solver", compile=["Grid.relax", "solver.linear:iterate"])
    >>> hook.uninstall()
    """
    if not packages:
        raise ValueError("install() needs the name of at least one package, e.g. install('solver')")
    loaded_names = sorted(name for name in packages if name in sys.modules)
    if loaded_names and not SETTINGS.disabled:
        warnings.warn(
            f"already imported, and not converted: {', '.join(loaded_names)}; call install() before they are imported",
            stacklevel=2,
        )
    hook = ImportHook(packages=packages, compile=compile, keep_going=keep_going)
    hook.install()
    return hook


@contextlib.contextmanager
def converted(*packages: str, compile: Iterable[str] = (), keep_going: bool = False) -> Iterator[ImportHook]:
    """`install` for the imports inside a `with` block only.

    >>> with autoconv.importing.converted("colorsys", compile=["rgb_to_yiq"]):
    ...     import colorsys
    >>> colorsys.rgb_to_yiq(0.0, 0.0, 0.0)
    (0.0, 0.0, 0.0)
    """
    hook = install(*packages, compile=compile, keep_going=keep_going)
    try:
        yield hook
    finally:
        hook.uninstall()


class _Hook(importlib.abc.MetaPathFinder):
    """A meta path finder that changes the loaders of the modules that other finders locate."""

    def install(self) -> None:
        """Insert the hook before Python's own finders."""
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def uninstall(self) -> None:
        """Remove the hook, without effect on modules that are imported already."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec_by_other_finders(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """Return the spec from the first finder that has one and is no `_Hook`; None if there is none."""
        for finder in sys.meta_path:
            find = None if isinstance(finder, _Hook) else getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find else None
            if spec is not None:
                return spec
        return None


class ImportHook(_Hook):
    """Meta path finder that gives modules of `packages`, and those under `folder`, a converting loader.

    Modules are located by the other finders.

    >>> import sys
    >>> hook = autoconv.importing.ImportHook(packages=["solver"])
    >>> hook.install()
    >>> hook in sys.meta_path
    True
    >>> hook.uninstall()
    """

    def __init__(
        self,
        *,
        packages: Iterable[str] = (),
        folder: Path | None = None,
        compile: Iterable[str] = (),
        keep_going: bool = False,
    ) -> None:
        self.packages = tuple(packages)
        self.folder = os.path.realpath(folder) if folder is not None else None
        self.compile = frozenset(compile)
        self.keep_going = keep_going

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the other finders, with a converting loader if the module is to be converted."""
        if SETTINGS.disabled or fullname.partition(".")[0] == "autoconv":
            return None
        is_named = any(fullname == package or fullname.startswith(package + ".") for package in self.packages)
        if not is_named and self.folder is None:
            return None
        spec = self.find_spec_by_other_finders(fullname, path, target)
        if spec is None or not (is_named or self._is_inside(spec.origin)):
            return spec
        if isinstance(spec.loader, SourceFileLoader) and not isinstance(spec.loader, ConvertingLoader):
            spec.loader = ConvertingLoader(fullname, spec.loader.path, self)
        elif isinstance(spec.loader, zipimport.zipimporter):
            spec.loader = ConvertingZipLoader(spec.loader, self)
        return spec

    def options_for(self, module: str, source: str) -> Options:
        """Return the options for a module, with the functions to compile that it defines."""
        names: set[str] = set()
        for target in self.compile:  # "function", or "module:function"
            target_module, colon, function = target.partition(":")
            if not colon:
                names.add(target)
            elif target_module == module:
                names.add(function or target)
        if names:
            try:
                names &= {name for name, _ in qualified_functions(ast.parse(source))}
            except (SyntaxError, ValueError):
                names = set()  # the conversion reports it, with its position
        return Options(compile_names=frozenset(names), keep_going=self.keep_going, comments=False)

    def _is_inside(self, origin: str | None) -> bool:
        """Return whether a file is the user's own: under the folder, and not in a library installed below it."""
        if self.folder is None or not origin:
            return False
        file = os.path.realpath(origin)
        if not file.startswith(os.path.join(self.folder, "")):
            return False
        path_parts = file[len(self.folder) :].split(os.sep)
        if "site-packages" in path_parts or "dist-packages" in path_parts:
            return False
        return not any(
            _is_below(library, self.folder) and file.startswith(os.path.join(library, ""))
            for library in _library_folders()
        )


def rename(old: str, new: str = "autoconv.tensorflow", *, packages: Iterable[str]) -> RenamingHook:
    """Make `packages` (and their subpackages) import the module `new` in place of `old`, from now on.

    Other modules are not affected: `old` does not enter `sys.modules`, and no file is changed. The packages are not
    converted. For packages that are imported already, there is a warning, and nothing changes. Returns the hook;
    `hook.uninstall()` removes it.

    >>> hook = autoconv.importing.rename("tensorflow", packages=["sonnet"])
    >>> hook.uninstall()
    """
    names = tuple(packages)
    if not names:
        raise ValueError(f"rename() needs the name of a package that imports {old}, e.g. packages=['sonnet']")
    loaded_names = sorted(name for name in names if name in sys.modules)
    if loaded_names:
        warnings.warn(
            f"already imported with {old}, and not renamed: {', '.join(loaded_names)}; call rename() before they are "
            "imported",
            stacklevel=2,
        )
    hook = RenamingHook(old, new, packages=names)
    hook.install()
    return hook


class RenamingHook(_Hook):
    """Meta path finder that renames what the modules of `packages` import; they are located by the other finders."""

    def __init__(self, old: str, new: str, packages: Iterable[str]) -> None:
        self.old = old
        self.new = new
        self.packages = tuple(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the other finders, with a renaming loader for a module of the packages."""
        if not any(fullname == package or fullname.startswith(package + ".") for package in self.packages):
            return None
        spec = self.find_spec_by_other_finders(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = RenamingLoader(fullname, spec.loader.path, self)
        return spec


class RenamingLoader(SourceFileLoader):
    """Loader that renames the imports of a file; a file without the old name is loaded from its usual bytecode."""

    def __init__(self, fullname: str, path: str, hook: RenamingHook) -> None:
        super().__init__(fullname, path)
        self.hook = hook

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the module's code; lines and columns are those of the file."""
        file = self.get_filename(fullname)
        source_bytes = self.get_data(file)
        if self.hook.old.encode() not in source_bytes:
            return super().get_code(fullname)
        tree = ast.parse(source_bytes, file)
        if not rename_imports(tree, {self.hook.old: self.hook.new}, resolver=_RENAMER_NAME):
            return super().get_code(fullname)
        return compile(tree, file, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module with a global function that renames computed module names."""
        setattr(module, _RENAMER_NAME, self._rename_module)
        super().exec_module(module)

    def _rename_module(self, name: object) -> object:
        """Return the new name of a module whose name is computed; any other value unchanged."""
        return (new_module_name(name, {self.hook.old: self.hook.new}) or name) if isinstance(name, str) else name


_RENAMER_NAME = "_renamed_by_autoconv"


class _ConvertingLoaderBase:
    """Shared behaviour of converting loaders; a syntax error is the one that Python's own loader would raise."""

    hook: ImportHook

    def compile_converted(self, module: str, source_bytes: bytes, file: str) -> CodeType:
        """Return the converted module's code, given the bytes of its file."""
        failure: Exception
        try:
            return self._convert_or_load(module, importlib.util.decode_source(source_bytes), source_bytes, file)
        except (SourceError, SyntaxError) as error:
            failure = error
        compile(source_bytes, file, "exec", dont_inherit=True)  # outside of the handler, to raise without a context
        raise failure

    def _convert_or_load(self, module: str, source: str, source_bytes: bytes, file: str) -> CodeType:
        """Return the code, of the text in the cache or of a new conversion."""
        if is_converted(source):
            return compile(source_bytes, file, "exec", dont_inherit=True)
        options = self.hook.options_for(module, source)
        cache = ConversionCache(file, source_bytes, options)
        text, origins, generated_functions = cache.load() or ("", (), ())
        if not text:
            conversion = convert_source(source, file, options)
            text, origins, generated_functions = conversion.text, conversion.origins, conversion.generated
            cache.store(text, origins, generated_functions)
        code = compile_with_origins(text, origins, file, source=source, generated=generated_functions)
        register_module_text(code, text)
        return code


class ConvertingLoader(_ConvertingLoaderBase, SourceFileLoader):  # type: ignore[misc]
    """Loader of a converted file.

    Only `get_code` differs from Python's loader. So no frame of this package appears in a traceback of the
    module's own code, and the module's plain bytecode is left alone.
    """

    def __init__(self, fullname: str, path: str, hook: ImportHook) -> None:
        super().__init__(fullname, path)
        self.hook = hook

    def get_code(self, fullname: str) -> CodeType:
        """Return the converted module's code, with the user's file name and lines."""
        file = self.get_filename(fullname)
        return self.compile_converted(fullname, self.get_data(file), file)


class ConvertingZipLoader(_ConvertingLoaderBase, importlib.abc.InspectLoader):
    """Loader of a converted module in a zip archive; everything else is delegated to the archive's own loader."""

    def __init__(self, archive_loader: zipimport.zipimporter, hook: ImportHook) -> None:
        self.archive_loader = archive_loader
        self.hook = hook

    def __getattr__(self, name: str) -> object:
        return getattr(self.archive_loader, name)

    def get_source(self, fullname: str) -> str | None:
        """Return the user's source from the archive."""
        return self.archive_loader.get_source(fullname)

    def is_package(self, fullname: str) -> bool:
        """Return whether the module is a package."""
        return self.archive_loader.is_package(fullname)

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the converted module's code; the archive's own code if there is only bytecode."""
        if self.archive_loader.get_source(fullname) is None:
            return self.archive_loader.get_code(fullname)
        file = self.archive_loader.get_filename(fullname)
        source_file = file if file.endswith(".py") else file.removesuffix("c")
        return self.compile_converted(fullname, self.archive_loader.get_data(source_file), source_file)


def convert_script(path: Path, hook: ImportHook) -> CodeType:
    """Return the code object of a script, converted with the hook's options, without a cache.

    Raises what `convert_source` does.
    """
    source = importlib.util.decode_source(path.read_bytes())
    if SETTINGS.disabled:
        check_source(source, str(path))
        return compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    if is_converted(source):
        return compile(source, str(path), "exec", dont_inherit=True)
    conversion = convert_source(source, str(path), hook.options_for("__main__", source))
    code = compile_with_origins(
        conversion.text, conversion.origins, str(path), source=source, generated=conversion.generated
    )
    register_module_text(code, conversion.text)
    return code


@functools.cache
def _library_folders() -> set[str]:
    """Return the folders of Python's library and of installed packages."""
    paths = sysconfig.get_paths()
    return {os.path.realpath(paths[key]) for key in ("stdlib", "platstdlib", "purelib", "platlib")}


def _is_below(path: str, folder: str) -> bool:
    """Return whether a path is inside a folder."""
    return path != folder and path.startswith(os.path.join(folder, ""))
