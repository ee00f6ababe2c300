"""Numbers below 0 have the sign of minus in what the report says of findings."""

from __future__ import annotations

from typing import Any

from analysis.advice import Finding, Findings
from analysis.advice.finding import Gain
from analysis.compare import compare
from analysis.compare.side import side_of_trace
from analysis.messages import Part
from analysis.readers import read
from analysis.readers.input.source import Source
from analysis.report.limits import limits
from analysis.report.text import with_minus
from analysis.trace import Trace
from tests.factories import UNFUSED_OPERATORS, profile_json


def test_a_predicted_saving_whose_interval_goes_below_zero() -> None:
    """46 of 1000 ns, from -5 to 85 ns: 4.6 % (−0.5 % to 8.5 %)."""
    trace = read(Source("p.json", profile_json(UNFUSED_OPERATORS, runs=3)))
    assert isinstance(trace, Trace)
    comparison = compare(side_of_trace(trace), side_of_trace(trace))
    finding = Finding(
        "dispatch_bound",
        {"idle_ns": 60.0, "share": 0.06, "each_ns": 20.0, "executions": 3},
        gain=Gain(46.0, -5.0, 85.0, "modelled"),
        of_ns=1000.0,
    )
    nothing: dict[str, Any] = {}
    [limit] = limits(comparison, Findings((finding,), (), 1000.0), nothing).top
    text = "".join(part.text for part in limit.gain).replace("\N{NO-BREAK SPACE}", " ")
    assert "4.6 %" in text and "(\N{MINUS SIGN}0.5 % to 8.5 %)" in text


def test_names_keep_their_hyphens() -> None:
    parts = with_minus([Part("by "), Part("-5", "number"), Part(" in -1x", "name")])
    assert [part.text for part in parts] == ["by ", "\N{MINUS SIGN}5", " in -1x"]
