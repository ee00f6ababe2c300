"""`fusescope advise --try`: remedies recorded beside the present best, under the same rules."""

from __future__ import annotations

import itertools
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import streams
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from fusescope.analysis.advice import Findings, Subject
    from fusescope.analysis.advice.tried import Tried
    from fusescope.analysis.experiment import Experiment, ExperimentRecord
    from fusescope.collectors.record import Recording

MOST = 8
FIRST_VARIANTS = ("unfused", "fused")
_COMMAND = "fusescope advise --try"


@dataclass(frozen=True)
class Trial:
    """What is asked: a model or an experiment, and the file of the model of that; how many remedies
    at most, the time budget of each recording, and the folder for what is written."""

    given: Path
    model: Path | None
    variant: str | None
    most: int
    seconds: float | None
    folder: Path
    as_json: bool


def try_out(trial: Trial) -> None:
    """Records, compares, prints, and writes what repeats what is kept. Raises FuseScopeError."""
    if not 1 <= trial.most <= MOST:
        raise FuseScopeError(
            "number_out_of_range", option="--try", given=trial.most, smallest=1, largest=MOST
        )
    if not trial.folder.is_dir():
        raise FuseScopeError("output_folder_missing", where=str(trial.folder), option="--out")
    from fusescope.analysis.advice import findings
    from fusescope.analysis.advice.remedies import in_one_recording, remedies, without_cuts
    from fusescope.analysis.advice.sides import advised
    from fusescope.analysis.advice.tried import Tried, present_best, tried
    from fusescope.analysis.wording.tried import later_text

    first, recording = _first(trial)
    from fusescope.collectors.record import NothingTried, can_try, to_try

    best = trial.variant or present_best(first.record)
    subject = advised(first, best)
    found = findings(subject)
    possible = [one for one in remedies(subject, found) if can_try(one.variant)]
    asked = in_one_recording(without_cuts(possible))[: trial.most]
    if not asked:
        _tell_none(trial, subject, found)
        return
    try:
        path = recording_run.run(to_try(recording, best, asked))
    except NothingTried as error:
        _tell(trial, best, [Tried(one, "not_recorded") for one in error.tries], None, {})
        return
    record = _read(path).record
    results = tried(record)
    _tell(trial, best, results, path, _written(path, record, results))
    later = later_text([one.variant for one in asked], possible)
    if later and not trial.as_json:
        print(later)


def _first(trial: Trial) -> tuple[Experiment, Recording]:
    """What the findings are about, and the recording that others are made like."""
    try:
        from fusescope.analysis.experiment import Experiment
        from fusescope.analysis.wording.tried import from_file_text
        from fusescope.app.cli.reading import read_given
        from fusescope.collectors.record import OWN, Recording, zoo_models
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    name = str(trial.given)
    if name in zoo_models() or trial.given.suffix.lower() == ".onnx":
        if trial.model is not None:
            raise FuseScopeError("model_option_without_experiment", where=trial.given.name)
        recording = Recording(
            model=name,
            out=trial.folder,
            variants=_first_variants(trial.variant),
            seconds=trial.seconds,
            command=_COMMAND,
        )
        path = recording_run.run(recording, progress_json=False)
        found = _read(path)
        if found.record.outcome.stopped == "interrupted":
            raise FuseScopeError("try_interrupted", given=shlex.quote(recording_run.relative(path)))
        return found, recording
    value = read_given(trial.given)
    if not isinstance(value, Experiment):
        raise FuseScopeError("recording_has_no_model", where=trial.given.name)
    facts = value.record.model
    engine = next((one.name for one in value.record.engines if one.name != OWN), OWN)
    if engine != OWN:
        raise FuseScopeError("engine_not_tried", where=trial.given.name, engine=engine[:60])
    if trial.model is None and (facts.source != "zoo" or facts.name not in zoo_models()):
        raise FuseScopeError(
            "model_not_here", where=trial.given.name, given=shlex.quote(str(trial.given))
        )
    if anew := from_file_text(value.record):
        print(anew, file=sys.stderr)
    recording = Recording.like(value.record, "" if trial.model is None else str(trial.model))
    return value, replace(recording, out=trial.folder, seconds=trial.seconds, command=_COMMAND)


def _first_variants(named: str | None) -> tuple[str, ...]:
    """Those that a model is recorded as first; the one that is named beside what it is compared
    with, so that all others are left to try."""
    return FIRST_VARIANTS if named is None else tuple(dict.fromkeys((FIRST_VARIANTS[0], named)))


def _written(path: Path, record: ExperimentRecord, results: Sequence[Tried]) -> dict[str, Path]:
    """The files beside the recording that repeat what is kept, by their suffix. Their names are
    the first that are free: what is there already may be of the user's own."""
    from fusescope.analysis.report.exports.session_script import kept_files
    from fusescope.app.cli.writing.outputs import write_whole
    from fusescope.collectors.record import listed_optimizers

    texts = kept_files(record, results, listed_optimizers())
    names = (path.stem if n == 1 else f"{path.stem}-{n}" for n in itertools.count(1))
    files = next(
        named
        for named in ({end: path.with_name(f"{name}{end}") for end in texts} for name in names)
        if not any(map(os.path.lexists, named.values()))
    )
    for suffix, text in texts.items():
        write_whole(files[suffix], text.encode(), option="--out", code="table_unwritable")
    return files


def _tell(
    trial: Trial,
    best: str,
    results: Sequence[Tried],
    path: Path | None,
    written: dict[str, Path],
) -> None:
    if trial.as_json:
        from fusescope.analysis.report.exports.tried_json import tried_json

        streams.write_json(tried_json(best, results, path, written))
        return
    from fusescope.analysis.advice.tried import kept
    from fusescope.analysis.wording.tried import no_script_text
    from fusescope.app.cli.printing.tried import print_tried

    print_tried(best, results)
    for file in filter(None, (path, *written.values())):
        print(shlex.quote(recording_run.relative(file)))
    if path is None:
        return
    if ".toml" in written:
        shown = shlex.quote(recording_run.relative(written[".toml"]))
        command = f"fusescope fuse MODEL.onnx --rules {shown} --out fused.onnx"
        print(say("To write the fused model: {command:name}", command=command))
    if ".py" in written:
        print(say("The script opens the model with the settings to keep."))
    else:
        one = kept(results)
        print(no_script_text(best if one is None else one.remedy.variant))


def _tell_none(trial: Trial, subject: Subject, found: Findings) -> None:
    """Why there is nothing to try."""
    if trial.as_json:
        from fusescope.analysis.report.exports.tried_json import tried_json

        streams.write_json(tried_json(subject.side.label, (), None, {}))
        return
    from fusescope.analysis.wording.tried import nothing_text

    print(nothing_text(subject, found))


def _read(path: Path) -> Experiment:
    """The recording that was just written."""
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.readers import read_path

    value = read_path(path)
    assert isinstance(value, Experiment)
    return value
