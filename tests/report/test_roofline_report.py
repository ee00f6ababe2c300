"""The report's roofline: where dots and roofs stand, and that names are text."""

from __future__ import annotations

import re

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.roofline import Line
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.pictures.roofline import HEIGHT, WIDTH, roofline
from fusescope.analysis.trace import Trace
from tests.factories import CONV, RELU, Operator, profile_json

RATES = Assumptions(peak_flops_per_s=1e9, bandwidth_bytes_per_s=1e8)
HOSTILE = "<img src=x onerror=alert(1)>"


def of(*operators: Operator) -> Comparison:
    trace = read(Source("p.json", profile_json(operators, runs=2)))
    assert isinstance(trace, Trace)
    return compare(side_of_trace(trace), side_of_trace(trace), RATES)


def test_dots_and_roofs_stand_where_the_axes_say() -> None:
    found = roofline(of(CONV, ("slow/Conv", "Conv", 1000, *CONV[3:])))
    assert found is not None
    fast, slow = (
        next(m for m in found.marks if m.side == "baseline" and m.title.startswith(name))
        for name in ("a/Conv", "slow/Conv")
    )
    assert fast.x == slow.x and fast.y < slow.y  # same intensity, higher rate further up
    assert slow.radius > fast.radius
    assert "of its roof" in fast.title
    peak, memory = found.roofs
    assert peak.y1 == peak.y2 and memory.x1 < memory.x2 and memory.y1 > memory.y2
    assert (memory.x2, memory.y2) == pytest.approx((peak.x1, peak.y1))  # the ridge
    assert all(0 <= m.x <= WIDTH and 0 <= m.y <= HEIGHT for m in found.marks)
    assert all(0 <= tick.at <= 1 for tick in (*found.x_ticks, *found.y_ticks))
    assert len(found.x_ticks) >= 2 and len(found.y_ticks) >= 2
    assert [row.shown_name for row in found.rows[:2]] == ["slow/Conv"] * 2


def test_the_section_is_in_the_page_and_names_are_text() -> None:
    page = report_html(of((f"{HOSTILE}/Conv", *CONV[1:])))
    [section] = re.findall(r'<section id="roofline">.*?</section>', page, re.DOTALL)
    assert "float32 peak ~1.00 GFLOP/s" in section and "main memory ~100 MB/s" in section
    assert "&lt;img" in section and "<img" not in section


def test_every_roof_has_a_pattern_and_a_name_of_its_own() -> None:
    page = report_html(of(CONV, ("q/Conv", "ConvInteger", *CONV[2:])))
    [section] = re.findall(r'<section id="roofline">.*?</section>', page, re.DOTALL)
    [drawing] = re.findall(r"<figure.*?</figure>", section, re.DOTALL)
    lines = re.findall(r"<line[^>]*>", drawing)
    dashes = [re.findall(r'stroke-dasharray="([\d ]+)"', line) for line in lines]
    assert len(lines) == 3 and len({str(dash) for dash in dashes}) == 3
    labels = re.findall(r'<span class="at \w+" [^>]*>([^<]*)<', drawing)
    assert labels == ["float32 peak", "8-bit peak", "main memory"]
    roofs = [Line(what, 1.0, True, None, "measured") for what in ("memory", "L1", "L2", "L3", "L4")]
    assert len({line.dashes for line in roofs}) == 5


def test_without_counted_operators_there_is_no_section() -> None:
    comparison = of(RELU)
    assert roofline(comparison) is None
    assert '<section id="roofline">' not in report_html(comparison)


def test_integers_have_no_flops() -> None:
    page = report_html(of(CONV, ("q/Conv", "ConvInteger", *CONV[2:])))
    [section] = re.findall(r'<section id="roofline">.*?</section>', page, re.DOTALL)
    assert "float32 peak ~1.00 GFLOP/s" in section and "8-bit peak ~1.00 GOP/s" in section
    assert "upwards: attained FLOP/s (of 8-bit numbers OP/s)" in section
    titles = dict(re.findall(r"<title>(\w)/Conv [^<]*?, ([\d.]+ \w+/B, [\d.]+ \w+/s),", section))
    # 2 · 256 outputs · 27 taps on 2224 bytes in 100 µs, padding counted without a graph.
    assert titles == {"a": "6.22 FLOP/B, 138 MFLOP/s", "q": "6.22 OP/B, 138 MOP/s"}
