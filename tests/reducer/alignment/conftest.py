"""The story builder stands beside the tests; importlib mode does not put it on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
