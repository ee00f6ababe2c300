"""A gate on two models: fusions that the second one has lost, what blocks them, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.gating.judging import Asked, Outcome, is_recording, names_of, recorded

if TYPE_CHECKING:
    from fusescope.analysis.advice.missed_fusions import MissedFusion
    from fusescope.analysis.compare.groups.fusion import Fusion
    from fusescope.analysis.compare.side import Side
    from fusescope.analysis.gate.condition import Condition
    from fusescope.analysis.gate.fusion_changes import FusionChange, FusionChanges
    from fusescope.analysis.releases.history import History

_PLAIN, _OPTIMISED = "unfused", "fused"


@dataclass(frozen=True)
class Made:
    """What an engine makes of a model: its fusions, what it misses, and, where it was optimised
    now, its history, else the side of its recording."""

    fusion: Fusion
    engine: str
    misses: tuple[MissedFusion, ...] = ()
    history: History | None = None
    side: Side | None = None


@dataclass(frozen=True)
class Given:
    """Two models, the variant that is looked at (that of all optimisations where none is named),
    and options that are not for them, by name."""

    old: Path
    new: Path
    head: str = ""
    refused: Mapping[str, object] | None = None
    redact: bool = False

    def check(self) -> None:
        """Raises FuseScopeError where an option is given that is not for two models."""
        for option, value in (self.refused or {}).items():
            if value:
                raise FuseScopeError("options_exclude", first="NEW", second=option)


def judge_structures(
    given: Given, conditions: Sequence[Condition], out: Path | None, keep: Path | None
) -> Outcome:
    """What came of the conditions on what the engine fuses in either model. The old one may be a
    kept structure; that of the new one is written to `keep`. Raises FuseScopeError."""
    from fusescope.analysis.gate.judgement import judge_structure

    given.check()
    changes, misses, is_of_one_engine = _changes(given, out, keep)
    judged = judge_structure(conditions, changes, is_of_one_engine)
    return Outcome(judged, names_of(given.old, given.new), misses)


def judge_timed(
    given: Given,
    conditions: Sequence[Condition],
    asked: Asked,
    html: Path | None,
    keep: Path | None,
) -> Outcome:
    """The same with both models recorded in the same blocks, on the same inputs. What the engine
    fuses is that of each by itself, as without times. Raises FuseScopeError."""
    from fusescope.analysis.compare import compare
    from fusescope.analysis.compare.choice import choose_sides
    from fusescope.analysis.gate.judgement import judge
    from fusescope.analysis.redaction import redacted_sides
    from fusescope.app.cli.gating.judging import write_html
    from fusescope.app.cli.reading import read_given
    from fusescope.app.sources.model_files import PREFIX, read_models

    given.check()
    if is_recording(given.old) or is_recording(given.new):
        raise FuseScopeError("gate_models_without_file")
    changes: FusionChanges | None = None
    misses: tuple[MissedFusion, ...] = ()
    if keep is not None or any(condition.is_structural for condition in conditions):
        changes, misses, _ = _changes(given, None, keep)
    [head], models = read_models([f"{PREFIX}{given.new}"])
    path = recorded(given.old, asked, (_OPTIMISED, head), models)
    sides = choose_sides(read_given(path), None, _OPTIMISED, head)
    comparison = compare(*(redacted_sides(*sides) if given.redact else sides))
    if html is not None:
        write_html(comparison, html)
    judged = judge(conditions, comparison, changes)
    return Outcome(judged, names_of(given.old, given.new), misses)


def _changes(
    given: Given, out: Path | None, keep: Path | None
) -> tuple[FusionChanges | None, tuple[MissedFusion, ...], bool]:
    """Between both models, what the second one misses where one was lost, and whether one engine
    optimised both: a kept structure, or a recording, may be of another one."""
    from fusescope.analysis.gate.two_models import changes_between
    from fusescope.app.cli.gating.keeping import keep_history, keep_structure

    first, second = _made_of(given, out)
    if keep is not None and second.history is not None:
        keep_history(second.history, keep)
    elif keep is not None and second.side is not None:
        keep_structure(second.side, keep)
    changes = changes_between(first.fusion, second.fusion)
    lost = () if changes is None else changes.of("lost")
    is_of_one_engine = first.engine == second.engine
    return changes, _behind(second.misses, lost) if is_of_one_engine else (), is_of_one_engine


def _made_of(given: Given, out: Path | None) -> list[Made]:
    """Of either: of the kept structure, of the recording, or of the model, which the engine
    optimises now; both at once where both are models."""
    from fusescope.analysis.gate.structure import fusion_of
    from fusescope.app.cli.gating.keeping import kept_structure
    from fusescope.app.cli.gating.optimising import can_be_optimised, optimised

    head = given.head or _OPTIMISED
    kept = kept_structure(given.old)
    made: dict[int, Made] = {} if kept is None else {0: Made(fusion_of(kept), kept.engine)}
    left = [at for at in (0, 1) if at not in made]
    paths = (given.old, given.new)
    now = [at for at in left if not is_recording(paths[at])]
    if now and out is None and can_be_optimised((head,)):
        histories = optimised([paths[at] for at in now], (head,), redact=given.redact)
        made |= {at: _of(found[head], head) for at, found in zip(now, histories, strict=True)}
    for at in left:
        if at not in made:
            made[at] = _compared(paths[at], head, out, given.redact)
    return [made[0], made[1]]


def _of(history: History, variant: str) -> Made:
    from fusescope.analysis.advice.missed_fusions import missed_untimed
    from fusescope.analysis.advice.settings import conditions_untimed
    from fusescope.analysis.gate.structure import fusion_of

    fusion = fusion_of(history)
    told = conditions_untimed(variant, history.model.opset, history.made[0].graph)
    version = history.releases[0].version
    misses = () if told is None else missed_untimed(history.graph, fusion, told, version)
    return Made(fusion, history.engine, misses, history)


def _compared(given: Path, head: str, out: Path | None, redact: bool) -> Made:
    """What a recording of the model says, which is made first where there is none."""
    from fusescope.analysis.advice.missed_fusions import missed_fusions
    from fusescope.analysis.compare import compare
    from fusescope.analysis.compare.choice import choose_sides
    from fusescope.analysis.redaction import redacted_sides
    from fusescope.app.cli.gating.judging import recording_of
    from fusescope.app.cli.reading import read_given

    asked = Asked(_PLAIN, head, structure=True, out=out)
    sides = choose_sides(read_given(recording_of(given, asked)), None, _PLAIN, head)
    if redact:
        sides = redacted_sides(*sides)
    comparison = compare(*sides)
    engine = sides[1].engine
    name = "" if engine is None else engine.name
    return Made(comparison.fusion, name, missed_fusions(comparison), side=sides[1])


def _behind(
    misses: Sequence[MissedFusion], lost: Sequence[FusionChange]
) -> tuple[MissedFusion, ...]:
    """Those where a fusion was lost."""
    gone = {operator.name for change in lost for operator in change.group.candidate}
    return tuple(miss for miss in misses if any(gone.intersection(place) for place in miss.places))
