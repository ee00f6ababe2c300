"""The sum: each term by hand, and recomputed from the raw files for generated and real ones."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.ledger import Ledger, ledger
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation, SideTimes
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Meta, Trace, calls_frame, operators_frame, runs_frame
from tests.compare.test_comparison import experiment_of
from tests.compare.timing.raw_times import (
    RawMeans,
    lengthened,
    raw_means,
    rewritten,
    trimmed,
)
from tests.factories import (
    FUSED_OPERATORS,
    GEMM,
    UNFUSED_OPERATORS,
    experiment_zip,
    node_event,
    profile_events,
    profile_json,
    session_event,
)

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
TERMS = ("groups_ns", "ungrouped_ns", "slow_ns", "overlap_ns", "dispatch_ns", "profiler_bias_ns")


def group(id: int, before: list[str], after: list[str]) -> Group:
    left, right = (tuple(Operator(name, "T") for name in names) for names in (before, after))
    return Group(id, "fused", "name", left, left, right)


CONV_GROUP = group(1, ["a/Conv", "a/BatchNormalization", "a/Relu"], ["a/Conv"])
GEMM_GROUP = group(2, ["head/Gemm"], ["head/Gemm"])


def side(data: bytes, name: str = "p.json") -> Side:
    trace = read(Source(name, data))
    assert isinstance(trace, Trace)
    return side_of_trace(trace)


def total(of: Reconciliation) -> int:
    return sum(getattr(of, term) or 0 for term in (*TERMS, "rounding_ns"))


def test_each_term_by_hand() -> None:
    data = experiment_zip({"unfused": [10.0] * 5, "fused": [5.0] * 5}, control=(1.0,))
    experiment = experiment_of(data)
    sides = side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused")
    result = ledger(*sides, Fusion("graphs", (CONV_GROUP, GEMM_GROUP))).reconciliation
    # 100 + 30 + 20 -> 110 µs; five gaps of 2 µs -> three; 10 ms - 210 µs -> 5 ms - 166 µs.
    assert result == Reconciliation(
        of="unprofiled_wall",
        delta_ns=-5_000_000,
        groups_ns=-40_000,
        ungrouped_ns=0,
        slow_ns=0,
        overlap_ns=0,
        streams_ns=0,
        beyond_ns=0,
        dispatch_ns=-4_000,
        profiler_bias_ns=-4_956_000,
        rounding_ns=0,
        weak=True,
        baseline_ns=10_000_000,
        low_ns=-5_000_000,
        high_ns=-5_000_000,
        baseline=SideTimes(10_000_000, 210_000, 200_000, 200_000, 200_000),
        candidate=SideTimes(5_000_000, 166_000, 160_000, 160_000, 160_000),
    )
    half = ledger(*sides, Fusion("graphs", (GEMM_GROUP,))).reconciliation
    assert (half.groups_ns, half.ungrouped_ns) == (0, -40_000) and total(half) == -5_000_000


def test_both_copies_of_the_baseline_and_every_block_weigh_the_same() -> None:
    data = experiment_zip({"unfused": [10.0, 20.0], "fused": [5.0, 5.0]}, control=(1.2, 1.0))
    experiment = experiment_of(data)
    # Block 0: copies of 10 and 12 ms, block 1: 20 and 20 ms.
    result = ledger(
        side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused"), Fusion("none")
    ).reconciliation
    assert result.baseline_ns == 15_500_000 and result.delta_ns == -10_500_000


def test_attribution_is_weak_beyond_a_quarter() -> None:
    # Operators -40 µs, dispatch -4 µs; the rest of the change is profiler bias.
    for fused_ms, weak in ((10.0 - 0.053, False), (10.0 - 0.054, True), (10.0 - 0.030, True)):
        data = experiment_zip({"unfused": [10.0] * 5, "fused": [fused_ms] * 5}, control=(1.0,))
        experiment = experiment_of(data)
        sides = side_of_variant(experiment, "unfused"), side_of_variant(experiment, "fused")
        assert ledger(*sides, Fusion("none")).reconciliation.weak is weak, fused_ms


def test_two_profiles_add_up_to_the_change_of_the_run_span() -> None:
    before = side(profile_json(UNFUSED_OPERATORS, runs=6))
    after = side(profile_json(FUSED_OPERATORS, runs=9))
    result = ledger(before, after, Fusion("inferred", (CONV_GROUP,))).reconciliation
    assert result.of == "run_span" and result.profiler_bias_ns is None
    assert (result.delta_ns, result.groups_ns, result.dispatch_ns) == (-44_000, -40_000, -4_000)
    assert total(result) == result.delta_ns


def test_files_without_runs_add_up_to_the_change_of_busy_time() -> None:
    def unmarked(operators: Any) -> bytes:
        events = [e for e in profile_events(operators, 3) if e["name"] != "model_run"]
        return json.dumps(events).encode()

    before, after = side(unmarked(UNFUSED_OPERATORS)), side(unmarked(FUSED_OPERATORS))
    result = ledger(before, after, Fusion("none")).reconciliation
    assert result.of == "busy_union" and result.dispatch_ns is None
    assert result.delta_ns == result.ungrouped_ns == -120_000
    marked = side(profile_json(FUSED_OPERATORS, runs=3))
    book = ledger(before, marked, Fusion("inferred", (CONV_GROUP,)))
    assert book.reconciliation == Reconciliation("busy_union")
    assert book.rows["gain_ns"].isna().all() and not book.rows["hurts"].any()
    assert book.rows["before_ns"].isna().all() and book.rows["after_ns"].tolist() == [110_000.0]


def test_operators_side_by_side_change_the_overlap() -> None:
    def profile(second_us: int) -> bytes:
        one, two = ("one", "T", 50, [(1,)], [(1,)]), ("two", "T", second_us, [(1,)], [(1,)])
        events = [
            node_event(one, 1000, tid=1),
            node_event(two, 1020, tid=2),
            session_event("model_run", 990, 120),
        ]
        return json.dumps(events).encode()

    # 50 and 60 µs cover 80; 50 and 10 cover 50: of the 50 µs in operators only 30 were waited for.
    result = ledger(side(profile(60)), side(profile(10)), Fusion("none")).reconciliation
    assert (result.delta_ns, result.ungrouped_ns, result.overlap_ns) == (0, -50_000, 20_000)
    assert result.dispatch_ns == 30_000 and total(result) == 0


def trace_without_starts(dur_ns: list[int], span_ns: int) -> Side:
    names = [f"op{i}" for i in range(len(dur_ns))]
    return side_of_trace(
        Trace(
            Meta("test", "test", file_name="t"),
            runs_frame(run=[0], dur_ns=[span_ns], profiled=[True]),
            operators_frame(operator=range(len(names)), name=names, op_type=["T"] * len(names)),
            calls_frame(operator=range(len(names)), run=[0] * len(names), dur_ns=dur_ns),
        )
    )


def test_without_start_times_dispatch_is_what_the_operators_leave_of_the_span() -> None:
    before, after = trace_without_starts([7, 5], 20), trace_without_starts([9], 12)
    result = ledger(before, after, Fusion("none")).reconciliation
    assert (result.delta_ns, result.ungrouped_ns, result.dispatch_ns) == (-8, -3, -5)
    assert result.overlap_ns is None and total(result) == -8


def test_rounding_is_what_whole_ns_took_from_every_row() -> None:
    def traced(dur_ns: list[tuple[int, int]]) -> Side:
        runs, flat = range(len(dur_ns)), [ns for pair in dur_ns for ns in pair]
        return side_of_trace(
            Trace(
                Meta("test", "test", file_name="t"),
                runs_frame(run=runs, dur_ns=[sum(p) for p in dur_ns], profiled=[True] * len(runs)),
                operators_frame(operator=[0, 1], name=["a", "b"], op_type=["T", "T"]),
                calls_frame(
                    operator=[0, 1] * len(runs), run=[r for r in runs for _ in "ab"], dur_ns=flat
                ),
            )
        )

    # 7 1/3 and 5 1/3 ns become 0: two rows of -7 and -5, while the change is -12 2/3.
    before, after = traced([(8, 6), (7, 5), (7, 5)]), traced([(0, 0)] * 3)
    result = ledger(before, after, Fusion("none")).reconciliation
    assert (result.delta_ns, result.ungrouped_ns, result.rounding_ns) == (-13, -12, -1)
    assert result.dispatch_ns is None and total(result) == -13


def check(book: Ledger, before: RawMeans, after: RawMeans, fusion: Fusion) -> None:
    """Every figure against the same from the raw files, within half a ns of rounding each."""
    result = book.reconciliation
    assert total(result) == result.delta_ns
    rows = book.rows.set_index("group")
    grouped: tuple[set[str], set[str]] = (set(), set())
    for one in fusion.groups:
        for seen, operators, times, column in (
            (grouped[0], one.baseline, before, "before_ns"),
            (grouped[1], one.candidate, after, "after_ns"),
        ):
            slow = f"slow_{column}"
            of_group = {operator.name for operator in operators}
            seen |= of_group
            taken = sum((times.operators.get(name, Fraction(0)) for name in of_group), start=0)
            beyond = sum((times.slow.get(name, Fraction(0)) for name in of_group), start=0)
            assert float(rows.loc[one.id, column]) == pytest.approx(float(taken - beyond), abs=1e-3)
            assert float(rows.loc[one.id, slow]) == pytest.approx(float(beyond), abs=1e-3)
    left = [
        sum(time - times.slow[name] for name, time in times.operators.items() if name not in seen)
        for times, seen in ((before, grouped[0]), (after, grouped[1]))
    ]
    slow = [sum(times.slow.values()) for times in (before, after)]
    inside = [
        sum(times.operators.values()) - beyond
        for times, beyond in zip((before, after), slow, strict=True)
    ]
    exact = {
        "delta_ns": after.wall - before.wall,
        "groups_ns": (inside[1] - left[1]) - (inside[0] - left[0]),
        "ungrouped_ns": left[1] - left[0],
        "slow_ns": slow[1] - slow[0],
        "overlap_ns": (after.busy - after.kernel) - (before.busy - before.kernel),
        "dispatch_ns": (after.span - after.busy) - (before.span - before.busy),
        "profiler_bias_ns": (after.wall - after.span) - (before.wall - before.span),
    }
    slack = dict.fromkeys(exact, 0.501)
    slack["groups_ns"] = 0.501 * len(book.rows)
    slack["ungrouped_ns"] = 0.501 * len(book.ungrouped)
    for term, value in exact.items():
        assert abs(float(getattr(result, term) - value)) <= slack[term], term
    assert result.rounding_ns is not None
    assert abs(result.rounding_ns) <= 0.501 * (len(book.rows) + len(book.ungrouped) + 5)
    for table in (book.rows, book.patterns):
        judged = table[table["low_ns"].notna()]
        inside_it = judged["gain_ns"].between(judged["low_ns"], judged["high_ns"])
        assert inside_it.all(), judged[~inside_it]


@st.composite
def generated(draw: st.DrawFn) -> tuple[bytes, Fusion]:
    """An experiment of a few blocks with runs, overlaps and durations of any kind, and groups."""
    counts = {"unfused": draw(st.integers(1, 5)), "fused": draw(st.integers(1, 4))}
    blocks = draw(st.integers(1, 6))
    base = experiment_zip(
        {name: [1.0] * blocks for name in counts},
        {name: [(f"{name}/{i}", "T", 1, [(1,)], [(1,)]) for i in range(n)]
         for name, n in counts.items()},
    )  # fmt: skip
    micros, runs = st.integers(0, 2000), {}
    for name, count in counts.items():
        for block in range(blocks):
            events, ts = [], draw(st.integers(1, 10**6))
            for _ in range(draw(st.integers(2, 4))):
                first = end = ts
                for i in range(count):
                    # Often before the end of the one before, on a thread of its own.
                    start = draw(st.integers(ts, end + 20))
                    ts, dur = start, draw(micros)
                    operator = (f"{name}/{i}", "T", dur, [(1,)], [(1,)])
                    events.append(node_event(operator, start, tid=i))
                    end = max(end, start + dur)
                ts = end + draw(st.integers(0, 30))
                events.append(session_event("model_run", first, ts - first))
                ts += draw(st.integers(1, 50))
            runs[f"profiles/{name}/{block}.json"] = json.dumps(events).encode()
    wall = draw(st.lists(st.integers(1, 10**7), min_size=9, max_size=9))

    def change(member: str, content: bytes) -> bytes:
        if member == "experiment.json":
            record = json.loads(content)
            for variant in record["variants"]:
                column = variant["samples"]["wall_ns"]
                column[:] = [wall[i % 9] + i for i in range(len(column))]
            return json.dumps(record).encode()
        return runs.get(member, content)

    parts: dict[int, tuple[list[str], list[str]]] = {}
    for which, (name, count) in enumerate(counts.items()):
        for i in range(count):
            label = draw(st.integers(0, 3))  # 0: in no group
            if label:
                parts.setdefault(label, ([], []))[which].append(f"{name}/{i}")
    groups = tuple(group(id, before, after) for id, (before, after) in parts.items())
    return rewritten(base, change), Fusion("graphs", groups)


@settings(max_examples=3)
@given(generated(), st.booleans())
def test_generated_experiments_add_up(made: tuple[bytes, Fusion], turned: bool) -> None:
    data, fusion = made
    experiment = experiment_of(data)
    names = ("fused", "unfused") if turned else ("unfused", "fused")
    if turned:
        groups = tuple(
            Group(g.id, g.kind, g.known_by, g.original, g.candidate, g.baseline)
            for g in fusion.groups
        )
        fusion = Fusion("graphs", groups)
    sides = [side_of_variant(experiment, name) for name in names]
    raw = raw_means(data, names)
    check(ledger(sides[0], sides[1], fusion), raw[names[0]], raw[names[1]], fusion)


@pytest.mark.exhaustive
@settings(max_examples=25)
@given(generated(), st.booleans())
def test_many_generated_experiments_add_up(made: tuple[bytes, Fusion], turned: bool) -> None:
    test_generated_experiments_add_up.hypothesis.inner_test(made, turned)


@pytest.mark.exhaustive
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.zip")), ids=lambda path: path.stem)
def test_every_pair_of_the_samples_adds_up(path: Path) -> None:
    check_pairs(path.read_bytes())


def test_every_pair_of_two_variants_adds_up() -> None:
    check_pairs(trimmed((SAMPLES / "recipes" / "composite.zip").read_bytes(), ("unfused", "fused")))


def check_pairs(data: bytes) -> None:
    experiment = experiment_of(data)
    names = [variant.name for variant in experiment.record.variants]
    raw = raw_means(data, names)
    for first in names:
        for second in names:
            sides = side_of_variant(experiment, first), side_of_variant(experiment, second)
            fusion = group_operators(*sides)
            assert fusion.groups
            check(ledger(*sides, fusion), raw[first], raw[second], fusion)
            none = Fusion("none")
            check(ledger(*sides, none), raw[first], raw[second], none)


def test_an_operator_that_overlaps_those_after_it_adds_up() -> None:
    """A duration raised by hand, and nothing moved: more operator time, and as much overlap."""
    names = ("unfused", "fused")
    data = trimmed((SAMPLES / "recipes" / "conv_bn_relu.zip").read_bytes(), names)
    experiment = experiment_of(data)
    fusion = group_operators(*(side_of_variant(experiment, name) for name in names))
    slow = next(g.candidate[0].name for g in fusion.groups if g.kind == "fused")
    data = lengthened(data, "fused", slow, 5)
    experiment = experiment_of(data)
    before, after = (side_of_variant(experiment, name) for name in names)
    raw = raw_means(data, names)
    book = ledger(before, after, fusion)
    check(book, raw["unfused"], raw["fused"], fusion)
    assert book.reconciliation.overlap_ns is not None and book.reconciliation.overlap_ns < 0


def test_repeated_names_and_operators_outside_groups_are_not_lost() -> None:
    twice = (GEMM, ("head/Gemm", "Gemm", 7, [(1, 8)], [(1, 8)]))
    before, after = side(profile_json(twice, runs=3)), side(profile_json((GEMM,), runs=3))
    book = ledger(before, after, Fusion("inferred", (GEMM_GROUP,)))
    assert book.rows["gain_ns"].tolist() == [7_000.0]
    assert book.reconciliation.groups_ns == -7_000 and book.ungrouped.empty


def test_operators_that_outlive_their_run_are_no_overlap_of_streams() -> None:
    """One stream: 50 + 40 ns run in a run of 100, and 30 ns more after it, beside nothing."""

    def one(last_ends_ns: int) -> Trace:
        return Trace(
            Meta("test", "test"),
            runs_frame(run=[0], kind=["step"], start_ns=[0], dur_ns=[100], profiled=[True]),
            operators_frame(operator=[0], name=["gemm"], op_class=["matrix_product"]),
            calls_frame(
                operator=[0, 0], run=[0, 0], start_ns=[0, 60], dur_ns=[50, last_ends_ns - 60]
            ),
        )

    result = compare(side_of_trace(one(130)), side_of_trace(one(100))).ledger.reconciliation
    assert (result.delta_ns, result.overlap_ns) == (0, 30)
    assert (result.streams_ns, result.beyond_ns) == (0, 30)
    assert (result.baseline.busy_ns, result.baseline.own_ns) == (90, 120)
