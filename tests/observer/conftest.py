"""The stub server stands beside the tests; pytest's importlib mode does not put it on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
