"""What a report says of each file is what the file says by itself."""

from __future__ import annotations

from pathlib import Path

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.doctor import facts_of, file_facts, files_of
from fusescope.analysis.trace import Trace
from tests.step_traces import Kernel, steps_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces" / "torch_compile"


def test_what_a_file_contains_does_not_depend_on_the_other_file() -> None:
    """The log beside the compiled trace names the operators of both, but only one file has it."""
    traces = [read_path(SAMPLES / name) for name in ("eager.json.gz", "compiled.json.gz")]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    comparison = compare(sides[0], sides[1])
    assert comparison.baseline.trace.operators["members"].notna().any()
    assert not sides[0].trace.operators["members"].notna().any()
    assert file_facts(comparison) == facts_of(sides)
    assert [*files_of(comparison)] == [*files_of(comparison)], "a page keeps what it examined"
    assert [facts.has.count("inside fused ones") for facts in file_facts(comparison)] == [0, 1]


def test_what_a_file_can_give_is_of_the_runs_that_are_compared() -> None:
    """Neither file marks its six repetitions, of which the page shows latencies."""
    layer = [Kernel("gemm", 50, "matrix_product"), Kernel("norm", 7, "normalisation")]
    step = [Kernel("embedding", 9, "embedding"), *layer * 4, Kernel("loss", 5, "reduction")]
    traces = [steps_of([step] * 6, marked=False, name=name) for name in ("a", "b")]
    comparison = compare(*(side_of_trace(trace) for trace in traces))
    assert comparison.verdict.run_word == "repetitions"
    assert comparison.figure("latency").candidate.value is not None
    for facts in file_facts(comparison):
        assert {label: given for label, given, _ in facts.figures}["Latency"]
