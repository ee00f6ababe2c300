"""Advice that holds for devices of several vendors names what each of them calls it."""

from __future__ import annotations

from analysis.readers.pytorch.kineto import KINETO
from analysis.wording.findings.host import CAUSES
from analysis.wording.findings.texts import TEXTS


def test_advice_to_launch_a_graph_is_not_of_one_vendor_only() -> None:
    remedies = [text.remedy for text in CAUSES.values()]
    remedies += [text.remedy for text in TEXTS.values() if text.remedy is not None]
    of_graphs = [one.one for one in remedies if "CUDA" in one.one and "raph" in one.one]
    assert len(of_graphs) >= 3
    for text in of_graphs:
        assert "HIP graphs" in text and "graph mode of CANN" in text


def test_counters_are_recorded_with_the_tool_of_the_vendor() -> None:
    """Kineto's traces are of NVIDIA, AMD and Ascend devices; its counters only of NVIDIA's."""
    hint = str(KINETO.fields["counters"])
    assert "NVIDIA" in hint
    assert "rocprofv3 --pmc" in hint and "aic_metrics" in hint
