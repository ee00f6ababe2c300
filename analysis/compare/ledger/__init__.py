"""Ledger: what each fusion group gained, and how the gains add up to the change of the run time."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec
import numpy as np
import pandas as pd

from fusescope.analysis.compare.groups.fusion import Fusion, Group, Operator, group_places
from fusescope.analysis.compare.ledger.added import Added, added_to
from fusescope.analysis.compare.ledger.alike import OfType, partly_held
from fusescope.analysis.compare.ledger.gains import Gains, hurts, times_of
from fusescope.analysis.compare.ledger.operator_texts import (
    common_scope,
    sequence_text,
    source_text,
    told_operators,
    type_or_name,
)
from fusescope.analysis.compare.ledger.parts import part_table, part_times
from fusescope.analysis.compare.ledger.reconciliation import (
    Reconciliation,
    change_ns,
    reconcile,
    with_typical,
)
from fusescope.analysis.compare.ledger.ungrouped import ungrouped_of
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.latency import (
    are_neighbours,
    are_profiled_together,
    time_source,
    uncontrolled,
)
from fusescope.analysis.compare.timing.run_times import RunTimes, run_times, shared_blocks
from fusescope.analysis.compare.timing.slow_executions import SlowExecutions
from fusescope.analysis.compare.timing.verdict import SHOWN_ALPHA, Verdict
from fusescope.analysis.trace import Trace

NoShares = Literal["within_noise", "cancels", "marked"]

_ROW_TYPES = {
    "group": "int64", "pattern": "str", "becomes": "str", "kind": "str", "known_by": "str",
    "scope": "str", "source": "str", "originals": "int64", "operators_baseline": "int64",
    "operators_candidate": "int64", "bytes_removed": "Int64", "difference_absolute": "Float64",
    "difference_relative": "Float64", "key": "str",
}  # fmt: skip
_ROW_ORDER = (
    "group", "pattern", "becomes", "kind", "known_by", "scope", "source", "originals",
    "operators_baseline", "operators_candidate", "before_ns", "after_ns", "gain_ns",
    "slow_before_ns", "slow_after_ns", "before_median_ns", "after_median_ns", "low_ns", "high_ns",
    "share", "bytes_removed", "difference_absolute", "difference_relative", "hurts", "key",
)  # fmt: skip
# How groups are known whose sides need not do the same work.
JOINED_LOOSELY = ("launched_by", "op_class")
_PATTERN_ORDER = (
    "key", "pattern", "becomes", "kind", "groups", "before_ns", "after_ns", "gain_ns",
    "slow_before_ns", "slow_after_ns", "low_ns", "high_ns", "share", "speedup", "bytes_removed",
    "difference_relative", "hurts", "inside", "ran",
)  # fmt: skip

_BOUNDS = ["low_ns", "high_ns"]


@dataclass(frozen=True, eq=False)
class Ledger:
    """Gains of all groups, largest |gain| first, and the sum that they are part of.

    `rows`, one a group: group (id), pattern (original op types in graph order), becomes (the
    candidate's; the pattern where a replaced group has the baseline's types), kind, known_by, scope
    (what the originals have in common), source (the files and lines that call them, where the graph
    says so), originals, operators_baseline, operators_candidate (counts), before_ns, after_ns,
    gain_ns = before - after (profiled means per run, which add, without what slow executions took
    beyond their medians),
    slow_before_ns, slow_after_ns (that), before_median_ns, after_median_ns (over runs), low_ns,
    high_ns (95 % interval of the gain, which holds it), share (-gain / whole: all shares and those
    of the other terms sum to 1; NaN where `no_shares` says why), bytes_removed (inside the group,
    before - after), difference_absolute, difference_relative (at its outputs), hurts, key (equal
    for groups of one shape).

    `patterns`, one a key: key, pattern, becomes, kind, groups (count), before_ns, after_ns,
    gain_ns, slow_before_ns, slow_after_ns, low_ns, high_ns (of the sum), share, speedup (before /
    after; NaN where a group was joined only by class or launcher, whose two sides need not do the
    same work), bytes_removed (null when one is), the largest difference_relative, hurts (how many
    groups), inside and ran (distinct operators of its type in it and in all, where a pattern called
    after an op type holds only some of that type; else null).

    `ungrouped`, one an operator that ran and is in no group: side, name, op_type, reason
    (inserted, copies, not_in_graph, communication, unmatched), per_run_ns (without slow
    executions).

    `parts`, one a part of a group that has parts: group (id), side, part (its place among those of
    the side), per_run_ns (as before_ns and after_ns, whose sums they are up to rounding; null where
    times are not known). Nothing is divided: a part has the time of the operators that run for it.

    `slow`: the slow executions of baseline and candidate. `added`: by the id of a group, operators
    that move data for it in the baseline, where the model has none that does. `gains` are the times
    that the rows come from, in the order of the groups' ids; None where nothing else is to be asked
    of them.

    Intervals are Student's over `blocks` paired blocks, Welch's over the blocks or runs of either
    side where they are not paired (`blocks`: the smaller number), NaN below 5. A group `hurts`
    when it got slower, its interval at level `alpha` = 0.05 / groups with a time (Bonferroni) lies
    below 0, and its loss is more than a file in whole µs and the profiler's shortest duration of
    each further operator explain; not paired, only beyond what the machine may add between two
    recordings (latency.uncontrolled). Where the verdict is that no change is shown there is none.
    """

    rows: pd.DataFrame
    patterns: pd.DataFrame
    ungrouped: pd.DataFrame
    reconciliation: Reconciliation
    alpha: float | None
    blocks: int
    slow: tuple[SlowExecutions, SlowExecutions] = (SlowExecutions(), SlowExecutions())
    no_shares: NoShares | None = None
    gains: Gains | None = None
    parts: pd.DataFrame = field(default_factory=lambda: part_table([]))
    added: Mapping[int, Added] = field(default_factory=dict)

    def gain_of(self, groups: Collection[int], alpha: float) -> tuple[float, float, float] | None:
        """The sum of the gains of these groups, by id, in ns, between the bounds of its own
        interval at that level: (low, gain, high), NaN where one is not known; None without `gains`.
        """
        if self.gains is None:
            return None
        ids = np.sort(self.rows["group"].to_numpy())
        both = self.gains.summed(np.where(np.isin(ids, list(groups)), 0, 1), 2)
        low, high = both.interval(alpha)
        return float(low[0]), float(both.mean_ns[0]), float(high[0])

    @property
    def dominated(self) -> pd.Series:
        """Whether slow executions change a row by more than its gain and its half width."""
        slow_ns = (self.rows["slow_after_ns"] - self.rows["slow_before_ns"]).abs()
        half_width_ns = ((self.rows["high_ns"] - self.rows["low_ns"]) / 2).fillna(0.0)
        return slow_ns > np.maximum(self.rows["gain_ns"].abs(), half_width_ns)

    def share(self, change_ns: float | None) -> float | None:
        """The part of the whole change that this change is; None where `no_shares` says why."""
        whole = self.reconciliation.whole_ns
        if change_ns is None or not whole or self.no_shares is not None:
            return None
        return change_ns / whole + 0.0

    @property
    def has_gains(self) -> bool:
        """False where no group has a known gain: there is nothing to draw."""
        return bool(self.rows["gain_ns"].notna().any())


def ledger(
    baseline: Side, candidate: Side, fusion: Fusion, verdict: Verdict | None = None
) -> Ledger:
    """The ledger of two sides by these groups, which adds up to the runs that the verdict compares,
    without one to mean runs; no operator that ran is left out.

    A name that two groups claim belongs to neither. Where a side does not tell its runs apart and
    the other does, its times are null, and with them the gains and the terms of the sum.
    """
    sides, groups = (baseline, candidate), fusion.groups
    traces = (baseline.trace, candidate.trace)
    of = time_source(*traces)
    times, paired = side_times(baseline, candidate)
    claims = [[group.baseline for group in groups], [group.candidate for group in groups]]
    names = [trace.texts("name") for trace in traces]
    labels = [
        np.array(group_places(told, of_side), dtype=int)
        for told, of_side in zip(names, claims, strict=True)
    ]
    known = _known_runs(traces, of == "unprofiled_wall")
    before, after = (
        side.by_label(label, len(groups)).where(is_known)
        for side, label, is_known in zip(times, labels, known, strict=True)
    )
    ungrouped = pd.concat(
        [
            ungrouped_of(side, which, told, of_side, label, inserted, is_known)
            for side, which, told, of_side, label, inserted, is_known in zip(
                sides,
                ("baseline", "candidate"),
                names,
                times,
                labels,
                fusion.inserted,
                known,
                strict=True,
            )
        ],
        ignore_index=True,
    )
    gains = Gains(
        before,
        after,
        paired,
        (times[0].resolution_ns, times[1].resolution_ns),
        uncontrolled(baseline, candidate),
    )
    if all(known):
        sign = np.where(ungrouped["side"] == "candidate", 1.0, -1.0)
        changes = sign * ungrouped["per_run_ns"].to_numpy(dtype=float)
        is_communication = (ungrouped["reason"] == "communication").to_numpy()
        total = reconcile(
            times[0],
            times[1],
            of,
            gains.mean_ns,
            changes[~is_communication],
            changes[is_communication],
            paired,
        )
    else:
        delta = change_ns(times[0], times[1], of) if of == "unprofiled_wall" else None
        total = Reconciliation(of, None if delta is None else round(delta))
    total = total if verdict is None else with_typical(total, verdict)
    is_unchanged = verdict is not None and verdict.reason == "no_change"
    tested = int(((before.executions > 0) | (after.executions > 0)).sum())
    rows = _rows(groups, gains)
    if is_unchanged:
        rows[_BOUNDS] = np.nan
    has_intervals = bool(rows["low_ns"].notna().any())
    alpha = SHOWN_ALPHA / tested if has_intervals and tested else None
    if alpha is not None:
        rows["hurts"] = hurts(gains, alpha)
    patterns = _patterns(rows, gains, partly_held(groups, rows["key"].tolist(), traces))
    if is_unchanged:
        patterns[_BOUNDS] = np.nan
    sides = (baseline, candidate)
    is_marked = any(side.variant is not None and side.variant.is_marked for side in sides)
    no_shares = _no_shares(total, patterns["gain_ns"], is_marked)
    rows, patterns = (_with_shares(table, total, no_shares) for table in (rows, patterns))
    return Ledger(
        rows=_by_gain(rows[list(_ROW_ORDER)]),
        patterns=_by_gain(patterns[list(_PATTERN_ORDER)]),
        ungrouped=ungrouped,
        reconciliation=total,
        alpha=alpha,
        blocks=min(side.units for side in times),
        slow=(times[0].slow, times[1].slow),
        no_shares=no_shares,
        gains=gains,
        parts=part_table(
            row
            for at, side in enumerate(("baseline", "candidate"))
            for row in part_times(groups, at, side, names[at], times[at], known[at])
        ),
        added=added_to(groups, names[0], times[0]) if known[0] else {},
    )


def side_times(baseline: Side, candidate: Side) -> tuple[tuple[RunTimes, RunTimes], bool]:
    """Return the means of both sides that a ledger is made of, and whether they are paired: of the
    blocks that both have, else of all of each."""
    blocks = _common_blocks(baseline, candidate)
    first, second = (
        run_times(side.trace, blocks or shared_blocks(side.trace)) for side in (baseline, candidate)
    )
    return (first, second), blocks is not None


def candidate_times(baseline: Side, candidate: Side) -> RunTimes:
    """Return the means of the candidate alone, as `side_times` has them."""
    trace = candidate.trace
    return run_times(trace, _common_blocks(baseline, candidate) or shared_blocks(trace))


def _common_blocks(baseline: Side, candidate: Side) -> list[int] | None:
    """Return the blocks that both sides have; None of sides that were not recorded together."""
    together = are_profiled_together(baseline, candidate) or are_neighbours(baseline, candidate)
    return shared_blocks(baseline.trace, candidate.trace) if together else None


def gain_kind(row: Mapping[Any, Any]) -> Literal["faster", "slower", "same"]:
    """What the gain of a row or pattern means; same where it is 0, unknown, or may be 0."""
    gain, low, high = (row[name] for name in ("gain_ns", "low_ns", "high_ns"))
    # Comparisons with NaN are false: without an interval the sign decides.
    if pd.isna(gain) or gain == 0 or low <= 0 <= high:
        return "same"
    return "faster" if gain > 0 else "slower"


def _known_runs(traces: tuple[Trace, Trace], whole_runs: bool) -> tuple[bool, bool]:
    """Whether each side's times are of the same: one run, or one file of both sides."""
    first, second = (trace.has_runs for trace in traces)
    alike = not first and not second and not whole_runs
    return first or alike, second or alike


