"""A sweep: one recording for each combination of batch sizes and numbers of threads."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.text import display_name

if TYPE_CHECKING:
    from fusescope.collectors.record import Recording

MAX_SETTINGS = 32
_FORM = "1,4,16"
_MAX_NAME = 80
_MAX_CHARS = 60  # of what was given, in an error
Numbers = tuple[int | None, ...]
_SETTING = Message("Setting {number:count} of {n:count}: {setting}")
_THREADS = Message("{threads:threads}")
_BATCH = Message("batch size {batch:count}")
_BOTH = Message("batch size {batch:count}, {threads:threads}")


def numbers(text: str | None, option: str, most: int | None = None) -> Numbers:
    """The numbers that an option names; None alone where it is not given. Raises FuseScopeError,
    with `most` for what is not from 1 to it."""
    if text is None or not text.strip():
        return (None,)
    try:
        found = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise FuseScopeError(
            "option_malformed", option=option, given=text[:_MAX_CHARS], form=_FORM
        ) from None
    for number in found:
        if most is not None and not 1 <= number <= most:
            raise FuseScopeError(
                "number_out_of_range", option=option, given=number, smallest=1, largest=most
            )
    return found


@dataclass(frozen=True)
class Sweep:
    """One recording a setting."""

    recordings: tuple[Recording, ...]

    def run(
        self,
        record: Callable[[Recording], Path],
        tell: Callable[[int, Said], None],
        kept: Callable[[Path], None] = lambda path: None,
    ) -> tuple[Path, ...]:
        """Records one setting after the other and returns the files; an interruption, which keeps
        complete blocks, is the end.

        `tell` takes the number of each, from 1, and what it is before it is recorded, `kept` its
        file after. Raises FuseScopeError.
        """
        made: list[Path] = []
        for number, recording in enumerate(self.recordings, 1):
            tell(number, self._told(number, recording))
            try:
                path = record(recording)
            except FuseScopeError as error:
                if error.code == "interrupted_too_early" and made:
                    break  # of this setting nothing is kept, those before are complete
                raise
            made.append(path)
            kept(path)
            if _was_interrupted(path):
                break
        return tuple(made)

    def _told(self, number: int, recording: Recording) -> Said:
        return _SETTING.of(number=number, n=len(self.recordings), setting=setting_text(recording))


def sweep(
    recording: Recording, batches: Numbers, threads: Numbers, folder: Path, prefix: str = ""
) -> Sweep:
    """The recordings of every combination, into files of `folder` whose names begin with `prefix`;
    a time budget is divided among them. Raises FuseScopeError, before anything is recorded, for
    what cannot be."""
    settings = list(product(batches, threads))
    if len(settings) > MAX_SETTINGS:
        raise FuseScopeError("sweep_too_large", n=len(settings), limit=MAX_SETTINGS)
    seconds = recording.seconds
    recordings = tuple(
        replace(
            recording,
            batch=batch,
            threads=number,
            out=folder / f"{prefix}{_name(batch, number)}.zip",
            seconds=None if seconds is None else seconds / len(settings),
        )
        for batch, number in settings
    )
    for one in recordings:
        one.plan()
    return Sweep(recordings)


def sweep_folder(recording: Recording) -> Path:
    """The folder of a sweep: `out`, or ./MODEL-DATE-sweep. Raises FuseScopeError where it is a
    file, or the folder around it is missing."""
    folder = recording.out or Path(f"{_model(recording)}-{date.today():%Y-%m-%d}-sweep")
    if folder.suffix == ".zip" or (folder.exists() and not folder.is_dir()):
        raise FuseScopeError("sweep_needs_folder", where=display_name(str(folder)))
    if not folder.parent.is_dir():
        raise FuseScopeError("output_folder_missing", where=str(folder), option="--out")
    return folder


def file_prefix(recording: Recording) -> str:
    """The beginning of its files where they lie beside others: 'mul_add-2026-01-02-'."""
    name = re.sub(r"[^\w.-]+", "_", Path(_model(recording)).name).strip("._")[:_MAX_NAME] or "model"
    return f"{name}-{date.today():%Y-%m-%d}-"


def is_sweep(*options: Sequence[int | None]) -> bool:
    """Whether an option names several numbers."""
    return any(len(of) > 1 for of in options)


def setting_text(recording: Recording) -> Said:
    """'batch size 4, 2 threads'."""
    batch, threads = recording.batch, recording.threads
    if batch is None:
        return _THREADS.of(threads=threads)
    if threads is None:
        return _BATCH.of(batch=batch)
    return _BOTH.of(batch=batch, threads=threads)


def _model(recording: Recording) -> str:
    return recording.plan().model


def _name(batch: int | None, threads: int | None) -> str:
    parts = (("batch", batch), ("threads", threads))
    return "-".join(f"{name}{value}" for name, value in parts if value is not None)


def _was_interrupted(path: Path) -> bool:
    from fusescope.analysis.experiment import RECORD_NAME, parse_record

    with zipfile.ZipFile(path) as archive:
        return parse_record(archive.read(RECORD_NAME)).outcome.stopped == "interrupted"
