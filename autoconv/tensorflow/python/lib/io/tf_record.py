"""Files of records."""

from autoconv.io.records import TFRecordOptions as TFRecordOptions
from autoconv.io.records import TFRecordWriter as TFRecordWriter
from autoconv.io.records import tf_record_iterator as tf_record_iterator