def _rows(groups: Sequence[Group], gains: Gains) -> pd.DataFrame:
    facts = [_facts(group) for group in groups]
    columns = {
        name: pd.Series([fact[at] for fact in facts], dtype=dtype)
        for at, (name, dtype) in enumerate(_ROW_TYPES.items())
    }
    medians = {
        "before_median_ns": gains.before.median_ns, "after_median_ns": gains.after.median_ns
    }  # fmt: skip
    return pd.DataFrame(
        {**columns, **medians, "hurts": np.zeros(len(groups), bool), **times_of(gains)}
    )


def _facts(group: Group) -> tuple[object, ...]:
    before, after = group.bytes_inside
    removed = None if before is None or after is None else before - after
    original = group.original or group.baseline
    named = told_operators(group)
    shape = ([type_or_name(o) for o in named], [o.op_type for o in group.candidate], group.kind)
    return (
        group.id,
        sequence_text(named),
        sequence_text(named if _keeps_its_types(group, named) else group.candidate),
        group.kind,
        group.known_by,
        common_scope(original),
        source_text(original),
        len(group.original),
        len(group.baseline),
        len(group.candidate),
        removed,
        *(group.difference or (None, None)),
        hashlib.sha256(msgspec.json.encode(shape)).hexdigest()[:16],
    )


