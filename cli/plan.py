"""Plan a conversion before it starts: its inputs, and the output path of each result."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple

from autoconv.emit.conversion import Options
from autoconv.errors import TargetError

from .output import refuse_existing, refuse_inputs
from .own_files import is_converted_file, own_files
from .targets import display_path, is_python_file

STREAM = "-"  # standard input or output, in place of a path
SUFFIXES = ("graph", "upgraded")  # endings of the default names of outputs: of `convert`, of `upgrade`


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The conversion or copy of one file. `source` is None for standard input, `output` for standard output.

    `folder_index`: position of the folder argument that it belongs to, which is written as a whole or not at all.
    """

    source: Path | None
    output: Path | None
    action: Literal["convert", "copy"] = "convert"
    options: Options = field(default_factory=Options)
    folder_index: int | None = None

    @property
    def name(self) -> str:
        return str(self.source) if self.source is not None else "<stdin>"


class FolderArgument(NamedTuple):
    """A folder among the inputs of a command, and the folder of its output."""

    source: Path
    target: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The jobs of one command, and its folder arguments."""

    jobs: tuple[Job, ...]
    folders: tuple[FolderArgument, ...]


def make_plan(inputs: Sequence[str], output: str | None, options: Options, suffix: str = "graph") -> Plan:
    """Return the plan for the FILE|DIR|- arguments and the -o of a command line.

    Without -o the names of outputs end with `suffix`. Raises TargetError for a missing path and for a folder without
    Python files, SourceError for an unreadable folder.
    """
    paths = list(dict.fromkeys(inputs))
    if STREAM in paths and len(paths) > 1:
        raise TargetError("standard input (-) cannot be combined with files")
    if paths == [STREAM]:
        target = None if output in (None, STREAM) else Path(str(output))
        return Plan(jobs=(Job(source=None, output=target, options=options),), folders=())
    jobs: list[Job] = []
    folders: list[FolderArgument] = []
    for source in map(Path, paths):
        if source.is_dir():
            target_folder = _folder_output(source, output, has_several_inputs=len(paths) > 1, suffix=suffix)
            jobs += _folder_jobs(source, target_folder, options, len(folders))
            folders.append(FolderArgument(source, target_folder))
        elif os.path.lexists(source):
            jobs.append(
                Job(source=source, output=_file_output(source, output, len(paths) > 1, suffix), options=options)
            )
        else:
            raise TargetError(f"{source}: no such file or folder")
    jobs = list(_rename_sibling_imports(jobs)) if output is None else jobs
    return Plan(jobs=tuple(map(_set_source_path, jobs)), folders=tuple(folders))


def _set_source_path(job: Job) -> Job:
    """Store in the job's options the path of its source, relative to the folder of its output."""
    if job.source is None or job.output is None or job.action != "convert":
        return job
    path = os.path.relpath(os.path.realpath(job.source), os.path.realpath(job.output.parent))
    return replace(job, options=replace(job.options, source_path=path))


def transaction_path(plan: Plan, job: Job, folders: Mapping[int, Path]) -> Path:
    """Return the path at which an `OutputTransaction` puts a job's output; `folders` are its folders by argument index.
    """
    assert job.output is not None
    if job.folder_index is None:
        return job.output
    return folders[job.folder_index] / job.output.relative_to(plan.folders[job.folder_index].target)


def check_outputs(plan: Plan, *, force: bool) -> None:
    """Raise TargetError for an output that exists without --force, is an input, or would be written twice."""
    sources = [job.source for job in plan.jobs if job.source is not None]
    outputs = [job.output for job in plan.jobs if job.output is not None]
    for source, target in plan.folders:
        real_target, real_source = os.path.realpath(target), os.path.realpath(source)
        is_inside = os.path.commonpath([real_target, real_source]) == real_source and real_target != real_source
        if is_inside and not _is_default_output(source, target):
            raise TargetError(f"the output {target} lies inside of the folder {source} that is converted")
    refuse_inputs([job.output for job in plan.jobs if job.output is not None and not _becomes_link(job)], sources)
    _refuse_links_to_outside(plan)
    distinct_paths: set[str] = set()
    for path in outputs:
        if str(path) in distinct_paths:
            raise TargetError(f"{path} would be written twice; convert these files one by one")
        distinct_paths.add(str(path))
    for _, folder in plan.folders:
        if folder.exists() and not folder.is_dir():
            raise TargetError(f"{folder} is a file; the output of a folder is a folder")
        refuse_existing(folder, force=force)
    for job in plan.jobs:
        if job.folder_index is None and job.output is not None:
            if job.output.is_dir():
                raise TargetError(f"{job.output} is a folder; the output of a file is a file")
            refuse_existing(job.output, force=force)


