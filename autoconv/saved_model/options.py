"""Options of saving and loading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SaveOptions:
    """Options of `save`. `function_aliases` are further names of functions that the saved object owns.

    The other options concern devices, namespaces and file formats of TensorFlow, and have no effect here.

    >>> autoconv.saved_model.SaveOptions(save_debug_info=True).save_debug_info
    True
    """

    def __init__(
        self,
        namespace_whitelist: Sequence[str] | None = None,
        save_debug_info: bool = False,
        function_aliases: Mapping[str, Any] | None = None,
        experimental_io_device: str | None = None,
        experimental_variable_policy: Any = None,
        experimental_custom_gradients: bool = True,
        **others: Any,
    ) -> None:
        self.namespace_whitelist = list(namespace_whitelist or ())
        self.save_debug_info = save_debug_info
        self.function_aliases = dict(function_aliases or {})
        self.experimental_io_device = experimental_io_device
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_custom_gradients = experimental_custom_gradients
        self.__dict__.update(others)


class LoadOptions:
    """Options of `load`.

    `experimental_skip_checkpoint` leaves the variables at zero. `experimental_load_function_aliases` gives the loaded
    object `function_aliases`, a dict. The other options have no effect.

    >>> autoconv.saved_model.LoadOptions().experimental_skip_checkpoint
    False
    """

    def __init__(
        self,
        allow_partial_checkpoint: bool = False,
        experimental_io_device: str | None = None,
        experimental_skip_checkpoint: bool = False,
        experimental_variable_policy: Any = None,
        experimental_load_function_aliases: bool = False,
        **others: Any,
    ) -> None:
        self.allow_partial_checkpoint = allow_partial_checkpoint
        self.experimental_io_device = experimental_io_device
        self.experimental_skip_checkpoint = experimental_skip_checkpoint
        self.experimental_variable_policy = experimental_variable_policy
        self.experimental_load_function_aliases = experimental_load_function_aliases
        self.__dict__.update(others)
