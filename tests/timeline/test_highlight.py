"""Where the timelines of a comparison draw a change, in ns from the start of the run shown."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import Side
from fusescope.analysis.timeline.highlight import Highlight, of_changes
from fusescope.analysis.timeline.payload import timeline_payload
from tests.step_traces import Kernel, steps_of


def test_a_change_is_drawn_on_both_sides_with_its_operators() -> None:
    """Three steps of 310 us become 360: the second, which is shown, begins at 310 and at 360, and
    in it `b` runs from 200 on."""
    sides = []
    for name, us in (("a.json", 100), ("b.json", 150)):
        step = [Kernel("a", 200), Kernel("b", us, "softmax"), Kernel("c", 10)]
        sides.append(Side(name, steps_of([step] * 3, name=name)))
    comparison = compare(*sides)
    assert comparison.explanation is not None
    shown = of_changes(timeline_payload(comparison), comparison)[0]
    assert shown is not None
    names = comparison.operators.loc[list(shown.first.rows), "name"].tolist()
    assert names == ["b"]
    assert shown.count == 1
    assert shown.first == Highlight(((200_000, 300_000), (200_000, 350_000)), shown.first.rows)
