"""The folder of a saved object: which files it has, and how they are written and read.

`saved_model.json` is the index, with a checksum and a version. It names the files with the graphs,
as text, and with the arrays; both files get new names at each save. The index is written last, so that after an
interruption the folder holds the old object or the new one.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autoconv.errors import DataLossError
from autoconv.storage.arrays import ArrayFile, check_version, write_arrays
from autoconv.storage.files import folder_lock, read_json, replacing, write_json

INDEX_NAME = "saved_model.json"  # name of the index
FORMAT = "autoconv.saved_model"
VERSION = 1  # of the format
ASSETS_FOLDER = "assets"  # name of the folder of assets
_TENSORFLOW_FILES = ("saved_model.pb", "saved_model.pbtxt")
_GRAPH_SEPARATOR = "\n# ----\n"  # graph texts have no such line


def contains_saved_model(export_dir: str | os.PathLike[str]) -> bool:
    """Return whether the folder holds an object that `save` wrote.

    >>> autoconv.saved_model.contains_saved_model("/nonexistent")
    False
    """
    return os.path.isfile(os.path.join(os.fspath(export_dir), INDEX_NAME))


def write_folder(
    folder: str, content: dict[str, Any], graphs: Sequence[str], arrays: Mapping[str, np.ndarray], assets: Sequence[str]
) -> None:
    """Write a folder; `content` are further entries of the index, and `assets` are paths of files to copy."""
    is_new = not os.path.isdir(folder)
    os.makedirs(folder, exist_ok=True)
    try:
        with folder_lock(folder):
            try:
                _write_files(folder, content, graphs, arrays, assets)
            finally:  # also after an interruption, the index tells which files belong to the object
                _delete_unused(folder)
    except BaseException:
        if is_new:
            with contextlib.suppress(OSError):  # not empty: another process writes to it
                os.rmdir(folder)
        raise


def _write_files(
    folder: str, content: dict[str, Any], graphs: Sequence[str], arrays: Mapping[str, np.ndarray], assets: Sequence[str]
) -> None:
    """Write the files of a folder, each under a new name, and last the index that names them."""
    token = secrets.token_hex(4)
    names = {"graphs": f"graphs.{token}.txt", "arrays": f"arrays.{token}.safetensors"}
    records = write_arrays(os.path.join(folder, names["arrays"]), arrays)
    graph_bytes = _GRAPH_SEPARATOR.join(graphs).encode()
    with replacing(os.path.join(folder, names["graphs"])) as temporary_path, open(temporary_path, "wb") as file:
        file.write(graph_bytes)
    stored_assets = _copy_assets(folder, assets, token)
    index = {
        "format": FORMAT,
        "version": VERSION,
        "files": names,
        "graphs_sha256": hashlib.sha256(graph_bytes).hexdigest(),
        "arrays": records,
        "assets": stored_assets,
        **content,
    }
    write_json(os.path.join(folder, INDEX_NAME), index)


class SavedFolder(NamedTuple):
    """Content of a saved object's folder; `assets` are paths of files."""

    index_content: dict[str, Any]
    graph_texts: list[str]
    arrays: ArrayFile
    assets: list[str]


