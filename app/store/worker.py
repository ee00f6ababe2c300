"""A process that reads files and keeps them in the store: `python -m fusescope.app.store.worker
SETTINGS FILE…`. Of each it says whether it was kept; see ahead.py."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from threading import Thread

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.app.store.ahead import KEPT, LEFT
from fusescope.app.store.keeping import is_cold, read_through


def main() -> None:
    """Reads and keeps; ends where the process that asked for it has ended."""
    Thread(target=_wait_for_end, daemon=True).start()
    settings = json.loads(sys.argv[1])
    limits, above = Limits(**settings["limits"]), bool(settings["above"])
    for path in map(Path, sys.argv[2:]):
        try:
            read_through(path, limits, above=above)
            kept = not is_cold(path, limits, above=above)
        except (FuseScopeError, OSError, MemoryError):  # whoever asks for it says what is wrong
            kept = False
        os.write(sys.stdout.fileno(), KEPT if kept else LEFT)


def _wait_for_end() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
