"""Fused and slower: groups of operators whose fusion costs time."""

from __future__ import annotations

from analysis.advice.finding import Finding, Gain
from analysis.advice.settings import conditions_of
from analysis.advice.subject import Answer, Subject, shown
from analysis.compare.side import engines_differ

_NOT_FUSED = ("eager", "captured", "unfused")  # variants of engines whose conditions are not known


def fused_slower(subject: Subject) -> Answer:
    """Each group that the ledger marks as slower beyond noise, and that counts in the run.

    What leaving it as it was would save is measured: its loss, with its interval.
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
    engine = subject.other_engine
    table = comparison.ledger.rows
    found = []
    for row in table[table["hurts"].to_numpy(dtype=bool)].to_dict("records"):
        loss_ns = -float(row["gain_ns"])
        if not subject.matters(loss_ns):
            continue
        group = comparison.fusion.group(int(row["group"]))
        found.append(
            Finding(
                "fused_slower",
                values={
                    "pattern": shown(str(row["pattern"])),
                    "becomes": shown(str(row["becomes"])),
                    "kind": str(row["kind"]),
                    "before_ns": float(row["before_ns"]),
                    "after_ns": float(row["after_ns"]),
                    "loss_ns": loss_ns,
                    "group": group.id,
                    **({"engine": engine} if engine else {}),
                },
                at_most_ns=-float(row["low_ns"]),
                share=subject.share(loss_ns),
                gain=Gain(loss_ns, -float(row["high_ns"]), -float(row["low_ns"]), "measured"),
                where="group",
                names=tuple(shown(op.name) for op in group.candidate)[:8],
                confidence="high",
            )
        )
    return tuple(found)
