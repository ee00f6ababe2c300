"""What a recording of rocprof holds, collected from its files: columns of a trace."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from fusescope.analysis.limits import Limits
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

COPY = "MEMORY_COPY"
MAX_COUNTERS = 300  # of one recording; hardware counts a few dozen at a time
_OBJECT_FILE = re.compile(r"\s?(?:\(?\.kd\)?|\[clone \.kd\])$")


def is_call(name: str | None) -> bool:
    """True for the name of a call of HIP."""
    return name is not None and name.startswith("hip")


@dataclass(frozen=True, slots=True)
class HipCall:
    """A call of HIP: its name, process and thread, start and end in ns, and the number that what it
    launched has as well; None where not known."""

    name: str
    process: Hashable
    thread: Hashable
    start_ns: int
    end_ns: int | None
    correlation: str | None = None


@dataclass
class RocprofRows:
    """Columns under the names of a trace, one entry a dispatch or copy.

    `products` names each GPU by its agent, `files` are paths of companions that were read.
    """

    limits: Limits
    columns: Columns = field(
        default_factory=lambda: Columns("name", "start_ns", "dur_ns", "device")
    )
    notes: list[Diagnostic] = field(default_factory=list)
    products: dict[str, str] = field(default_factory=dict)
    private: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    calls: list[HipCall] = field(default_factory=list)
    tool: str = "rocprofv3"

    def note_beyond(self, counters: Sequence[str]) -> None:
        """Count values that were left out, by the names of their counters."""
        self.notes += noted("warning", "counters_beyond", counters, chars=80)

    def merge(self, twin: RocprofRows) -> bool:
        """True when the other file holds the same dispatches; what it has more is taken over."""
        if self.kernels() != twin.kernels():
            return False
        self.products.update(twin.products)
        self.private.update(twin.private)
        if not self.has_calls():
            self.calls = twin.calls
        if twin.has_copies() and not self.has_copies():
            copied = [str(name).startswith(COPY) for name in twin.columns["name"]]
            self.columns.extend(
                {
                    name: [cell for cell, wanted in zip(cells, copied, strict=True) if wanted]
                    for name, cells in twin.columns.items()
                }
            )
        self.notes += [note for note in twin.notes if note.code == "counters_beyond"]
        known = {key: row for row, key in enumerate(twin.keys())}
        rows = [known.get(key) for key in self.keys()]
        for name, cells in twin.columns.items():
            if name not in self.columns:
                self.columns[name] = [None if row is None else cells[row] for row in rows]
        return True

    def keys(self) -> list[tuple[bool, object, object]]:
        """Whether it is a copy, start and duration of each row."""
        return [
            (str(name).startswith(COPY), start, dur)
            for name, start, dur in zip(
                self.columns["name"], self.columns["start_ns"], self.columns["dur_ns"], strict=True
            )
        ]

    def kernels(self) -> set[tuple[bool, object, object]]:
        """The keys of kernels."""
        return {key for key in self.keys() if not key[0]}

    def has_copies(self) -> bool:
        """True when copies of memory are among the rows."""
        return any(str(name).startswith(COPY) for name in self.columns["name"])

    def add_call(
        self,
        name: str | None,
        process: Hashable,
        thread: Hashable,
        start_ns: int | None,
        end_ns: int | None,
        correlation: str | None = None,
    ) -> None:
        """A call of the host: kept where it is one of HIP."""
        if start_ns is None or name is None or not is_call(name):
            return
        is_whole = end_ns is not None and end_ns >= start_ns
        end_ns = end_ns if is_whole else None
        self.calls.append(HipCall(name, process, thread, start_ns, end_ns, correlation))

    def has_calls(self) -> bool:
        """True when calls of HIP are known."""
        return bool(self.calls)

    def meets(self, starts: Sequence[int | None]) -> bool:
        """True when times of another file lie around those of this one: one clock, one run."""
        own = [start for start in self.columns["start_ns"] if isinstance(start, int)]
        other = [start for start in starts if start is not None]
        if not own or not other:
            return False
        reach = max(max(own) - min(own), 10**9)
        return min(other) <= max(own) + reach and max(other) >= min(own) - reach

    def device_names(self, devices: Sequence[object]) -> str | None:
        """The products among these devices; all of them where they name no agent."""
        used = dict.fromkeys(
            self.products[device] for device in map(str, devices) if device in self.products
        )
        names = used or dict.fromkeys(self.products.values())
        return clean_text(", ".join(names), 120) or None


def kernel_name(name: str | None) -> str:
    """A kernel's name without its object file: 'saxpy(int) [clone .kd]' -> 'saxpy(int)'."""
    return _OBJECT_FILE.sub("", name or "").rstrip() or "unnamed"


def copy_name(way: str | None) -> str:
    """'MEMORY_COPY_HOST_TO_DEVICE' of that, or of 'HOST_TO_DEVICE'."""
    text = (way or "").upper()
    return text if text.startswith(COPY) else f"{COPY}_{text}".rstrip("_")


def agent_name(number: str | None) -> str | None:
    """'Agent 7' of that, or of '7'."""
    return f"Agent {number}" if number is not None and number.isdigit() else number


def durations(starts: Sequence[object], ends: Sequence[object]) -> list[object]:
    """End - start in ns, None where one lacks."""
    return [
        end - start if isinstance(start, int) and isinstance(end, int) else None
        for start, end in zip(starts, ends, strict=True)
    ]
