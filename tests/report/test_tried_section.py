"""What was tried, in the report: predicted beside measured, from the file and from its report."""

from __future__ import annotations

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.experiment import Experiment, PredictedPart, Try
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from tests.factories import experiment_zip

TIMES = {"fused": [10.0] * 8, "threads:1": [8.0] * 8}
TRIES = (
    Try("threads:1", "idle_threads", PredictedPart(0.15, 0.05, 0.3)),
    Try("int8", "memory_bound", refused="<img src=x> has no Conv"),
)


def report_of(**changes: object) -> str:
    value = read(Source("made.zip", experiment_zip(TIMES, changes=changes)))
    assert isinstance(value, Experiment)
    return report_html(compare(*choose_sides(value)))


def test_what_was_tried_is_a_section() -> None:
    """15 % of 10 ms, and 2 ms; a recording of no tries has no such section."""
    page = report_of(tries=TRIES)
    section = page.partition('<section id="tried">')[2].partition("</section>")[0]
    assert "1.50 ms (500 µs to 3.00 ms)" in section
    assert "2.00 ms (1.99 ms to 2.01 ms)" in section
    assert "Not recorded: &lt;img src=x&gt; has no Conv." in section
    assert section.count('<td class="text">–</td>') == 2, "int8 was neither predicted nor measured"
    assert "Keep threads:1: 1.25× faster than fused" in section
    assert 'id="tried"' not in report_of()
