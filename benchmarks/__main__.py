"""`python -m benchmarks [GROUP ...]`: all rows, or those of the groups named."""

from __future__ import annotations

import os
import sys

from benchmarks import (
    commands,
    dashboard,
    fleet,
    ingest,
    interval,
    lineage,
    store,
    timeline,
    uploads,
    wide,
)
from benchmarks.row import print_rows

GROUPS = {
    "commands": commands.measure,
    "dashboard": dashboard.measure,
    "fleet": fleet.measure,
    "ingest": ingest.measure,
    "interval": interval.measure,
    "lineage": lineage.measure,
    "store": store.measure,
    "timeline": timeline.measure,
    "uploads": uploads.measure,
    "wide": wide.measure,
}


def main() -> None:
    """Measure and print; exit code 2 for an unknown group."""
    names = sys.argv[1:] or list(GROUPS)
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        print(f"There is no group {unknown[0]!r}; there are {', '.join(GROUPS)}.", file=sys.stderr)
        sys.exit(2)
    load = os.getloadavg()[0]
    print(f"Load average {load:.1f} on {os.cpu_count()} cores. Medians; quote ratios, not times.\n")
    print_rows([row for name in names for row in GROUPS[name]()])


if __name__ == "__main__":
    main()
