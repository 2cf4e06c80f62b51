"""`tf.sparse`, whose tensors autoconv does not have: names to which libraries refer, and which raise when called."""

from autoconv.tensorflow.missing import Missing

_REMEDY = "Use a dense tensor."
SparseTensor = Missing("SparseTensor", _REMEDY)
SparseTensorSpec = Missing("SparseTensorSpec", _REMEDY)
add = Missing("sparse.add", _REMEDY)
maximum = Missing("sparse.maximum", _REMEDY)
minimum = Missing("sparse.minimum", _REMEDY)
