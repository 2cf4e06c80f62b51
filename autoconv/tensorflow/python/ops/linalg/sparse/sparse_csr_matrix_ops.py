"""Products of sparse matrices, which autoconv does not have."""

from autoconv.tensorflow.missing import Missing

sparse_tensor_to_csr_sparse_matrix = Missing("sparse_tensor_to_csr_sparse_matrix")
sparse_matrix_sparse_mat_mul = Missing("sparse_matrix_sparse_mat_mul")
csr_sparse_matrix_to_sparse_tensor = Missing("csr_sparse_matrix_to_sparse_tensor")
