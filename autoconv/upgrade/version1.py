"""The names of version 1: those of `compat.v1`, those with another name in version 2, and those that are gone."""

# Names of `compat.v1` by the modules that define them; after a colon another name in that module.
_NAMES_BY_MODULE = {
    "collections": "GraphKeys add_to_collection add_to_collections all_variables:global_variables get_collection "
    "get_collection_ref global_variables global_variables_initializer initialize_all_tables:tables_initializer "
    "initialize_all_variables:global_variables_initializer initialize_local_variables:local_variables_initializer "
    "initialize_variables:variables_initializer is_variable_initialized local_variables local_variables_initializer "
    "model_variables moving_average_variables report_uninitialized_variables tables_initializer trainable_variables "
    "variables_initializer",
    "default_graph": "Dimension disable_eager_execution disable_tensor_equality disable_v2_behavior "
    "disable_v2_tensorshape enable_eager_execution enable_tensor_equality enable_v2_behavior enable_v2_tensorshape "
    "get_default_graph reset_default_graph",
    "effects": "Assert Print assert_equal assert_greater assert_greater_equal assert_less assert_less_equal "
    "assert_near assert_negative assert_non_negative assert_non_positive assert_none_equal assert_positive "
    "assert_rank assert_rank_in assign assign_add assign_sub print scatter_add scatter_div scatter_max scatter_min "
    "scatter_mul scatter_nd_add scatter_nd_sub scatter_nd_update scatter_sub scatter_update",
    "graph_import": "import_graph_def",
    "image": "extract_image_patches",
    "initializers": "constant_initializer glorot_normal_initializer glorot_uniform_initializer ones_initializer "
    "orthogonal_initializer random_normal_initializer random_uniform_initializer truncated_normal_initializer "
    "variance_scaling_initializer zeros_initializer",
    "maths": "arg_max arg_min argmax argmin batch_to_space cond count_nonzero div eager_py_func expand_dims "
    "multinomial py_func random_normal reduce_all reduce_any reduce_logsumexp reduce_max reduce_mean reduce_min "
    "reduce_prod reduce_sum setdiff1d space_to_batch sparse_to_dense squeeze string_split to_bfloat16 to_complex128 "
    "to_complex64 to_double to_float to_int32 to_int64 verify_tensor_all_finite where while_loop",
    "operations": "Operation group no_op tuple:tuple_",
    "options": "ConfigProto GPUOptions GraphOptions OptimizerOptions RunMetadata RunOptions",
    "placeholders": "SparseTensorValue convert_to_tensor_or_sparse_tensor placeholder placeholder_with_default "
    "sparse_placeholder",
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "queue.readers": "FixedLengthRecordReader IdentityReader ReaderBase TFRecordReader TextLineReader WholeFileReader",
    "saved_model.meta_graph": "MetaGraphDef",
    "saved_model.wrapped_function": "wrap_function",
    "scopes": "colocate_with control_flow_v2_enabled device disable_resource_variables enable_control_flow_v2 "
    "enable_resource_variables executing_eagerly_outside_functions make_template name_scope op_scope "
    "resource_variables_enabled variable_op_scope",
    "session": "InteractiveSession Session get_default_session",
    "variables": "AUTO_REUSE Variable VariableScope VariableStore get_variable get_variable_scope variable_scope",
}  # fmt: skip
# Names of `compat.v1`, with the module that defines them, and after a colon another name in that module.
MODULE_BY_NAME = {
    name: f"{module}{colon}{other_name}"
    for module, entries in _NAMES_BY_MODULE.items()
    for name, colon, other_name in (entry.partition(":") for entry in entries.split())
}

NEW_MODULE_NAMES = {"python_io": "io", "spectral": "signal"}  # modules of version 2 by their old names

