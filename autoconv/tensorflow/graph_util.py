"""`tensorflow.graph_util`."""

from autoconv.compat.v1 import graph_import as _imports

import_graph_def = _imports.import_graph_def
