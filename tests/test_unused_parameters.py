"""Parameters that bodies of public functions never read: nothing that a program sees may be lost with them.

An option that is not implemented is refused by `refuse_options`, or else has its name here, under a reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "autoconv"
PACKAGES = (
    "api", "autograph", "clibrary", "compat", "config", "data", "distribute", "experimental", "io", "linear_operators",
    "lookup", "numpy", "onnx", "quantization", "ragged", "random", "saved_model", "stablehlo", "summary", "tensorflow",
    "train", "types", "xp",
)  # fmt: skip
NAMES_BY_REASON = {
    "names, scopes and hints are those of TensorFlow's nodes": (
        "name names scope values import_scope summary_name module_name critical_section_def infer_shape layout "
        "flat_values_spec shape_invariants allow_tensor allow_operation profiler_outdir"
    ),
    "how fast, where in memory or in what parts values are computed": (
        "parallel_iterations swap_memory back_prop use_locking caching_device use_resource partitioner partition_info "
        "support_partition num_unit_shards num_proj_shards use_cudnn_on_gpu a_is_sparse b_is_sparse grad_a grad_b "
        "sparse_gradient allow_fast_lookup experimental_use_pfor gate_gradients aggregation_method rng_alg dct_method "
        "colocate_gradients_with_ops initial_num_buckets tile_size optimize exclusive_resource_access synchronous "
        "use_unbounded_threadpool num_parallel_calls num_parallel_reads num_parallel_batches buffer_size "
        "buffer_output_elements prefetch_input_elements addition_tiers"
    ),
    "results are ordered, exact, sorted, stable, unique and complete in any case": (
        "deterministic sloppy stable sorted sorted_input assume_unique unique tol recall_target "
        "reduction_input_size_override aggregate_to_topk shift zero_debias"
    ),
    "the files of this package have one form; each object of a graph lasts as long as its session": (
        "as_text clear_devices strip_default_attrs clear_extraneous_savers save_debug_info save_graph_def sharded "
        "restore_sequentially write_version save_relative_paths filename compression shard_func checkpoint_args "
        "shared_name checkpoint experimental_is_anonymous experimental_trackable flush_mode input_buffer_size "
        "output_buffer_size window_bits compression_method mem_level compression_strategy"
    ),
    "there is one device, one process, and no session but the first": (
        "device target_device source_device config options run_metadata accept_options device_policy execution_mode "
        "protocol make_master_device_default cluster_device_filters max_wait_secs cuda_only "
        "min_cuda_compute_capability destinations reduce_op group axis op ignore_existing colocate_with_variable "
        "only_as_function"
    ),
    "a mistake that the option looks for raises an error without it, or gives the same": (
        "validate_indices validate_args validate_shape assert_proper_shapes strict num_true data is_square "
        "try_recover_truncated acceptable_fraction example_name example_names"
    ),
    "NumPy's dispatch checks the option; tensors have no subclasses and do not change": (
        "copy like subok casting offset"
    ),
    "TensorFlow ignores it as well": (
        "variable_def expected_shape experimental_enable_variable_lifting graph_parents op_dict producer_op_list seed "
        "var dtype"
    ),
    "callers of an interface pass it": (
        "args kwargs bindings path replica extended v run_context coord session global_step_value graph type "
        "ctx convert_by_default user_requested iterable_parameters warn_once decorator_name decorator_argspec v1 "
        "allow_multiple_exports add_prefix_to_v1_names"
    ),
}  # fmt: skip


def test_parameters_without_effect_have_a_reason() -> None:
    reasons = {name: reason for reason, names in NAMES_BY_REASON.items() for name in names.split()}
    unread = [(place, name) for package in PACKAGES for place, name in _unread_parameters(ROOT / package)]
    assert [f"{place}: {name}" for place, name in unread if name not in reasons] == []
    assert reasons.keys() - {name for _, name in unread} == set(), "not needed here any more"


def _unread_parameters(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield (function, parameter) for the parameters that are not read; functions that only raise read none."""
    for path in sorted(folder.rglob("*.py")):
        for name, node in _public_functions(ast.parse(path.read_text(encoding="utf-8")), ""):
            read_names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            parts = node.args
            parameters = [*parts.posonlyargs, *parts.args, *parts.kwonlyargs, parts.vararg, parts.kwarg]
            for parameter in () if _is_stub(node) else parameters:
                if parameter is not None and parameter.arg not in read_names | {"self", "cls", "_", "__"}:
                    yield f"{path.relative_to(ROOT)}: {name}", parameter.arg


def _public_functions(node: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from _public_functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef) and _is_public(child.name):
            yield prefix + child.name, child


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name in ("__init__", "__call__", "__new__")


def _is_stub(node: ast.FunctionDef) -> bool:
    """Return whether the function does nothing, or ends in a refusal: it never returns a wrong value."""
    last = node.body[-1]
    if isinstance(last, ast.Expr):
        return isinstance(last.value, ast.Constant) or ast.unparse(last).startswith("refuse(")
    return isinstance(last, (ast.Raise, ast.Pass))
