"""`tensorflow.python.trackable.data_structures`: containers in attributes of layers."""

from autoconv.tensorflow.__internal__.tracking import ListWrapper as ListWrapper
from autoconv.tensorflow.__internal__.tracking import NoDependency as NoDependency
from autoconv.tensorflow.__internal__.tracking import TrackableDataStructure as TrackableDataStructure
from autoconv.tensorflow.__internal__.tracking import _DictWrapper as _DictWrapper
from autoconv.tensorflow.__internal__.tracking import _TupleWrapper as _TupleWrapper
from autoconv.tensorflow.__internal__.tracking import sticky_attribute_assignment as sticky_attribute_assignment
from autoconv.tensorflow.__internal__.tracking import wrap_or_unwrap as wrap_or_unwrap
from autoconv.tensorflow.keras_package import register_traced_containers

register_traced_containers()  # Keras imports this module before it makes its first tree
