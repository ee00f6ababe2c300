"""A gate on two models: the fusions that the second one has lost, and what blocks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FuseScopeError
from analysis.text import display_name
from app.cli.gating.judging import Asked, Outcome, recording_of

if TYPE_CHECKING:
    from analysis.advice.missed_fusions import MissedFusion
    from analysis.compare.comparison import Comparison
    from analysis.gate.condition import Condition
    from analysis.gate.fusion_changes import FusionChange

_PLAIN, _OPTIMISED = "unfused", "fused"


def judge_models(
    old: Path,
    new: Path,
    conditions: Sequence[Condition],
    head: str,
    structure: bool,
    out: Path | None,
    keep: Path | None,
    refused: Mapping[str, object],
) -> Outcome:
    """What came of the conditions on what the engine fuses in either model, with the variant
    `head` (that of all optimisations where none is named). The old one may be a kept structure;
    that of the new one is written to `keep`. Raises FuseScopeError."""
    from analysis.gate.judgement import judge_structure
    from analysis.gate.structure import fusion_of
    from analysis.gate.two_models import changes_between
    from app.cli.gating.keeping import keep_structure, kept_structure

    if not structure:
        raise FuseScopeError("gate_models_by_structure")
    for option, value in refused.items():
        if value:
            raise FuseScopeError("options_exclude", first="NEW", second=option)
    asked = Asked(_PLAIN, head or _OPTIMISED, structure=True, out=out)
    kept = kept_structure(old)
    first = _compared(old, asked).fusion if kept is None else fusion_of(kept)
    second = _compared(new, asked)
    if keep is not None:
        keep_structure(second.given[1], keep)
    changes = changes_between(first, second.fusion)
    return Outcome(
        judge_structure(conditions, changes),
        (display_name(old.name), display_name(new.name)),
        () if changes is None else tuple(_misses(second, changes.of("lost"))),
    )


def _compared(given: Path, asked: Asked) -> Comparison:
    """What the optimisations of the engine make of a model."""
    from analysis.compare import compare
    from analysis.compare.choice import choose_sides
    from app.cli.reading import read_given

    value = read_given(recording_of(given, asked))
    return compare(*choose_sides(value, None, asked.base, asked.head))


def _misses(new: Comparison, lost: Sequence[FusionChange]) -> Iterator[MissedFusion]:
    """Fusions that the new model misses where one was lost."""
    from analysis.advice.missed_fusions import missed_fusions

    gone = {operator.name for change in lost for operator in change.group.candidate}
    for miss in missed_fusions(new):
        if any(gone.intersection(place) for place in miss.places):
            yield miss
