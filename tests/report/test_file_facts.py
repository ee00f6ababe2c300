"""What a report says of each file is what the file says by itself."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.doctor import facts_of, file_facts
from fusescope.analysis.trace import Trace

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "torch_compile"


def test_what_a_file_contains_does_not_depend_on_the_other_file() -> None:
    """The log beside the compiled trace names the operators of both, but only one file has it."""
    traces = [read_path(SAMPLES / name) for name in ("eager.json.gz", "compiled.json.gz")]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    comparison = compare(sides[0], sides[1])
    assert comparison.baseline.trace.operators["members"].notna().any()
    assert not sides[0].trace.operators["members"].notna().any()
    assert file_facts(comparison) == facts_of(sides)
    assert [facts.has.count("inside fused ones") for facts in file_facts(comparison)] == [0, 1]
