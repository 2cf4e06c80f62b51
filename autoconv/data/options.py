"""Options of datasets. They are stored and merged as in TensorFlow, without an effect on iteration."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any, ClassVar

from autoconv.data.nodes import Bindings, CountPreservingNode, Element, Node


class AutoShardPolicy(enum.IntEnum):
    """The way in which a dataset is divided among workers; with one worker it has no effect.

    >>> autoconv.data.experimental.AutoShardPolicy.DATA.name
    'DATA'
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """The policy for saving a dataset with outer state; it has no effect.

    >>> autoconv.data.experimental.ExternalStatePolicy.IGNORE.name
    'IGNORE'
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """The algorithm by which TensorFlow chooses numbers of threads; it has no effect.

    >>> autoconv.data.experimental.AutotuneAlgorithm.STAGE_BASED.name
    'STAGE_BASED'
    """

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class OptionGroup:
    """A set of options: the names in `_defaults`, each with its default or with the class of a nested group."""

    _defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        for name, default in self._defaults.items():
            self.__dict__[name] = default() if isinstance(default, type) else default

    def __setattr__(self, name: str, value: object) -> None:
        if name not in self._defaults:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        self.__dict__[name] = value

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def _merge(self, later: Any) -> Any:
        """Return these options, overridden by those set in `later`."""
        result = type(self)()
        for name, default in self._defaults.items():
            own_value, later_value = self.__dict__[name], later.__dict__[name]
            result.__dict__[name] = (
                own_value._merge(later_value)
                if isinstance(default, type)
                else _merged_value(default, own_value, later_value)
            )
        return result


def _merged_value(default: Any, earlier: Any, later: Any) -> Any:
    """Return the later value unless it is the default, which means that it was not set."""
    return earlier if later == default else later


class AutotuneOptions(OptionGroup):
    """Options of the choice of thread counts.

    >>> autoconv.data.experimental.AutotuneOptions().enabled is None
    True
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "enabled": None, "cpu_budget": None, "ram_budget": None, "autotune_algorithm": None,
        "initial_parallelism": None, "min_parallelism": None,
    }  # fmt: skip


class ThreadingOptions(OptionGroup):
    """Options of thread pools.

    >>> autoconv.data.ThreadingOptions().private_threadpool_size is None
    True
    """

    _defaults: ClassVar[dict[str, Any]] = {"max_intra_op_parallelism": None, "private_threadpool_size": None}


class OptimizationOptions(OptionGroup):
    """Options of rewrites of the dataset.

    >>> autoconv.data.experimental.OptimizationOptions().map_fusion is None
    True
    """

    _defaults: ClassVar[dict[str, Any]] = dict.fromkeys((
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization", "noop_elimination",
        "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
    ))  # fmt: skip


class DistributeOptions(OptionGroup):
    """Options of the division among workers.

    >>> autoconv.data.experimental.DistributeOptions().auto_shard_policy.name
    'AUTO'
    """

    _defaults: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO, "num_devices": None}


class Options(OptionGroup):
    """Options of a dataset, for `Dataset.with_options`; setting an unknown one raises AttributeError.

    >>> options = autoconv.data.Options()
    >>> options.deterministic = False
    >>> autoconv.data.Dataset.range(2).with_options(options).options().deterministic
    False
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "autotune": AutotuneOptions, "dataset_name": None, "deterministic": None,
        "experimental_distribute": DistributeOptions, "experimental_external_state_policy": None,
        "experimental_optimization": OptimizationOptions, "experimental_slack": None,
        "experimental_symbolic_checkpoint": None, "experimental_warm_start": None, "framework_type": None,
        "threading": ThreadingOptions,
    }  # fmt: skip
    _synonyms: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __getattr__(self, name: str) -> Any:
        if name in self._synonyms:
            return self.__dict__[self._synonyms[name]]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(self._synonyms.get(name, name), value)

    def merge(self, options: Options) -> Options:
        """Return these options, overridden by those set in `options`."""
        result: Options = self._merge(options)
        return result


class WithOptions(CountPreservingNode):
    """The same elements, with options."""

    name = "with_options"

    def __init__(self, source: Node, options: Options) -> None:
        super().__init__(source.spec, [source])
        self.options = options

    def iterate(self, bindings: Bindings) -> Iterator[Element]:
        return self.inputs[0].iterate(bindings)


def options_of(node: Node) -> Options:
    """Return the options of a dataset: those of its inputs, merged in order, and over them its own."""
    result = Options()
    for source in node.inputs:
        result = result.merge(options_of(source))
    return result.merge(node.options) if isinstance(node, WithOptions) else result
