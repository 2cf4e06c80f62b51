"""Files that belong to an object and are stored with it."""

from __future__ import annotations

import os

import numpy as np

from autoconv.runtime.tensors.tensor import EagerTensor


class Asset:
    """A file that `save` copies into the folder; a loaded object finds the copy at `asset_path`.

    A function that reads `asset_path` gets the path of the copy after loading.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.txt")
    >>> _ = open(path, "w").write("one")
    >>> autoconv.saved_model.Asset(path).asset_path.numpy() == path.encode()
    True
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = AssetPath(np.array(os.fsencode(path), object))

    @property
    def asset_path(self) -> EagerTensor:
        """The path of the file, a string tensor without dimensions."""
        return self._path

    def _trackable_children(self, save_type: str = "checkpoint", **kwargs: object) -> dict[str, object]:
        return {}


class AssetPath(EagerTensor):
    """The path of an asset: a function that uses it can be saved only with an object that owns the asset."""

    __slots__ = ()
