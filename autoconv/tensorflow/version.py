"""`tensorflow.version`: the version whose behaviour is followed."""

from __future__ import annotations

import sys

from autoconv.tensorflow import __version__

VERSION = __version__
GIT_VERSION = f"v{__version__}"
COMPILER_VERSION = sys.version
GRAPH_DEF_VERSION = 2205
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
