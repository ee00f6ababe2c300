"""The ledger's rows: times, intervals, folding by shape, and which groups hurt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import scipy  # loads `stats` when it is asked for it
from hypothesis import given, settings
from hypothesis import strategies as st

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.ledger import Ledger, gain_kind, ledger
from fusescope.analysis.compare.ledger.operator_texts import common_scope, sequence_text
from fusescope.analysis.compare.side import Side, side_of_trace, side_of_variant
from fusescope.analysis.compare.timing.gain_interval import gain_intervals
from fusescope.analysis.graph import graph_json
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.analysis.wording.fusion.became import added_parts
from tests.compare.test_comparison import experiment_of
from tests.compare.timing.raw_times import lengthened, rewritten, slowed, trimmed
from tests.factories import (
    FUSED_OPERATORS,
    GEMM,
    UNFUSED_OPERATORS,
    experiment_zip,
    graph_of,
    profile_json,
)

SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "mobilenetv2.zip"
TIMES = {"unfused": [10.0] * 8, "fused": [5.0] * 8}


def operators(*named: tuple[str, str]) -> tuple[Operator, ...]:
    return tuple(Operator(name, kind, name.rpartition("/")[0]) for name, kind in named)


CONV_BN_RELU = operators(
    ("a/Conv", "Conv"), ("a/BatchNormalization", "BatchNormalization"), ("a/Relu", "Relu")
)
CONV_GROUP = Group(
    7, "fused", "name", CONV_BN_RELU, CONV_BN_RELU, operators(("a/Conv", "FusedConv")),
    ("t0",), ("t3",), (2048, 0), (2e-6, 1e-6),
)  # fmt: skip
HEAD = operators(("head/Gemm", "Gemm"))
GEMM_GROUP = Group(8, "kept", "name", HEAD, HEAD, HEAD, bytes_inside=(0, None))
FUSION = Fusion("graphs", (GEMM_GROUP, CONV_GROUP), 4, 4, 2)


def test_a_group_that_runs_the_same_types_on_both_sides_becomes_its_own_type() -> None:
    """Beside the convolution both sides run a shape, which is nothing new in its place."""
    beside = operators(("Shape", "Shape"))
    named = operators(("a/Conv", "Conv"))
    moved = operators(("a/Conv_nchwc", "Conv"))
    before, after = (*named, *beside), (*moved, *beside)
    for candidate, becomes in (
        (after, "Conv"),
        ((*after, *operators(("r", "ReorderInput"))), "Conv + Shape + ReorderInput"),
    ):
        group = Group(7, "replaced", "name", named, before, candidate)
        book = ledger(*sides_of(experiment_zip(TIMES)), Fusion("graphs", (group,), 1, 1, 1))
        assert (book.rows["pattern"].item(), book.rows["becomes"].item()) == ("Conv", becomes)


def test_what_the_engine_adds_to_a_group_is_said_beside_its_time() -> None:
    """Of 150 us that the baseline takes for Conv + BatchNormalization, 20 us are a broadcast."""
    original = CONV_BN_RELU[:2]
    baseline = (*original, Operator("a/Relu", "Expand"))
    group = replace_group(CONV_GROUP, original=original, baseline=baseline)
    comparison = compare(*sides_of(experiment_zip(TIMES, control=(1.0,))))

    def said(group: Group) -> str:
        book = book_of(experiment_zip(TIMES, control=(1.0,)), Fusion("graphs", (group,), 2, 2, 1))
        parts = added_parts(replace(comparison, ledger=book), book.rows)
        return "".join(part.text for part in parts)

    assert said(group) == (
        "In the baseline 20.0 µs of its 150 µs is in Expand, which the engine adds to these "
        "operators."
    )
    # Where the model has an operator of that kind there, it may be that one.
    of_model = (*original, Operator("a/Tile", "Tile"))
    assert said(replace_group(group, original=of_model)) == ""
    # Both sides run it, so it is no part of the change.
    of_both = (*CONV_GROUP.candidate, Operator("a/Expand", "Expand"))
    assert said(replace_group(group, candidate=of_both)) == ""
    assert said(CONV_GROUP) == ""


def replace_group(group: Group, **changes: Any) -> Group:
    return msgspec.structs.replace(group, **changes)


def sides_of(data: bytes, before: str = "unfused", after: str = "fused") -> tuple[Side, Side]:
    experiment = experiment_of(data)
    return side_of_variant(experiment, before), side_of_variant(experiment, after)


def profile_side(operators: Any, runs: int) -> Side:
    trace = read(Source("p.json", profile_json(operators, runs)))
    assert isinstance(trace, Trace)
    return side_of_trace(trace)


def book_of(data: bytes, fusion: Fusion = FUSION) -> Ledger:
    return ledger(*sides_of(data), fusion)


def test_rows_by_hand() -> None:
    book = book_of(experiment_zip(TIMES, control=(1.0,)))
    assert book.rows["group"].tolist() == [7, 8]  # by |gain|
    row = book.rows.iloc[0]
    assert row["pattern"] == "Conv + BatchNormalization + Relu" and row["becomes"] == "FusedConv"
    assert (row["kind"], row["known_by"], row["scope"]) == ("fused", "name", "a")
    assert (row["originals"], row["operators_baseline"], row["operators_candidate"]) == (3, 3, 1)
    assert (row["before_ns"], row["after_ns"], row["gain_ns"]) == (150_000, 110_000, 40_000)
    assert (row["before_median_ns"], row["after_median_ns"]) == (150_000, 110_000)
    # Equal in all 8 blocks of 3 runs, yet cut to whole µs 4 times a run; t of 7 degrees is 2.365.
    half_width = 2.3646 * np.sqrt(1e6 / 12 * 4 / 24)
    assert row["low_ns"] == pytest.approx(40_000 - half_width, abs=1)
    assert row["high_ns"] == pytest.approx(40_000 + half_width, abs=1)
    assert row["share"] == pytest.approx(40e3 / 5e6) and row["bytes_removed"] == 2048
    assert (row["difference_absolute"], row["difference_relative"]) == (2e-6, 1e-6)
    gemm = book.rows.iloc[1]
    assert gemm["gain_ns"] == 0 and gemm["share"] == 0
    assert book.rows["bytes_removed"].isna().tolist() == [False, True]
    assert book.rows["difference_relative"].isna().tolist() == [False, True]
    assert not book.rows["hurts"].any() and book.ungrouped.empty
    assert book.blocks == 8 and book.alpha == 0.05 / 2


def test_shares_of_groups_and_of_the_other_terms_sum_to_one() -> None:
    for before, after in (("unfused", "fused"), ("fused", "unfused")):
        sides = sides_of(experiment_zip(TIMES), before, after)
        book = ledger(*sides, group_operators(*sides))
        total = book.reconciliation
        assert total.delta_ns is not None
        others = sum(
            value or 0
            for value in (total.ungrouped_ns, total.slow_ns, total.overlap_ns, total.dispatch_ns,
                          total.profiler_bias_ns)
        )  # fmt: skip
        assert book.rows["share"].sum() + others / total.delta_ns == pytest.approx(1, abs=1e-6)


def test_medians_are_over_runs_and_means_over_blocks() -> None:
    operator = ("x", "Relu", 10, [(1,)], [(1,)])
    longer = ("x", "Relu", 40, [(1,)], [(1,)])

    def change(member: str, content: bytes) -> bytes:
        if member.startswith("profiles/fused/"):
            block = int(member.rpartition("/")[2].removesuffix(".json"))
            # Block 0: two runs of 10 µs after warm-up, the others one of 40 µs.
            return profile_json((operator,), 3) if block == 0 else profile_json((longer,), 2)
        return content

    same = {"unfused": (operator,), "fused": (operator,)}
    data = rewritten(experiment_zip({n: [1.0] * 3 for n in same}, same), change)
    one = operators(("x", "Relu"))
    row = book_of(data, Fusion("graphs", (Group(1, "kept", "name", one, one, one),))).rows.iloc[0]
    assert row["after_ns"] == pytest.approx((10_000 + 40_000 + 40_000) / 3)
    assert row["before_median_ns"] == 10_000
    assert row["after_median_ns"] == 25_000  # 10, 10, 40, 40
    assert np.isnan(row["low_ns"])  # three blocks


def test_groups_of_one_shape_fold_into_one_line() -> None:
    def chain(scope: str, conv_us: int) -> tuple[Any, ...]:
        return (
            (f"{scope}/Conv", "Conv", conv_us, [(1, 4)], [(1, 4)]),
            (f"{scope}/Relu", "Relu", 20, [(1, 4)], [(1, 4)]),
        )

    unfused = (*chain("m/0", 50), *chain("m/1", 70), *chain("n/2", 90))
    fused = tuple((name, "FusedConv", us + 5, i, o) for name, kind, us, i, o in unfused
                  if kind == "Conv")  # fmt: skip
    groups = []
    for number, at in enumerate((0, 2, 4)):
        before = operators(*((op[0], op[1]) for op in unfused[at : at + 2]))
        after = operators((fused[number][0], "FusedConv"))
        removed = (16, None if number == 2 else 0)
        difference = (0.1 * number, 0.01 * number)
        groups.append(Group(number, "fused", "name", before, before, after,
                            bytes_inside=removed, difference=difference))  # fmt: skip
    kinds = {"unfused": unfused, "fused": fused}
    book = book_of(experiment_zip(TIMES, kinds), Fusion("graphs", tuple(groups)))
    assert len(set(book.rows["key"])) == 1 and len(book.patterns) == 1
    line = book.patterns.iloc[0]
    assert (line["groups"], line["hurts"]) == (3, 0) and line["pattern"] == "Conv + Relu"
    assert (line["before_ns"], line["after_ns"], line["gain_ns"]) == (270_000, 225_000, 45_000)
    assert (line["low_ns"] + line["high_ns"]) / 2 == pytest.approx(45_000)
    assert line["share"] == pytest.approx(book.rows["share"].sum())
    assert book.patterns["bytes_removed"].isna().all()  # one of them is not known
    assert line["difference_relative"] == pytest.approx(0.02)


def test_text_of_a_pattern() -> None:
    def of(*kinds: str) -> str:
        return sequence_text(operators(*((f"n{i}", kind) for i, kind in enumerate(kinds))))

    assert of() == "" and of("Conv") == "Conv"
    assert of("Mul", "Mul", "Mul", "Add", "Mul") == "Mul ×3 + Add + Mul"
    assert of(*"ABCDEF") == "A + B + C + D + E + F"
    assert of(*"ABCDEFG") == "A + B + C + D + E + … (7)"
    assert of("", "Conv") == "n0 + Conv"
    assert sequence_text([Operator("", "")]) == "unknown"


def test_scope_is_what_the_originals_share() -> None:
    def of(*scopes: str) -> str:
        return common_scope(Operator("n", "T", scope) for scope in scopes)

    assert of("layer1/0/a", "layer1/0/b") == "layer1/0" and of("a/b") == "a/b"
    assert of("layer1/0", "layer10/0") == "" and of("a", "") == "" and of() == ""


def test_blocks_that_agree_by_chance_do_not_hurt() -> None:
    """Whole µs: three of five blocks are often equal, and two wild ones are trimmed away."""
    slower_us = (0, 2, 2, 2, 9)

    def change(member: str, content: bytes) -> bytes:
        if not member.startswith("profiles/fused/"):
            return content
        block = int(member.rpartition("/")[2].removesuffix(".json"))
        wild = ("x0", "Relu", 30 + slower_us[block], [(1,)], [(1,)])
        return profile_json((wild, *calm[1:]), 2)

    calm = tuple((f"x{n}", "Relu", 30, [(1,)], [(1,)]) for n in range(60))
    same = {name: calm for name in ("unfused", "fused")}
    data = rewritten(experiment_zip({name: [1.0] * 5 for name in same}, same), change)
    groups = []
    for n in range(60):
        one = operators((f"x{n}", "Relu"))
        groups.append(Group(n, "kept", "name", one, one, one))
    book = book_of(data, Fusion("graphs", tuple(groups)))
    row = book.rows.iloc[0]
    assert row["group"] == 0 and row["gain_ns"] == -3_000
    assert not book.rows["hurts"].any()
    assert row["low_ns"] < -2_000 < row["high_ns"]


@pytest.mark.parametrize(
    ("gain", "low", "high", "kind"),
    [
        (5.0, 1.0, 9.0, "faster"),
        (-5.0, -9.0, -1.0, "slower"),
        (5.0, -1.0, 9.0, "same"),
        (5.0, np.nan, np.nan, "faster"),
        (np.nan, np.nan, np.nan, "same"),
    ],
)
def test_what_a_gain_means(gain: float, low: float, high: float, kind: str) -> None:
    assert gain_kind({"gain_ns": gain, "low_ns": low, "high_ns": high}) == kind


@pytest.mark.parametrize(("added_us", "hurts"), [(3, False), (4, True)])
def test_a_group_that_got_slower_in_every_block_hurts(added_us: int, hurts: bool) -> None:
    """Three durations before, cut to whole µs, may be short by up to 3 µs together."""
    name, kind, _, *shapes = FUSED_OPERATORS[0]
    slower = ((name, kind, 150 + added_us, *shapes), GEMM)
    book = book_of(experiment_zip(TIMES, {"unfused": UNFUSED_OPERATORS, "fused": slower}))
    assert book.rows.set_index("group")["hurts"].to_dict() == {7: hurts, 8: False}
    assert book.patterns["hurts"].sum() == int(hurts)


def test_further_operators_may_cost_what_the_profiler_charges() -> None:
    relu = operators(("a/Relu", "Relu"))
    for fused_us, hurts in ((23, False), (24, True)):
        halves = tuple(
            (f"a/{i}", "Half", us, [(1,)], [(1,)]) for i, us in enumerate((fused_us - 10, 10))
        )
        data = experiment_zip(TIMES, {"unfused": (UNFUSED_OPERATORS[2],), "fused": halves})
        split = Group(1, "split", "name", relu, relu, operators(("a/0", "Half"), ("a/1", "Half")))
        # 20 µs before: one may be lost to whole µs, two are the floor of one more operator.
        book = book_of(data, Fusion("graphs", (split,)))
        assert book.rows["hurts"].tolist() == [hurts], fused_us


def test_identical_pairs_do_not_hurt() -> None:
    same = {"unfused": UNFUSED_OPERATORS, "fused": UNFUSED_OPERATORS}
    group = Group(1, "kept", "name", CONV_BN_RELU, CONV_BN_RELU, CONV_BN_RELU)
    book = book_of(experiment_zip(TIMES, same), Fusion("graphs", (group, GEMM_GROUP)))
    assert book.rows["gain_ns"].tolist() == [0, 0] and not book.rows["hurts"].any()


def test_noise_that_favours_no_side_does_not_hurt() -> None:
    swings = (30, -20, 25, -30, 10, -15, 20, -20)  # µs around the 150 of the baseline

    def change(member: str, content: bytes) -> bytes:
        if not member.startswith("profiles/fused/"):
            return content
        more = swings[int(member.rpartition("/")[2].removesuffix(".json"))]
        return profile_json(((name, kind, 150 + more, *shapes), GEMM), 3)

    name, kind, _, *shapes = FUSED_OPERATORS[0]
    book = book_of(rewritten(experiment_zip(TIMES), change))
    row = book.rows.set_index("group").loc[7]
    assert row["low_ns"] < 0 < row["high_ns"] and not row["hurts"]


def test_below_five_blocks_there_is_no_interval() -> None:
    name, kind, _, *shapes = FUSED_OPERATORS[0]
    slower = ((name, kind, 900, *shapes), GEMM)
    book = book_of(
        experiment_zip(
            {n: times[:4] for n, times in TIMES.items()},
            {"unfused": UNFUSED_OPERATORS, "fused": slower},
        )
    )
    assert book.rows[["low_ns", "high_ns"]].isna().all(axis=None)
    assert book.alpha is None and book.blocks == 4 and not book.rows["hurts"].any()


@pytest.mark.parametrize(("gemm_us", "hurts"), [(64, False), (66, True)])
def test_two_recordings_hurt_only_beyond_what_two_processes_differ_by(
    gemm_us: int, hurts: bool
) -> None:
    slower = ("head/Gemm", "Gemm", gemm_us, *GEMM[3:])  # 50 µs before; 30 % are 15 µs
    book = ledger(
        profile_side((GEMM,), 6), profile_side((slower,), 9), Fusion("inferred", (GEMM_GROUP,))
    )
    row = book.rows.iloc[0]
    assert (row["low_ns"] + row["high_ns"]) / 2 == pytest.approx((50 - gemm_us) * 1000)
    assert row["hurts"] == hurts and book.blocks == 6


@pytest.fixture(scope="module")
def recorded() -> tuple[bytes, Fusion, Ledger]:
    """A real recording with its groups and ledger, unfused against fused."""
    data = trimmed(SAMPLE.read_bytes(), ("unfused", "fused"))
    sides = sides_of(data)
    fusion = group_operators(*sides)
    return data, fusion, ledger(*sides, fusion)


@pytest.mark.parametrize(
    ("plant", "place"),
    [
        (slowed, 0),
        pytest.param(lengthened, -1, marks=pytest.mark.exhaustive),
        pytest.param(slowed, -1, marks=pytest.mark.exhaustive),
        pytest.param(lengthened, 0, marks=pytest.mark.exhaustive),
    ],
)
def test_a_planted_slow_fusion_hurts_and_nothing_else_does(
    recorded: tuple[bytes, Fusion, Ledger],
    plant: Callable[[bytes, str, str, int], bytes],
    place: int,
) -> None:
    data, fusion, before = recorded
    fused = [g for g in fusion.groups if g.kind == "fused" and len(g.candidate) == 1]
    planted = fused[place]
    sides = sides_of(plant(data, "fused", planted.candidate[0].name, 5))
    after = ledger(*sides, group_operators(*sides))
    assert after.rows.loc[after.rows["hurts"], "group"].tolist() == [planted.id]
    old, new = (book.rows.set_index("group") for book in (before, after))
    others = [group.id for group in fusion.groups if group is not planted]
    assert new.loc[others, "after_ns"].tolist() == old.loc[others, "after_ns"].tolist()
    # None of it is taken for the time of the operators that it now overlaps.
    assert new.loc[planted.id, "after_ns"] == pytest.approx(5 * old.loc[planted.id, "after_ns"])
    sum_ = after.reconciliation
    terms = ("groups_ns", "ungrouped_ns", "slow_ns", "overlap_ns", "dispatch_ns",
             "profiler_bias_ns")  # fmt: skip
    assert sum(getattr(sum_, term) for term in terms) + sum_.rounding_ns == sum_.delta_ns
    assert sum_.delta_ns == before.reconciliation.delta_ns
    longer = new.loc[planted.id, "after_ns"] - old.loc[planted.id, "after_ns"]
    assert sum_.groups_ns - before.reconciliation.groups_ns == pytest.approx(longer, abs=1)


def test_nothing_hurts_where_nothing_was_planted(recorded: tuple[bytes, Fusion, Ledger]) -> None:
    data, _, book = recorded
    assert not book.rows["hurts"].any() and book.alpha is not None
    again = sides_of(data, "fused", "fused")
    same = ledger(*again, group_operators(*again))
    assert not same.rows["hurts"].any() and (same.rows["gain_ns"] == 0).all()


def test_operators_in_no_group_say_why() -> None:
    head = ("head/Gemm", "Gemm", 5, [(1, 8)], [(1, 8)])
    reorder = ("Reorder", "ReorderOutput", 4, [(1,)], [(1,)])
    foreign = ("elsewhere", "Foo", 3, [(1,)], [(1,)])
    data = experiment_zip(TIMES, {"unfused": (head,), "fused": (reorder, foreign, head)})
    graph = graph_json(graph_of((reorder, head)))
    data = rewritten(data, lambda n, content: graph if n == "graphs/fused.json" else content)
    fusion = Fusion(
        "graphs", (), inserted=((), operators(("Reorder", "ReorderOutput"))), original_nodes=1
    )
    book = book_of(data, fusion)
    assert book.rows.empty and book.patterns.empty and book.alpha is None
    assert list(book.ungrouped.itertuples(index=False, name=None)) == [
        ("baseline", "head/Gemm", "Gemm", "unmatched", 5_000.0),
        ("candidate", "head/Gemm", "Gemm", "unmatched", 5_000.0),
        ("candidate", "Reorder", "ReorderOutput", "inserted", 4_000.0),
        ("candidate", "elsewhere", "Foo", "not_in_graph", 3_000.0),
    ]


def test_a_name_that_two_groups_claim_belongs_to_neither() -> None:
    twice = Fusion("graphs", (GEMM_GROUP, Group(9, "kept", "name", HEAD, HEAD, HEAD)))
    book = book_of(experiment_zip(TIMES), twice)
    assert book.rows["before_ns"].tolist() == [0, 0]
    assert set(book.ungrouped["reason"]) == {"unmatched"}
    assert book.reconciliation.ungrouped_ns == -40_000


def test_names_are_looked_up_as_they_are_shown() -> None:
    hostile = "a\x1b[31m/Conv\u202e"
    operator = (hostile, "Conv", 10, [(1,)], [(1,)])
    one = operators((hostile, "Conv"))
    data = experiment_zip(TIMES, {"unfused": (operator,), "fused": (operator,)})
    book = book_of(data, Fusion("graphs", (Group(1, "kept", "name", one, one, one),)))
    assert book.rows["before_ns"].tolist() == [10_000] and book.ungrouped.empty


columns = st.integers(5, 12).flatmap(
    lambda rows: st.lists(
        st.lists(st.integers(0, 10**6), min_size=rows, max_size=rows), min_size=1, max_size=4
    )
)


@settings(deadline=None)
@given(columns, columns, st.sampled_from([0.05, 0.001]))
def test_intervals_of_columns_are_those_of_student_and_welch(
    before: list[list[int]], after: list[list[int]], alpha: float
) -> None:
    count = min(len(before), len(after))
    left, right = np.array(before[:count], float).T, np.array(after[:count], float).T
    gain = left.mean(axis=0) - right.mean(axis=0)
    low, high = gain_intervals(gain, left, right, alpha, paired=False)
    rows = min(len(left), len(right))
    apart = left[:rows] - right[:rows]
    paired = gain_intervals(apart.mean(axis=0), left[:rows], right[:rows], alpha, paired=True)
    assert (low <= gain).all() and (gain <= high).all()
    for column in range(count):
        if left[:, column].std() + right[:, column].std():
            welch = scipy.stats.ttest_ind(left[:, column], right[:, column], equal_var=False)
            expected = welch.confidence_interval(1 - alpha)
            assert (low[column], high[column]) == pytest.approx(tuple(expected), abs=1e-3)
        if apart[:, column].std():
            student = scipy.stats.ttest_1samp(apart[:, column], 0).confidence_interval(1 - alpha)
            found = paired[0][column], paired[1][column]
            assert found == pytest.approx(tuple(student), abs=1e-3)


def test_a_comparison_carries_groups_ledger_and_their_doubts() -> None:
    foreign = ("elsewhere", "Foo", 3, [(1,)], [(1,)])
    data = experiment_zip(
        {"unfused": [10.0] * 8, "fused": [9.0] * 8},
        {"unfused": UNFUSED_OPERATORS, "fused": (*UNFUSED_OPERATORS, foreign)},
    )
    graph = graph_json(graph_of(UNFUSED_OPERATORS))
    data = rewritten(data, lambda n, content: graph if n == "graphs/fused.json" else content)
    comparison = compare(*sides_of(data))
    assert comparison.fusion.source == "graphs" and len(comparison.fusion.groups) == 4
    assert comparison.ledger.rows["group"].is_unique and len(comparison.ledger.rows) == 4
    notes = {note.code: note for note in comparison.diagnostics}
    assert notes["not_in_graph"].example == "elsewhere"
    assert diagnostic_sentence(notes["not_in_graph"]) == (
        "Candidate: 1 operator of the trace is not in its graph, so it is in no fusion group: "
        "3.00 µs per run. First: elsewhere"
    )
    assert diagnostic_sentence(notes["weak_attribution"]) == (
        "The operators' own times do not explain the change. The mean run changed by −1.00 "
        "ms. Beside the operators that compute: profiler bias −1.01 ms and idle time +2.00 µs."
    )
    from fusescope.analysis.compare.doubts import _attribution

    marked = replace(comparison.verdict, reason="marked")  # runs that are not compared
    sides = (comparison.baseline, comparison.candidate)
    assert "weak_attribution" not in {
        n.code for n in _attribution(*sides, marked, comparison.ledger)
    }


def test_originals_outside_groups_and_operators_without_times_are_said() -> None:
    from fusescope.analysis.compare.doubts import doubts

    sides = sides_of(experiment_zip(TIMES))
    usual = compare(*sides)
    ghost = operators(("ghost", "Relu"), ("weight", "Constant"))
    group = Group(1, "fused", "name", ghost, ghost, HEAD)
    fusion = Fusion("graphs", (group,), original_nodes=5, mapped_nodes=2)
    figures = {figure.code: figure for figure in usual.figures}
    notes = doubts(*sides, usual.verdict, figures, usual.operators, fusion, ledger(*sides, fusion))
    said = {note.code: (note.count, note.example) for note in notes}
    assert said["unmapped_originals"] == (3, "")
    assert said["untimed_operators"] == (1, "ghost")


def test_a_mean_that_few_slow_runs_pull_away_is_said() -> None:
    def change(member: str, content: bytes) -> bytes:
        if member != "experiment.json":
            return content
        record = json.loads(content)
        column = record["variants"][1]["samples"]["wall_ns"]
        column[:] = [ns * 3 if i % 3 == 2 else ns for i, ns in enumerate(column)]
        return json.dumps(record).encode()

    comparison = compare(*sides_of(rewritten(experiment_zip(TIMES), change)))
    # Lower quartile of (5, 5, 15) ms is 5 ms, the mean 8.33 ms.
    note = next(note for note in comparison.diagnostics if note.code == "mean_differs")
    assert note.values["typical"] == pytest.approx(-0.5, abs=0.01)
    assert note.values["mean"] == pytest.approx(-1 / 6, abs=0.01)
    assert "mean_differs" not in {
        n.code for n in compare(*sides_of(experiment_zip(TIMES))).diagnostics
    }
