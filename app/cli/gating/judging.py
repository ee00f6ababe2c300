"""A gate on two variants of one model, which is recorded first where it has to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import streams
from fusescope.app.cli.gating.optimising import check_model
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command

if TYPE_CHECKING:
    from fusescope.analysis.advice.missed_fusions import MissedFusion
    from fusescope.analysis.compare.comparison import Comparison
    from fusescope.analysis.gate.condition import Condition
    from fusescope.analysis.gate.judged import Judged


@dataclass(frozen=True)
class Outcome:
    """What came of the conditions, the names of both sides, and what keeps the second one from
    fusing what the first one fuses, where they are two models."""

    judged: tuple[Judged, ...]
    names: tuple[str, str]
    misses: tuple[MissedFusion, ...] = ()


@dataclass(frozen=True)
class Asked:
    """What is asked of a recording: its two variants, and what `fusescope collect` takes; with
    `structure` it is as short as one can be, since only its graphs are looked at."""

    base: str
    head: str
    structure: bool = False
    threads: int | None = None
    blocks: int | None = None
    seconds: float | None = None
    out: Path | None = None
    redact: bool = False


def judge_one(
    given: Path,
    conditions: Sequence[Condition],
    asked: Asked,
    html: Path | None,
    keep: Path | None,
) -> Outcome:
    """What came of the conditions. Writes the report, too, and to `keep` the structure of the
    second variant. Raises FuseScopeError."""
    from fusescope.analysis.compare import compare
    from fusescope.analysis.compare.choice import choose_sides
    from fusescope.analysis.compare.groups.grouping import group_operators
    from fusescope.analysis.compare.side import engines_differ
    from fusescope.analysis.gate.fusion_changes import fusion_changes
    from fusescope.analysis.gate.judgement import judge, judge_structure
    from fusescope.analysis.redaction import redacted_sides
    from fusescope.app.cli.gating.keeping import keep_structure
    from fusescope.app.cli.reading import read_given

    is_short = asked.structure and html is None and asked.out is None
    if is_short and not is_recording(given) and _can_be_optimised(given, asked):
        return _optimised(given, conditions, asked, keep)
    value = read_given(recording_of(given, asked))
    sides = choose_sides(value, None, asked.base or None, asked.head or None)
    if asked.redact:
        sides = redacted_sides(*sides)
    shown = (sides[0].name, sides[1].name)
    if keep is not None:
        keep_structure(sides[1], keep)
    if asked.structure and html is None:
        changes = fusion_changes(group_operators(*sides))
        are_alike = not engines_differ(*sides)
        return Outcome(judge_structure(conditions, changes, are_alike), shown)
    comparison = compare(*sides)
    if html is not None:
        write_html(comparison, html)
    return Outcome(judge(conditions, comparison), shown)


def is_recording(given: Path) -> bool:
    """Whether a file is there that is not a model."""
    from fusescope.app.cli.reading import is_model

    return given.exists() and not is_model(given)


def recording_of(given: Path, asked: Asked) -> Path:
    """The file itself where it is a recording; else that of a recording of the model, with both
    variants in the same blocks. Raises FuseScopeError."""
    if is_recording(given):
        return given
    _check_asked(given, asked)
    return recorded(given, asked, (asked.base, asked.head), {})


def recorded(
    model: Path, asked: Asked, variants: tuple[str, str], models: Mapping[str, Path]
) -> Path:
    """The file of a recording of the model with both variants, the first one as baseline; `models`
    has the files of those that are other models."""
    from fusescope.app.sources.rule_files import read_variants

    try:
        from fusescope.collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    check_model(model)
    names, rules = read_variants(variants)
    recording = Recording(
        model=str(model),
        out=asked.out,
        variants=names,
        baseline=names[0],
        threads=asked.threads,
        blocks=1 if asked.structure else asked.blocks,
        rounds=1 if asked.structure else None,
        seconds=None if asked.structure else asked.seconds,
        own_pass=False,
        rules=rules,
        models=models,
        command=typed_command(),
    )
    path = recording_run.run(recording)
    streams.tell(say("Recorded: {file:name}", file=recording_run.relative(path)))
    return path


def write_html(comparison: Comparison, html: Path) -> None:
    """Writes the report of both sides. Raises FuseScopeError."""
    from fusescope.analysis.report.html import report_html
    from fusescope.app.cli.writing.outputs import write_whole

    data = report_html(comparison).encode()
    write_whole(html, data, option="--html", code="report_unwritable")


def names_of(old: Path, new: Path) -> tuple[str, str]:
    """What two files are called: by their names, with those of their folders where alike."""
    from fusescope.analysis.text import display_name

    names = (display_name(old.name), display_name(new.name))
    if names[0] != names[1]:
        return names
    folders = (display_name(path.absolute().parent.name) for path in (old, new))
    first, second = (f"{folder}/{name}" for folder, name in zip(folders, names, strict=True))
    return first, second


def _check_asked(given: Path, asked: Asked) -> None:
    check_model(given)
    if not asked.base or not asked.head:
        raise FuseScopeError("gate_needs_variants")


def _can_be_optimised(given: Path, asked: Asked) -> bool:
    from fusescope.app.cli.gating.optimising import can_be_optimised

    _check_asked(given, asked)
    return asked.base != asked.head and can_be_optimised((asked.base, asked.head))


def _optimised(
    model: Path, conditions: Sequence[Condition], asked: Asked, keep: Path | None
) -> Outcome:
    """What came of the conditions on what the engine makes of the model now."""
    from fusescope.analysis.gate.judgement import judge_structure
    from fusescope.analysis.gate.structure import changes_of_variants
    from fusescope.app.cli.gating.keeping import keep_history
    from fusescope.app.cli.gating.optimising import optimised

    [made] = optimised([model], (asked.base, asked.head), redact=asked.redact)
    if keep is not None:
        keep_history(made[asked.head], keep)
    changes = changes_of_variants(made[asked.base], made[asked.head])
    return Outcome(judge_structure(conditions, changes), (asked.base, asked.head))