def read_folder(folder: str) -> SavedFolder:
    """Return the content of a saved object's folder.

    Raises OSError where there is no saved object, ValueError for one of TensorFlow's or of a newer version, and
    DataLossError for damage.
    """
    if not contains_saved_model(folder):
        if any(os.path.isfile(os.path.join(folder, name)) for name in _TENSORFLOW_FILES):
            raise ValueError(
                f"{folder} holds a SavedModel that TensorFlow wrote; autoconv loads what "
                "autoconv.saved_model.save wrote."
            )
        raise OSError(f"SavedModel file does not exist at: {folder}/{INDEX_NAME}")
    index = read_json(os.path.join(folder, INDEX_NAME), "index of a saved object")
    if index.get("format") != FORMAT:
        raise DataLossError(f"{folder}/{INDEX_NAME} is no index of a saved object.")
    check_version(folder, index.get("version"), VERSION)
    files = {kind: _checked_name(folder, name) for kind, name in index["files"].items()}
    path = os.path.join(folder, files["graphs"])
    try:
        with open(path, "rb") as file:
            graph_bytes = file.read()
    except OSError as error:
        raise DataLossError(f"{path} cannot be read: {error}") from None
    if hashlib.sha256(graph_bytes).hexdigest() != index["graphs_sha256"]:
        raise DataLossError(f"{path} is damaged: its checksum differs from its content.")
    try:
        graphs = graph_bytes.decode().split(_GRAPH_SEPARATOR)
    except UnicodeDecodeError as error:
        raise DataLossError(f"{path} is damaged: {error}") from None
    assets = [_asset_path(folder, name, digest) for name, digest in index["assets"]]
    arrays = ArrayFile(os.path.join(folder, files["arrays"]), index["arrays"])
    return SavedFolder(index, graphs, arrays, assets)


def _copy_assets(folder: str, assets: Sequence[str], token: str) -> list[tuple[str, str]]:
    """Copy each file into its own folder; return the paths relative to `folder`, and the checksums."""
    stored_assets: list[tuple[str, str]] = []
    for path in assets:
        name = os.path.basename(path)
        asset_folder = os.path.join(ASSETS_FOLDER, f"{token}.{len(stored_assets)}")
        os.makedirs(os.path.join(folder, asset_folder), exist_ok=True)
        with replacing(os.path.join(folder, asset_folder, name)) as temporary_path:
            shutil.copyfile(path, temporary_path)
        stored_assets.append((f"{asset_folder}/{name}", _file_digest(path)))
    return stored_assets


def _asset_path(folder: str, name: str, digest: str) -> str:
    """Return the path of a stored asset; raises DataLossError for a malformed name, a missing file and damage."""
    parts = name.split("/")
    if len(parts) != 3 or parts[0] != ASSETS_FOLDER or any(_checked_name(folder, part) != part for part in parts):
        raise DataLossError(f"{folder}: {name!r} is not the name of an asset.")
    path = os.path.join(folder, *parts)
    try:
        actual_digest = _file_digest(path)
    except OSError as error:
        raise DataLossError(f"{path} cannot be read: {error}") from None
    if actual_digest != digest:
        raise DataLossError(f"{path} is damaged: its checksum differs from its content.")
    return path


def _file_digest(path: str) -> str:
    """Return the checksum of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked_name(folder: str, name: str) -> str:
    """Return `name` if it is that of a file in the folder itself; raises DataLossError for any other path."""
    if not isinstance(name, str) or name in ("", ".", "..") or any(character in name for character in "/\\\0"):
        raise DataLossError(f"{folder}: {name!r} is not the name of a file.")
    return name


def _delete_unused(folder: str) -> None:
    """Delete the files that the index does not name: those of earlier or interrupted saves."""
    try:
        index = read_json(os.path.join(folder, INDEX_NAME), "index of a saved object")
        used_names = {*index["files"].values(), *(name.split("/")[1] for name, _ in index["assets"])}
    except Exception:  # no index, or a damaged one: leave what it may have referred to
        return
    escaped = glob.escape(folder)
    for path in [*glob.glob(f"{escaped}/graphs.????????.txt"), *glob.glob(f"{escaped}/arrays.????????.safetensors")]:
        if os.path.basename(path) not in used_names:
            os.unlink(path)
    for prefix in ("graphs", "arrays", INDEX_NAME):  # left by a killed writer
        for path in glob.glob(f"{escaped}/.{prefix}*.partial"):
            os.unlink(path)
    for path in glob.glob(f"{escaped}/{ASSETS_FOLDER}/????????.*"):
        if os.path.basename(path) not in used_names:
            shutil.rmtree(path, ignore_errors=True)
