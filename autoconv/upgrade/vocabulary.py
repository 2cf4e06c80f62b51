"""Replacements for the names of version 1: tables for the renaming of calls and attributes."""

from __future__ import annotations

from autoconv.upgrade.version1 import MODULE_BY_NAME, NEW_MODULE_NAMES, NEW_NAMES, REMEDY_BY_NAME

# Names that stay, since version 2 has them as well; keywords of version 1 are renamed.
SAME_NAMES = frozenset({
    "Assert", "argmax", "argmin", "assert_equal", "assert_greater", "assert_less", "assert_rank", "cond",
    "expand_dims", "name_scope", "no_op", "group", "print", "reduce_all", "reduce_any", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum", "squeeze", "where", "while_loop",
    "Variable", "executing_eagerly_outside_functions",
})  # fmt: skip

# Functions with another name in version 2, by their old names.
NEW_FUNCTION_NAMES = {
    "random_normal": "random.normal", "count_nonzero": "math.count_nonzero", "py_func": "numpy_function",
    "eager_py_func": "py_function", "multinomial": "random.categorical",
    "nn.softmax_cross_entropy_with_logits_v2": "nn.softmax_cross_entropy_with_logits",
    "nn.sigmoid": "sigmoid", "nn.tanh": "tanh", "summary.FileWriter": "compat.v1.summary.FileWriter",
}  # fmt: skip

# New keywords by their old names.
NEW_KEYWORDS = {
    "reduction_indices": "axis", "keep_dims": "keepdims", "dimension": "axis", "squeeze_dims": "axis", "dim": "axis",
    "filter": "filters", "value": "input", "fn1": "true_fn", "fn2": "false_fn",
}  # fmt: skip
# By old keyword, the prefixes of the functions where it is renamed.
PREFIXES_BY_OLD_KEYWORD = {
    "reduction_indices": ("reduce_", "count_nonzero", "math.reduce_"),
    "keep_dims": ("reduce_", "nn.moments", "count_nonzero"),
    "dimension": ("argmax", "argmin"), "squeeze_dims": ("squeeze",),
    "dim": ("expand_dims", "nn.softmax", "nn.log_softmax", "nn.l2_normalize"), "filter": ("nn.conv2d",),
    "value": ("nn.max_pool", "nn.avg_pool"), "fn1": ("cond",), "fn2": ("cond",),
}  # fmt: skip
# By function, keywords that are gone.
DROPPED_KEYWORDS_BY_FUNCTION = {
    "nn.conv2d": ("use_cudnn_on_gpu",), "cond": ("strict",),
    "nn.sparse_softmax_cross_entropy_with_logits": ("_sentinel",),
}  # fmt: skip
# Functions that become calls of `cast`, with the dtype.
DTYPE_BY_CAST_FUNCTION = {"to_float": "float32", "to_double": "float64", "to_int32": "int32", "to_int64": "int64"}
ASSIGNMENTS = ("assign", "assign_add", "assign_sub")  # functions that become methods of the variable
# Modules that are under `compat.v1`, names in `train` that are not, and names in `nn` that are.
VERSION1_NAMESPACES = ("layers", "losses", "metrics", "app", "flags", "logging", "gfile", "initializers", "graph_util")
VERSION2_TRAIN_NAMES = (
    "Checkpoint", "CheckpointManager", "Example", "Feature", "Features", "Int64List", "FloatList", "BytesList",
    "latest_checkpoint", "list_variables", "load_checkpoint", "load_variable", "get_checkpoint_state",
)  # fmt: skip
VERSION1_NN_NAMES = (
    "xw_plus_b", "relu_layer", "dynamic_rnn", "static_rnn", "rnn_cell", "weighted_cross_entropy_with_logits",
    "nce_loss", "sampled_softmax_loss", "log_uniform_candidate_sampler", "in_top_k",
)  # fmt: skip


def new_name(name: str) -> str:
    """Return the new name for a name below `tf.`: the same, one of version 2, or one under `compat.v1`."""
    first, _, suffix = name.partition(".")
    if name in NEW_FUNCTION_NAMES:
        return NEW_FUNCTION_NAMES[name]
    if first in VERSION1_NAMESPACES:
        return f"compat.v1.{name}"
    if first == "train" and suffix and suffix.split(".")[0] not in VERSION2_TRAIN_NAMES:
        return f"compat.v1.{name}"
    if first == "nn" and suffix.split(".")[0] in VERSION1_NN_NAMES:
        return f"compat.v1.{name}"
    if first == "summary" and suffix:
        return f"compat.v1.{name}"
    if suffix and first in NEW_MODULE_NAMES:
        return f"{NEW_MODULE_NAMES[first]}.{suffix}"
    if first in SAME_NAMES or (suffix and first not in MODULE_BY_NAME):
        return name
    if first in MODULE_BY_NAME:
        return f"compat.v1.{name}"
    if first in NEW_NAMES:
        return NEW_NAMES[first] + (f".{suffix}" if suffix else "")
    return name


def remedy(name: str) -> str | None:
    """Return advice on the replacement of a removed name, or None."""
    return REMEDY_BY_NAME.get(name) or REMEDY_BY_NAME.get(name.partition(".")[0])
