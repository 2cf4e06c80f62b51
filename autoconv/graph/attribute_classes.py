"""Classes of attribute values that other packages define: they are registered when their module is imported.

A text of a graph may name a class whose module is not imported yet; `find_attribute_class` imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TypeVar

ATTRIBUTE_CLASSES: dict[str, type] = {}  # the registered classes by name
_Class = TypeVar("_Class")
_CLASSES_OF_MODULES = {
    "autoconv.api.boxes.crops": "DrawnBoxes",
    "autoconv.api.boxes.suppression": "Suppression OverlapSuppression PaddedSuppression CombinedSuppression",
    "autoconv.api.files": "ReadFile WriteFile",
    "autoconv.api.nn.isotonic": "IsotonicBlocks",
    "autoconv.api.ragged.text": "RaggedText",
    "autoconv.api.random.sampled_losses": "SampleClasses",
    "autoconv.api.scopes": "Timestamp",
    "autoconv.api.sparse.crossing": "JoinedFeatures HashedFeatures",
    "autoconv.api.sparse.ctc_decoding": "GreedyDecoder BeamSearchDecoder EditDistance",
    "autoconv.api.sparse.sets": "SetOperation SetSizes",
    "autoconv.api.string_parts": "CharacterOffsets",
    "autoconv.io.audio_files": "ReadWav WriteWav",
    "autoconv.io.csv_fields": "DecodeCsv",
    "autoconv.io.encodings": "EncodeBase64 DecodeBase64 Decompress MatchFiles",
    "autoconv.io.example_decoding": "FeatureSpec DecodeExamples DecodeRows DecodeSequences DecodeStepRows",
    "autoconv.io.image_files": "DecodeImage EncodeImage IsJpeg JpegShape",
    "autoconv.io.image_quality": "ThroughJpeg",
    "autoconv.io.raw_numbers": "DecodeRaw",
    "autoconv.io.tensor_records": "SerializeTensor ParseTensor",
    "autoconv.saved_model.stored_arrays": "StoredArray",
    "autoconv.summary.kinds": "Histogram EncodeImages",
}  # fmt: skip
MODULE_BY_CLASS_NAME = {name: module for module, names in _CLASSES_OF_MODULES.items() for name in names.split()}


def attribute_class(class_: type[_Class]) -> type[_Class]:
    """Register a frozen dataclass whose instances are attribute values: they hash, print and parse by their fields."""
    ATTRIBUTE_CLASSES[class_.__name__] = class_
    return class_


def find_attribute_class(name: str) -> type | None:
    """Return the class of that name, whose module is imported if necessary; None if there is none."""
    if name not in ATTRIBUTE_CLASSES and name in MODULE_BY_CLASS_NAME:
        import_module(MODULE_BY_CLASS_NAME[name])
    return ATTRIBUTE_CLASSES.get(name)
