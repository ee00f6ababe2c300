"""Kernels of a device in profiles of recordings of ours with torch, by the call that launched them:
the call to the runtime with a kernel's correlation says which operator of the host was running."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fusescope.analysis.readers.pytorch.event import Span
from fusescope.analysis.readers.pytorch.events import Sorted
from fusescope.analysis.readers.pytorch.launches import Launches
from fusescope.analysis.text import clean_text


class LaunchedKernels:
    """The kernels, copies and fills of one file."""

    def __init__(self, found: Sorted) -> None:
        self.kernels = list(found.kernels)
        ops = Launches(found).all(found.kernels).ops.tolist() if self.kernels else []
        rows = found.ops.rows
        self._by_row: dict[int, list[Span]] = {}
        self._left: list[Span] = []
        for kernel, op in zip(self.kernels, ops, strict=True):
            if op < 0:
                self._left.append(kernel)
            else:
                self._by_row.setdefault(int(rows[op]), []).append(kernel)

    def of(self, rows: Iterable[int]) -> list[Span]:
        """Take the kernels that operators at these rows of the file launched, by start."""
        found = [kernel for row in rows for kernel in self._by_row.pop(row, ())]
        return sorted(found, key=lambda kernel: kernel.start_ns)

    def left(self, run: Span) -> list[Span]:
        """Take the kernels that ran in this run and that no call of it launched, by start."""
        own = [kernel for kernels in self._by_row.values() for kernel in kernels]
        found = [one for one in (*self._left, *own) if run.start_ns <= one.start_ns < run.end_ns]
        taken = set(map(id, found))
        self._left = [one for one in self._left if id(one) not in taken]
        self._by_row = {
            row: kept
            for row, kernels in self._by_row.items()
            if (kept := [one for one in kernels if id(one) not in taken])
        }
        return sorted(found, key=lambda kernel: kernel.start_ns)


def kernel_times(kernels: Sequence[Span], called_ns: int) -> dict[str, object]:
    """Return when what a call launched ran on the device: from the first of its kernels, for as
    long as all of them; no time where it launched nothing."""
    if not kernels:
        return {"start_ns": called_ns, "dur_ns": 0}
    return {"start_ns": kernels[0].start_ns, "dur_ns": sum(one.dur_ns for one in kernels)}


def kernel_row(kernel: Span, provider: str, device: str) -> dict[str, object]:
    """Return the row of a kernel that no call launched."""
    name = clean_text(kernel.name, 400) or "unnamed"
    return {
        "name": name,
        "op_type": name,
        "provider": provider,
        "level": "framework_op",
        "device": device,
        "stream": clean_text(f"stream {kernel.lane[1].decode('utf-8', 'replace')}", 40),
        "start_ns": kernel.start_ns,
        "dur_ns": kernel.dur_ns,
        "source_row": kernel.row,
    }
