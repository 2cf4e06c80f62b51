"""Methods of datasets that store elements in folders, batch them again, or drop some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from autoconv.config.refused_options import refuse_options
from autoconv.data.iterables import Iterable
from autoconv.data.nodes import NO_BINDINGS
from autoconv.data.resampling import IgnoreErrors, Rebatch, RejectionResample
from autoconv.data.sources import Counter
from autoconv.data.stored import SavedElements, Snapshot, save_while_iterating
from autoconv.graph.dtypes import int64
from autoconv.runtime.annotations import DTypeLike
from autoconv.runtime.recording.regions import current_region
from autoconv.runtime.recording.tracebacks import wrap_public_methods


@wrap_public_methods
class StorageMethods(Iterable):
    """Methods that write datasets into folders and read them."""

    def save(
        self, path: str, compression: str | None = None, shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:  # fmt: skip
        """Write all elements into the folder `path`, from which `Dataset.load` reads them.

        The elements of another dataset in the folder are replaced once all are written. `compression`, `shard_func` and
        `checkpoint_args` have no effect. Raises ValueError in graphs, and TypeError for datasets inside of elements.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> autoconv.data.Dataset.range(3).save(folder)
        >>> [int(x) for x in autoconv.data.Dataset.load(folder)]
        [0, 1, 2]
        """
        if current_region() is not None:
            raise ValueError("a dataset is saved outside of functions, when the program runs")
        for _ in save_while_iterating(self.node, NO_BINDINGS, path):
            pass

    @classmethod
    def load(
        cls, path: str, element_spec: Any = None, compression: str | None = None,
        reader_func: Callable[..., Any] | None = None, wait: bool = False,
    ) -> Self:  # fmt: skip
        """The elements that `save` wrote into a folder.

        `reader_func` takes a dataset whose only element is the loaded dataset, and returns the dataset to use. Raises
        NotFoundError for a folder without elements, DataLossError where they are damaged, ValueError for another spec.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> autoconv.data.Dataset.range(3).save(folder)
        >>> len(autoconv.data.Dataset.load(folder))
        3
        """
        refuse_options("Dataset.load", wait=wait)
        dataset = cls._of_node(SavedElements(path, element_spec))
        if reader_func is None:
            return dataset
        nested_dataset: Any = cls.from_tensors(dataset)  # type: ignore[attr-defined]
        result: Self = reader_func(nested_dataset)
        return result

    def snapshot(
        self, path: str, compression: str | None = "AUTO", reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """The same elements, which the first complete pass keeps in the folder `path` for later passes and programs.

        `compression` and `shard_func` have no effect.
        """
        refuse_options("Dataset.snapshot", reader_func=reader_func)
        return self._of_node(Snapshot(self.node, path))


@wrap_public_methods
class ResamplingMethods(Iterable):
    """Methods that batch elements again, drop some of them, or generate numbers."""

    @classmethod
    def counter(cls, start: Any = 0, step: Any = 1, dtype: DTypeLike = int64, name: str | None = None) -> Self:
        """start, start + step, … endlessly."""
        return cls._of_node(Counter(start, step, dtype))

    def rebatch(self, batch_size: Any, drop_remainder: bool = False, name: str | None = None) -> Self:
        """The rows of the batches, in batches of another size. The sizes of a list are taken in turns."""
        return self._of_node(Rebatch(self.node, batch_size, drop_remainder))

    def rejection_resample(
        self, class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: int | None = None,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """Pairs (class, element); elements are dropped at random so that classes have the target distribution.

        `class_func(element)` gives the number of a class. Without `initial_dist`, the distribution of the classes is
        estimated.
        """
        return self._of_node(RejectionResample(self.node, class_func, target_dist, initial_dist, seed))

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Self:
        """The elements except those for which a function of an earlier `map` or `filter` raises an error."""
        return self._of_node(IgnoreErrors(self.node, log_warning))
