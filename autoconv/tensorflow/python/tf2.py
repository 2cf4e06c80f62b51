"""The query for version 2."""

from autoconv.tensorflow.__internal__.tf2 import enabled as enabled
