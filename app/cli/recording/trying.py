"""`fusescope advise --try`: remedies recorded beside the present best, under the same rules."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FuseScopeError
from analysis.messages import say
from app.cli import streams
from app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from analysis.advice.remedies import Remedy
    from analysis.advice.tried import Tried
    from analysis.experiment import Experiment, ExperimentRecord
    from collectors.record import Recording

MOST = 8
FIRST_VARIANTS = ("unfused", "fused")
_COMMAND = "fusescope advise --try"


@dataclass(frozen=True)
class Trial:
    """What is asked: a model or an experiment, how many remedies at most, the time budget of each
    recording, and the folder for what is written."""

    given: Path
    variant: str | None
    most: int
    seconds: float | None
    folder: Path
    as_json: bool


def try_out(trial: Trial) -> None:
    """Records, compares, prints, and writes a script for what is kept. Raises FuseScopeError."""
    if not 1 <= trial.most <= MOST:
        raise FuseScopeError(
            "number_out_of_range", option="--try", given=trial.most, smallest=1, largest=MOST
        )
    if not trial.folder.is_dir():
        raise FuseScopeError("output_folder_missing", where=str(trial.folder), option="--out")
    from analysis.advice import findings
    from analysis.advice.remedies import remedies
    from analysis.advice.sides import advised
    from analysis.advice.tried import present_best, tried

    first, recording = _first(trial)
    best = trial.variant or present_best(first.record)
    subject = advised(first, best)
    found = remedies(subject, findings(subject))
    asked = [remedy for remedy in found if _is_possible(remedy)][: trial.most]
    path, refused = _record(trial, recording, best, asked) if asked else (None, ())
    if path is None:
        _tell(trial, best, refused, None, None)
        return
    record = _read(path).record
    results = tried(record, asked)
    _tell(trial, best, (*results, *refused), path, _script(path, record, best, results))


def _is_possible(remedy: Remedy) -> bool:
    """Whether what makes the variant is installed."""
    from collectors.record import variant_names

    return not remedy.variant.startswith("custom:") or remedy.variant in variant_names()


def _first(trial: Trial) -> tuple[Experiment, Recording]:
    """What the findings are about, and the recording that others are made like."""
    try:
        from analysis.experiment import Experiment
        from app.cli.reading import read_given
        from collectors.record import Recording, zoo_models
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    name = str(trial.given)
    if name in zoo_models() or trial.given.suffix.lower() == ".onnx":
        recording = Recording(
            model=name,
            out=trial.folder,
            variants=FIRST_VARIANTS,
            seconds=trial.seconds,
            command=_COMMAND,
        )
        path = recording_run.run(recording, progress_json=False)
        return _read(path), recording
    value = read_given(trial.given)
    if not isinstance(value, Experiment) or value.record.model.source != "zoo":
        raise FuseScopeError("model_not_here", where=trial.given.name)
    record = value.record
    if record.model.name not in zoo_models():
        raise FuseScopeError("model_not_here", where=trial.given.name)
    return value, Recording(
        model=record.model.name,
        out=trial.folder,
        batch=record.model.batch,
        threads=record.settings.threads,
        spin=record.settings.spin,
        seed=record.settings.seed,
        seconds=trial.seconds,
        command=_COMMAND,
    )


def _record(
    trial: Trial, recording: Recording, best: str, asked: Sequence[Remedy]
) -> tuple[Path | None, tuple[Tried, ...]]:
    """The file that holds the best and what can be recorded of the remedies, and those that cannot:
    an optimizer that changes nothing here, a model that cannot be quantised."""
    from analysis.advice.tried import Tried

    left, refused = list(asked), list[Tried]()
    while left:
        variants = (best, *(remedy.variant for remedy in left))
        wanted = replace(
            recording,
            variants=variants,
            baseline=best,
            rules={remedy.variant: remedy.rules for remedy in left if remedy.rules},
            own_pass=False,
        )
        try:
            return recording_run.run(wanted), tuple(refused)
        except FuseScopeError as error:
            named = str(error.values.get("variant", "")), str(error.where or "")
            lost = next((one for one in left if one.variant in named), None)
            if lost is None:
                raise
            left.remove(lost)
            refused.append(Tried(lost, "not_recorded", reason=error.said))
    return None, tuple(refused)


def _script(
    path: Path, record: ExperimentRecord, best: str, results: Sequence[Tried]
) -> Path | None:
    """A file beside the recording that repeats what is kept: a rule file, or a script that opens
    the model so; None where neither can, as for kernels of one's own."""
    from analysis.advice.tried import kept
    from analysis.report.exports.session_script import session_script
    from app.cli.outputs import write_whole

    one = kept(results)
    rules = "" if one is None else one.remedy.rules
    text = rules or session_script(record, best if one is None else one.remedy.variant)
    if text is None:
        return None
    script = path.with_suffix(".toml" if rules else ".py")
    write_whole(script, text.encode(), option="--out", code="table_unwritable")
    return script


def _tell(
    trial: Trial, best: str, results: Sequence[Tried], path: Path | None, script: Path | None
) -> None:
    if trial.as_json:
        from analysis.report.exports.tried_json import tried_json

        streams.write_json(tried_json(best, results, path, script))
        return
    from analysis.wording.tried import NOTHING_TO_TRY
    from app.cli.printing.tried import print_tried

    if not results:
        print(NOTHING_TO_TRY.text(best=best))
        return
    print_tried(best, results)
    for written in filter(None, (path, script)):
        print(shlex.quote(recording_run.relative(written)))
    if script is not None and script.suffix == ".toml":
        shown = shlex.quote(recording_run.relative(script))
        command = f"fusescope fuse MODEL.onnx --rules {shown} --out fused.onnx"
        print(say("To write the fused model: {command:name}", command=command))
    elif script is not None:
        print(say("The script opens the model with the settings to keep."))


def _read(path: Path) -> Experiment:
    """The recording that was just written."""
    from analysis.experiment import Experiment
    from analysis.readers import read_path

    value = read_path(path)
    assert isinstance(value, Experiment)
    return value
