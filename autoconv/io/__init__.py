"""Files: their contents in graphs, records, examples and images; `gfile` has functions of files and folders."""

from autoconv.api.files import read_file, write_file
from autoconv.io import gfile
from autoconv.io.audio_files import decode_wav, encode_wav
from autoconv.io.csv_fields import decode_csv
from autoconv.io.encodings import decode_base64, decode_compressed, encode_base64, match_filenames_once, matching_files
from autoconv.io.examples import (
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from autoconv.io.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from autoconv.io.image_files import (
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
    extract_jpeg_shape,
    is_jpeg,
)
from autoconv.io.image_quality import decode_and_crop_jpeg, decode_webp
from autoconv.io.raw_numbers import decode_raw
from autoconv.io.records import TFRecordOptions, TFRecordWriter, tf_record_iterator
from autoconv.io.sparse_records import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from autoconv.io.tensor_records import parse_tensor, serialize_tensor
from autoconv.runtime.recording.tracebacks import wrap_public_functions as _wrap_public_functions

__all__ = [
    "FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "TFRecordOptions", "TFRecordWriter",
    "VarLenFeature", "decode_and_crop_jpeg", "decode_base64", "decode_bmp", "decode_compressed", "decode_csv",
    "decode_gif", "decode_image", "decode_jpeg", "decode_png", "decode_raw", "decode_wav", "decode_webp",
    "deserialize_many_sparse", "encode_base64", "encode_jpeg", "encode_png", "encode_wav", "extract_jpeg_shape",
    "gfile", "is_jpeg", "match_filenames_once", "matching_files", "parse_example", "parse_sequence_example",
    "parse_single_example", "parse_single_sequence_example", "parse_tensor", "read_file", "serialize_many_sparse",
    "serialize_sparse", "serialize_tensor", "tf_record_iterator", "write_file",
]  # fmt: skip

_wrap_public_functions(globals())
