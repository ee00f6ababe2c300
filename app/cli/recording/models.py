"""`fusescope advise DIR`: what all models of a folder miss; those without a recording get one."""

from __future__ import annotations

import hashlib
import math
import mmap
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.analysis.text import display_name
from fusescope.app.cli import streams
from fusescope.app.cli.recording import run as recording_run

if TYPE_CHECKING:
    from fusescope.analysis.advice.ranking import Judged
    from fusescope.analysis.experiment import ExperimentRecord

SECONDS = 20.0
_VARIANTS = ("unfused", "fused")
_RECORD_BYTES = 1 << 26
_UNREADABLE = (
    FuseScopeError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError, EOFError,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@dataclass(frozen=True)
class Collection:
    """Models and experiments of one folder, by name; other files are not looked at."""

    models: tuple[Path, ...]
    experiments: Mapping[Path, ExperimentRecord | None]

    @property
    def unrecorded(self) -> tuple[Path, ...]:
        """Models without an experiment of their content. That of one with external data is not read
        for this: an experiment of its name is of it that is younger than the file."""
        return tuple(path for path in self.models if not any(self._are_of(path)))

    @property
    def older(self) -> Mapping[Path, Path]:
        """Experiments of a model of which a newer one is there, and that one."""
        newest: dict[str, tuple[str, Path]] = {}
        known = [(one.model.sha256, one.created, at) for at, one in self.experiments.items() if one]
        for content, created, path in known:
            newest[content] = max(newest.get(content, (created, path)), (created, path))
        return {path: newest[of][1] for of, _, path in known if newest[of][1] != path}

    def _are_of(self, model: Path) -> Iterator[bool]:
        content, is_whole = _content(model)
        changed = model.stat().st_mtime
        for record in filter(None, self.experiments.values()):
            if is_whole or record.model.name != model.stem:
                yield record.model.sha256 == content
            else:
                yield changed <= _created_s(record)


@dataclass(frozen=True)
class Asked:
    """What is asked of a folder: the variant of every model, the time budget of each recording that
    is made, the folder that it goes to, and how it is told."""

    variant: str | None
    seconds: float | None
    folder: Path
    as_json: bool
    redact: bool


def collection_at(path: Path) -> Collection | None:
    """What there is, where that is models or several experiments; None for anything else, as for
    the files of one recording."""
    if not path.is_dir():
        return None
    files = sorted(one for one in path.iterdir() if one.is_file() and one.name[0] != ".")
    models = tuple(one for one in files if one.suffix.lower() == ".onnx")
    experiments = {one: _record(one) for one in files if _may_be_experiment(one)}
    known = sum(record is not None for record in experiments.values())
    if known > 1 or (models and (known or not _is_recording(path))):
        return Collection(models, experiments)
    return None


def rank(found: Collection, asked: Asked) -> None:
    """Records what has no recording, and tells what all of them miss. Raises FuseScopeError."""
    from fusescope.analysis.advice.ranking import ranking

    if asked.seconds is not None and not 0 < asked.seconds < math.inf:
        raise FuseScopeError("number_too_small", option="--seconds", given=f"{asked.seconds:g}")
    if found.unrecorded and not asked.folder.is_dir():
        raise FuseScopeError("output_folder_missing", where=str(asked.folder), option="--out")
    judged: list[Judged] = []
    failed: dict[str, str] = {}
    recorded: list[Path] = []
    for path in _recordings(found, asked, failed, recorded):
        try:
            judged.append(_judged(path, asked))
        except FuseScopeError as error:
            failed[display_name(path.name)] = error.text
    whole = ranking(judged)
    if asked.as_json:
        from fusescope.analysis.report.exports.ranking_json import ranking_json

        streams.write_json(ranking_json(whole, failed, recorded))
    else:
        from fusescope.app.cli.printing.ranking import print_ranking

        print_ranking(whole, failed)
    if not judged:
        raise SystemExit(1)


def _recordings(
    found: Collection, asked: Asked, failed: dict[str, str], recorded: list[Path]
) -> Iterator[Path]:
    """The experiments that are there, the newest of each model, then those of the other models as
    they are recorded."""
    for path in found.experiments:
        newest = found.older.get(path)
        if newest is None:
            yield path
            continue
        failed[display_name(path.name)] = say(
            "{name:name} is a newer recording of the same model.", name=display_name(newest.name)
        )
    for number, model in enumerate(found.unrecorded, 1):
        told = say(
            "Recording {model:name}, {number:count} of {n:count} without a recording, for "
            "{seconds:count} s",
            model=display_name(model.name),
            number=number,
            n=len(found.unrecorded),
            seconds=math.ceil(SECONDS if asked.seconds is None else asked.seconds),
        )
        print(told, file=sys.stderr, flush=True)
        try:
            path = _recorded(model, asked)
        except FuseScopeError as error:
            if error.code == "interrupted_too_early":
                raise
            failed[display_name(model.name)] = error.text
            continue
        recorded.append(path)
        yield path
        record = _record(path)
        if record is not None and record.outcome.stopped == "interrupted":
            return


def _recorded(model: Path, asked: Asked) -> Path:
    try:
        from fusescope.collectors.record import Recording
    except ImportError as error:
        raise recording_run.missing_package(error) from None

    recording = Recording(
        model=str(model),
        out=asked.folder,
        variants=_VARIANTS,
        seconds=SECONDS if asked.seconds is None else asked.seconds,
        command="fusescope advise DIR",
    )
    return recording_run.run(recording)


def _judged(path: Path, asked: Asked) -> Judged:
    from fusescope.analysis.advice.ranking import judged
    from fusescope.analysis.advice.sides import advised, advised_names
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.redaction import redacted
    from fusescope.app.cli.reading import read_given

    wanted = None if asked.redact else lambda record: advised_names(record, asked.variant)
    value = read_given(path, wanted)
    assert isinstance(value, Experiment)
    if asked.redact:
        value = redacted(value)
    return judged(display_name(value.file_name), advised(value, asked.variant))


def _content(model: Path) -> tuple[str, bool]:
    """SHA-256 of the file, and whether that is of all of the model: no tensor is in another file.
    A file that cannot be read is recorded, which says why."""
    try:
        with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return hashlib.sha256(data).hexdigest(), data.find(b"location") < 0
    except (OSError, ValueError):
        return "", True


def _record(path: Path) -> ExperimentRecord | None:
    """The record of an experiment; None where it cannot be read."""
    from fusescope.analysis.experiment import RECORD_NAME, parse_record

    try:
        with zipfile.ZipFile(path) as archive, archive.open(RECORD_NAME) as member:
            return parse_record(member.read(_RECORD_BYTES))
    except _UNREADABLE:
        return None


def _created_s(record: ExperimentRecord) -> float:
    """When it was recorded, in seconds since 1970; 0 where its text is not a date."""
    try:
        return datetime.fromisoformat(record.created).timestamp()
    except (OSError, OverflowError, ValueError):
        return 0.0


def _may_be_experiment(path: Path) -> bool:
    """Whether a zip holds an experiment, or is damaged, which is said when it is read."""
    from fusescope.analysis.experiment import RECORD_NAME

    if path.suffix.lower() != ".zip":
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return RECORD_NAME in archive.namelist()
    except _UNREADABLE:
        return True


def _is_recording(path: Path) -> bool:
    """Whether a folder that also holds models holds the files of one recording."""
    from fusescope.app.cli.reading import read_given

    try:
        read_given(path)
    except FuseScopeError:
        return False
    return True
