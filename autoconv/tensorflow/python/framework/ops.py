"""`tensorflow.python.framework.ops`: tensors, graphs and their scopes, by their names of version 1."""

from autoconv.runtime.tensors.tensor import EagerTensor as EagerTensor
from autoconv.tensorflow.python.private_modules import lookup_in

__getattr__ = lookup_in(__name__)
