"""The progress of a recording, in a terminal."""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from fusescope.analysis.messages import say
from fusescope.collectors.progress import Progress as Step

_SHARES = {"prepare": 0.0, "check": 0.05, "peaks": 0.15, "blocks": 0.2, "write": 0.99, "done": 1.0}


class RecordingBar:
    """Context manager that gives the function `record` reports to; draws on stderr."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._bar = Progress(
            BarColumn(bar_width=30),
            TextColumn("{task.description}", markup=False),
            TextColumn("{task.fields[left]}", style="dim"),
            console=self._console,
            auto_refresh=False,
        )
        self._task = self._bar.add_task("", total=1.0, left="")

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._console.is_terminal:
            with suppress(OSError):  # the terminal is gone
                self._bar.stop()

    def __call__(self, step: Step) -> None:
        left = "" if step.seconds_left is None or step.stage == "done" else _left(step.seconds_left)
        if step.stage == "done" or not self._console.is_terminal:
            line = (
                say("{step} ({left})", step=step.message, left=left) if left else str(step.message)
            )
            with suppress(OSError, SystemExit):  # nobody reads how far it is
                self._console.print(line, markup=False, highlight=False, soft_wrap=True)
            return
        stages = list(_SHARES)
        place = stages.index(step.stage)
        start = _SHARES[step.stage]
        end = _SHARES[stages[min(place + 1, len(stages) - 1)]]
        share = start + (end - start) * step.done / max(step.total, 1)
        self._bar.update(self._task, completed=share, description=str(step.message), left=left)
        with suppress(OSError):
            self._bar.refresh()


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes:
        return say("about {minutes} min {seconds} s left", minutes=minutes, seconds=rest)
    return say("about {seconds} s left", seconds=rest)
