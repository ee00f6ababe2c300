"""A change that is printed beside two values has their sign, wherever it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from pandas.io.formats.style import Styler

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report import cards
from fusescope.analysis.report.explanation.group_rows import group_rows
from fusescope.analysis.report.exports.comparison_json import comparison_values
from fusescope.analysis.report.ledger import ledger_table
from fusescope.analysis.report.tables import operator_rows, operator_totals, type_rows
from fusescope.analysis.units import MISSING
from fusescope.app.parts import ledger as shown_ledger
from fusescope.app.parts import tables
from fusescope.app.parts.table import Table
from fusescope.app.sources.comparisons import Shown
from tests.compare.timing.raw_times import lengthened, paused
from tests.factories import Operator, experiment_zip, profile_json

SHAPE = [(1, 4, 8, 8)]
SCALES = {"ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9, "kB": 1e3, "MB": 1e6, "GB": 1e9}
# An example takes too long to be made smaller step by step.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
# Where it was, what was before, what is after, the change: as text.
Printed = tuple[str, str, str, str]


def number(text: str) -> float | None:
    """The number of '−6.50 ms', '~24.7 %' or '1 235'; None where there is none."""
    found = re.match(r"[~≥]*([+−-]?)([\d \xa0\u202f]*\d(?:\.\d+)?(?:e[+-]\d+)?)\s*(\S*)", text)
    if found is None or text == MISSING:
        return None
    sign = -1.0 if found[1] in ("−", "-") else 1.0
    return sign * float(re.sub(r"\s", "", found[2])) * SCALES.get(found[3], 1.0)


def step(text: str) -> float:
    """What its last digit stands for."""
    digits = re.search(r"[\d \u202f\xa0]*\d(?:\.(\d+))?(?:e[+-]\d+)?\s*(\S*)", text)
    if digits is None or number(text) == 0:
        return 0.0
    return SCALES.get(digits[2], 1.0) / 10 ** len(digits[1] or "")


def report_changes(comparison: Comparison) -> Iterator[Printed]:
    for card in cards.figures(comparison).rows:
        yield f"card {card.code}", card.baseline, card.candidate, card.change
    operators, types = operator_rows(comparison), type_rows(comparison)
    for row in (*operators.visible, *operators.folded):
        yield f"operator {row.name}", *row.times, row.change.text
    for kind in (*types.visible, *types.folded):
        yield f"type {kind.op_type}", *(side.total for side in kind.sides), kind.change.text
    yield "sum of operators", *operator_totals(comparison)
    book = ledger_table(comparison)
    if book is None:
        return
    for pattern in (*book.patterns.visible, *book.patterns.folded):
        for gained in (pattern, *pattern.members):
            yield f"ledger {pattern.pattern}", gained.before, gained.after, gained.gain.text
    before, after, change, _ = book.groups_total
    yield "sum of groups", before, after, change


def page_changes(comparison: Comparison) -> Iterator[Printed]:
    shown = Shown(comparison, "", Assumptions())
    for made in (
        tables.operator_table(tables.operator_rows(shown)),
        tables.type_table(comparison),
        tables.class_table(comparison),
    ):
        yield from _cells(made, "baseline", "candidate", "change")
    if comparison.ledger.has_gains:
        every = set(comparison.ledger.patterns["key"])
        order = next(iter(shown_ledger.orders()))
        lines = shown_ledger.lines(comparison.ledger, order, unfolded=every)
        yield from _row_changes(comparison)
        ledger = shown_ledger.table(comparison, lines, every)
        yield from _cells(ledger, "baseline", "candidate", "change")


def _row_changes(comparison: Comparison) -> Iterator[Printed]:
    rows = group_rows(comparison)
    assert rows is not None
    for row in (*rows.rows, *rows.more):
        for group in row.kernels:
            yield f"group {group.name}", group.before, group.after, group.change


def _cells(made: Table, first: str, second: str, change: str) -> Iterator[Printed]:
    """Of the durations of a table, as they are read."""
    drawn = made.drawn
    assert isinstance(drawn, Styler)
    drawn._compute()
    heads = list(made.columns)
    group = next((group for group, label in heads if label == change), None)
    if group is None:  # no change is shown: it says which side ran it instead
        assert ("", "Ran on") in heads
        return
    at = [heads.index((group, label)) for label in (first, second, change)]
    for row in drawn._translate(False, False)["body"]:
        cells = [str(cell["display_value"]) for cell in row if cell["type"] == "td"]
        before, after, told = (cells[place] for place in at)
        yield cells[0], before, after, told


def json_changes(value: Any, where: str = "") -> Iterator[tuple[str, float, float, float]]:
    """Every change in the JSON, with the values beside it."""
    if isinstance(value, list):
        for item in value:
            yield from json_changes(item, where)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("gain_ns"), int):  # of a group; that of a finding has an interval
        yield where, value["before_ns"], value["after_ns"], -value["gain_ns"]
    for name, change in (("per_run_ns", "delta_ns"), ("value", "change")):
        if value.get(change) is not None and "baseline" in value:
            sides = [value[side] for side in ("baseline", "candidate")]
            if change == "delta_ns" and "per_run_ns" not in (sides[0] or sides[1] or ()):
                continue  # the sum of the ledger
            before, after = (side[name] if side else None for side in sides)
            if change == "delta_ns":
                assert value["side"] in ("both", "baseline" if after is None else "candidate")
                before, after = before or 0.0, after or 0.0
            yield where, before, after, value[change]
    for key, inner in value.items():
        yield from json_changes(inner, f"{where}.{key}")


def check(comparison: Comparison) -> int:
    """How many changes were printed beside two values."""
    latency, verdict = comparison.figure("latency"), comparison.verdict
    assert verdict.latency_change is None or latency.change == pytest.approx(verdict.latency_change)
    judged = 0
    for where, before, after, change in (*report_changes(comparison), *page_changes(comparison)):
        first, second, told = number(before), number(after), number(change)
        if told is None:
            continue
        if first is None or second is None:
            # Only an operator that ran on one side alone: a table, and it took that time there.
            assert not where.startswith(("card", "ledger", "sum")), (where, before, after, change)
            assert (first is None) != (second is None), (where, before, after, change)
            first, second = first or 0.0, second or 0.0
        assert (second - first) * told >= 0, (where, before, after, change)
        if change.endswith("pt"):
            assert told == pytest.approx(second - first), (where, before, after, change)
        elif change.endswith("%"):
            assert change != "0.0\xa0%" or before == after, (where, before, after, change)
            # As far as the digits of the two values tell it.
            apart, reach = second - first, step(before) / 2 + step(after) / 2
            reach = reach * (1 + abs(apart / first)) + 0.0006 * first if first else 0.0
            assert not first or abs(told / 100 * first - apart) <= reach, (where, before, after)
        elif not change.endswith(("%", "×")) and step(change) >= max(step(before), step(after)):
            off = abs(told - (second - first))
            assert off <= 0.51 * step(change), (where, before, after, change)
        judged += 1
    for where, first, second, told in json_changes(comparison_values(comparison)):
        assert (second - first) * told >= 0, (where, first, second, told)
        judged += 1
    return judged


def operators() -> st.SearchStrategy[dict[str, list[Operator]]]:
    """Operators of both variants: some on one side alone, all with times of their own."""
    kinds = {"a/Conv": "Conv", "a/Relu": "Relu", "b/Add": "Add", "c/Conv": "Conv", "d/Gemm": "Gemm"}

    def side() -> st.SearchStrategy[list[Operator]]:
        times = st.fixed_dictionaries({}, optional={name: st.integers(1, 4000) for name in kinds})
        return times.filter(bool).map(
            lambda found: [(name, kinds[name], us, SHAPE, SHAPE) for name, us in found.items()]
        )

    return st.fixed_dictionaries({"unfused": side(), "fused": side()})


MS = st.floats(0.5, 50.0)
EXPERIMENTS = (
    operators(),
    st.lists(st.tuples(MS, MS), min_size=1, max_size=9),
    st.none() | st.tuples(st.sampled_from(["unfused", "fused"]), st.integers(2, 30)),
    st.none() | st.tuples(st.sampled_from(["unfused", "fused"]), st.integers(2, 9)),
)
# The mean of Relu falls from 133 to 101 µs, its median rises by 1.
RELU = {name: [("a/Relu", "Relu", us, SHAPE, SHAPE)] for name, us in
        (("unfused", 100), ("fused", 101))}  # fmt: skip


@settings(max_examples=4, phases=PHASES)
@example(RELU, [(10.0, 9.0)], ("unfused", 2), None)
@given(*EXPERIMENTS)
def test_changes_of_an_experiment_have_the_sign_of_what_they_stand_beside(
    ran: dict[str, list[Operator]],
    times: list[tuple[float, float]],
    pause: tuple[str, int] | None,
    longer: tuple[str, int] | None,
) -> None:
    """Whatever the blocks, with one execution of several times its length, and an operator of
    another one."""
    blocks = dict(zip(("unfused", "fused"), map(list, zip(*times, strict=True)), strict=True))
    data = experiment_zip(blocks, ran)
    if pause is not None:
        name, _, us, *_ = ran[pause[0]][0]
        data = paused(data, pause[0], len(times) - 1, name, us * pause[1])
    if longer is not None:
        data = lengthened(data, longer[0], ran[longer[0]][-1][0], longer[1])
    comparison = compare(*choose_sides(read(Source("e.zip", data)), None, "unfused", "fused"))
    assert check(comparison) > 8


@pytest.mark.exhaustive
@settings(max_examples=16, phases=PHASES)
@given(*EXPERIMENTS)
def test_changes_of_many_experiments_have_that_sign(
    ran: dict[str, list[Operator]],
    times: list[tuple[float, float]],
    pause: tuple[str, int] | None,
    longer: tuple[str, int] | None,
) -> None:
    few = test_changes_of_an_experiment_have_the_sign_of_what_they_stand_beside
    few.hypothesis.inner_test(ran, times, pause, longer)


PROFILES = (operators(), st.integers(1, 7), st.integers(1, 7))


@settings(max_examples=3, phases=PHASES)
@given(*PROFILES)
def test_changes_of_two_profiles_have_the_sign_of_what_they_stand_beside(
    ran: dict[str, list[Operator]], first: int, second: int
) -> None:
    files = zip(ran.items(), (first, second), strict=True)
    sides = [read(Source(f"{name}.json", profile_json(ops, runs))) for (name, ops), runs in files]
    comparison = compare(*choose_sides(*sides))
    judged = check(comparison)
    assert judged > 3 if comparison.has_changes else judged == 0


@pytest.mark.exhaustive
@settings(max_examples=8, phases=PHASES)
@given(*PROFILES)
def test_changes_of_many_profiles_have_that_sign(
    ran: dict[str, list[Operator]], first: int, second: int
) -> None:
    few = test_changes_of_two_profiles_have_the_sign_of_what_they_stand_beside
    few.hypothesis.inner_test(ran, first, second)