def _keeps_its_types(group: Group, named: Sequence[Operator]) -> bool:
    """Return whether a replaced group runs operators of the same types on both sides, more of them
    than it is called after: none of those is new in the place of the others."""
    before, after = (Counter(map(type_or_name, side)) for side in (group.baseline, group.candidate))
    return group.kind == "replaced" and before == after > Counter(map(type_or_name, named))


def _patterns(rows: pd.DataFrame, gains: Gains, partly: Mapping[str, OfType]) -> pd.DataFrame:
    """`rows` are in the order of the labels of `gains`."""
    labels, keys = pd.factorize(rows["key"])
    first = np.unique(labels, return_index=True)[1]
    alike = {name: rows[name].array[first] for name in ("key", "pattern", "becomes", "kind")}
    removed = rows["bytes_removed"].groupby(labels)
    counts = {
        "groups": np.bincount(labels, minlength=len(keys)),
        "hurts": np.bincount(labels[rows["hurts"].to_numpy()], minlength=len(keys)),
        "bytes_removed": removed.sum().mask(removed.count() < removed.size()).array,
        "difference_relative": rows["difference_relative"].groupby(labels).max().array,
        **{
            name: pd.array([getattr(partly.get(key), name, None) for key in keys], dtype="Int64")
            for name in OfType._fields
        },
    }
    made = pd.DataFrame({**alike, **counts, **times_of(gains.summed(labels, len(keys)))})
    is_loose = rows["known_by"].isin(JOINED_LOOSELY).groupby(labels).any().to_numpy()
    ratio = made["before_ns"] / made["after_ns"]
    return made.assign(speedup=ratio.where((made["after_ns"] > 0) & ~is_loose))


def _no_shares(total: Reconciliation, gains_ns: pd.Series, is_marked: bool) -> NoShares | None:
    """Why parts of the change say nothing: it may be none, it is what gains and losses larger than
    itself leave of each other, or a side's run is not that of the model."""
    whole = total.whole_ns
    if whole is None:
        return None
    if is_marked:
        return "marked"
    if total.interval_of_no_change is not None:
        return "within_noise"
    others = (
        total.ungrouped_ns, total.communication_ns, total.slow_ns, total.overlap_ns,
        total.dispatch_ns, total.outlying_ns,
    )  # fmt: skip
    terms = [*gains_ns.dropna(), *(value or 0 for value in (*others, total.profiler_bias_ns))]
    return "cancels" if abs(whole) < sum(map(abs, terms)) / 2 else None


def _with_shares(
    table: pd.DataFrame, total: Reconciliation, no_shares: NoShares | None
) -> pd.DataFrame:
    whole = total.whole_ns if total.whole_ns and no_shares is None else math.nan
    return table.assign(share=-table["gain_ns"] / whole)


def _by_gain(table: pd.DataFrame) -> pd.DataFrame:
    order = table["gain_ns"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].reset_index(drop=True)
