"""What one page says in two places agrees: counts of doubts, dates, reasons and totals."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fusescope.analysis import wording
from fusescope.analysis.advice.finding import Finding, Findings
from fusescope.analysis.charts.waterfall import waterfall
from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.doctor import examine
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.messages import language
from fusescope.analysis.report.exports.comparison_markdown import comparison_markdown
from fusescope.analysis.report.html import report_html
from fusescope.analysis.report.method import method
from fusescope.analysis.trace import Diagnostic, Trace, calls_frame, operators_frame, runs_frame
from fusescope.analysis.wording.counted import whole_text
from fusescope.analysis.wording.doctor import answer_sentence, files_sentence
from fusescope.analysis.wording.findings import names_text, times_text
from fusescope.analysis.wording.findings.texts import TEXTS
from fusescope.analysis.wording.fusion.terms import reconciliation_sentence
from fusescope.analysis.wording.fusion.ungrouped import ungrouped_title
from tests.whole_files import trace_of

IN_2021 = 1_623_143_089 * 10**9  # 2021-06-08 09:04:49 UTC


def file_of(label: str, own_ns: int, *, device: bool = False) -> Trace:
    trace = trace_of(label, [("conv", "convolution", own_ns, own_ns)])
    if not device:
        return trace
    kernel = operators_frame(
        operator=[0],
        name=["conv"],
        op_type=["conv"],
        op_class=["convolution"],
        level=["device_kernel"],
    )
    return replace(trace, operators=kernel)


def compared(first: Trace, second: Trace) -> Comparison:
    return compare(side_of_trace(first), side_of_trace(second))


@pytest.mark.parametrize("specific", [0, 1, 3, 7])
def test_a_comment_lists_as_many_doubts_as_it_counts(specific: int) -> None:
    pair = compared(file_of("a", 900), file_of("b", 800))
    pair = replace(
        pair,
        diagnostics=(
            *(
                Diagnostic("warning", "load_seen", count=1, values={"before": n, "after": n})
                for n in range(specific)
            ),
            Diagnostic("warning", "unpaired"),
        ),
    )
    text = comparison_markdown(pair).split("| ", 1)[0].partition("Can I trust this?")[2]
    (told,) = re.findall(r"(\d+) doubts?(?:\.|, among them:) ", text)
    lines = re.findall(r"^- (.*)", text, re.MULTILINE)
    more = re.fullmatch(r"(\d+) more doubts?", lines[-1])
    assert int(told) == specific + 1
    assert len(lines) + (int(more[1]) - 1 if more else 0) == specific + 1


def test_a_report_says_once_when_a_profile_was_recorded() -> None:
    first, second = (file_of(name, own) for name, own in (("a.json", 900), ("b.json", 800)))
    dated = replace(first, meta=replace(first.meta, started_ns=IN_2021))
    pair = compared(dated, second)
    groups = {
        group.title: dict(group.facts) for group in method(pair, include_environment=False).groups
    }
    assert groups["Profile: a.json"]["recording date"] == "2021-06-08 09:04 UTC"
    assert "recording date, machine, threads, input" not in groups["Profile: a.json"]
    assert "recording date, machine, threads, input" in groups["Profile: b.json"]
    assert "2021-06-08 09:04 UTC" in report_html(pair)


def test_a_file_is_not_said_to_be_of_a_part_of_its_name() -> None:
    names = ("resnet50-workers_0.pt.trace.json", "resnet50-workers_4.pt.trace.json")
    pair = compared(*(file_of(name, own) for name, own in zip(names, (900, 800), strict=True)))
    assert [pair.baseline.name, pair.candidate.name] == ["workers_0", "workers_4"]
    page = report_html(pair)
    assert f"<bdi>{names[0]}</bdi>" in page and f"{names[0]} of " not in page


def test_without_marked_runs_one_reason_is_given_for_idle_time_and_share() -> None:
    pair = compared(file_of("a", 900, device=True), file_of("b", 800, device=True))
    reasons = {pair.figure(code).baseline.reason for code in ("device_idle", "dispatch_gap")}
    assert reasons == {"runs_unknown"}


def test_groups_that_are_shown_are_said_to_be_available() -> None:
    trace = file_of("a", 900)
    assert compared(trace, file_of("b", 800)).fusion.groups
    (answer,) = [one for one in examine(trace).answers if one.figure == "fusion"]
    assert answer.available and answer.code == "by_name"
    assert "Inferred from names, types and order." in answer_sentence(answer)


def test_one_operator_is_spoken_of_as_one() -> None:
    one, two = (
        wording.diagnostic_sentence(Diagnostic("info", "inferred_without_partner", count=n))
        for n in (1, 2)
    )
    assert one.endswith(
        "is in no group. Neither its name, its type nor what launched it says what it became, or "
        "what it replaces."
    )
    assert two.endswith(
        "are in no group. Neither their names, their types nor what launched them say what they "
        "became, or what they replace."
    )


def runs_of(label: str, own_ns: tuple[int, ...], copy: int | None = None) -> Trace:
    """A run of each of these times, of one operator that takes all of it; of a `copy` as in a
    recording, whose runs have a typical time."""
    count, starts = range(len(own_ns)), [1_000_000_000 * run for run in range(len(own_ns))]
    return Trace(
        trace_of(label, [("conv", "convolution", 1, 1)]).meta,
        runs_frame(
            run=count,
            kind="step",
            start_ns=starts,
            dur_ns=own_ns,
            span_ns=own_ns,
            profiled=True,
            copy=pd.array([copy] * len(own_ns), "Int64"),
        ),
        operators_frame(operator=[0], name=["c"], op_type=["conv"], op_class=["convolution"]),
        calls_frame(
            operator=[0] * len(own_ns), run=count, start_ns=starts, dur_ns=own_ns, span_ns=own_ns
        ),
    )


def test_a_waterfall_says_whether_its_times_are_means() -> None:
    """Means of 200 and 100 ms stand beside typical runs of 100 and 100 ms: one run was slow. The
    steps of what changed lead from mean to mean; those of groups, of runs in blocks, from one
    typical run to the other. Of two traces everything is of means."""
    ms = 1_000_000
    slow_ns = (100 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms, 700 * ms)
    slow, blocks = runs_of("a", slow_ns), runs_of("a", slow_ns, 1)
    even = runs_of("b", (100 * ms,) * 6)
    for first, second, is_mean in ((blocks, even, False), (slow, even, True), (even, even, True)):
        pair = compared(first, replace(second, meta=replace(second.meta, sha256="c" * 64)))
        assert pair.is_explained == (second is not first)
        drawn = waterfall(pair)
        assert drawn is not None
        title, _, _ = drawn.layout.xaxis.title.text.partition(";")  # where the axis begins
        assert title == "mean time per step, ms"
        assert ("mean per step" in wording.waterfall_basis(pair)) == is_mean
        assert ("of the typical run, measured." in wording.waterfall_basis(pair)) != is_mean


def test_the_runs_of_verdict_and_ledger_have_two_names() -> None:
    """Typical runs of 100 and 50 ms, mean runs of 200 and 50 ms."""
    ms = 1_000_000
    first = runs_of("a", (100 * ms, 100 * ms, 100 * ms, 100 * ms, 100 * ms, 700 * ms), 1)
    second = runs_of("b", (50 * ms,) * 6)
    pair = compared(first, replace(second, meta=replace(second.meta, sha256="c" * 64)))
    assert "The typical run takes 50.0 ms less." in wording.fusion_sentence(pair)
    assert whole_text(pair) == "the typical run"
    sum_ = pair.ledger.reconciliation
    assert (sum_.delta_ns, sum_.outlying_ns, sum_.whole_ns) == (-150 * ms, 100 * ms, -50 * ms)
    assert "Change of the typical run: −50.0 ms = " in reconciliation_sentence(sum_)
    assert "slow runs +100 ms" in reconciliation_sentence(sum_)
    even = compared(runs_of("a", (100 * ms,) * 6), second)
    assert "The whole run takes 50.0 ms less." in wording.fusion_sentence(even)
    assert whole_text(even) == "the whole step"


@pytest.mark.parametrize(
    ("sides", "told"),
    [
        (("baseline",) * 2, "It is not known what became of 2 operators."),
        (("candidate",), "It is not known what 1 operator replaces."),
        (
            ("baseline", "candidate"),
            (
                "It is not known what became of 1 operator of the baseline, or what 1 operator of "
                "the candidate came from."
            ),
        ),
    ],
)
def test_what_is_not_known_of_operators_is_told_of_their_side(
    sides: tuple[str, ...], told: str
) -> None:
    pair = compared(file_of("a", 900), file_of("b", 800))
    left = pd.DataFrame({"side": sides, "reason": "not_in_graph"})
    pair = replace(pair, ledger=replace(pair.ledger, ungrouped=left))
    assert told in wording.fusion_sentence(pair)


def test_operators_in_no_group_are_not_all_accounted_for() -> None:
    pair = compared(file_of("a", 900), file_of("b", 800))
    left = pd.DataFrame({"side": ["baseline", "candidate"], "reason": "not_in_graph"})
    named = replace(pair.fusion, source="members", original_nodes=2, mapped_nodes=2)
    pair = replace(pair, fusion=named, ledger=replace(pair.ledger, ungrouped=left))
    assert wording.coverage_sentence(pair).startswith(
        "All original operators that the trace names are accounted for: 2 of 2. 2 operators that "
        "ran are in no group."
    )


def test_what_times_of_findings_are_of_is_said_of_those_that_are_there() -> None:
    ours, other = Finding("copies"), Finding("run_tail", of_ns=5.0)
    alone = times_text(Findings((ours,), (), 9.0))
    assert alone.startswith("Times are means as profiled") and "saved" not in alone
    assert times_text(Findings((ours, other), (), 9.0)).endswith(
        "as profiled, 9.00 ns. The saving of Slow un-profiled runs is a share of a run of 5.00 ns."
    )
    of_median = Findings((ours, other), (), 9.0, median_unprofiled_ns=5.0)
    assert times_text(of_median).endswith("is a share of the median un-profiled run, 5.00 ns.")
    longer = replace(other, of_ns=8.0)
    assert times_text(Findings((ours, other, longer), (), 9.0)).endswith("of 5.00 ns to 8.00 ns.")
    # A file without un-profiled runs: what is saved is of the run as profiled, as the rest.
    assert times_text(Findings((replace(other, of_ns=9.0),), (), 9.0)) == alone


def test_names_of_one_of_several_places_do_not_read_as_all() -> None:
    """Two operators are named of one place: with four places there are more."""
    one = Finding("missed_fusion", {"places": 1}, names=("a", "b"), where="operators")
    assert names_text(one) == "a, b"
    assert names_text(replace(one, values={"places": 4})) == "a, b and more"


def test_communication_is_counted_apart_from_operators_in_no_group() -> None:
    """As the ledger has it in a line of its own, and notes count the others alone."""
    assert ungrouped_title(["unmatched", "copies"]) == "2 operators in no group"
    reasons = ["communication", "unmatched", "communication"]
    assert ungrouped_title(reasons) == "1 operator in no group, and 2 of communication"


def test_memory_over_time_is_not_denied_where_no_peak_of_the_process_is_known() -> None:
    trace = file_of("a", 900, device=True)
    plain = compared(trace, trace).figure("memory").baseline
    assert (plain.value, plain.reason) == (None, "not_recorded")
    use = MemoryUse("GPU", np.array([0, 10]), np.array([5, 7]))
    with_memory = replace(trace, memory=(use,))
    known = compared(with_memory, with_memory).figure("memory").baseline
    assert (known.value, known.reason) == (None, "memory_over_time")
    assert "memory over time" in wording.REASONS["memory_over_time"].text()


def test_no_finding_of_a_file_without_runs_rests_on_a_mean_run() -> None:
    sources = {text.source.text() for text in TEXTS.values()}
    assert not any("mean run" in source for source in sources)
    assert "Times are of the whole file" in times_text(Findings((), (), 9.0, has_runs=False))


@pytest.mark.usefixtures("translations")
def test_files_are_listed_in_the_marks_of_the_language() -> None:
    files = ("a/one.csv", "two.json", "three.json")
    assert files_sentence(files) == "Read together with one.csv, two.json, three.json."
    with language.speaking("zh"):
        assert files_sentence(files) == "与 one.csv、two.json、three.json 一起读取。"
