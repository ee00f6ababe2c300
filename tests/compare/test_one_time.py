"""One time leads where two traces are compared: the mean of the runs of each side, everywhere."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from fusescope.analysis import wording
from fusescope.analysis.advice.explanation import explain_trace
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.totals import totals
from fusescope.analysis.readers import read_path
from fusescope.analysis.report.explanation.rows import explained_rows
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.sample_card import card_of_comparison
from fusescope.analysis.timeline.payload import timeline_payload
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.units import _duration
from fusescope.analysis.wording.explanation import explained_parts
from fusescope.analysis.wording.explanation.traced_unit import unit_said
from fusescope.analysis.wording.explanation.waterfall import steps_of as steps_between
from fusescope.analysis.wording.waterfall import ends_ns
from tests.conftest import ROOT, SHARED_TRACES
from tests.step_traces import Kernel, steps_of

MS = 1_000_000
KINETO = "third_party/kineto"
# Pairs of which each side marks its runs, or shows what repeats.
PAIRS = {
    "two kernels of attention": ("flux1-base-fmha.json.gz", "flux1-opt-sage.json.gz"),
    "loading data": ("resnet50-workers_0.pt.trace.json.gz", "resnet50-workers_4.pt.trace.json.gz"),
    "an older one": ("resnet50-2021-worker0.json.gz", "resnet50-workers_4.pt.trace.json.gz"),
    "two GPUs": (
        "h100-Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "mi300-Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
    ),
    "two models": ("mi300-train_resnet18.json.gz", "mi300-resnet_act_checkpoint.json.gz"),
    "two fixes": ("../nsys/mfu_before.sqlite", "../nsys/mfu_after.sqlite"),
    "a compiler": (
        "../xplane/jax_conv_minimal_legacy.xplane.pb",
        "../xplane/jax_conv_minimal_08.xplane.pb",
    ),
    "stages": ("../ascend_torch_npu/st-level2-rank0", "../ascend_torch_npu/st-level2-rank2"),
}


def compared(*paths: Path) -> Comparison:
    sides = []
    for path in paths:
        trace = read_path(path)
        assert isinstance(trace, Trace)
        sides.append(side_of_trace(trace))
    return compare(*sides)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.usefixtures("shared_traces")
def test_one_time_leads_in_real_pairs(name: str) -> None:
    check(compared(*(SHARED_TRACES / KINETO / file for file in PAIRS[name])))


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("torch_compile", ("eager.json.gz", "compiled.json.gz")),
        ("jax", ("unfused.xplane.pb", "fused.xplane.pb")),
    ],
)
def test_one_time_leads_in_the_samples(folder: str, files: tuple[str, str]) -> None:
    check(compared(*(ROOT / "sample_traces" / folder / file for file in files)))


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("torch_compile", ("eager.json.gz", "compiled.json.gz")),
        ("jax", ("unfused.xplane.pb", "fused.xplane.pb")),
    ],
)
def test_what_is_shown_first_has_few_figures_and_each_time_once(
    folder: str, files: tuple[str, str]
) -> None:
    comparison = compared(*(ROOT / "sample_traces" / folder / file for file in files))
    assert comparison.explanation is not None
    rows = explained_rows(comparison, [None] * len(comparison.explanation.changes))
    assert rows is not None
    passages = (*rows.before, *(row.parts for row in rows.rows), *rows.after)
    said = ("".join(part.text for part in parts) for parts in passages)
    text = " ".join((wording.verdict_sentence(comparison), *said, rows.more_title))
    assert 5 < len(re.findall(r"\d+(?:[.,]\d+)?", text)) <= 40
    times = re.findall(r"[+−]?[\d.]+\s(?:ns|µs|ms|s)\b", text)
    assert len(times) > 5 and sorted(set(times)) == sorted(times)


def uneven() -> Comparison:
    """Steps of 100, 100, 100, 100, 100 and 280 ms against five of 90 ms and one of 120: 130 and 95
    ms on average, 100 and 90 ms in the middle."""
    kernels = [Kernel(f"k{at}", 20_000) for at in range(5)]
    slow = [*kernels[:4], Kernel("k4", 200_000)]
    fast = [Kernel(each.name, 18_000) for each in kernels]
    late = [*fast[:4], Kernel("k4", 48_000)]
    first = steps_of([*([kernels] * 5), slow], name="a")
    second = steps_of([fast, fast, late, fast, fast, fast], name="b")
    return compare(side_of_trace(first), side_of_trace(second))


def test_one_time_leads_where_runs_are_uneven() -> None:
    pair = uneven()
    assert pair.verdict.times_ns == (130 * MS, 95 * MS)
    assert pair.verdict.speedup == pytest.approx(130 / 95)
    check(pair)
    told = wording.verdict_sentence(pair)
    assert "b took 0.73× the time of a (95.0 against 130 ms, −26.9 %)." in told
    assert "5 of the baseline's 6 steps take 100 ms, the other one takes 280 ms." in told
    assert "5 of the candidate's 6 steps take 90.0 ms, the other one takes 120 ms." in told
    captions = [str(side["caption"]) for side in timeline_payload(pair)["sides"]]
    none = "the one nearest to the mean of {} ms, {} ms as profiled"
    assert f"step 3 of 6, {none.format(130, 100)}" in captions[0]
    assert f"step 4 of 6, {none.format('95.0', '90.0')}" in captions[1]


def check(pair: Comparison) -> None:
    """The time of each side is the same in every place, and what explains the change adds up to
    it."""
    explanation, verdict = pair.explanation, pair.verdict
    assert explanation is not None and verdict.is_of_means
    unit = explanation.unit
    unit_ns = (unit.before_ns, unit.after_ns)
    assert sum(each.change_ns for each in explanation.changes) + explanation.rest_ns == (
        unit.after_ns - unit.before_ns
    )
    latency = pair.figure("latency")
    assert (latency.baseline.value, latency.candidate.value) == pytest.approx(unit_ns, abs=0.51)
    values = comparison_values(pair)
    json.dumps(values)
    told = values["verdict"]["times"]
    assert told["statistic"] == "mean"
    [leading] = [each for each in totals(pair) if each.kind == "latency"]
    assert (leading.baseline_ns, leading.candidate_ns) == pytest.approx(unit_ns, abs=0.51)
    assert not any(each.kind == "mean_run" for each in totals(pair))
    if verdict.times_ns is None:
        return
    assert verdict.times_ns == pytest.approx(unit_ns, abs=0.51)
    assert (told["baseline_ns"], told["candidate_ns"]) == verdict.times_ns
    sum_ = pair.ledger.reconciliation
    assert sum_.baseline_ns is not None and sum_.delta_ns is not None
    assert (sum_.baseline_ns, sum_.baseline_ns + sum_.delta_ns) == pytest.approx(unit_ns, abs=2)
    steps = steps_between(pair)
    assert steps[0].value_ns == pytest.approx(unit.before_ns, abs=2)
    assert ends_ns(steps[:-1])[-1] == steps[-1].value_ns == pytest.approx(unit.after_ns, abs=2)
    sentence = values["verdict"]["sentence"]
    # '95.0 against 130 ms': the first one may lack its unit.
    bare = [[time.rpartition(" ")[0] for time in written(ns)] for ns in unit_ns]
    assert verdict.outcome != "noise_unknown" or all(
        any(number in sentence for number in one) for one in bare
    )
    spoken = "".join(part.text for part in explained_parts(explanation)[-1])
    assert "instead of" not in spoken or all(is_said(ns, spoken) for ns in unit_ns)
    assert [bar.ns for bar in card_of_comparison(pair).bars] == list(verdict.times_ns)
    page = report_html(pair)
    assert "slow runs, which the mean run counts" not in page
    assert "trimmed mean, the latency above" not in page


def written(ns: float) -> list[str]:
    """Return a time as sentences write it: beside what needs more digits it has some more."""
    return [_duration(ns, more) for more in range(3)]


def is_said(ns: float, text: str) -> bool:
    return any(time in text for time in written(ns))


FILES = {
    "graph kernels": ("mindspore_cpu/ms_graph_cbr", "mindspore_cpu/ms_graph_cbr_gk"),
    "another mode": ("mindspore_cpu/ms_graph_cbr", "mindspore_cpu/ms_pynative_cbr"),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.usefixtures("shared_traces")
def test_the_time_of_files_is_that_of_their_operators_and_their_span_is_named(name: str) -> None:
    pair = compared(*(SHARED_TRACES / "captured" / file for file in FILES[name]))
    explanation, verdict = pair.explanation, pair.verdict
    assert explanation is not None and verdict.of == "busy_union"
    unit = explanation.unit
    assert (unit.kind, verdict.times_ns) == ("file", unit.busy_ns)
    spoken = "".join(part.text for part in explained_parts(explanation)[-1])
    assert "spans" in spoken and "operators run for" in spoken
    for ns in (unit.before_ns, unit.after_ns, *unit.busy_ns):
        assert is_said(ns, spoken)


def totals_of(name: str, gemm_ns: int) -> Trace:
    """A file of totals without starts: 3 executions of `gemm` and one of `relu` of 40 us."""
    return Trace(
        Meta("ascend_op_statistic", "test", file_name=name),
        runs_frame(run=[0], kind=["file"], dur_ns=[gemm_ns + 40_000], profiled=[True]),
        operators_frame(
            operator=[0, 1],
            name=["gemm", "relu"],
            op_type=["gemm", "relu"],
            op_class=["matrix_product", "activation"],
            level=["device_kernel"] * 2,
        ),
        calls_frame(operator=[0, 1], run=[0, 0], n=[3, 1], dur_ns=[gemm_ns, 40_000]),
    )


def test_files_without_starts_have_the_sum_of_their_operators_and_no_idle_time() -> None:
    """240 and 40 us against 540 and 40: nothing is known of what ran beside what, or when."""
    pair = compare(*map(side_of_trace, (totals_of("a", 240_000), totals_of("b", 540_000))))
    explanation, verdict = pair.explanation, pair.verdict
    assert explanation is not None and verdict.times_ns == (280_000, 580_000)
    assert explanation.unit.busy_ns == (280_000, 580_000)
    assert [change.code for change in explanation.changes] == ["time"]
    assert explanation.changes[0].change_ns == 300_000 and explanation.rest_ns == 0
    spoken = "".join(part.text for part in explained_parts(explanation)[-1])
    assert spoken == (
        "The operators of the candidate's file take 580 µs together, those of the baseline's "
        "280 µs (+107.1 %)."
    )


def with_unprofiled(trace: Trace, *times_ns: int) -> Trace:
    """The trace with un-profiled runs of these times behind its own."""
    first = len(trace.runs)
    more = runs_frame(
        run=range(first, first + len(times_ns)), dur_ns=times_ns, block=[0] * len(times_ns)
    )
    runs = pd.concat([trace.runs, more], ignore_index=True)
    frame = runs_frame(**{str(name): runs[name].array for name in runs.columns})
    return replace(trace, runs=frame)


def test_a_unit_beside_unprofiled_runs_is_said_to_be_as_profiled() -> None:
    """100 and 50 ms under the profiler; without it 80 ms on average, and 40."""
    kernels = [Kernel(f"k{at}", 20_000) for at in range(5)]
    before = with_unprofiled(steps_of([kernels], name="a"), 70 * MS, 80 * MS, 90 * MS)
    fast = [Kernel(each.name, 10_000) for each in kernels]
    after = with_unprofiled(steps_of([fast], name="b"), 40 * MS, 40 * MS)
    pair = compare(side_of_trace(before), side_of_trace(after))
    assert pair.verdict.times_ns == (80 * MS, 40 * MS)
    assert pair.explanation is not None
    spoken = "".join(part.text for part in explained_parts(pair.explanation)[-1])
    assert spoken.startswith(
        "A step takes 50.0 ms instead of 100 ms (−50.0 %). That is as profiled; un-profiled "
        "runs, which the verdict compares, take 40.0 ms instead of 80.0 ms."
    )
    found = explain_trace(before)
    assert found is not None
    alone = " ".join(map(str, unit_said(found.unit)))
    assert alone.startswith(
        "A step takes 100 ms; the file shows one. That is as profiled; un-profiled it takes "
        "80.0 ms."
    )


def test_a_title_is_the_verdict_alone_and_why_follows() -> None:
    pair = uneven()
    page, text = report_html(pair), comparison_markdown(pair)
    (title,) = re.findall(r"<h1.*?</h1>", page)
    assert "steps take" not in title and "steps take" in page
    heading, _, rest = text.partition("\n")
    assert heading == "### b took 0.73× the time of a (95.0 against 130 ms, −26.9 %)."
    assert "5 of the baseline's 6 steps take 100 ms, the other one takes 280 ms." in rest
