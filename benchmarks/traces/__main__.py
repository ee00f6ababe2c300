"""`python -m benchmarks.traces FORMAT COUNT FILE` writes a large trace."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.traces import write

write(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
