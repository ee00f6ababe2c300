"""The sentences about fusion: right when it gained, lost, did nothing, or cannot be told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pandas as pd
import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.groups.fusion import Fusion, Group, Kind, KnownBy, Operator
from fusescope.analysis.compare.ledger import Ledger
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.messages import Part
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.wording.diagnostics import diagnostic_sentence
from fusescope.analysis.wording.fusion.became import becomes_cell, becomes_text
from fusescope.analysis.wording.fusion.groups import KINDS, KNOWN_BY, coverage_sentence
from fusescope.analysis.wording.fusion.statements import (
    fusion_parts,
    fusion_sentence,
    headline_and_rest,
)
from fusescope.analysis.wording.fusion.terms import (
    TERMS,
    no_shares_sentence,
    reconciliation_sentence,
    sum_sentence,
)
from tests.factories import CONV, FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json

MS = 1_000_000
CBR, CB = "Conv + BatchNormalization + Relu", "Conv + BatchNormalization"


@pytest.fixture(scope="module")
def plain() -> Comparison:
    traces = [
        read(Source(name, profile_json(operators, 6)))
        for name, operators in (("a.json", UNFUSED_OPERATORS), ("b.json", FUSED_OPERATORS))
    ]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    return compare(sides[0], sides[1])


def with_ledger(
    comparison: Comparison,
    rows: list[tuple[str, str, int, int, float]],
    outcome: str = "faster",
    reasons: tuple[str, ...] = (),
    sides: tuple[str, ...] = (),
    **sum_: Any,
) -> Comparison:
    """It with rows of (pattern, kind, operators before, after, gain in ms), and why further
    operators are in no group."""
    of = sides or ("candidate",) * len(reasons)
    ungrouped = pd.DataFrame({"reason": reasons, "side": of}, dtype="str")
    names = ["pattern", "kind", "operators_baseline", "operators_candidate", "gain_ns"]
    table = pd.DataFrame(rows, columns=names)
    table["gain_ns"] *= MS
    table["group"] = range(len(table))
    table["known_by"] = "name"
    total = Reconciliation(**({"of": "unprofiled_wall"} | sum_))  # type: ignore[arg-type]
    return replace(
        comparison,
        fusion=replace(comparison.fusion, source="graphs"),
        ledger=Ledger(table, pd.DataFrame(), ungrouped, total, None, 8),
        verdict=replace(comparison.verdict, outcome=outcome),
    )


def told(*arguments: Any, **sum_: Any) -> str:
    """What is said of `with_ledger`."""
    return fusion_sentence(with_ledger(*arguments, **sum_))


def text(parts: tuple[Part, ...]) -> str:
    return "".join(part.text for part in parts)


FUSED = [(CBR, "fused", 3, 1, 4.0), (CB, "fused", 2, 1, 2.0), (CB, "fused", 2, 1, 1.0)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("fused", 2, 1), "They run as one 8-bit operator each: fusion and precision together."),
        (("fused", 3, 2), "8-bit operators run in their place: fusion and precision together."),
        (("replaced", 1, 1), "8-bit operators run in their place: another precision, not fusion."),
    ],
)
def test_another_precision_is_named(row: tuple[str, int, int], words: str) -> None:
    kind, before, after = row
    quantised = tuple((f"{name}/q", "QLinearConv", *CONV[2:]) for name in "ab")
    traces = [
        read(Source(name, profile_json(operators, 6)))
        for name, operators in (("a.json", UNFUSED_OPERATORS), ("b.json", quantised))
    ]
    sides = [side_of_trace(trace) for trace in traces if isinstance(trace, Trace)]
    groups = tuple(
        Group(place, "fused", "name", (), (), (Operator(name, op_type),))
        for place, (name, op_type, *_) in enumerate(quantised)
    )
    partly = words.replace("one 8-bit operator each", "one operator each, some of them 8-bit")
    partly = partly.replace("8-bit operators run", "Partly 8-bit operators run")
    for at, expected in ((2, words), (1, partly)):
        comparison = replace(compare(*sides), fusion=Fusion("graphs", groups[:at]))
        assert told(comparison, [(CB, kind, before, after, 1.0)] * 2).endswith(expected)


def test_patterns_that_begin_alike_are_one_family(plain: Comparison) -> None:
    rows = [*FUSED, ("MaxPool", "replaced", 1, 1, 3.0), ("Gemm", "kept", 1, 1, -9.0)]
    # 7 of the 10 ms that groups gained; the loss of Gemm is not a gain.
    assert told(plain, rows) == (
        "70 % of what faster groups save comes from 3 groups that begin with Conv + "
        "BatchNormalization. They run as one operator each."
    )


def test_less_than_all_is_never_all(plain: Comparison) -> None:
    nearly = [(CB, "fused", 2, 1, 1000.0), ("Gemm", "kept", 1, 1, 0.001)]
    assert told(plain, nearly).startswith("Over 99 % of what faster groups save comes from 1 ")
    assert told(plain, nearly[:1]).startswith("All of what faster groups save comes from 1 ")


def test_a_slower_candidate_is_told_by_its_losses(plain: Comparison) -> None:
    rows = [(CB, "split", 1, 2, -3.0), (CB, "split", 1, 2, -1.0), ("Add", "fused", 2, 1, 9.0)]
    assert told(plain, rows, "slower") == (
        "All of what slower groups add comes from 2 Conv + BatchNormalization groups. They are "
        "split into several operators each."
    )
    assert told(plain, rows[2:], "slower") == "No group got slower."
    assert told(plain, rows[:2]) == "No group got faster."


def test_noise_is_named_first(plain: Comparison) -> None:
    assert told(plain, FUSED, "cannot_tell") == (
        "The whole change cannot be told from noise. All of what faster groups save comes from 3 "
        "groups that begin with Conv + BatchNormalization. They run as one operator each."
    )


@pytest.mark.parametrize("outcome", ["cannot_tell", "noise_unknown"])
def test_what_nobody_can_tell_is_told_by_the_sign_of_the_groups(
    plain: Comparison, outcome: str
) -> None:
    """'55 % of what faster groups save … 14.2 ms more' would contradict itself."""
    rows = [(CB, "split", 1, 2, -3.0), ("Gemm", "kept", 1, 1, 1.0)]
    sums = {"groups_ns": 2 * MS, "delta_ns": 9 * MS, "weak": True}
    lost = told(plain, rows, outcome, of="run_span", **sums)
    assert "ll of what slower groups add comes from 1 Conv + BatchNormalization" in lost
    whole = "The whole run takes 9.00 ms more. " if outcome == "noise_unknown" else ""
    assert lost.endswith(
        f"All groups together take 2.00 ms more. {whole}Operators explain only part of the change."
    )


def test_weak_attribution_gives_the_proportion(plain: Comparison) -> None:
    sums = {"weak": True, "groups_ns": -7 * MS, "delta_ns": -20 * MS}
    sentence = told(plain, FUSED, of="run_span", **sums)
    # Of runs without a profiler no profiled time stands beside theirs.
    assert told(plain, FUSED, **sums) == (
        "All of what faster groups save comes from 3 groups that begin with Conv + "
        "BatchNormalization. They run as one operator each. Operators explain only part of the "
        "change."
    )
    assert sentence.startswith("All of what faster groups save comes from 3 ")
    assert sentence.endswith(
        "All groups together take 7.00 ms less. The whole run takes 20.0 ms less. Operators "
        "explain only part of the change."
    )


@pytest.mark.parametrize(
    ("sums", "words"),
    [
        # Operators in no group take back 50 of the 66 that groups save: 12 of 34 are of operators.
        (
            {"delta_ns": -34 * MS, "groups_ns": -66 * MS, "ungrouped_ns": 50 * MS}
            | {"profiler_bias_ns": -22 * MS, "dispatch_ns": 4 * MS},
            "Operators explain only part of the change.",
        ),
        # 40 of 34, of which the profiler's part takes 6 back.
        (
            {"delta_ns": -34 * MS, "groups_ns": -40 * MS, "profiler_bias_ns": 6 * MS},
            "Operators change by more than the run: what is beside them goes the other way.",
        ),
        # The mean run takes 32 more, of which 5 are of operators, the typical one 134 less.
        (
            {"delta_ns": 32 * MS, "outlying_ns": -166 * MS, "groups_ns": 5 * MS}
            | {"dispatch_ns": 27 * MS},
            "Operators do not explain the change.",
        ),
    ],
)
def test_groups_and_what_is_in_none_are_the_operators(
    plain: Comparison, sums: dict[str, int], words: str
) -> None:
    """As the doubt about the change has it."""
    assert words in told(plain, FUSED, weak=True, **sums)
    total = Reconciliation("unprofiled_wall", **sums)
    values = {name: getattr(total, name) for name in sums} | {"whole_ns": total.whole_ns}
    doubt = diagnostic_sentence(Diagnostic("warning", "weak_attribution", values=values))
    assert ("only part" in words) == ("only part" in doubt)
    assert ("do not explain" in words) == ("do not explain" in doubt)


def test_without_start_times_no_time_is_called_idle(plain: Comparison) -> None:
    """Of a run of 10 ms less, 7 are in no operator: idle where operators have starts."""
    sums = {"delta_ns": -10 * MS, "groups_ns": -3 * MS, "dispatch_ns": -7 * MS}
    known = with_ledger(plain, FUSED, **sums, overlap_ns=0)
    unknown = with_ledger(plain, FUSED, **sums)
    for pair, words in ((known, "idle time"), (unknown, "time of the run outside operators")):
        assert f"{words} −7.00 ms" in sum_sentence(pair)
        assert f"The largest term is {words}, 7.00 ms less." in fusion_sentence(pair)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("Conv", "kept", 1, 1, 1.0), "Conv group. It kept its operator."),
        (("Mul ×3", "folded", 3, 0, 1.0), "Mul ×3 group. It is computed when the model is loaded."),
        (("Dropout", "removed", 1, 0, 1.0), "Dropout group. It no longer runs."),
        (("A + B + C", "fused", 3, 2, 1.0), "A + B + C group. It runs as fewer operators."),
        (("MaxPool", "replaced", 1, 1, 1.0), "MaxPool group. Other operators run in its place."),
    ],
)
def test_what_became_of_the_groups(
    plain: Comparison, row: tuple[str, str, int, int, float], words: str
) -> None:
    assert told(plain, [row, ("Tiny", "fused", 2, 1, 0.0)]).endswith(words)


def test_nothing_fused_says_where_the_change_is(plain: Comparison) -> None:
    kept = [("Conv", "kept", 1, 1, 1.0), ("Constant", "loaded", 0, 0, 0.0)]
    nothing = "Nothing was fused: both sides ran the same operators."
    assert told(plain, kept) == nothing
    assert told(
        plain, kept, delta_ns=-8 * MS, dispatch_ns=-7 * MS, groups_ns=-MS, overlap_ns=0
    ) == (
        f"{nothing} The whole run takes 8.00 ms less. The largest term is idle time, 7.00 ms less."
    )
    assert told(plain, kept, delta_ns=-8 * MS, groups_ns=-8 * MS) == (
        f"{nothing} The whole run takes 8.00 ms less. All of it is in the groups."
    )
    assert told(plain, kept, delta_ns=-8 * MS, dispatch_ns=MS, groups_ns=-9 * MS) == (
        f"{nothing} The whole run takes 8.00 ms less. The groups alone take 9.00 ms less."
    )
    # A loss is called one, and a term may be against the whole.
    assert told(
        plain, kept, delta_ns=46_600_000, dispatch_ns=-30 * MS, groups_ns=MS, overlap_ns=0
    ) == (
        f"{nothing} The whole run takes 46.6 ms more. The largest term is idle time, 30.0 ms less."
    )


def test_what_could_not_be_matched_is_not_called_the_same(plain: Comparison) -> None:
    kept = [("Conv", "kept", 1, 1, 1.0)]
    assert told(plain, kept, reasons=("inserted", "communication", "inserted")) == (
        "Nothing was fused: apart from 2 inserted operators, both sides ran the same ones."
    )
    sides = ("baseline", "candidate", "candidate")
    assert told(plain, kept, reasons=("inserted",) * 3, sides=sides) == (
        "Nothing was fused: apart from inserted operators (1 before, 2 after), both sides ran the "
        "same ones."
    )
    assert told(plain, kept, reasons=("inserted", "unmatched", "not_in_graph")) == (
        "No fusion was found. It is not known what 2 operators replace."
    )


def test_a_change_outside_the_groups_is_said(plain: Comparison) -> None:
    sums = {"groups_ns": -7 * MS, "delta_ns": -10 * MS, "of": "run_span"}
    little = told(plain, FUSED, ungrouped_ns=-2 * MS, **sums)
    assert little.endswith(
        "All groups together take 7.00 ms less. The whole run takes 10.0 ms less. The largest "
        "other term is operators in no group, 2.00 ms less."
    )
    # A twentieth of the whole change needs no words.
    nearly_all = told(plain, FUSED, groups_ns=-7 * MS, delta_ns=-7_300_000)
    assert (
        nearly_all.startswith("All of what faster groups save") and "All groups" not in nearly_all
    )
    much = told(plain, FUSED, ungrouped_ns=-3 * MS, **sums)
    assert much.startswith("All of what faster groups save comes from 3 ")
    assert much.endswith(
        "All groups together take 7.00 ms less. The whole run takes 10.0 ms less. Operators in no "
        "group take 3.00 ms less."
    )
    # What takes longer is no part of what is saved.
    lost = told(plain, FUSED, ungrouped_ns=3 * MS, **sums)
    assert lost.endswith("Operators in no group take 3.00 ms more.")


def test_a_change_that_is_hardly_in_the_groups_names_its_largest_term(plain: Comparison) -> None:
    sums = {"groups_ns": MS // 10, "ungrouped_ns": 20 * MS, "delta_ns": 20 * MS + MS // 10}
    lost = [("MaxPool", "replaced", 1, 1, -0.3), (CBR, "fused", 3, 1, 0.2)]
    # The groups' own direction, whatever the verdict's.
    for outcome in ("slower", "faster"):
        assert told(plain, lost, outcome, **sums) == (
            "The whole run takes 20.1 ms more. The largest term is operators in no group, 20.0 ms "
            "more. All groups together take 100 µs more. All of what slower groups add comes from "
            "1 MaxPool group. Other operators run in its place."
        )
    assert told(plain, lost, "noise_unknown", **sums).startswith(
        "The noise of the whole change is unknown. The whole run takes 20.1 ms more. The largest "
        "term "
    )


def test_a_term_larger_than_the_groups_comes_before_them(plain: Comparison) -> None:
    sums = {"groups_ns": -7 * MS, "ungrouped_ns": -12 * MS, "delta_ns": -20 * MS}
    assert told(plain, FUSED, **sums).startswith(
        "The whole run takes 20.0 ms less. The largest term is operators in no group, 12.0 ms "
        "less. All groups together take 7.00 ms less. All of what faster groups save comes from 3 "
    )


def test_two_models_are_not_told_why_no_groups_are_known(plain: Comparison) -> None:
    none = replace(plain, fusion=Fusion("none"))
    assert coverage_sentence(none).startswith("No groups")
    two = replace(none, verdict=replace(plain.verdict, reason="different_models"))
    assert coverage_sentence(two).startswith("Compare two recordings of one model")


def test_without_groups_nothing_is_claimed(plain: Comparison) -> None:
    assert told(plain, []) == "It is not known which operators became which."
    empty = replace(plain, fusion=Fusion("none"))
    assert fusion_sentence(empty) == "It is not known which operators became which."


def test_op_types_are_marked_as_names(plain: Comparison) -> None:
    names = [part.text for part in fusion_parts(plain) if part.role == "name"]
    assert names == ["Conv + BatchNormalization + Relu"]  # all are of one pattern


# Coverage and the sum.


def group(id_: int, known_by: KnownBy = "name", originals: int = 1) -> Group:
    operators = tuple(Operator(f"n{id_}/{i}", "Conv") for i in range(originals))
    return Group(id_, "fused", known_by, operators, operators, operators[:1])


def test_full_coverage_and_how_it_is_known(plain: Comparison) -> None:
    groups = (group(0, originals=4), group(1), group(2, "value"))
    inserted = ((), (Operator("r", "ReorderInput"),))
    fusion = Fusion("graphs", groups, 6, 6, 4, inserted)
    assert coverage_sentence(replace(plain, fusion=fusion)) == (
        "All original operators are accounted for: 6 of 6. 0 boundary mismatches. The largest "
        "group has 4 operators. 1 operator was inserted between groups. How groups are known: "
        "tensor names (2) and tensor values (1)."
    )


def test_lost_operators_and_mismatches_are_said(plain: Comparison) -> None:
    fusion = Fusion("graphs", (group(0),), 3, 1, 1, boundary_mismatches=1)
    assert coverage_sentence(replace(plain, fusion=fusion)).startswith(
        "1 of 3 original operators are accounted for, 2 are in no group. 1 boundary mismatch. "
    )


def test_weaker_sources_are_said(plain: Comparison) -> None:
    groups = (group(0, "inferred"),)
    for source, said in (("inferred", "No graph confirms"), ("members", "as the trace names")):
        fusion = Fusion(source, groups, 1, 1)  # type: ignore[arg-type]
        assert said in coverage_sentence(replace(plain, fusion=fusion))


def test_why_there_are_no_shares_is_told_of_what_the_sum_is_of(plain: Comparison) -> None:
    for of, whole in (
        ("run_span", "the change"),
        ("busy_union", "the change of the time in operators"),
    ):
        sum_ = Reconciliation(of, 5, groups_ns=5)  # type: ignore[arg-type]
        ledger = replace(plain.ledger, reconciliation=sum_, no_shares="cancels")
        text = no_shares_sentence(ledger)
        assert text.startswith(f"Shares of {whole} are not shown") and "less than half" in text


def test_an_interval_that_takes_the_shares_away_is_shown(plain: Comparison) -> None:
    sum_ = Reconciliation("run_span", 5_000, groups_ns=5_000, low_ns=-20_000, high_ns=30_000)
    ledger = replace(plain.ledger, reconciliation=sum_, no_shares="within_noise")
    assert no_shares_sentence(ledger) == (
        "Shares of the change are not shown: the 95 % interval of the change of the mean, "
        "−20.0 µs to +30.0 µs, includes no change."
    )


def test_without_groups_the_sentence_says_why_and_what_to_do(plain: Comparison) -> None:
    """The two profiles have shapes and no graphs; without shapes, these come first."""
    none = replace(plain, fusion=Fusion("inferred"))
    assert coverage_sentence(none) == (
        "No groups are known: the files have no graphs of the model. No operators of the two sides "
        "agree in type, shapes and count. To see what became of them, record both variants with "
        "fusescope collect MODEL, which keeps the graphs."
    )
    trace = plain.baseline.trace
    inputs = trace.operators["inputs"]
    blank = trace.operators.assign(inputs=inputs.where(inputs.isna()))
    bare = replace(none, baseline=replace(plain.baseline, trace=replace(trace, operators=blank)))
    said = coverage_sentence(bare)
    assert "agree in type and count." in said
    assert "record the baseline with shapes of tensors, or record both variants" in said


def test_the_sum_names_every_term_that_is_there() -> None:
    sum_ = Reconciliation(
        "unprofiled_wall",
        delta_ns=-5 * MS,
        groups_ns=-6 * MS,
        slow_ns=200_000,
        overlap_ns=0,
        dispatch_ns=-500_000,
        profiler_bias_ns=1_300_000,
    )
    assert reconciliation_sentence(sum_) == (
        "Change of the mean run: −5.00 ms = groups −6.00 ms, slow executions +200 µs, idle time "
        "−500 µs, profiler bias +1.30 ms."
    )
    assert reconciliation_sentence(Reconciliation("kernel_sum")) == ""


def test_terms_that_no_shown_digit_has_are_not_named() -> None:
    """Of −5.00 ms a digit is 10 us: 829 ns are none of it, and 200 ns of rounding are not."""
    sum_ = Reconciliation(
        "unprofiled_wall",
        delta_ns=-5 * MS,
        groups_ns=-6 * MS,
        streams_ns=829,
        overlap_ns=829,
        dispatch_ns=1 * MS - 1_029,
        rounding_ns=200,
    )
    assert reconciliation_sentence(sum_) == (
        "Change of the mean run: −5.00 ms = groups −6.00 ms, idle time +999 µs."
    )


def test_every_code_has_words() -> None:
    assert set(KINDS) == set(get_args(Kind))
    assert set(KNOWN_BY) == set(get_args(KnownBy))
    fields = {name for name in Reconciliation.__dataclass_fields__ if name.endswith("_ns")}
    assert fields - {
        "delta_ns",
        "baseline_ns",
        "low_ns",
        "high_ns",
        "overlap_ns",  # of two terms that are told apart
    } == set(TERMS)


@pytest.mark.parametrize(
    ("becomes", "kind", "cell", "text"),
    [
        ("Conv", "fused", "Conv", "→ Conv"),
        ("Conv", "kept", "Conv", "kept"),
        ("unknown", "kept", "kept", "kept"),
        ("unknown ×2 + unknown", "replaced", None, None),
        ("", "folded", None, None),
    ],
)
def test_what_a_pattern_becomes_is_told_or_its_kind_is(
    becomes: str, kind: str, cell: str | None, text: str | None
) -> None:
    row = {"becomes": becomes, "kind": kind}
    assert becomes_cell(row) == (cell or str(KINDS[kind]))
    assert becomes_text(row) == (text or str(KINDS[kind]))


def test_a_headline_ends_with_the_first_sentence_that_has_a_number(plain: Comparison) -> None:
    sums = {"groups_ns": -7 * MS, "ungrouped_ns": -12 * MS, "delta_ns": -20 * MS}
    for more, (first, last, rest) in (
        (
            sums,
            ("The whole run takes", "12.0 ms less.", "All groups together take 7.00 ms less."),
        ),
        ({}, ("All of what faster", "BatchNormalization.", "They run as one operator each.")),
    ):
        headline, others = map(text, headline_and_rest(with_ledger(plain, FUSED, **more)))
        assert headline.startswith(first) and headline.endswith(last), headline
        assert others.startswith(rest)
    none = [("Conv", "kept", 1, 1, 1.0)]
    headline, others = map(text, headline_and_rest(with_ledger(plain, none)))
    assert (headline, others) == ("Nothing was fused: both sides ran the same operators.", "")


def test_the_share_is_that_of_the_ledger_s_lines(plain: Comparison) -> None:
    """Losses inside a family stay in it: 10 - 2 of 8 + 2, not of 10 + 2."""
    rows = [("Add", "kept", 1, 1, 2.0), ("Conv", "replaced", 1, 1, 10.0)]
    sentence = told(plain, [*rows, ("Conv", "replaced", 1, 1, -2.0)], delta_ns=-10 * MS)
    assert sentence.startswith("80 % of what faster groups save comes from 2 Conv groups.")


def test_a_pattern_that_lost_more_than_it_gained_did_not_gain(plain: Comparison) -> None:
    rows = [("Conv", "replaced", 1, 1, 1.0), ("Conv", "replaced", 1, 1, -3.0)]
    sentence = told(plain, rows, delta_ns=-2 * MS)
    assert "No pattern of operators got faster as a whole." in sentence
    assert "No group got faster." in told(plain, rows[1:], delta_ns=-2 * MS)


def test_repeats_of_an_operator_are_of_its_family(plain: Comparison) -> None:
    rows = [
        ("MatMul + Add ×2 + ReduceMean", "fused", 4, 1, 3.0),
        ("MatMul + Add", "fused", 2, 1, 3.0),
        ("Erf", "replaced", 1, 1, 2.0),
    ]
    sentence = told(plain, rows, delta_ns=-8 * MS)
    assert sentence.startswith(
        "75 % of what faster groups save comes from 2 groups that begin with MatMul + Add."
    )
