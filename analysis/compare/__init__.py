"""Two sides in, one Comparison out."""

from __future__ import annotations

from analysis.compare.assumptions import Assumptions, cache_size, peak, tau
from analysis.compare.comparison import Comparison, Side
from analysis.compare.doubts import doubts
from analysis.compare.figures import figures
from analysis.compare.grouping import group_operators
from analysis.compare.latency import judge
from analysis.compare.ledger import ledger
from analysis.compare.matching import match_classes, match_operators, match_types
from analysis.compare.origin import counterparts
from analysis.metrics.small_ops import short_ops, small_ops
from analysis.metrics.utilisation import operator_utilisation

DEFAULT_ASSUMPTIONS = Assumptions()


def compare(
    baseline: Side, candidate: Side, assumptions: Assumptions = DEFAULT_ASSUMPTIONS
) -> Comparison:
    """The comparison of two sides; pure, so equal inputs give equal results."""
    verdict = judge(baseline, candidate)
    bound = tau(assumptions, baseline, candidate)
    small = (small_ops(baseline.trace), small_ops(candidate.trace))
    tau_ns = float(bound.value or 0.0)
    short = (short_ops(baseline.trace, tau_ns), short_ops(candidate.trace, tau_ns))
    fusion = group_operators(baseline, candidate)
    known = counterparts(fusion) if fusion.source != "inferred" else {}
    operators = match_operators(baseline.trace, candidate.trace, known)
    peaks = (peak(assumptions, baseline), peak(assumptions, candidate))
    for top, name in zip(peaks, ("baseline", "candidate"), strict=True):
        operators[f"utilisation_{name}"] = operator_utilisation(
            operators[f"flops_{name}"], operators[f"mean_ns_{name}"], top.value
        )
    shown = figures(baseline, candidate, verdict, small, short, assumptions)
    gains = ledger(baseline, candidate, fusion)
    return Comparison(
        baseline=baseline,
        candidate=candidate,
        verdict=verdict,
        figures=shown,
        operators=operators,
        op_types=match_types(baseline.trace, candidate.trace),
        op_classes=match_classes(baseline.trace, candidate.trace),
        small_ops=small,
        short_ops=short,
        tau=bound,
        cache_size=cache_size(assumptions, baseline, candidate),
        peaks=peaks,
        fusion=fusion,
        ledger=gains,
        diagnostics=doubts(
            baseline, candidate, verdict, {f.code: f for f in shown}, operators, fusion, gains
        ),
    )
