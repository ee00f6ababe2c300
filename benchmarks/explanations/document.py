"""A Kineto trace as a document whose time can be stretched: what changes are planted into."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np

Event = dict[str, Any]
ON_DEVICE = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
RUNTIME = ("cuda_runtime", "cuda_driver", "runtime")


class Document:
    """The events of one trace. Every change leaves launches before their kernels, and kernels of
    one stream one after the other: time is inserted for host and device alike."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self.whole = whole
        self.events: list[Event] = [
            event
            for event in whole["traceEvents"]
            if isinstance(event, dict) and not is_range_of_device(event)
        ]

    @classmethod
    def read(cls, path: Path) -> Document:
        """Return the document of a file, gzipped or plain."""
        data = path.read_bytes()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        return cls(json.loads(text.decode("utf-8", "replace"), strict=False))

    def copy(self) -> Document:
        """Return a document of its own with the same events."""
        return Document(self.whole | {"traceEvents": copy.deepcopy(self.events)})

    def write(self, path: Path) -> None:
        """Write the document, gzipped."""
        whole = self.whole | {"traceEvents": self.events}
        path.write_bytes(gzip.compress(json.dumps(whole).encode(), compresslevel=1))

    def kernels(self) -> list[Event]:
        """Return what ran on the device, in order of start."""
        chosen = [event for event in self.events if is_timed(event) and is_on_device(event)]
        return sorted(chosen, key=lambda event: float(event["ts"]))

    def steps(self) -> list[Event]:
        """Return the profiler's steps of the host, in order."""
        named = (e for e in self.events if str(e.get("name", "")).startswith("ProfilerStep#"))
        return sorted((e for e in named if is_timed(e)), key=lambda event: float(event["ts"]))

    def launches(self) -> dict[Any, Event]:
        """Return the calls of the host by correlation."""
        calls = (e for e in self.events if str(e.get("cat", "")).lower() in RUNTIME)
        return {correlation(call): call for call in calls if correlation(call) is not None}

    def insert(self, moments: dict[float, float]) -> None:
        """Insert time, in us: what begins at or after a moment begins so much later, and what runs
        then ends so much later."""
        points = np.array(sorted(moments), dtype="float64")
        before = np.concatenate(([0.0], np.cumsum([moments[at] for at in points.tolist()])))
        timed = [event for event in self.events if "ts" in event]
        starts = np.array([float(event["ts"]) for event in timed])
        lengths = np.array([float(event.get("dur", 0.0)) for event in timed])
        moved = before[np.searchsorted(points, starts, side="right")]
        ended = before[np.searchsorted(points, starts + lengths, side="left")]
        longer = np.maximum(ended - moved, 0.0)
        for at in np.flatnonzero((moved > 0) | (longer > 0)).tolist():
            event = timed[at]
            event["ts"] = round(float(starts[at] + moved[at]), 3)
            if "dur" in event:
                event["dur"] = round(float(lengths[at] + longer[at]), 3)

    def scale(self, kernels: list[Event], factor: float) -> float:
        """Make kernels take `factor` times as long, and move all that follows; return by how many
        us all together. What the host does meanwhile takes as much longer or shorter."""
        begins = np.array([float(kernel["ts"]) for kernel in kernels])
        lengths = np.array([float(kernel["dur"]) for kernel in kernels])
        order = np.argsort(begins, kind="stable")
        ends = np.minimum((begins + lengths)[order], np.append(begins[order][1:], np.inf))
        begins, kept = begins[order], ends > begins[order]
        begins, ends = begins[kept], ends[kept]
        after = np.cumsum((ends - begins) * (factor - 1))
        knots = np.stack((begins, ends), axis=1).ravel()
        moved = knots + np.stack((np.concatenate(([0.0], after[:-1])), after), axis=1).ravel()
        timed = [event for event in self.events if "ts" in event]
        starts = np.array([float(event["ts"]) for event in timed])
        stops = starts + np.array([float(event.get("dur", 0.0)) for event in timed])
        new_starts, new_stops = _moved(starts, knots, moved), _moved(stops, knots, moved)
        for event, start, stop in zip(timed, new_starts.tolist(), new_stops.tolist(), strict=True):
            event["ts"] = round(start, 3)
            if "dur" in event:
                event["dur"] = round(max(0.0, stop - start), 3)
        return float(after[-1])


def _moved(times: np.ndarray, knots: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Return where times lie after knots were moved; before the first and behind the last one all
    moves like it."""
    inner: np.ndarray = np.interp(times, knots, moved)
    outer = np.where(times < knots[0], times, times + moved[-1] - knots[-1])
    return np.where((times >= knots[0]) & (times <= knots[-1]), inner, outer)


def is_timed(event: Event) -> bool:
    """True for an event with a length."""
    return event.get("ph") == "X" and "dur" in event and "ts" in event


def is_on_device(event: Event) -> bool:
    """True for a kernel, a copy and a fill."""
    return str(event.get("cat", "")).lower() in ON_DEVICE


def is_range_of_device(event: Event) -> bool:
    """True for the host's marks on the device, which a planted change would leave wrong."""
    return str(event.get("cat", "")) == "gpu_user_annotation"


def correlation(event: Event) -> Any:
    """Return the number that a launch and its kernel share."""
    given = event.get("args")
    args: dict[str, Any] = given if isinstance(given, dict) else {}
    return args.get("correlation", args.get("External id"))
