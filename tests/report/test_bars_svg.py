"""The small picture of a card: bars of one scale, or the parts of one trace in a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import pytest

from fusescope.analysis.colours import DARK, LIGHT
from fusescope.analysis.report.pictures.bars_svg import WIDTH, bars_svg


@dataclass(frozen=True)
class Bar:
    role: str
    ns: float


def rects(svg: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(svg)
    return [dict(each.attrib) for each in root if each.tag.endswith("rect")]


def test_both_sides_are_on_one_scale_and_say_their_times() -> None:
    svg = bars_svg([Bar("baseline", 2e6), Bar("candidate", 5e5)], DARK)
    first, second = rects(svg)
    assert float(second["width"]) + 1 == pytest.approx((float(first["width"]) + 1) / 4)
    assert [first["fill"], second["fill"]] == [DARK.baseline, DARK.candidate]
    assert re.findall(r">([^<]+)</text>", svg) == ["2.00 ms", "500 µs"]
    assert float(second["y"]) > float(first["y"])


def test_parts_of_one_trace_fill_one_row() -> None:
    bars = [Bar("computing", 50.0), Bar("communication", 30.0), Bar("idle", 20.0)]
    drawn = rects(bars_svg(bars, LIGHT))
    assert [float(each["width"]) + 1 for each in drawn] == [WIDTH / 2, WIDTH * 0.3, WIDTH * 0.2]
    assert [each["fill-opacity"] for each in drawn] == ["1.0", "0.6", "0.0"]
    assert len({each["y"] for each in drawn}) == 1


@pytest.mark.parametrize(
    "bars", [[], [Bar("baseline", 0.0), Bar("candidate", 0.0)], [Bar("idle", 0.0)]]
)
def test_nothing_is_a_picture_too(bars: list[Bar]) -> None:
    assert ElementTree.fromstring(bars_svg(bars)).tag.endswith("svg")