# Names that are in a namespace now, by namespace.
_MOVED = {
    "compat": "as_bytes dimension_value",
    "debugging": "assert_integer assert_proper_iterable assert_rank_at_least assert_same_float_dtype assert_scalar "
    "assert_type check_numerics is_numeric_tensor",
    "io": "FixedLenFeature FixedLenSequenceFeature SparseFeature VarLenFeature decode_base64 decode_compressed "
    "decode_csv decode_raw deserialize_many_sparse encode_base64 matching_files parse_example parse_single_example "
    "parse_single_sequence_example parse_tensor read_file serialize_tensor write_file",
    "linalg": "cholesky cholesky_solve cross diag diag_part global_norm matrix_transpose qr svd trace",
    "math": "accumulate_n acos angle asinh betainc bincount ceil confusion_matrix conj cumprod digamma erf erfc expm1 "
    "floormod igamma igammac in_top_k invert_permutation is_finite is_inf is_nan is_non_decreasing "
    "is_strictly_increasing lbeta lgamma log log1p log_sigmoid multiply_no_nan polygamma real reciprocal rint rsqrt "
    "segment_max segment_mean segment_min segment_prod segment_sum squared_difference top_k unsorted_segment_max "
    "unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum "
    "zeta",
    "nn": "depth_to_space space_to_depth",
    "quantization": "fake_quant_with_min_max_args fake_quant_with_min_max_vars "
    "fake_quant_with_min_max_vars_per_channel",
    "signal": "fft fft2d fft3d ifft ifft2d ifft3d",
    "strings": "regex_replace substr",
}  # fmt: skip
# Names that begin with the namespace, or its singular, and "_", and are in it without this prefix now.
_WITHOUT_PREFIX = {
    "random": "gamma poisson shuffle uniform",
    "sparse": "add concat fill_empty_rows mask maximum minimum reduce_sum reorder reset_shape reshape retain slice "
    "softmax split to_indicator transpose",
    "strings": "join strip to_hash_bucket_fast to_hash_bucket_strong to_number",
}  # fmt: skip
# Names of version 2 by their old names.
NEW_NAMES = {
    **{name: f"{namespace}.{name}" for namespace, names in _MOVED.items() for name in names.split()},
    **{
        f"{namespace.removesuffix('s')}_{name}": f"{namespace}.{name}"
        for namespace, names in _WITHOUT_PREFIX.items()
        for name in names.split()
    },
    "NoGradient": "no_gradient", "NotDifferentiable": "no_gradient", "OpError": "errors.OpError",
    "batch_gather": "gather", "batch_matmul": "matmul", "div_no_nan": "math.divide_no_nan",
    "floor_div": "math.floordiv", "inv": "math.reciprocal", "lin_space": "linspace",
    "matrix_band_part": "linalg.band_part", "matrix_determinant": "linalg.det", "matrix_diag": "linalg.diag",
    "matrix_diag_part": "linalg.diag_part", "matrix_inverse": "linalg.inv", "matrix_set_diag": "linalg.set_diag",
    "matrix_solve": "linalg.solve", "matrix_solve_ls": "linalg.lstsq",
    "matrix_triangular_solve": "linalg.triangular_solve", "mod": "math.floormod", "mul": "multiply", "neg": "negative",
    "pack": "stack", "random_crop": "image.random_crop", "reverse_v2": "reverse", "select": "where",
    "self_adjoint_eig": "linalg.eigh", "self_adjoint_eigvals": "linalg.eigvalsh", "set_random_seed": "random.set_seed",
    "sparse_tensor_dense_matmul": "sparse.sparse_dense_matmul", "sparse_tensor_to_dense": "sparse.to_dense",
    "sub": "subtract", "tensor_scatter_add": "tensor_scatter_nd_add", "tensor_scatter_sub": "tensor_scatter_nd_sub",
    "tensor_scatter_update": "tensor_scatter_nd_update", "truncated_normal": "random.truncated_normal",
    "unpack": "unstack", "where_v2": "where",
}  # fmt: skip

# Advice for names that are gone.
REMEDY_BY_NAME = {
    "contrib": "it ended with version 1; see autoconv.keras and autoconv.compat.v1.layers",
    "estimator": "use autoconv.keras, whose models have fit, evaluate and predict",
    "feature_column": "use the preprocessing layers of autoconv.keras",
    "tpu": "there is one device, the processor",
    "lite": "use autoconv.saved_model to take functions elsewhere",
    "train.Supervisor": "use autoconv.compat.v1.train.MonitoredTrainingSession",
    "train.Server": "use autoconv.distribute, whose strategies need no servers",
    "train.SyncReplicasOptimizer": "use a strategy of autoconv.distribute",
}
