"""The roofline of the Compare page and its columns in the operator table."""

from __future__ import annotations

import json
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.app.pages import figures, is_clean, table

Start = Callable[..., AppTest]


def drawn(page: AppTest) -> list[str]:
    """Names of what the picture shows."""
    for chart in page.get("plotly_chart"):
        spec = json.loads(chart.proto.spec)
        if "intensity" in spec["layout"].get("xaxis", {}).get("title", {}).get("text", ""):
            return [trace["name"] for trace in spec["data"]]
    return []


def test_dots_stand_alone_where_the_recording_has_no_bandwidth(start: Start) -> None:
    page = start()
    assert is_clean(page)
    assert drawn(page) == ["float32 peak 100 GFLOP/s", "unfused", "fused"]
    assert any("memory bandwidth is not in the file" in c.value for c in page.caption)
    assert "share of the roofline" not in figures(page)


def test_an_entered_bandwidth_is_a_roof_and_a_column(start: Start) -> None:
    page = start(bandwidth_gbs="24")
    assert is_clean(page)
    assert drawn(page) == ["float32 peak 100 GFLOP/s", "main memory ~24.0 GB/s", "unfused", "fused"]
    assert figures(page)["share of the roofline"][0] != "–"
    more = ["Intensity, FLOP/B", "Attained, GFLOP/s", "Moved, GB/s", "Of its roof, %"]
    page.pills(key="operator_columns").set_value(more).run()
    rows = table(page, 0)
    conv = rows[rows[("", "Name")] == "a/Conv"].iloc[0]
    # 11 616 FLOPs on 2224 bytes in 100 µs: see tests/metrics/test_roofline.py.
    assert round(conv[("Intensity, FLOP/B", "baseline")], 3) == round(11_616 / 2224, 3)
    assert round(conv[("Attained, GFLOP/s", "baseline")], 4) == 0.1162
    assert round(conv[("Moved, GB/s", "baseline")], 5) == 0.02224
    assert round(conv[("Of its roof, %", "baseline")], 3) == round(0.11616 / 100 * 100, 3)
