"""The answer of a comparison as lines of text, the same in the terminal and as it is copied."""

from __future__ import annotations

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_variant
from fusescope.analysis.wording.answer import answer_lines
from fusescope.app.cli.printing.comparison import print_comparison
from tests.compare.test_comparison import experiment_of
from tests.factories import experiment_zip


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
