"""The class of functions that `tf.function` makes."""

from autoconv.tracing.api.function import Function as Function
