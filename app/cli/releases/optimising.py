"""Having releases optimise a model, with what is said meanwhile."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import paragraph, say
from fusescope.app.cli import interruption, streams
from fusescope.app.cli.recording import run as recording_run
from fusescope.app.cli.recording.command import typed_command

if TYPE_CHECKING:
    from fusescope.analysis.releases.history import History
    from fusescope.collectors.bisect import Found
    from fusescope.collectors.record import Recording
    from fusescope.collectors.releases.version import Span


def span_of(engine: str) -> Span:
    """The releases that `--engine` names. Raises FuseScopeError."""
    from fusescope.collectors.releases.version import parse_span

    return parse_span(engine)


def optimised(
    model: str,
    releases: Span | tuple[str, str],
    *,
    batch: int | None = None,
    shapes: Sequence[str] = (),
) -> History:
    """What the releases of the span, or these two, make of the model; says before what has to be
    fetched. Raises FuseScopeError where fewer than two of a span can optimise it."""
    interruption.heed()  # before anything is imported, which tries the temporary folder
    try:
        from fusescope.collectors import bisect as collector
    except ImportError as error:
        raise recording_run.missing_package(error) from None
    recording = recording_of(model, batch, shapes)
    recording.plan()  # refuses before anything is fetched
    try:
        if isinstance(releases, tuple):
            found = collector.find_both(*releases)
        else:
            found = collector.find(releases)
    except KeyboardInterrupt:
        raise FuseScopeError("release_interrupted") from None
    _tell_size(found)
    with Line() as line:
        history = _without_folders(collector.optimise(recording, found, line))
    if not isinstance(releases, tuple) and len(history.compared) < 2:
        from fusescope.analysis.wording.releases import skipped_text

        for release in history.releases:
            if reason := skipped_text(release):
                raise FuseScopeError("releases_left_out", version=release.version, reason=reason)
        raise FuseScopeError("release_none_compared", n=len(history.compared))
    return history


def _without_folders(history: History) -> History:
    """The same, with no folder in what engines said: the file travels."""
    from fusescope.analysis.redaction import text_without_paths

    releases = tuple(
        msgspec.structs.replace(one, said=text_without_paths(one.said)) for one in history.releases
    )
    return msgspec.structs.replace(history, releases=releases)


def recording_of(model: str, batch: int | None, shapes: Sequence[str]) -> Recording:
    """What is asked of each release. Raises FuseScopeError for a shape that is none."""
    from fusescope.app.recording.shapes import shape_of
    from fusescope.collectors.record import Recording

    return Recording(
        model=model,
        variants=("fused",),
        batch=batch,
        shapes=dict(map(shape_of, shapes)),
        command=typed_command(),
    )


def _tell_size(found: Found) -> None:
    """What will be fetched, before it is."""
    from fusescope.collectors.releases import kept

    if found.offline is not None:
        said = say(
            "The package index cannot be reached, so only releases that were fetched before are "
            "compared."
        )
        streams.tell(said)
    if not found.missing:
        return
    said = say(
        "{n:count} release has to be fetched: at most {download:capacity} with pip, and at most "
        "{disk:capacity} on the disk, in {folder:name}.",
        "{n:count} releases have to be fetched: at most {download:capacity} with pip, and at most "
        "{disk:capacity} on the disk, in {folder:name}.",
        n=len(found.missing),
        download=found.download_bytes,
        disk=found.disk_bytes,
        folder=str(kept.root()),
    )
    later = say("They stay there; fusescope bisect --releases lists them.")
    streams.tell(paragraph(said, later))


class Line:
    """How far it is, on stderr: a line that changes; without a terminal a line a step."""

    def __init__(self) -> None:
        from rich.console import Console

        console = Console(stderr=True, highlight=False, markup=False, emoji=False)
        self._status = console.status("") if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, step: object, done: int, total: int) -> None:
        self.show(
            say("{done:count} of {total:count}: {step}", step=str(step), done=done, total=total)
        )

    def show(self, said: str) -> None:
        """Says this in place of what was said before."""
        from rich.text import Text

        if self._status is not None:
            self._status.update(Text(said))
        else:
            with contextlib.suppress(OSError):
                # The end with the line: releases are fetched and run side by side.
                print(f"{said}\n", end="", file=sys.stderr, flush=True)
