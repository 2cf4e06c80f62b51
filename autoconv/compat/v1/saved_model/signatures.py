"""Signatures of version 1: the names of the tensors that a saved graph takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autoconv.compat.v1.default_graph import get_default_graph
from autoconv.graph.dtypes import DType, as_dtype
from autoconv.lazy_dataclass import dataclass, field
from autoconv.runtime.support.shape import TensorShape

PREDICT_METHOD_NAME = "tensorflow/serving/predict"


class TensorInfo:
    """The name, dtype and shape of a tensor of a graph.

    >>> autoconv.compat.v1.saved_model.TensorInfo("x:0", autoconv.float32, autoconv.TensorShape([2])).name
    'x:0'
    """

    def __init__(self, name: str, dtype: DType, tensor_shape: TensorShape) -> None:
        self.name, self.dtype, self.tensor_shape = name, dtype, tensor_shape

    def __repr__(self) -> str:
        return f"TensorInfo({self.name!r}, {self.dtype.name}, {self.tensor_shape})"


@dataclass(frozen=True)
class SignatureDef:
    """The tensors that a saved graph takes and returns, by their names in the signature.

    >>> autoconv.compat.v1.saved_model.SignatureDef().method_name
    ''
    """

    inputs: dict[str, TensorInfo] = field(default_factory=dict)
    outputs: dict[str, TensorInfo] = field(default_factory=dict)
    method_name: str = ""

    def record(self) -> dict[str, Any]:
        """Return the signature as JSON values."""
        inputs, outputs = (
            {
                name: [info.name, info.dtype.name, None if info.tensor_shape.rank is None else list(info.tensor_shape)]
                for name, info in infos.items()
            }
            for infos in (self.inputs, self.outputs)
        )
        return {"inputs": list(inputs.items()), "outputs": list(outputs.items()), "method_name": self.method_name}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SignatureDef:
        """Return the signature that the method `record` returned as JSON values."""
        inputs, outputs = (
            {
                key: TensorInfo(name, as_dtype(dtype), TensorShape(shape))
                for key, (name, dtype, shape) in record[part]
            }
            for part in ("inputs", "outputs")
        )
        return cls(inputs, outputs, record["method_name"])


def build_tensor_info(tensor: Any) -> TensorInfo:
    """Return the name, dtype and shape of a tensor or variable of a graph.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [2], name="x")
    ...     autoconv.compat.v1.saved_model.build_tensor_info(x).name
    'x:0'
    """
    return TensorInfo(tensor.name, tensor.dtype, tensor.shape)


def get_tensor_from_tensor_info(tensor_info: TensorInfo, graph: Any = None, import_scope: str | None = None) -> Any:
    """Return the tensor of a graph, by default of the default one, that a TensorInfo names.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [2], name="x")
    ...     v1 = autoconv.compat.v1.saved_model
    ...     v1.get_tensor_from_tensor_info(v1.build_tensor_info(x)).shape
    TensorShape([2])
    """
    prefix = f"{import_scope}/" if import_scope else ""
    return (graph or get_default_graph()).get_tensor_by_name(prefix + tensor_info.name)


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None, outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:  # fmt: skip
    """Return a signature of TensorInfos.

    >>> autoconv.compat.v1.saved_model.build_signature_def(method_name="predict").method_name
    'predict'
    """
    return SignatureDef(dict(inputs or {}), dict(outputs or {}), method_name or "")


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """Return the signature of a prediction, from tensors by name. Raises ValueError without inputs or outputs.

    >>> with autoconv.Graph().as_default():
    ...     x = autoconv.compat.v1.placeholder(autoconv.float32, [2], name="x")
    ...     autoconv.compat.v1.saved_model.predict_signature_def({"x": x}, {"y": x + 1.0}).inputs["x"].name
    'x:0'
    """
    for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"Prediction {kind} cannot be None or empty.")
    infos = [{name: build_tensor_info(tensor) for name, tensor in part.items()} for part in (inputs, outputs)]
    return SignatureDef(infos[0], infos[1], PREDICT_METHOD_NAME)
