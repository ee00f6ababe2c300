"""How far a recording is, and how it ended, as every kind of recording says it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message
from fusescope.collectors.progress import Progress
from fusescope.collectors.recording.series import Series, Stopped

_BLOCK = Message("Block {block:count} of {planned:count}")
_BLOCK_AT_MOST = Message("Block {block:count} of {planned:count} (at most {most:count})")
_REPLACED = Message(
    "{block}; {n:count} was replaced because the machine was busy",
    "{block}; {n:count} were replaced because the machine was busy",
)
OF_WRITING = Progress("write", 0, 1, Message("Writing the experiment file"), 0.0)
_STOPPED: Mapping[Stopped, Message] = {
    "decided": Message("Decided after {complete:blocks}"),
    "blocks": Message("Recorded {complete:blocks}"),
    "seconds": Message("The time budget ended after {complete:blocks}"),
    "interrupted": Message("Interrupted; kept {complete:blocks}"),
    "device": Message("The device failed; kept {complete:blocks}"),
}
_FAILED = Message("{stopped}. {reason:name}.")
_LOADED = Message("{stopped}, {n:count} of them while the machine was busy")
_RENAMED = Message("{stopped}. {asked:name} already exists, so this file is {file:name}.")


def of_blocks(series: Series) -> Progress:
    """Which block is next, and the seconds left."""
    done, most = len(series.complete), series.looks[-1]
    block = _BLOCK if series.look == most else _BLOCK_AT_MOST
    message = block.of(block=done + 1, planned=series.look, most=most)
    if series.replaced:
        message = _REPLACED.of(block=message, n=series.replaced)
    return Progress("blocks", done, series.look, message, series.seconds_left())


def of_end(
    stopped: Stopped,
    series: Series,
    asked: Path,
    written: Path,
    failure: FuseScopeError | None = None,
) -> Progress:
    """Why it ended; `written` is where the file is that was asked for, `failure` what the device
    failed of."""
    done = len(series.complete)
    message = _STOPPED[stopped].of(complete=done)
    if failure is not None:
        message = _FAILED.of(stopped=message, reason=failure.what)
    if series.loaded:
        message = _LOADED.of(stopped=message, n=series.loaded)
    if written != asked:
        message = _RENAMED.of(stopped=message, asked=asked.name, file=written.name)
    return Progress("done", done, done, message, 0.0, str(written))


def version() -> str:
    """FuseScope's own."""
    try:
        return metadata.version("fusescope")
    except metadata.PackageNotFoundError:
        return "source"
