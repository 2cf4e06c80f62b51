"""The fuzzers import each other and their packages, as they do where they run as scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
