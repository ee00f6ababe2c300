"""All formats that are read, the most specific first. Loading them takes as long as reading a
recording of FuseScope, which is looked for without them."""

from __future__ import annotations

from fusescope.analysis.readers.experiment import EXPERIMENT
from fusescope.analysis.readers.packed.tables import PACKED
from fusescope.analysis.readers.profilers import PROFILERS
from fusescope.analysis.readers.reader import Reader

READERS: tuple[Reader, ...] = (EXPERIMENT, *PROFILERS)

# Readers of files that only a report contains; users do not see them as formats.
ALL_READERS = (*READERS, PACKED)
