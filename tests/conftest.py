"""Puts this folder on the import path, so that the tests of several packages can share helpers; sums as commands do."""

import os
import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")  # as commands do: what these tests compute is what commands compute

settings.register_profile("any machine", deadline=None)  # a busy one is slow, not wrong
settings.load_profile("any machine")
