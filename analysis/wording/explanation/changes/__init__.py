"""Each change of an explanation as a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fusescope.analysis.compare.explanation.explanation import Change, ChangeCode, UnitTimes
from fusescope.analysis.messages import Said
from fusescope.analysis.wording.explanation.changes.alone import added, removed
from fusescope.analysis.wording.explanation.changes.communication import communication
from fusescope.analysis.wording.explanation.changes.idle import idle
from fusescope.analysis.wording.explanation.changes.operators import operator
from fusescope.analysis.wording.explanation.changes.others import (
    fused,
    pieces,
    repeats,
    replaced,
    split,
)
from fusescope.analysis.wording.explanation.changes.sentence import Sentence
from fusescope.analysis.wording.explanation.changes.times import (
    clocks,
    outlier,
    place,
    shapes,
    time,
)
from fusescope.analysis.wording.explanation.long_gaps import with_long_gap
from fusescope.analysis.wording.explanation.long_ones import with_long_ones
from fusescope.analysis.wording.explanation.some_units import with_some_units
from fusescope.analysis.wording.explanation.uncached import with_uncached
from fusescope.analysis.wording.explanation.units import per_unit, word


def change_said(change: Change, unit: UnitTimes) -> Said:
    """Return one change as a sentence, with its time in each unit."""
    message, values = _SENTENCES[change.code](change, unit)
    said = message.of(ns=change.change_ns, per=per_unit(unit), **values)
    said = with_long_ones(said, change)
    said = with_long_gap(said, change, unit)
    said = with_uncached(said, change.values, per_unit(unit))
    return with_some_units(said, change.values, word(unit.kind, unit.name))


_SENTENCES: Mapping[ChangeCode, Callable[[Change, UnitTimes], Sentence]] = {
    "added": added,
    "removed": removed,
    "fused": fused,
    "split": split,
    "replaced": replaced,
    "pieces": pieces,
    "time": time,
    "operator": operator,
    "shapes": shapes,
    "place": place,
    "outlier": outlier,
    "repeats": repeats,
    "clocks": clocks,
    "idle": idle,
    "communication": communication,
}
