"""Assertions, and numerical checks of results."""

from autoconv.api.control.checks import (
    Assert,
    assert_all_finite,
    assert_equal,
    assert_greater,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_near,
    assert_negative,
    assert_non_negative,
    assert_non_positive,
    assert_none_equal,
    assert_positive,
    assert_proper_iterable,
    is_non_decreasing,
    is_strictly_increasing,
)
from autoconv.api.control.shape_checks import (
    assert_integer,
    assert_rank,
    assert_rank_at_least,
    assert_rank_in,
    assert_same_float_dtype,
    assert_scalar,
    assert_shapes,
    assert_type,
    is_numeric_tensor,
)
from autoconv.api.tensors.casts import check_numerics
from autoconv.config import SETTINGS as _SETTINGS
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """Make ops, also those of functions traced from now on, raise InvalidArgumentError for a nan or infinity.

    Both arguments have no effect: they limit the texts of TensorFlow's errors.

    >>> autoconv.debugging.enable_check_numerics()
    >>> try:
    ...     autoconv.math.log(autoconv.constant(-1.0))
    ... except autoconv.errors.InvalidArgumentError as error:
    ...     print(type(error).__name__)
    InvalidArgumentError
    >>> autoconv.debugging.disable_check_numerics()
    """
    _SETTINGS.check_numerics = True


def disable_check_numerics() -> None:
    """Revert `enable_check_numerics`.

    >>> autoconv.debugging.enable_check_numerics()
    >>> autoconv.debugging.disable_check_numerics()
    >>> autoconv.math.log(autoconv.constant(-1.0)).numpy()
    np.float32(nan)
    """
    _SETTINGS.check_numerics = False


_LOGS_PLACEMENT: list[bool] = [False]


def set_log_device_placement(enabled: bool) -> None:
    """Set the value that `get_log_device_placement` returns; there is one device, and nothing is logged.

    >>> autoconv.debugging.set_log_device_placement(False)
    """
    _LOGS_PLACEMENT[0] = bool(enabled)


def get_log_device_placement() -> bool:
    """Return the last argument of `set_log_device_placement`, False by default.

    >>> autoconv.debugging.get_log_device_placement()
    False
    """
    return _LOGS_PLACEMENT[0]


_FILTERS_TRACEBACKS: list[bool] = [True]


def disable_traceback_filtering() -> None:
    """Make `is_traceback_filtering_enabled` return False; frames of this package stay hidden.

    >>> autoconv.debugging.disable_traceback_filtering()
    >>> autoconv.debugging.is_traceback_filtering_enabled()
    False
    >>> autoconv.debugging.enable_traceback_filtering()
    """
    _FILTERS_TRACEBACKS[0] = False


def enable_traceback_filtering() -> None:
    """Revert `disable_traceback_filtering`.

    >>> autoconv.debugging.enable_traceback_filtering()
    """
    _FILTERS_TRACEBACKS[0] = True


def is_traceback_filtering_enabled() -> bool:
    """Return False after `disable_traceback_filtering`, else True.

    >>> autoconv.debugging.is_traceback_filtering_enabled()
    True
    """
    return _FILTERS_TRACEBACKS[0]


__all__ = [
    "Assert", "assert_all_finite", "assert_equal", "assert_greater", "assert_greater_equal", "assert_integer",
    "assert_less", "assert_less_equal", "assert_near", "assert_negative", "assert_non_negative", "assert_non_positive",
    "assert_none_equal", "assert_positive", "assert_proper_iterable", "assert_rank", "assert_rank_at_least",
    "assert_rank_in", "assert_same_float_dtype", "assert_scalar", "assert_shapes", "assert_type", "check_numerics",
    "disable_check_numerics", "disable_traceback_filtering", "enable_check_numerics", "enable_traceback_filtering",
    "get_log_device_placement", "is_non_decreasing", "is_numeric_tensor", "is_strictly_increasing",
    "is_traceback_filtering_enabled", "set_log_device_placement",
]  # fmt: skip

_wrap_public_functions(globals())
