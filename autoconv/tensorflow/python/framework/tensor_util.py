"""Predicates of tensors."""

from autoconv.api import scopes

is_tf_type = scopes.is_tensor
