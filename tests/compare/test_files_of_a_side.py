"""Several files on one side: what is made of them, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.files import check_apart, side_of_files
from fusescope.analysis.compare.side import Side, side_of_trace
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.counters import total_counters
from fusescope.analysis.metrics.spans import call_times, run_spans, union_ns
from fusescope.analysis.metrics.warmup import steady_runs
from fusescope.analysis.readers import read, read_path
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.packed.tables import packed_trace, parse_trace
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.redaction import redacted_sides
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence, verdict_basis, verdict_sentence
from tests import miniatures
from tests.factories import (
    CONV,
    FUSED_OPERATORS,
    GEMM,
    UNFUSED_OPERATORS,
    Operator,
    experiment_zip,
    profile_json,
    profiles,
)
from tests.security import planted

# Processes of a machine that drifts: neighbours are alike, and those far apart are not.
DRIFT = (1.0, 1.2, 1.5, 1.4, 1.1)


def side_of(files: Mapping[str, bytes], label: str) -> Side:
    return side_of_files([read(Source(name, data)) for name, data in files.items()], label)


def compared(first_second: int, step: int, factors: Sequence[float] = DRIFT) -> Comparison:
    """Unfused at seconds 0, `step`, …, and fused from `first_second` on."""
    unfused = side_of(profiles(UNFUSED_OPERATORS, factors, 0, step), "unfused")
    fused = side_of(profiles(FUSED_OPERATORS, factors, first_second, step), "fused")
    return compare(unfused, fused)


def codes(comparison: Comparison) -> set[str]:
    return {note.code for note in comparison.diagnostics}


def test_files_recorded_by_turns_give_a_plain_verdict() -> None:
    """Unfused takes 200 µs x factor and 10 µs of gaps, fused 160 µs x factor and 6 µs."""
    comparison = compared(1, 2)
    verdict = comparison.verdict
    assert (verdict.outcome, verdict.pairing, verdict.samples) == ("faster", "paired_files", (5, 5))
    assert verdict.processes == (5, 5)
    # trimmed mean of the log-ratios: without the least and the largest of the five pairs
    ratios = sorted((200 * f + 10) / (160 * f + 6) for f in DRIFT)
    assert verdict.speedup == pytest.approx((ratios[1] * ratios[2] * ratios[3]) ** (1 / 3), 1e-4)
    assert "5 pairs of files recorded alternately" in verdict_basis(verdict)
    assert "files_paired" in codes(comparison) and "unpaired" not in codes(comparison)
    assert not {"files_unlike", "one_process_each"} & codes(comparison)
    # The mean over files of Conv + BatchNormalization + Relu is 150 x 1.24, FusedConv's 110 x 1.24.
    row = comparison.ledger.rows.set_index("pattern").loc["Conv + BatchNormalization + Relu"]
    assert row["gain_ns"] == pytest.approx(40 * 1.24 * 1000, rel=0.05)
    assert comparison.ledger.blocks == 5
    assert row["low_ns"] < row["gain_ns"] < row["high_ns"]


def test_files_of_one_side_after_the_other_have_drift_in_the_change() -> None:
    comparison = compared(100, 2)
    assert (comparison.verdict.outcome, comparison.verdict.reason) == (
        "cannot_tell",
        "within_noise",
    )
    assert comparison.verdict.pairing == "separate_files"
    (turn,) = (note for note in comparison.diagnostics if note.code == "files_in_turn")
    assert "drift" in diagnostic_sentence(turn) and "alternating.md" in diagnostic_sentence(turn)
    steady = compared(100, 2, (1.0, 1.01, 1.02, 1.03, 1.04))
    assert steady.verdict.outcome == "faster"  # 1.26x, all of the interval beyond 12 %


def test_too_few_files_and_files_without_a_time_are_said_to_be_so() -> None:
    few = compared(1, 2, DRIFT[:3])
    assert (few.verdict.outcome, few.verdict.reason) == ("noise_unknown", "few_runs")
    assert "fewer than 5 files" in verdict_sentence(few)
    names = [f"{n}.json" for n in range(5)]
    undated = [
        side_of(dict(zip(names, profiles(of, DRIFT).values(), strict=True)), label)
        for of, label in ((UNFUSED_OPERATORS, "unfused"), (FUSED_OPERATORS, "fused"))
    ]
    assert "files_undated" in codes(compare(*undated))
    # One file is one process: beside five it is judged by its runs.
    (name, data), *_ = profiles(UNFUSED_OPERATORS, DRIFT, 9).items()
    mixed = compare(undated[0], side_of({name: data}, "one"))
    assert (mixed.verdict.reason, mixed.verdict.processes) == ("one_process", (5, 1))
    assert "runs_differ" not in codes(mixed)  # 6 of each file


def test_each_file_is_a_block_of_the_pooled_trace() -> None:
    """Operators are told apart over all files, and the first run of a file that starts slowly is
    set aside in that file alone."""
    data = profiles((CONV, GEMM), (1.0, 2.0), runs=3)
    traces = [read(Source(name, content)) for name, content in reversed(data.items())]
    side = side_of_files(traces, "both")
    assert [file.name for file in side.files] == list(data)  # in order of recording
    assert list(side.trace.runs["block"]) == [0, 0, 0, 1, 1, 1]
    assert list(side.trace.runs["run"]) == list(range(6))
    table = by_operator(side.trace).set_index("name")
    assert len(table) == 2 and table.loc["a/Conv", "per_run_ns"] == 150_000
    assert table.loc["head/Gemm", "count"] == 1 and len(side.trace.calls) == 12
    assert len(steady_runs(side.trace).runs) == 6  # a slow process is not a warm-up
    redacted, _ = redacted_sides(side, side)
    assert len(redacted.files) == 2 and redacted.trace.runs["block"].nunique() == 2


OTHER: tuple[Operator, ...] = (("x/Lstm", "LSTM", 900, [(9, 1, 77)], [(9, 1, 78)]),)


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ("models_on_one_side", {"a.json": profile_json((CONV,)), "b.json": profile_json(OTHER)}),
        ("file_twice", {"a.json": profile_json((CONV,)), "b.json": profile_json((CONV,))}),
        (
            "formats_on_one_side",
            {
                "a.json": profile_json((CONV,)),
                "b.json": b'[{"ph":"X","name":"Conv","ts":1,"dur":5,"pid":1,"tid":1}]',
            },
        ),
        (
            "profilers_on_one_side",
            {
                "a.json": profile_json((CONV,)),
                "b.json": (
                    miniatures.FOLDER / "tensorrt_profile" / "small.profile.json"
                ).read_bytes(),
            },
        ),
        (
            "experiment_among_files",
            {"a.json": profile_json((CONV,)), "b.zip": experiment_zip({"unfused": [1.0]})},
        ),
        ("side_without_files", {}),
    ],
)
def test_what_is_no_side_is_refused_in_one_sentence(code: str, files: dict[str, bytes]) -> None:
    with pytest.raises(FuseScopeError) as refused:
        side_of(files, "side")
    assert refused.value.code == code and refused.value.hint
    if len(files) > 1:
        assert refused.value.where == list(files)[1]


def test_a_file_on_both_sides_and_more_rows_than_the_limit_are_refused() -> None:
    files = profiles((CONV, GEMM), (1.0, 1.1), runs=3)
    traces = [read(Source(name, data)) for name, data in files.items()]
    side = side_of_files(traces, "both")
    with pytest.raises(FuseScopeError) as refused:
        check_apart(side, side_of_trace(traces[1]))  # type: ignore[arg-type]
    assert refused.value.code == "file_on_both_sides"
    with pytest.raises(FuseScopeError) as large:
        side_of_files(traces, "both", limits=Limits(events=11))
    assert large.value.code == "too_many_events"


def test_a_file_of_the_other_side_among_those_of_one_is_a_doubt() -> None:
    files = profiles(UNFUSED_OPERATORS, DRIFT[:4]) | profiles(FUSED_OPERATORS, (1.0,), 50)
    comparison = compare(side_of(files, "a"), side_of(profiles(FUSED_OPERATORS, DRIFT, 1), "b"))
    (unlike,) = (note for note in comparison.diagnostics if note.code == "files_unlike")
    assert unlike.count == 1 and unlike.example == list(files)[-1]
    assert unlike.values["side"] == "baseline"


@pytest.mark.parametrize("reader", planted.of_each_kind(miniatures.FORMATS))
def test_two_equal_recordings_of_any_format_have_the_figures_of_one(reader: Reader) -> None:
    trace = read_path(miniatures.FOLDER / reader.name)
    assert isinstance(trace, Trace)
    other = replace(trace, meta=replace(trace.meta, sha256="f" * 64))
    both = side_of_files([trace, other], "both", ["a/1", "a/2"]).trace
    assert len(both.calls) == 2 * len(trace.calls) and len(both.operators) == len(trace.operators)
    columns = ["name", "op_type", "per_run_ns", "count", "mean_ns", "median_ns", "share"]
    one, two = (by_operator(of)[columns] for of in (trace, both))
    pd.testing.assert_frame_equal(one, two, check_categorical=False)
    if not trace.profiled_runs.empty:
        spans = [run_spans(of)[["span_ns", "busy_ns", "kernel_ns"]].mean() for of in (trace, both)]
        pd.testing.assert_series_equal(*spans)
    timed = [of.calls[of.calls["start_ns"].notna()] for of in (trace, both)]
    alone, together = (union_ns(*call_times(calls)) for calls in timed)
    assert together == 2 * alone  # clocks that start with the recording are put behind each other
    counters = total_counters(trace)
    assert set(counters) == set(total_counters(both))
    for name, found in counters.items():
        assert total_counters(both)[name].value == pytest.approx(found.value)


def test_a_packed_side_keeps_its_files_and_refuses_runs_of_none_of_them() -> None:
    side = side_of(profiles((CONV, GEMM), (1.0, 1.1), runs=2), "both")
    data = packed_trace(side.trace)
    assert parse_trace(data, "side", Limits()).meta.parts == side.files
    (told,) = (part for part in data.split(b"\n") if b'"parts":[' in part)
    header = json.loads(told[told.index(b"{") :])
    header["meta"]["parts"].pop()
    cut = data.replace(told[told.index(b"{") :], json.dumps(header).encode())
    with pytest.raises(FuseScopeError) as refused:
        parse_trace(cut, "side", Limits())
    assert refused.value.code == "tables_damaged"
