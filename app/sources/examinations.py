"""What a file holds, was dropped and can feed: examined once as long as the file is open."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from fusescope.analysis.doctor import Examination, examine
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.trace import Trace

_EXAMINED: WeakKeyDictionary[Trace | Experiment, Examination] = WeakKeyDictionary()


def examined(value: Trace | Experiment) -> Examination:
    """The examination of a file, made once as long as the file is open."""
    if value not in _EXAMINED:
        _EXAMINED[value] = examine(value)
    return _EXAMINED[value]
