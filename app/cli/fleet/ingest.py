"""`fusescope ingest`: the traces of all ranks of a job into one store."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated, Self

import typer

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import say
from fusescope.app.cli import interruption, memory
from fusescope.app.cli.limits import LimitOption

if TYPE_CHECKING:
    from rich.progress import TaskID

    from fusescope.app.fleet.ingesting import Ingested


def ingest(
    paths: Annotated[
        list[str],
        typer.Argument(
            help="Traces of the ranks: a folder or files, or paths of fsspec (s3://…).",
            show_default=False,
        ),
    ],
    to: Annotated[
        str, typer.Option("--to", help="The store: a folder, or a path of fsspec.", metavar="STORE")
    ],
    rank_pattern: Annotated[
        str | None,
        typer.Option(
            "--rank-pattern",
            metavar="REGEX",
            help="Where the name of a file has its rank, for traces that do not say it: "
            "'node-(\\d+)'.",
        ),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", min=1, help="Processes that read. Default: one a core."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Read on the workers of this Dask scheduler instead: tcp://HOST:8786.",
        ),
    ] = None,
    trust_scheduler: Annotated[
        bool,
        typer.Option(
            "--trust-scheduler",
            help="Take a scheduler on another machine: whoever answers there can execute code as "
            "you.",
        ),
    ] = False,
    limit: LimitOption = None,  # in force by now
) -> None:
    """Read the traces of all ranks of a job into a store, each once."""
    interruption.heed()
    with memory.lasting():
        from fusescope.app.fleet.ingesting import abandon, place_for_sockets
        from fusescope.app.fleet.ingesting import ingest as ingest_all
        from fusescope.app.sources import places

    with interruption.put_off(), contextlib.suppress(FuseScopeError):  # said where it is needed
        place_for_sockets()
    interruption.end_at_once(abandon)
    with _Progress() as progress:
        done = ingest_all(
            paths,
            to,
            places.limits(),
            pattern=rank_pattern,
            scheduler=scheduler,
            trust_scheduler=trust_scheduler,
            processes=processes,
            progress=progress.show,
        )
    _print(done)


def _print(done: Ingested) -> None:
    from fusescope.analysis.messages.errors import ERRORS
    from fusescope.analysis.text import clean_text, distinct_names

    ranks = sorted({entry.facts.rank for entry in done.read if entry.facts is not None})
    print(
        say(
            "Read {n:count} rank; {known:files} had been read before.",
            "Read {n:count} ranks; {known:files} had been read before.",
            n=len(ranks),
            known=done.known,
        )
    )
    if done.beside:
        print(
            say(
                "{n:count} file does not hold a rank by itself and was left out.",
                "{n:count} files do not hold a rank by themselves and were left out.",
                n=done.beside,
            )
        )
    names = distinct_names(entry.path for entry in done.read)
    for entry in done.read:
        name = names[entry.path]
        if entry.failure is not None:
            text = say("{file:name}: {reason}.", file=name, reason=entry.failure.said)
        elif entry.facts is not None and entry.facts.is_truncated:
            text = say(
                "{file:name} ends too early: rank {rank} is kept, and no figure will rest on it.",
                file=name,
                rank=entry.facts.rank,
            )
        else:
            continue
        print(clean_text(f"! {text}", 600))
    if any(entry.failure and entry.failure.code == "rank_unknown" for entry in done.read):
        print(ERRORS["rank_unknown"].hint)


class _Progress:
    """How far the reading is, on a terminal that somebody looks at."""

    def __enter__(self) -> Self:
        from rich.console import Console
        from rich.progress import Progress

        is_seen = sys.stderr.isatty()
        self._bar = Progress(console=Console(stderr=True), transient=True) if is_seen else None
        self._task: TaskID | None = None
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, total: int) -> None:
        """So many of so many files are read."""
        if self._bar is None:
            return
        if self._task is None:
            self._task = self._bar.add_task(say("Reading ranks"), total=total)
        self._bar.update(self._task, completed=done)
