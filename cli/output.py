"""Write outputs atomically: each output is written to a temporary file beside its final path, then renamed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import FrameType, TracebackType

from autoconv.errors import TargetError


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raise TargetError for an output that exists already, except for an empty folder, /dev/null or a pipe."""
    if not os.path.lexists(path) or force:
        return
    if path.is_dir() and not any(path.iterdir()):
        return
    if path.exists() and not path.is_dir() and not path.is_file():
        return
    raise TargetError(f"{path} exists already; use --force to replace it, or -o to write elsewhere")


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise TargetError if an output is an input, even by another path, a symbolic link or a hard link."""
    sources = list(inputs)
    real_paths = {os.path.realpath(source) for source in sources}
    identities = {_file_identity(source) for source in sources}
    for output in outputs:
        identity = _file_identity(output)
        if os.path.realpath(output) in real_paths or (identity is not None and identity in identities):
            raise TargetError(
                f"{output} is an input of this command and is not overwritten; choose another -o"
            )


class OutputTransaction:
    """Outputs in temporary files beside their final paths, until `commit` renames them all.

        with OutputTransaction() as transaction:
            transaction.add_text(path, "...", mode_of=source)
            transaction.commit()

    Leaving the block without a commit (by an error, ctrl-C or SIGTERM) removes everything that was added.
    """

    def __init__(self) -> None:
        self._pending_renames: list[tuple[str, str]] = []  # (temporary path, final path) of files
        self._pending_folders: list[tuple[str, Path]] = []  # (temporary path, final path) of folders
        self._created_folders: list[Path] = []

    def add_folder(self, path: Path) -> Path:
        """Return the folder in which to write the contents of `path`: itself if it exists, else a temporary one."""
        if path.is_dir():
            return path
        self._make_parents(path)
        with delay_signals(signal.SIGINT, signal.SIGTERM):
            temporary = tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:100]}.")
            self._pending_folders.append((temporary, path))
        return Path(temporary)

    def add_text(self, path: Path, text: str, *, mode_of: Path | None = None) -> None:
        """Add a UTF-8 file with the permissions of the file it replaces, or else of `mode_of`."""
        self.add_data(path, text.encode("utf-8"), mode_of=mode_of)

    def add_data(self, path: Path, data: bytes, *, mode_of: Path | None = None) -> None:
        """Add a file of these bytes, with permissions as in `add_text`."""
        if path.exists() and not path.is_file():
            path.write_bytes(data)  # a device or a pipe cannot be replaced by renaming
            return
        temporary = self._make_temporary(path)
        with open(temporary, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, self._permissions(path, mode_of))

    def add_copy(self, path: Path, source: Path) -> None:
        """Add a copy of a file, or of a symbolic link, with its permissions and times."""
        if source.is_symlink() and (source.is_dir() or not source.exists()):
            target = os.readlink(source)
            self._make_parents(path)
            if not os.path.lexists(path):
                os.symlink(target if not os.path.isabs(target) else os.path.realpath(source), path)
            return
        temporary = self._make_temporary(path)
        shutil.copyfile(source, temporary)
        shutil.copystat(source, temporary)

    def commit(self) -> None:
        """Rename everything to its final path. Ctrl-C is delayed until that is done: all outputs are new, or none."""
        with delay_signals(signal.SIGINT, signal.SIGTERM):
            for temporary, final_path in self._pending_renames:
                os.replace(temporary, final_path)
            for temporary, folder in self._pending_folders:
                os.chmod(temporary, 0o777 & ~_umask())
                os.rename(temporary, folder)
            self._pending_renames, self._pending_folders, self._created_folders = [], [], []

    def __enter__(self) -> OutputTransaction:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with delay_signals(signal.SIGINT, signal.SIGTERM):
            for temporary, _ in self._pending_renames:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            for temporary, _ in self._pending_folders:
                shutil.rmtree(temporary, ignore_errors=True)
            for folder in reversed(self._created_folders):
                with contextlib.suppress(OSError):
                    folder.rmdir()

    def _make_temporary(self, path: Path) -> str:
        """Make an empty temporary file beside the path, which `commit` renames to it; return its path."""
        final_path = os.path.realpath(path)  # writing through a link keeps the link
        self._make_parents(Path(final_path))
        with delay_signals(signal.SIGINT, signal.SIGTERM):
            descriptor, temporary = tempfile.mkstemp(
                dir=os.path.dirname(final_path), prefix=f".{path.name[:100]}."
            )
            self._pending_renames.append((temporary, final_path))
        os.close(descriptor)
        return temporary

    def _make_parents(self, path: Path) -> None:
        """Make the missing folders above a path; they are removed without a commit."""
        missing = [folder for folder in path.parents if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            self._created_folders.append(folder)

    def _permissions(self, path: Path, mode_of: Path | None) -> int:
        """Return the mode of the file at `path`, or of `mode_of`; for neither, that of a new file."""
        for replaced_or_source in (path, mode_of):
            if replaced_or_source is not None and replaced_or_source.is_file():
                return stat.S_IMODE(replaced_or_source.stat().st_mode) & 0o777
        return 0o666 & ~_umask()


@contextlib.contextmanager
def exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an exception in the block, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_exit(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    previous_handler = signal.signal(signal.SIGTERM, raise_exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous_handler)


@contextlib.contextmanager
def delay_signals(*numbers: signal.Signals) -> Iterator[None]:
    """Delay these signals until after the block, without effect on Windows.

    Processes that are started in the block never receive them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)


def _file_identity(path: Path) -> tuple[int, int] | None:
    """Return the device and inode, which all links to a file share; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _umask() -> int:
    """Return the permissions that new files of this process lack; reading them sets them for a moment."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
