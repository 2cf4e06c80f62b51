"""`tensorflow.python.ops.init_ops`: initializers of version 1, by the names of their classes."""

from autoconv.compat import v1
from autoconv.tensorflow.python.private_modules import lookup_in

Initializer = v1.initializers.zeros.__base__
Zeros, Ones, Constant = v1.zeros_initializer, v1.ones_initializer, v1.constant_initializer
RandomNormal, RandomUniform = v1.random_normal_initializer, v1.random_uniform_initializer
TruncatedNormal, VarianceScaling = v1.truncated_normal_initializer, v1.variance_scaling_initializer
Orthogonal = v1.orthogonal_initializer
GlorotUniform, GlorotNormal = v1.glorot_uniform_initializer, v1.glorot_normal_initializer
Identity = v1.initializers.identity

__getattr__ = lookup_in(__name__)