def _refuse_links_to_outside(plan: Plan) -> None:
    """Raise TargetError for an output that would be written through a link to outside of its output folder."""
    for job in plan.jobs:
        if job.folder_index is None or job.output is None:
            continue
        output_folder = plan.folders[job.folder_index].target
        real_output = os.path.realpath(job.output.parent if _becomes_link(job) else job.output)
        real_folder = os.path.realpath(output_folder)
        if os.path.commonpath([real_output, real_folder]) != real_folder:
            raise TargetError(f"{job.output} is a link to outside of the output {output_folder}")


def _becomes_link(job: Job) -> bool:
    """Return whether the source is a link to a folder or to nothing: the output is then a link, not written through."""
    if job.folder_index is None or job.source is None:
        return False
    return job.source.is_symlink() and not job.source.is_file()


def _file_output(source: Path, output: str | None, has_several_inputs: bool, suffix: str) -> Path | None:
    if output is None:
        return source.with_name(f"{source.stem}_{suffix}{source.suffix or '.py'}")
    if output == STREAM:
        if has_several_inputs:
            raise TargetError("several files cannot go to standard output; name a folder with -o")
        return None
    if has_several_inputs or output.endswith(("/", os.sep)) or Path(output).is_dir():
        return Path(output) / source.name
    return Path(output)


def _folder_output(source: Path, output: str | None, *, has_several_inputs: bool, suffix: str) -> Path:
    if output == STREAM:
        raise TargetError(f"{source} is a folder and cannot go to standard output; name a folder with -o")
    source_folder = Path(os.path.abspath(source))
    if output is not None:
        return Path(output) / source_folder.name if has_several_inputs else Path(output)
    if not source_folder.name:
        raise TargetError(f"name a folder with -o for the output of {source}")
    name = f"{source_folder.name}_{suffix}"
    # The sibling folder would lie outside of the current one.
    if source_folder == Path.cwd() or source_folder in Path.cwd().parents:
        return Path(name)
    return display_path(source_folder.with_name(name))


def _is_default_output(source: Path, target: Path) -> bool:
    """Return whether the folder is the default output (without -o), which is skipped as an input."""
    return any(target == _folder_output(source, None, has_several_inputs=False, suffix=suffix) for suffix in SUFFIXES)


def _folder_jobs(source: Path, target: Path, options: Options, index: int) -> list[Job]:
    options = _rename_package_imports(source, target, options)
    jobs = [
        Job(
            source=path,
            output=target / path.relative_to(source),
            action="convert" if is_python_file(path) and not is_converted_file(path) else "copy",
            options=options,
            folder_index=index,
        )
        for path in own_files(source, target)
    ]
    if not any(job.action == "convert" for job in jobs):
        raise TargetError(f"{source}: there is no Python file in this folder")
    return jobs


def _rename_package_imports(source: Path, target: Path, options: Options) -> Options:
    """Rename imports of a package's own modules if the output has another package name."""
    old_name, new_name = Path(os.path.abspath(source)).name, Path(os.path.abspath(target)).name
    if (
        not (source / "__init__.py").is_file()
        or old_name == new_name
        or not (old_name.isidentifier() and new_name.isidentifier())
    ):
        return options
    outer_packages: list[str] = []
    for parent in Path(os.path.abspath(source)).parents:
        if not (parent / "__init__.py").is_file():
            break
        outer_packages.insert(0, parent.name)
    old_package, new_package = ".".join([*outer_packages, old_name]), ".".join([*outer_packages, new_name])
    return replace(options, rename_imports={old_package: new_package, **options.rename_imports})


def _rename_sibling_imports(jobs: list[Job]) -> Iterator[Job]:
    """Rename imports between files of one folder that are converted together: `a` becomes `a_graph`."""
    stems_by_folder: dict[Path, dict[str, str]] = {}
    for job in jobs:
        if job.folder_index is not None or job.source is None or job.output is None:
            continue
        if job.source.stem.isidentifier() and not (job.source.parent / "__init__.py").exists():
            stems_by_folder.setdefault(job.source.parent, {})[job.source.stem] = job.output.stem
    for job in jobs:
        is_single_file = job.folder_index is None and job.source is not None
        names = stems_by_folder.get(job.source.parent, {}) if is_single_file else {}  # type: ignore[union-attr]
        if len(names) < 2:
            yield job
            continue
        renames = {**names, **job.options.rename_imports}
        yield replace(job, options=replace(job.options, rename_imports=renames))
