"""PyTorch's profiler where it was built without Kineto, and before Kineto (1.8): operators only.

`export_chrome_trace` writes the operators of the host under the process "CPU functions". Under
"CUDA functions" stands the time of each on the device, from the start of its first kernel to the
end of its last one, with operators inside each other. Later versions only draw an arrow there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.messages.places import event_of
from fusescope.analysis.readers.building.nesting import Nesting
from fusescope.analysis.readers.building.timetable import Ints
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.event_windows import collect_events
from fusescope.analysis.readers.input.json_events import EventFile
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import LATEST_NS, exact_column
from fusescope.analysis.readers.pytorch.event import plain
from fusescope.analysis.readers.pytorch.host import communication
from fusescope.analysis.readers.reader import ALWAYS, Reader
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Example, Trace, noted

_PROCESS = re.compile(rb'"pid"\s*:\s*"(?:CPU|CUDA|XPU|PrivateUse1) functions"')
_FUNCTIONS = re.compile(r"(\w{1,40}) functions")
_HOST = "CPU"


class _Event(msgspec.Struct, gc=False):
    name: str | None = None
    ph: str | None = None
    pid: int | str | None = None
    tid: msgspec.Raw = msgspec.Raw()
    ts: msgspec.Raw = msgspec.Raw()
    dur: msgspec.Raw = msgspec.Raw()


def _sniff(head: bytes) -> bool:
    """A list of events whose processes are the host's or the device's functions."""
    text = utf8(head).lstrip()
    return text[:1] in (b"[", b"{") and _PROCESS.search(text) is not None


def _read(source: Source) -> Trace:
    """The operators of the device with their own time; those of the host where it has none."""
    found, _, notes = collect_events(source, _Event, EventFile, _Functions)
    notes += found.notes()
    devices = [device for device in found.devices if device != _HOST]
    has_device = bool(devices)
    rows = np.flatnonzero([(device != _HOST) == has_device for device in found.devices])
    if not len(rows):
        cut = {note.code for note in notes} & {"cut_short", "gzip_cut_short"}
        raise FuseScopeError(
            "cut_before_operators" if cut else "pytorch_trace_empty", where=source.name
        )
    notes += noted("info", "host_events", len(found.devices) - len(rows) if has_device else 0)
    notes += noted("warning", "no_device_rows", 0 if has_device else found.arrows)
    of = rows.tolist()
    lanes = [(found.devices[at], found.threads[at]) for at in of]
    starts, lengths = found.starts[rows], found.lengths[rows]
    own = Nesting(lanes, starts, lengths).own_ns
    names = [found.names[at] for at in of]
    return build_trace(
        source.meta(AUTOGRAD_LIST.name, "PyTorch profiler"),
        {
            "name": names,
            "op_type": names,
            "op_class": [communication(name) for name in names],
            "provider": [device for device, _ in lanes],
            "level": ["framework_op"] * len(of),
            "device": [device for device, _ in lanes],
            "stream": [thread.decode("utf-8", "replace")[:80] or None for _, thread in lanes],
            "start_ns": starts,
            "dur_ns": own,
            "span_ns": [
                span if span != rest else None
                for span, rest in zip(lengths.tolist(), own.tolist(), strict=True)
            ],
            "source_row": [found.rows[at] for at in of],
        },
        notes=notes,
        limits=source.limits,
    )


AUTOGRAD_LIST = Reader(
    name="pytorch_autograd",
    title=mark("PyTorch profiler trace without Kineto"),
    fields=dict.fromkeys(("start", "types", "stream"), ALWAYS),
    recording=(
        "`torch.autograd.profiler.profile(use_kineto=False)` and `prof.export_chrome_trace(…)`, "
        "any version before 1.8, and builds without Kineto. Prefer a PyTorch that is built with "
        "it: only its traces hold kernels, shapes and steps."
    ),
    sniff=_sniff,
    read=_read,
)


class _Functions:
    """Timed events of the file, part by part: `devices` are 'CPU' or what the file calls the
    device, `arrows` those from the host to a device."""

    plain = None

    def __init__(self) -> None:
        self.count = 0
        self.arrows = 0
        self.rows: list[int] = []
        self.names: list[str] = []
        self.devices: list[str] = []
        self.threads: list[bytes] = []
        self._times: list[tuple[Ints, Ints]] = []
        self._bad = 0
        self._bad_example: Example = ""
        self._other = 0
        self._texts: dict[str, str] = {}

    def miss(self) -> None:
        """Does nothing: these events have no plain type."""

    def add(self, events: Sequence[_Event], *, escaped: bool = False) -> None:
        """The next events of the file."""
        starts, has_start = exact_column([event.ts for event in events])
        lengths, has_length = exact_column([event.dur for event in events])
        is_timed = has_start & has_length & (np.abs(starts) < LATEST_NS)
        is_timed &= (lengths >= 0) & (lengths < LATEST_NS)
        kept = []
        for at, event in enumerate(events):
            match = _FUNCTIONS.fullmatch(str(event.pid))
            if match is None or event.ph != "X":
                self.arrows += event.ph == "s"
                self._other += event.ph not in ("s", "f", "M")
            elif not is_timed[at]:
                self._bad += 1
                name = clean_text(event.name or "", 80)
                self._bad_example = self._bad_example or event_of(self.count + at, name)
            else:
                name = event.name or "unnamed"
                self.rows.append(self.count + at)
                self.names.append(self._texts.setdefault(name, name))
                self.devices.append(self._texts.setdefault(match[1], match[1]))
                self.threads.append(plain(event.tid))
                kept.append(at)
        self._times.append((starts[kept], lengths[kept]))
        self.count += len(events)

    @property
    def starts(self) -> Ints:
        """Starts in ns."""
        return np.concatenate([starts for starts, _ in self._times])

    @property
    def lengths(self) -> Ints:
        """Durations in ns."""
        return np.concatenate([lengths for _, lengths in self._times])

    def notes(self) -> list[Diagnostic]:
        """What was left out."""
        return [
            *noted("warning", "bad_time", self._bad, self._bad_example),
            *noted("info", "other_events", self._other),
        ]
