"""Predicates of tensors."""

from autoconv.runtime.tensors import conversion

is_tf_type = conversion.is_tensor
