"""Example and SequenceExample: the records of training data, protocol buffers that TensorFlow reads and writes."""

from __future__ import annotations

from typing import Any

MESSAGE_NAMES = (  # names of the classes of messages
    "BytesList", "FloatList", "Int64List", "Feature", "Features", "FeatureList", "FeatureLists", "Example",
    "SequenceExample",
)  # fmt: skip

# Fields of each message: (name, number, type). A type <T> is a map from strings to T, and [T] a list.
_MESSAGES = {
    "BytesList": [("value", 1, "[bytes]")],
    "FloatList": [("value", 1, "[float]")],
    "Int64List": [("value", 1, "[int64]")],
    "Feature": [("bytes_list", 1, "BytesList"), ("float_list", 2, "FloatList"), ("int64_list", 3, "Int64List")],
    "Features": [("feature", 1, "<Feature>")],
    "FeatureList": [("feature", 1, "[Feature]")],
    "FeatureLists": [("feature_list", 1, "<FeatureList>")],
    "Example": [("features", 1, "Features")],
    "SequenceExample": [("context", 1, "Features"), ("feature_lists", 2, "FeatureLists")],
}
_INT64_LIST = "autoconv.train.Int64List(value=[1, 2])"
_FEATURE = f"autoconv.train.Feature(int64_list={_INT64_LIST})"
_FEATURES = f"autoconv.train.Features(feature={{'n': {_FEATURE}}})"
_FEATURE_LIST = f"autoconv.train.FeatureList(feature=[{_FEATURE}])"
# For each message: a description, an expression that makes one, an access to it, and the value of the access.
_DOCUMENTATION = {
    "BytesList": ("Texts of a feature.", "autoconv.train.BytesList(value=[b'a'])", "value[0]", "b'a'"),
    "FloatList": ("Float32 numbers of a feature.", "autoconv.train.FloatList(value=[0.5])", "value[0]", "0.5"),
    "Int64List": ("Int64 numbers of a feature.", _INT64_LIST, "value[1]", "2"),
    "Feature": ("Texts or numbers under one name: one of three lists.", _FEATURE, "WhichOneof('kind')", "'int64_list'"),
    "Features": ("The features of an example by name.", _FEATURES, "feature['n'].int64_list.value[0]", "1"),
    "FeatureList": ("A feature for each step of a sequence.", _FEATURE_LIST, "feature[0].int64_list.value[0]", "1"),
    "FeatureLists": (
        "Lists of features by name.", f"autoconv.train.FeatureLists(feature_list={{'n': {_FEATURE_LIST}}})",
        "feature_list['n'].feature[0].int64_list.value[1]", "2",
    ),
    "Example": (
        "One record of training data: features by name.", f"autoconv.train.Example(features={_FEATURES})",
        "SerializeToString()", r"b'\n\r\n\x0b\n\x01n\x12\x06\x1a\x04\n\x02\x01\x02'",
    ),
    "SequenceExample": (
        "One record of a sequence: features of the sequence, and lists with a feature for each step.",
        f"autoconv.train.SequenceExample(context={_FEATURES})", "context.feature['n'].int64_list.value[1]", "2",
    ),
}  # fmt: skip
_ONEOF_NAMES = {"Feature": "kind"}  # messages with at most one field set


def message_classes() -> dict[str, type]:
    """Return the classes by name; raises ImportError without the package protobuf.

    The classes are in a separate descriptor pool, so that a program may load TensorFlow's classes, too.
    """
    try:
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    except ImportError:
        raise ImportError("protocol buffers need the package protobuf: pip install 'autoconv[train]'") from None
    file = descriptor_pb2.FileDescriptorProto(
        name="autoconv/train/example.proto", package="tensorflow", syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        if name in _ONEOF_NAMES:
            message.oneof_decl.add(name=_ONEOF_NAMES[name])
        for field in fields:
            _add_field(message, *field)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptors = {name: pool.FindMessageTypeByName(f"tensorflow.{name}") for name in MESSAGE_NAMES}
    classes = {name: message_factory.GetMessageClass(descriptor) for name, descriptor in descriptors.items()}
    for name, (description, expression, access, result) in _DOCUMENTATION.items():
        classes[name].__doc__ = f"""{description}

>>> message = {expression}
>>> message.{access}
{result}
"""
    return classes


def _add_field(message: Any, name: str, number: int, field_type: str) -> None:
    """Add a field to the descriptor of a message, with a type as in `_MESSAGES`."""
    field = message.field.add(name=name, number=number, label="LABEL_OPTIONAL")
    if field_type[0] in "[<":
        field.label = field.LABEL_REPEATED
    if field_type[0] == "<":
        entry_message = message.nested_type.add(name="".join(word.title() for word in name.split("_")) + "Entry")
        entry_message.options.map_entry = True
        _add_field(entry_message, "key", 1, "string")
        _add_field(entry_message, "value", 2, field_type[1:-1])
        field.type, field.type_name = field.TYPE_MESSAGE, f".tensorflow.{message.name}.{entry_message.name}"
        return
    field_type = field_type.strip("[]")
    if field_type in _MESSAGES:
        field.type, field.type_name = field.TYPE_MESSAGE, f".tensorflow.{field_type}"
    else:
        field.type = getattr(field, f"TYPE_{field_type.upper()}")
    if message.oneof_decl:
        field.oneof_index = 0
