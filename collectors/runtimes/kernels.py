"""Times of what a process starts on a device: of the kernels themselves where CUPTI tells them,
else of operators for whose kernels the host waits."""

from __future__ import annotations

import os
from bisect import bisect_right
from pathlib import Path
from typing import Any, Literal

import msgspec

from fusescope.collectors.runtimes import cupti, providers

KernelTimes = Literal["device", "host"]  # as a recording tells by which clock
_NODE = "_kernel_time"
_recording: list[cupti.Recording] = []  # one at most, of this process


class _Event(msgspec.Struct):
    cat: str = ""
    name: str = ""
    ts: float = 0
    dur: float = 0
    tid: Any = 0
    args: dict[str, Any] = {}

    @property
    def provider(self) -> str:
        return str(self.args.get("provider", ""))


def are_timed() -> bool:
    """Whether profiles of this process have the kernels."""
    return bool(_recording)


def time_them() -> KernelTimes:
    """From here on: 'device' where profiles have the kernels, 'host' where this process waits for
    every kernel that it starts. For processes that have not used a device yet."""
    if _recording:
        return "device"
    try:
        _recording.append(cupti.started())
    except cupti.NotTimed:
        providers.wait_for_kernels()
        return "host"
    return "device"


def add_to(profile: Path, zero_ns: int) -> None:
    """Adds the kernels and copies until now to an ONNX Runtime profile, whose clock starts at
    `zero_ns` since 1970, as its own `Kernel` events: after the node that launched them, at the end
    those that no node did. The other events stay as they are.
    Only where kernels `are_timed`; the profile stays as it is where CUPTI does not tell them."""
    try:
        activities = _recording[0].activities()
    except cupti.NotTimed:
        return
    raw = msgspec.json.decode(profile.read_bytes(), type=list[msgspec.Raw])
    events = [msgspec.json.decode(one, type=_Event) for one in raw]
    runs = _Spans([one if one.name == "model_run" else None for one in events])
    nodes = _Spans([one if one.name.endswith(_NODE) else None for one in events])
    launched: list[tuple[cupti.Activity, int | None]] = []
    for one in activities:
        us = ((one.start_ns if one.launched_ns is None else one.launched_ns) - zero_ns) / 1000
        if runs.at(us) is not None:  # others are of opening the session: weights
            launched.append((one, None if one.launched_ns is None else nodes.at(us)))
    first = next((node for _, node in launched if node is not None), None)
    usual = "" if first is None else events[first].provider  # of what no node launched
    after: dict[int, list[bytes]] = {}
    for one, node in launched:
        parent = None if node is None else events[node]
        text = _kernel(one, zero_ns, parent, usual if parent is None else parent.provider)
        after.setdefault(len(events) if node is None else node, []).append(text)
    texts: list[bytes] = []
    for place, text in enumerate(raw):
        texts += [bytes(text), *after.get(place, ())]
    texts += after.get(len(events), [])
    profile.write_bytes(b"[\n" + b",\n".join(texts) + b"\n]\n")


def _kernel(one: cupti.Activity, zero_ns: int, parent: _Event | None, provider: str) -> bytes:
    args = {"stream": str(one.stream), "provider": provider}
    if parent is not None:
        args["parent_name"] = parent.name
    elif one.is_copy:
        args["op_name"] = one.name
    return msgspec.json.encode(
        {
            "cat": "Kernel",
            "pid": os.getpid(),
            "tid": 0 if parent is None else parent.tid,
            "ts": (one.start_ns - zero_ns) / 1000,
            "dur": one.dur_ns / 1000,
            "ph": "X",
            "name": one.name,
            "args": args,
        }
    )


class _Spans:
    """Where in a file the event lies that holds a time in µs; the innermost of several."""

    def __init__(self, events: list[_Event | None]) -> None:
        found = [(one.ts, one.ts + one.dur, place) for place, one in enumerate(events) if one]
        self._found = sorted(found, key=lambda span: (span[0], -span[1]))
        self._starts = [start for start, _, _ in self._found]
        self._around: list[int] = []  # of each the one that was open when it began, -1 for none
        open_: list[int] = []
        for number, (start, _, _) in enumerate(self._found):
            while open_ and self._found[open_[-1]][1] < start:
                open_.pop()
            self._around.append(open_[-1] if open_ else -1)
            open_.append(number)

    def at(self, us: float) -> int | None:
        """Times in the file are cut to whole µs, so a span ends up to 1 µs later than it says."""
        number = bisect_right(self._starts, us) - 1
        while number >= 0:
            _, end, place = self._found[number]
            if end + 1 >= us:
                return place
            number = self._around[number]
        return None
