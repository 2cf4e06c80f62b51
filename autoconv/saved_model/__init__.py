"""Save objects with their functions as graphs, and load them where their classes are unknown."""

from autoconv.saved_model.assets import Asset
from autoconv.saved_model.layout import contains_saved_model
from autoconv.saved_model.load import LoadedObject, load
from autoconv.saved_model.options import LoadOptions, SaveOptions
from autoconv.saved_model.save import save

ASSETS_DIRECTORY = "assets"
DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
SERVING = "serve"
TRAINING = "train"
GPU = "gpu"
TPU = "tpu"

__all__ = [
    "ASSETS_DIRECTORY", "Asset", "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU", "LoadOptions", "LoadedObject", "SERVING",
    "SaveOptions", "TPU", "TRAINING", "contains_saved_model", "load", "save",
]  # fmt: skip
