"""Eager blocks."""

from autoconv.api import scopes

eager_mode = scopes.init_scope
