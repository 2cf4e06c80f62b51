"""`tf.ragged`, whose tensors autoconv does not have: names to which libraries refer, and which raise when called."""

from autoconv.tensorflow.missing import Missing

_REMEDY = "Pad the rows to one length."
RaggedTensor = Missing("RaggedTensor", _REMEDY)
RaggedTensorSpec = Missing("RaggedTensorSpec", _REMEDY)
constant = Missing("ragged.constant", _REMEDY)
