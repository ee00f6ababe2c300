"""Fused and slower: groups of operators whose fusion costs time."""

from __future__ import annotations

import pandas as pd

from fusescope.analysis.advice.finding import Finding, Gain
from fusescope.analysis.advice.optimizers import MADE_BY
from fusescope.analysis.advice.settings import conditions_of
from fusescope.analysis.advice.subject import Answer, Subject, shown
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.side import engines_differ

_NOT_FUSED = ("eager", "captured", "unfused")  # variants of engines whose conditions are not known


def fused_slower(subject: Subject) -> Answer:
    """Return the patterns whose groups the ledger marks as slower beyond noise, where they count
    in the run.

    What leaving them as they were would save is measured: their loss, with its interval.
    """
    comparison = subject.comparison
    if comparison is None:
        return "no_comparison"
    if not comparison.has_changes:
        match comparison.verdict.reason:
            case (
                "different_models"
                | "different_phases"
                | "different_ranks"
                | "different_jobs"
                | "different_sizes"
                | "models_unknown"
                | "capture_and_replay"
            ) as reason:
                return reason
            case _:
                return "runs_unknown"
    if engines_differ(comparison.baseline, comparison.candidate):
        # What another engine does faster is not an optimisation to leave out.
        return "engines_differ"
    told = conditions_of(subject.side)
    if told is not None and told.level == "none" and subject.side.own_name in ("eager", "unfused"):
        return ()  # nothing was optimised: `not_optimised` says it
    if told is None and subject.side.experiment is not None and subject.side.own_name in _NOT_FUSED:
        return ()
    if not comparison.fusion.groups:
        return "no_groups"
    table = comparison.ledger.rows
    hurting = table[table["hurts"].to_numpy(dtype=bool)]
    patterns = hurting.groupby(["pattern", "becomes", "kind"], sort=False)
    findings = (_of_pattern(subject, comparison, rows) for _, rows in patterns)
    return tuple(finding for finding in findings if finding is not None)


def _of_pattern(subject: Subject, comparison: Comparison, rows: pd.DataFrame) -> Finding | None:
    """Return the finding of all slower groups of one pattern; None where what they lose does not
    count. Intervals of the groups add end by end."""
    rows = rows.sort_values("gain_ns", kind="stable")
    loss_ns = -float(rows["gain_ns"].sum())
    if not subject.matters(loss_ns):
        return None
    groups = [comparison.fusion.group(int(id_)) for id_ in rows["group"]]
    first = rows.iloc[0]
    engine, optimizer = subject.other_engine, MADE_BY.get(str(first["becomes"]))
    low_ns, high_ns = -float(rows["high_ns"].sum()), -float(rows["low_ns"].sum())
    return Finding(
        "fused_slower",
        values={
            "n": len(groups),
            "pattern": shown(str(first["pattern"])),
            "becomes": shown(str(first["becomes"])),
            "kind": str(first["kind"]),
            "before_ns": float(rows["before_ns"].sum()),
            "after_ns": float(rows["after_ns"].sum()),
            "loss_ns": loss_ns,
            "group": groups[0].id,
            **({"engine": engine} if engine else {}),
            **({"optimizer": optimizer} if optimizer and not engine else {}),
        },
        at_most_ns=high_ns,
        share=subject.share(loss_ns),
        gain=Gain(loss_ns, low_ns, high_ns, "measured"),
        where="group",
        names=tuple(shown(op.name) for group in groups for op in group.candidate)[:8],
        confidence="high",
    )
