"""The answer of a comparison as lines of text, the same in the terminal and as it is copied."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace, side_of_variant
from fusescope.analysis.wording import figure_text
from fusescope.analysis.wording.answer import answer_lines
from fusescope.analysis.wording.sentences import change_sentence
from fusescope.app.cli.printing.comparison import print_comparison
from tests.compare.test_comparison import experiment_of, trace_of
from tests.factories import FUSED_OPERATORS, experiment_zip, profile_json


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """10 ms against 5 ms in every block."""
    experiment = experiment_of(experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8}))
    return compare(side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"))


def test_the_answer_is_the_verdict_then_what_it_rests_on(comparison: Comparison) -> None:
    lines = answer_lines(comparison)
    assert lines[0].startswith("fused is 2.00× faster than unfused")
    assert lines[2] == "Latency −50.0 %, throughput +100.0 %."
    assert lines[3].startswith("Can I trust this? ")
    assert all(line == line.strip() and "\n" not in line for line in lines)


def test_the_terminal_begins_with_it(
    comparison: Comparison, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    print_comparison(comparison, [], is_brief=True)
    printed = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in printed[: len(answer_lines(comparison))]] == answer_lines(
        comparison
    )


def test_runs_of_unknown_batch_size_have_no_throughput(comparison: Comparison) -> None:
    """A trace does not say how many samples a run has: 20 runs a second may be 640 samples."""
    assert figure_text(comparison, "throughput").label == "throughput"
    data = profile_json(FUSED_OPERATORS, runs=9)
    sides = [side_of_trace(trace_of(data, name)) for name in ("a.json", "b.json")]
    traces = compare(*sides)
    text = figure_text(traces, "throughput")
    assert text.label == "runs per second" and text.definition.startswith("1 / latency")
    figure = traces.figure("throughput")
    latency_ns = traces.figure("latency").baseline.value
    assert latency_ns and figure.baseline.value == pytest.approx(1e9 / latency_ns)
    half = compare(comparison.baseline, sides[0])  # one side of known batch size, the other not
    assert figure_text(half, "throughput").label == "runs per second"
    assert "throughput" not in change_sentence(traces)
