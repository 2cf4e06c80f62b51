"""Save objects with their functions as graphs, and load them where their classes are unknown."""

from autoconv.saved_model.assets import Asset
from autoconv.saved_model.function_file import load_function, save_function
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
# Names in TensorFlow's files, for programs that read them.
ASSETS_KEY, DEBUG_DIRECTORY, DEBUG_INFO_FILENAME_PB = "saved_model_assets", "debug", "saved_model_debug_info.pb"
VARIABLES_DIRECTORY, VARIABLES_FILENAME, SAVED_MODEL_SCHEMA_VERSION = "variables", "variables", 1
SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT = "saved_model.pb", "saved_model.pbtxt"
CLASSIFY_INPUTS, CLASSIFY_OUTPUT_CLASSES, CLASSIFY_OUTPUT_SCORES = "inputs", "classes", "scores"
PREDICT_INPUTS, PREDICT_OUTPUTS, REGRESS_INPUTS, REGRESS_OUTPUTS = "inputs", "outputs", "inputs", "outputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
PREDICT_METHOD_NAME, REGRESS_METHOD_NAME = "tensorflow/serving/predict", "tensorflow/serving/regress"

__all__ = [
    "ASSETS_DIRECTORY", "Asset", "DEFAULT_SERVING_SIGNATURE_DEF_KEY", "GPU", "LoadOptions", "LoadedObject", "SERVING",
    "SaveOptions", "TPU", "TRAINING", "contains_saved_model", "load", "load_function", "save",
    "save_function",
]  # fmt: skip
