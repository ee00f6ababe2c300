"""Numbers below 0 have the sign of minus in what the report says of findings."""

from __future__ import annotations

from typing import Any

from fusescope.analysis import units
from fusescope.analysis.advice import Finding, Findings
from fusescope.analysis.advice.finding import Gain
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.messages import Part
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.limits import limits
from fusescope.analysis.report.text import unbroken_parts
from fusescope.analysis.trace import Trace
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


def test_every_number_below_0_has_the_sign_of_minus() -> None:
    """In every unit that pages, terminal and report write; an exponent keeps its hyphen."""
    shown = [
        units.duration(-1500, signed=True),
        units.percent(-0.588, signed=True),
        units.percent(-0.99972, signed=True),
        units.points(-0.256),
        units.data_size(-5, signed=True),
        units.data_size(-93_400_000, signed=True),
        units.grouped(-12345.6, ".1f"),
        units.small_number(-0.0000213),
        units.count(-3),
    ]
    assert [text[0] for text in shown] == ["\N{MINUS SIGN}"] * len(shown)
    assert not any("-" in text.replace("e-05", "") for text in shown)


def test_names_keep_their_spaces() -> None:
    parts = unbroken_parts([Part("by "), Part("5 %", "number"), Part(" in -1 %", "name")])
    assert [part.text for part in parts] == ["by ", "5\N{NO-BREAK SPACE}%", " in -1 %"]
