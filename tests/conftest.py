"""Puts this folder on the import path, so that the tests of several packages can share helpers; sums as commands do."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")  # as commands do: what these tests compute is what commands compute
