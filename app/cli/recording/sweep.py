"""A sweep: one recording for each combination of batch sizes and numbers of threads."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.errors import FuseScopeError
from analysis.messages import say
from analysis.text import display_name

if TYPE_CHECKING:
    from collectors.record import Recording

MAX_SETTINGS = 32
_FORM = "1,4,16"
Numbers = tuple[int | None, ...]


def numbers(text: str | None, option: str) -> Numbers:
    """The numbers that an option names; None alone where it is not given. Raises FuseScopeError."""
    if text is None:
        return (None,)
    try:
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise FuseScopeError(
            "option_malformed", option=option, given=text[:60], form=_FORM
        ) from None


@dataclass(frozen=True)
class Sweep:
    """One recording a setting, all of them into one folder."""

    folder: Path
    recordings: tuple[Recording, ...]

    def run(self, record: Callable[[Recording], Path], *, is_quiet: bool) -> None:
        """Records one setting after the other; an interruption, which keeps complete blocks, is the
        end. Unless `is_quiet`, it says which. Raises FuseScopeError."""
        for number, recording in enumerate(self.recordings, 1):
            told = say(
                "Setting {number:count} of {n:count}: {setting}",
                number=number,
                n=len(self.recordings),
                setting=_setting(recording),
            )
            if not is_quiet:
                print(told, flush=True)
            self.folder.mkdir(exist_ok=True)
            try:
                path = record(recording)
            except FuseScopeError as error:
                if error.code == "interrupted_too_early" and number > 1:
                    break  # of this setting nothing is kept, those before are complete
                raise
            if _was_interrupted(path):
                break


def sweep(recording: Recording, batches: Numbers, threads: Numbers) -> Sweep:
    """The recordings of every combination; a time budget is divided among them.

    Raises FuseScopeError, before anything is recorded, for what cannot be, and for an `out` that is
    a file.
    """
    settings = list(product(batches, threads))
    if len(settings) > MAX_SETTINGS:
        raise FuseScopeError("sweep_too_large", n=len(settings), limit=MAX_SETTINGS)
    model = recording.plan().model
    folder = recording.out or Path(f"{model}-{date.today():%Y-%m-%d}-sweep")
    if folder.suffix == ".zip" or (folder.exists() and not folder.is_dir()):
        raise FuseScopeError("sweep_needs_folder", where=display_name(str(folder)))
    if not folder.parent.is_dir():
        raise FuseScopeError("output_folder_missing", where=str(folder), option="--out")
    seconds = recording.seconds
    recordings = tuple(
        replace(
            recording,
            batch=batch,
            threads=number,
            out=folder / f"{_name(batch, number)}.zip",
            seconds=None if seconds is None else seconds / len(settings),
        )
        for batch, number in settings
    )
    for one in recordings:
        one.plan()
    return Sweep(folder, recordings)


def is_sweep(*options: Sequence[int | None]) -> bool:
    """Whether an option names several numbers."""
    return any(len(of) > 1 for of in options)


def _name(batch: int | None, threads: int | None) -> str:
    parts = (("batch", batch), ("threads", threads))
    return "-".join(f"{name}{value}" for name, value in parts if value is not None)


def _setting(recording: Recording) -> str:
    batch, threads = recording.batch, recording.threads
    if batch is None:
        return say("{threads:threads}", threads=threads)
    if threads is None:
        return say("batch size {batch:count}", batch=batch)
    return say("batch size {batch:count}, {threads:threads}", batch=batch, threads=threads)


def _was_interrupted(path: Path) -> bool:
    from analysis.experiment import RECORD_NAME, parse_record

    with zipfile.ZipFile(path) as archive:
        return parse_record(archive.read(RECORD_NAME)).outcome.stopped == "interrupted"
