"""Two sides in, one Comparison out."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from fusescope.analysis.compare.assumptions import Assumptions, cache_size, tau
from fusescope.analysis.compare.comparison import Comparison, explanation_of
from fusescope.analysis.compare.doubts import doubts
from fusescope.analysis.compare.figures import OF_RUNS, OF_TIMES, figures
from fusescope.analysis.compare.groups.detail import with_shared_detail
from fusescope.analysis.compare.groups.eager import with_originals
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.groups.grouping import group_operators
from fusescope.analysis.compare.groups.origin import counterparts
from fusescope.analysis.compare.joined_time import joined_shares, without_changes_of
from fusescope.analysis.compare.joining.matching import (
    match_classes,
    match_operators,
    match_types,
    without_changes,
    without_speedups,
)
from fusescope.analysis.compare.joining.same_place import with_launchers
from fusescope.analysis.compare.ledger import ledger
from fusescope.analysis.compare.ledger.reconciliation import Reconciliation
from fusescope.analysis.compare.naming import named
from fusescope.analysis.compare.other_work import other_work
from fusescope.analysis.compare.roofs import UnderRoofs, under_roofs
from fusescope.analysis.compare.runs.entered import assumed_per_run, with_entered_runs
from fusescope.analysis.compare.runs.units import with_shared_runs
from fusescope.analysis.compare.side import Side, check_whole, ranks_of
from fusescope.analysis.compare.timing.latency import judge
from fusescope.analysis.compare.timing.verdict import unchanged, without_change
from fusescope.analysis.metrics.breakdown import by_operator
from fusescope.analysis.metrics.small_ops import short_ops, small_ops
from fusescope.analysis.work_units import run_word

DEFAULT_ASSUMPTIONS = Assumptions()


def compare(
    baseline: Side,
    candidate: Side,
    assumptions: Assumptions = DEFAULT_ASSUMPTIONS,
    candidates: int = 1,
) -> Comparison:
    """The comparison of two sides; pure, so equal inputs give equal results. Where the candidate is
    one of several, the verdict is corrected for so many `candidates`. Raises FuseScopeError for a
    side whose file ends early."""
    given = (baseline, candidate)
    for side in given:
        check_whole(side.trace, side.label)
    (baseline, candidate), entered = with_runs_of_both(given, assumptions)
    baseline, candidate = (
        replace(side, trace=with_launchers(side.trace)) for side in (baseline, candidate)
    )
    baseline, candidate = _with_names_by_order(baseline, candidate)
    baseline, candidate, borrowed = with_shared_detail(baseline, candidate)
    baseline, candidate, unmatched = with_originals(baseline, candidate)
    verdict = judge(baseline, candidate, candidates)
    if verdict.of == "run_span":
        verdict = replace(verdict, run_word=run_word(baseline.trace, candidate.trace))
    bound = tau(assumptions, baseline, candidate)
    small = (small_ops(baseline.trace), small_ops(candidate.trace))
    tau_ns = float(bound.value or 0.0)
    short = (short_ops(baseline.trace, tau_ns), short_ops(candidate.trace, tau_ns))
    fusion = group_operators(baseline, candidate)
    known = counterparts(fusion, candidate) if fusion.source != "inferred" else {}
    traces = (baseline.trace, candidate.trace)
    joined = [match_operators(*traces, known), match_types(*traces), match_classes(*traces)]
    shares = joined_shares(joined[0], fusion, traces)
    ranks = ranks_of(baseline, candidate)
    work = other_work(baseline, candidate, ranks, shares, fusion)
    if work.reason is not None:
        verdict, fusion = without_change(verdict, work.reason), Fusion("none")
    elif ranks is not None and ranks.is_one_job:
        verdict = without_change(verdict, "two_ranks" if ranks.is_named else "like_two_ranks")
    explained = work.explained
    if verdict.outcome == "noise_unknown":
        explained = explained or explanation_of(baseline, candidate, ranks)
        if explained is not None and explained.outcome == "no_change":
            verdict = unchanged(verdict)
    if work.reason is not None or verdict.reason == "runs_unknown":
        joined = [without_changes(table) for table in joined]
    elif ranks is not None and ranks.is_one_job:
        joined = [without_speedups(table) for table in joined]
    operators, op_types, op_classes = joined
    under = (under_roofs(assumptions, baseline), under_roofs(assumptions, candidate))
    operators = _with_roofline(operators, (baseline, candidate), under)
    cache = cache_size(assumptions, baseline, candidate)
    shown = figures(baseline, candidate, verdict, small, short, under, cache)
    shown = assumed_per_run(shown, entered)
    gains = ledger(baseline, candidate, fusion, verdict)
    if verdict.reason == "no_change":
        shown = without_changes_of(shown, OF_TIMES)
    if verdict.reason == "marked":
        shown = without_changes_of(shown, OF_RUNS)
    if work.reason is not None:
        shown = without_changes_of(shown)
        gains = replace(gains, reconciliation=Reconciliation(gains.reconciliation.of))
    if explained is None and gains.reconciliation.weak:
        explained = explanation_of(baseline, candidate, ranks)
    if explained is not None and verdict.reason == "no_change":
        explained = replace(explained, interval_ns=gains.reconciliation.interval_of_no_change)
    first, second = named(baseline, candidate)
    return Comparison(
        baseline=first,
        candidate=second,
        verdict=verdict,
        figures=shown,
        operators=operators,
        op_types=op_types,
        op_classes=op_classes,
        small_ops=small,
        short_ops=short,
        tau=bound,
        cache_size=cache,
        peaks=(under[0].roofs.peak, under[1].roofs.peak),
        roofs=(under[0].roofs, under[1].roofs),
        fusion=fusion,
        ledger=gains,
        ranks=ranks,
        diagnostics=(
            *work.diagnostics,
            *borrowed,
            *unmatched,
            *work.without_change(
                doubts(
                    baseline,
                    candidate,
                    verdict,
                    {f.code: f for f in shown},
                    operators,
                    fusion,
                    gains,
                    ranks,
                    explained,
                )
            ),
        ),
        given=given,
        assumptions=assumptions,
        explained=explained,
    )


def with_runs_of_both(
    given: tuple[Side, Side], assumptions: Assumptions
) -> tuple[tuple[Side, Side], tuple[bool, bool]]:
    """Return both sides with the runs that they are compared by: those that were entered, else
    units of the work that both do; and which sides have entered ones."""
    baseline, candidate = (
        with_entered_runs(side, runs) for side, runs in zip(given, assumptions.runs, strict=True)
    )
    entered = (baseline is not given[0], candidate is not given[1])
    if any(entered):
        return (baseline, candidate), entered
    return with_shared_runs(baseline, candidate, assumptions.work), entered


def _with_names_by_order(baseline: Side, candidate: Side) -> tuple[Side, Side]:
    """Return both sides, kernels of replayed graphs with operators and modules that the order says;
    recordings know what their kernels stem from."""
    if baseline.has_model or candidate.has_model:
        return baseline, candidate
    from fusescope.analysis.compare.graphs.names_by_order import with_names_by_order

    before, after = with_names_by_order(baseline.trace, candidate.trace)
    return replace(baseline, trace=before), replace(candidate, trace=after)


def _with_roofline(
    operators: pd.DataFrame, sides: tuple[Side, Side], under: tuple[UnderRoofs, UnderRoofs]
) -> pd.DataFrame:
    """The joined operators with ROOFLINE of each side; columns end in the side's name."""
    parts = [operators]
    for side, one, name in zip(sides, under, ("baseline", "candidate"), strict=True):
        known = pd.Index(by_operator(side.trace)["operator"])
        rows = one.operators.reindex(known.get_indexer(operators[f"operator_{name}"].to_numpy()))
        parts.append(rows.set_axis(operators.index).add_suffix(f"_{name}"))
    return pd.concat(parts, axis=1)
