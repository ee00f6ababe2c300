"""The paragraph that leads the report: compared, result, cause, trust, date and machine."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.explanation.summary import summary_parts
from fusescope.analysis.report.html import report_html
from fusescope.analysis.trace import Trace
from tests.compare.test_comparison import experiment_of
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.step_traces import Kernel, steps_of

HOSTILE = "<img src=x>.json"


def text(comparison: object) -> str:
    return "".join(part.text for part in summary_parts(comparison))  # type: ignore[arg-type]


def test_of_a_recording() -> None:
    """10 ms against 5 ms in every block."""
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8}, model_name="net")
    experiment = experiment_of(data)
    comparison = compare(
        side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused")
    )
    told = text(comparison)
    assert told.startswith("Two variants of net were compared: unfused as the baseline, and fused.")
    assert "faster than unfused" not in told  # the headline above says it
    record = experiment.record
    assert told.endswith(f"with onnxruntime {record.engines[0].version} on "
                         f"{record.machine.cpu_model}.")  # fmt: skip
    assert f"Recorded {record.created[:10]} " in told


@pytest.mark.parametrize("name", ["before.json", HOSTILE])
def test_of_two_traces_each_with_its_date_and_machine(name: str) -> None:
    sides = []
    for file, operators in ((name, UNFUSED_OPERATORS), ("after.json", FUSED_OPERATORS)):
        trace = read(Source(file, profile_json(operators, runs=6)))
        assert isinstance(trace, Trace)
        sides.append(side_of_trace(trace))
    comparison = compare(*sides)
    told = text(comparison)
    assert told.startswith(f"Two traces were compared: {name} as the baseline, and after.json.")
    assert "The baseline was recorded with ONNX Runtime" in told
    assert told.count("its file has no date.") == 2
    page = report_html(comparison)
    paragraph = page[page.index('<p class="summary">') :].split("</p>")[0]
    assert "<img" not in paragraph and "Two traces were compared" in paragraph
    assert page.index('<p class="summary">') < page.index('<div class="changes">')


def test_the_cause_stands_behind_what_is_said_of_another_batch() -> None:
    """Tensors twice as large, and twice the time: 4 products of 100 us take 200 us."""
    steps = [
        [Kernel("gemm", us, "matrix_product", by="aten::mm", inputs=f"float32[{rows},64]")] * 4
        for us, rows in ((100, 32), (200, 64))
    ]
    sides = [
        side_of_trace(steps_of([step] * 3, name=name))
        for step, name in zip(steps, ("before", "after"), strict=True)
    ]
    page = report_html(compare(*sides))
    lead = page[page.index("</h1>") :]
    batch = lead.index("Nearly all tensors of the candidate are 2.00× as large in one dimension")
    assert batch < lead.index("aten::mm")
