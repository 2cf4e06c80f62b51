"""`tensorflow.python.framework.tensor_conversion`: tensors of other values."""

import autoconv

convert_to_tensor = convert_to_tensor_v2 = convert_to_tensor_v2_with_dispatch = autoconv.convert_to_tensor
