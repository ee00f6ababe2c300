"""Two sides that do other work, or of which nothing shows that they do the same: why no change
between them is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from fusescope.analysis.compare.comparison import explanation_of
from fusescope.analysis.compare.graphs.captured import captured_graph
from fusescope.analysis.compare.groups.fusion import Fusion
from fusescope.analysis.compare.joined_time import (
    MIN_JOINED,
    Shares,
    are_different_models,
    are_of_one_file,
    shown_shares,
)
from fusescope.analysis.compare.side import Side
from fusescope.analysis.compare.timing.verdict import CannotTell
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Trace
from fusescope.analysis.work_units import are_two_phases

if TYPE_CHECKING:
    from fusescope.analysis.compare.explanation.explanation import Explanation
    from fusescope.analysis.compare.joining.weights import Weights
    from fusescope.analysis.ranks.pair import RankPair

# Doubts that say what they mean for the change.
_OF_CHANGE: tuple[DiagnosticCode, ...] = (
    "unpaired", "versions_differ", "devices_differ", "engines_differ", "engine_versions_differ",
    "providers_differ",
)  # fmt: skip


class OtherWork(msgspec.Struct, frozen=True):
    """What two sides are by the work that they do. `reason` is why no change is shown, None where
    they can be compared. `shares` is what joins of the operator time of each, `shown` what of it
    shows one model; `weights` are sizes that one side alone has, and `explained` what the reason
    rests on, each None where it was not asked. Without `is_shown` nothing in the files shows that
    they are of one model."""

    reason: CannotTell | None
    shares: Shares
    shown: Shares | None = None
    weights: tuple[Weights, Weights] | None = None
    explained: Explanation | None = None
    is_shown: bool = True

    def without_change(self, notes: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """Yield the notes, which say nothing of a change where none is shown."""
        for note in notes:
            is_of_none = self.reason is not None and note.code in _OF_CHANGE
            values = {**note.values, "no_change": 1}
            yield replace(note, values=values) if is_of_none else note

    @property
    def diagnostics(self) -> Iterator[Diagnostic]:
        """Why no change is shown, or that nothing shows one model."""
        if self.reason == "different_phases" or self.reason == "capture_and_replay":
            yield Diagnostic("warning", self.reason)
        elif self.reason == "different_sizes" and self.weights is not None:
            from fusescope.analysis.compare.joining.weights import weights_text

            before, after = map(weights_text, self.weights)
            yield Diagnostic(
                "warning", "different_sizes", values={"before": before, "after": after}
            )
        elif self.reason == "models_unknown":
            yield Diagnostic("warning", "models_unknown", values=_values(self.shown or self.shares))
        elif self.reason == "different_models":
            yield Diagnostic("warning", "different_models", values=_values(self.shares))
        elif self.reason is not None:
            yield Diagnostic("warning", "different_work", values=_values(self.shares))
        elif not self.is_shown:
            yield Diagnostic("warning", "model_not_shown")


def _values(shares: Shares) -> dict[str, float | None]:
    return dict(zip(("before", "after"), shares, strict=True))


def other_work(
    baseline: Side, candidate: Side, ranks: RankPair | None, shares: Shares, fusion: Fusion
) -> OtherWork:
    """Return what the two sides are, of whose operator time `shares` join."""
    traces = (baseline.trace, candidate.trace)
    if captured_graph(*traces) is not None:
        return OtherWork("capture_and_replay", shares)
    is_one_job = ranks is not None and ranks.is_one_job
    are_of_one = are_of_one_file(baseline, candidate)
    weights = None if is_one_job or are_of_one else _other_weights(traces)
    if weights is not None:
        return OtherWork("different_sizes", shares, weights=weights)
    if are_two_phases(*traces):
        return OtherWork("different_phases", shares)
    if are_different_models(baseline, candidate, shares):
        return OtherWork(_other_ranks(ranks), shares)
    if is_one_job or are_of_one:
        return OtherWork(None, shares)
    return _of_unlike_kernels(baseline, candidate, ranks, shares, fusion)


def _other_weights(traces: tuple[Trace, Trace]) -> tuple[Weights, Weights] | None:
    """Return the sizes of weights that one trace alone has; what knows them loads for traces of
    two files alone."""
    from fusescope.analysis.compare.joining.weights import other_weights

    return other_weights(*traces)


def _of_unlike_kernels(
    baseline: Side, candidate: Side, ranks: RankPair | None, shares: Shares, fusion: Fusion
) -> OtherWork:
    """Return that nothing shows that two traces are of one model, where neither the order of their
    kernels nor shapes do. Those of one profiler are compared where most of a side's time is of
    unknown kind, as of a compiled model whose operators are not in the file."""
    shown = shown_shares(fusion, (baseline.trace, candidate.trace))
    if min(share or 0.0 for share in shown) >= MIN_JOINED:
        return OtherWork(None, shares)
    explained = explanation_of(baseline, candidate, ranks)
    if explained is None or explained.difference != "models":
        return OtherWork(None, shares, explained=explained)
    tools = {side.trace.meta.tool for side in (baseline, candidate)}
    if None in shares and len(tools) == 1:
        return OtherWork(None, shares, shown, explained=explained, is_shown=False)
    return OtherWork("models_unknown", shares, shown, explained=explained)


def _other_ranks(ranks: RankPair | None) -> CannotTell:
    """Return what two sides are that have hardly an operator in common."""
    if ranks is not None and ranks.is_one_job:
        return "different_ranks"
    is_of_sizes = ranks is not None and ranks.relation == "other_sizes"
    return "different_jobs" if is_of_sizes else "different_models"
