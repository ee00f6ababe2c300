"""What recordings on the disk say of themselves, without their traces; read once as they are.

Needs no dashboard: the command line lists and asks the library without it.
"""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path

from fusescope.analysis.advice.tried import kept, tried
from fusescope.analysis.compare.choice import chosen_names
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import RECORD_NAME, ExperimentRecord, parse_record
from fusescope.analysis.limits import MIB

_RECORD_BYTES = 64 * MIB


def record_at(path: Path) -> ExperimentRecord | None:
    """The record of the experiment at `path`, without its traces; None where it is none."""
    try:
        facts = path.stat()
        return _record(str(path), facts.st_mtime_ns, facts.st_size)
    except OSError:
        return None


def pair_in(prefix: str, path: Path) -> tuple[str, str] | tuple[None, None]:
    """Ids below `prefix` of baseline and fused variant of an experiment, or of what was tried and
    is kept; None where it cannot be read."""
    record = record_at(path)
    if record is None:
        return None, None
    one = kept(tried(record))
    baseline, candidate = chosen_names(record, candidate=one.remedy.variant if one else None)
    return f"{prefix}/{baseline}", f"{prefix}/{candidate}"


def recorded_pair(path: Path) -> tuple[str, str] | tuple[None, None]:
    """The same of a recording of this machine, as links name it."""
    return pair_in(f"recorded:{path.name}", path)


# More than there are experiments of the Record page, samples and recipes together.
@lru_cache(maxsize=64)
def _record(path: str, mtime_ns: int, size: int) -> ExperimentRecord | None:
    """The record as the file is now; None where there is none."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(RECORD_NAME) as member:
            data = member.read(_RECORD_BYTES + 1)
        if len(data) > _RECORD_BYTES:
            return None
        return parse_record(data)
    except (FuseScopeError, OSError, zipfile.BadZipFile, KeyError, ValueError, RuntimeError):
        return None
