"""The way from the baseline's time per run to the candidate's, in steps that add up exactly."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis import units
from analysis.compare.comparison import Comparison
from analysis.compare.ledger import Ledger, gain_kind
from analysis.compare.reconciliation import Reconciliation
from analysis.wording.fusion import TERMS, becomes_text

MAX_PATTERNS = 6
SMALL_SHARE = 0.01  # of the largest pattern: smaller ones share a bar
SHOWN_ROUNDING_NS = 1_000
_OTHER_TERMS = ("ungrouped_ns", "overlap_ns", "dispatch_ns", "profiler_bias_ns")
StepKind = Literal["total", "faster", "slower", "same", "term"]


@dataclass(frozen=True)
class Step:
    """One bar: a total, or a change of the time per run (candidate - baseline: negative is faster).

    `kind`: total (a side's time); faster, slower or same (groups; same where the interval holds
    no change, and for groups that share a bar); term (no group, but what closes the sum).
    """

    label: str
    value_ns: int
    kind: StepKind
    note: str = ""


def waterfall_steps(comparison: Comparison) -> tuple[Step, ...]:
    """Baseline, changes, candidate: the changes lead from one total to the other exactly.

    The patterns with the largest |gain|, the other groups in one step, then what is no group.
    Rounding below SHOWN_ROUNDING_NS is part of the last term, whose note says so. Empty where the
    traces have no time of a whole run in common. Labels hold text of the traces.
    """
    sum_ = comparison.ledger.reconciliation
    if sum_.delta_ns is None or sum_.baseline_ns is None or sum_.groups_ns is None:
        return ()
    return (
        Step(comparison.baseline.label, sum_.baseline_ns, "total"),
        *_pattern_steps(comparison.ledger),
        *_term_steps(sum_),
        Step(comparison.candidate.label, sum_.baseline_ns + sum_.delta_ns, "total"),
    )


def ends_ns(steps: Sequence[Step]) -> list[int]:
    """The time per run at which each step ends, and the change after it starts."""
    ends: list[int] = []
    for step in steps:
        ends.append(step.value_ns if step.kind == "total" else ends[-1] + step.value_ns)
    return ends


def _pattern_steps(ledger: Ledger) -> list[Step]:
    # Of the rows rounded one by one, as the sum has them.
    gains = ledger.rows["gain_ns"].round().groupby(ledger.rows["key"]).sum().to_dict()
    least = SMALL_SHARE * max((abs(gain) for gain in gains.values()), default=0.0)
    patterns = ledger.patterns.to_dict("records")
    large = [row for row in patterns[:MAX_PATTERNS] if abs(gains[row["key"]]) >= least]
    if len(patterns) - len(large) == 1:
        large = patterns  # a bar for one pattern can as well be that pattern
    steps = [_pattern_step(row, -round(gains[row["key"]])) for row in large]
    alone = {row["key"] for row in large}
    rest = [row for row in patterns if row["key"] not in alone]
    if rest:
        count = units.count(sum(int(row["groups"]) for row in rest))
        change = -sum(round(gains[row["key"]]) for row in rest)
        steps.append(Step(f"{count} other groups", change, "same"))
    return [step for step in steps if step.value_ns]


def _pattern_step(row: Mapping[Hashable, Any], change_ns: int) -> Step:
    count = int(row["groups"])
    label = f"{units.count(count)} × {row['pattern']}" if count > 1 else str(row["pattern"])
    return Step(label, change_ns, gain_kind(row), becomes_text(row))


def _term_steps(sum_: Reconciliation) -> list[Step]:
    values = [(name, getattr(sum_, name) or 0) for name in _OTHER_TERMS]
    terms = [(name, value) for name, value in values if value]
    rounding = sum_.rounding_ns or 0
    if rounding and (abs(rounding) >= SHOWN_ROUNDING_NS or not terms):
        terms.append(("rounding_ns", rounding))
        rounding = 0
    steps = [Step(TERMS[name], value, "term") for name, value in terms]
    if rounding:
        last = steps.pop()
        note = f"{rounding:+d} ns of rounding included"
        steps.append(Step(last.label, last.value_ns + rounding, "term", note))
    return steps
