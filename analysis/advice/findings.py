"""Findings: every kind asked about one side, in order of what its remedy is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fusescope.analysis.advice.finding import (
    Finding,
    FindingCode,
    Findings,
    Gain,
    Unanswered,
    Unknown,
)
from fusescope.analysis.advice.kinds.absorbable import light_after_heavy
from fusescope.analysis.advice.kinds.chains import light_chains
from fusescope.analysis.advice.kinds.conversions import fallback, reorders, type_conversions
from fusescope.analysis.advice.kinds.costly import costly_fusion
from fusescope.analysis.advice.kinds.data_types import wide_types
from fusescope.analysis.advice.kinds.dynamic import dynamic_dimensions
from fusescope.analysis.advice.kinds.exposed import communication, copies
from fusescope.analysis.advice.kinds.graphs import (
    checkpointing,
    graph_growth,
    large_tensors,
    recomputed,
)
from fusescope.analysis.advice.kinds.host_idle import idle_by_host
from fusescope.analysis.advice.kinds.host_waits import host_waits
from fusescope.analysis.advice.kinds.idle import (
    dispatch_bound,
    idle_after,
    idle_before,
    idle_time,
    pieces,
)
from fusescope.analysis.advice.kinds.memory import peak_memory
from fusescope.analysis.advice.kinds.missed import missed_fusion
from fusescope.analysis.advice.kinds.products import slow_product
from fusescope.analysis.advice.kinds.rooflines import low_utilisation, memory_bound
from fusescope.analysis.advice.kinds.slow_kernels import slow_kernel
from fusescope.analysis.advice.kinds.slower import fused_slower
from fusescope.analysis.advice.kinds.streams import stream_imbalance
from fusescope.analysis.advice.kinds.tail import run_tail
from fusescope.analysis.advice.kinds.threads import idle_threads
from fusescope.analysis.advice.kinds.unoptimised import not_optimised
from fusescope.analysis.advice.subject import Answer, Subject, shown

TOP = 5  # of them are shown at once
KINDS: Mapping[FindingCode, Callable[[Subject], Answer]] = {
    "not_optimised": not_optimised,
    "missed_fusion": missed_fusion,
    "dynamic_dimensions": dynamic_dimensions,
    "fused_slower": fused_slower,
    "costly_fusion": costly_fusion,
    "slow_kernel": slow_kernel,
    "slow_product": slow_product,
    "light_chains": light_chains,
    "light_after_heavy": light_after_heavy,
    "dispatch_bound": dispatch_bound,
    "communication": communication,
    "copies": copies,
    "host_waits": host_waits,
    "idle_by_host": idle_by_host,
    "idle_before": idle_before,
    "idle_after": idle_after,
    "idle_time": idle_time,
    "pieces": pieces,
    "stream_imbalance": stream_imbalance,
    "reorders": reorders,
    "type_conversions": type_conversions,
    "wide_types": wide_types,
    "fallback": fallback,
    "recomputed": recomputed,
    "checkpointing": checkpointing,
    "memory_bound": memory_bound,
    "low_utilisation": low_utilisation,
    "graph_growth": graph_growth,
    "large_tensors": large_tensors,
    "peak_memory": peak_memory,
    "idle_threads": idle_threads,
    "run_tail": run_tail,
}


# Their saving is not the time of the operators that they name.
_OF_OTHER_TIME = frozenset(
    ("communication", "copies", "idle_after", "idle_before", "idle_by_host", "idle_time")
)


def findings(subject: Subject) -> Findings:
    """What limits the side, in order of worth, and which kinds its files cannot answer.

    Worth is what a remedy is predicted to save; without a prediction half of the most that it could
    save. Nothing is found without operators, in a file that ends early, and of a variant that shows
    operators before fusion by copying each result out of the model, since that is what limits it.
    What communication hides, which goes on without it, is no saving.
    """
    untold = _why_nothing(subject)
    found: list[Finding] = []
    unanswered: list[Unanswered] = []
    for code, kind in KINDS.items():
        answer: Answer = untold or kind(subject)
        if isinstance(answer, str):
            unanswered.append(Unanswered(code, answer))
        else:
            open_ = (_not_hidden(subject, one) for one in answer)
            found.extend(_within(one, subject.run_ns) for one in open_ if one is not None)
    return Findings(
        tuple(sorted(found, key=lambda one: _worth(one, subject.run_ns), reverse=True)),
        tuple(unanswered),
        None if subject.trace.ends_early else subject.run_ns,
        subject.trace.has_runs,
        subject.slow_ns,
        subject.median_unprofiled_ns,
    )


def _why_nothing(subject: Subject) -> Unknown | None:
    """Why no kind can be asked about."""
    if subject.trace.ends_early:
        return "ends_early"
    if subject.operators.empty:
        return "no_operators"
    variant = subject.side.variant
    return "marked" if variant is not None and variant.is_marked else None


def _not_hidden(subject: Subject, finding: Finding) -> Finding | None:
    """Return the finding without the part of its saving inside of communication that lasts longer;
    None where what is left is not worth a finding. Of many operators, those not named count
    whole."""
    most_ns = finding.at_most_ns
    if most_ns is None or finding.where != "operators" or finding.code in _OF_OTHER_TIME:
        return finding
    if not subject.hidden_ns.any():
        return finding
    named = subject.texts["name"].map(shown).isin(finding.names).to_numpy(dtype=bool)
    hidden_ns = float(subject.hidden_ns[named].sum())
    left_ns = max(most_ns, subject.time_of(named)) - hidden_ns
    if left_ns >= most_ns:
        return finding
    if not subject.matters(left_ns):
        return None
    gain = None if finding.gain is None else finding.gain.at_most(left_ns)
    return replace(finding, at_most_ns=left_ns, gain=gain)


def _within(finding: Finding, run_ns: float | None) -> Finding:
    """The finding without a saving above its run: operators of streams that overlap may take longer
    together."""
    whole_ns = finding.of_ns or run_ns
    if finding.at_most_ns is None or whole_ns is None or finding.at_most_ns <= whole_ns:
        return finding
    gain = finding.gain
    if gain is not None:
        value, low, high = (min(ns, whole_ns) for ns in (gain.value, gain.low, gain.high))
        gain = Gain(value, low, high, gain.basis)
    return replace(finding, at_most_ns=whole_ns, gain=gain)


def _worth(finding: Finding, run_ns: float | None) -> float:
    """What a remedy is predicted to save; without a prediction half of the most that it could. A
    part of the time that the finding is of, as it is shown; in ns where none is known."""
    whole_ns = (finding.of_ns or run_ns) if run_ns else 1.0
    if finding.gain is not None:
        return finding.gain.value / whole_ns
    return (finding.at_most_ns or 0.0) / 2 / whole_ns
