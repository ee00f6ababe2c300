"""What runs between the parts of a graph that broke: operators that no compiled code called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, ModuleType

import torch
from torch.profiler import ProfilerActivity, profile

from fusescope.collectors.torch.calls import Watch
from fusescope.collectors.torch.eager import Dispatched, called_of, events_of, joined


@contextmanager
def watching_between(
    watch: Watch, modules: Sequence[ModuleType], file: str, folder: Path
) -> Iterator[None]:
    """What is dispatched in here outside the modules' code becomes calls of the watch, in order
    with those of the modules: each an operator that the user's code calls, with all inside it."""
    inside = {id(module.__dict__) for module in modules}
    dispatched = Dispatched(watch, file, lambda frame: _is_called_by(frame, inside))
    with profile(activities=[ProfilerActivity.CPU]) as profiler, dispatched:
        yield
    parts = list(watch.run.calls)
    gone: set[int] = set()
    for name, places in called_of(events_of(profiler, folder)):
        if places:
            watch.run.calls[places[0]] = joined(name, [parts[at] for at in places])
            gone |= {*places[1:]}
    watch.run.calls = [call for at, call in enumerate(watch.run.calls) if at not in gone]


def has_breaks(graphs: int) -> bool:
    """Whether something ran, or may have run, outside compiled code in this process."""
    return graphs != 1 or bool(torch._dynamo.utils.counters["graph_break"])


def _is_called_by(frame: FrameType | None, modules: set[int]) -> bool:
    while frame is not None:
        if id(frame.f_globals) in modules:
            return True
        frame = frame.f_back
    return False
