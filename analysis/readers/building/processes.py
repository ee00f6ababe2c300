"""Processes and devices: one file may hold what several of them did.

Where the reader can take them apart, each is a trace of its own: the one that is shown has the
others in `others`. Where it cannot, the file was put together of several, which is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import Message, Said
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, DiagnosticCode, Trace, Value

MAX_UNITS = 64  # processes or devices of one file that are taken apart
_MAX_DIGITS = 18
_NAMED = 7  # of the others, in a sentence
_FIGURES = Message("{name:name} ({executions:executions}, {time:duration})")
_COPIES_ALONE = Message(
    "{name:name} ({n:count} copy or fill of memory, {time:duration})",
    "{name:name} ({n:count} copies or fills of memory, {time:duration})",
)
_COPIES = ("Memcpy", "Memset")  # how every reader names copies and fills of memory
_NEXT_FIGURES = Message("{start}, {next}")

Unit = tuple[str, Sequence[int]]


@dataclass(frozen=True)
class Units:
    """Names of processes or devices with the positions of their rows; one without a name where
    there is nothing to take apart, and where there are `beyond` of them, more than MAX_UNITS.
    `untold` rows do not say of which device or process they are: most of these stand with the one
    that is called `untold_in`."""

    parts: tuple[Unit, ...]
    beyond: int = 0
    untold: int = 0
    untold_in: str = ""

    @classmethod
    def one(cls, rows: int, beyond: int = 0) -> Units:
        """All of so many rows together."""
        return cls((("", range(rows)),), beyond)

    @property
    def is_one(self) -> bool:
        return len(self.parts) == 1

    @property
    def notes(self) -> list[Diagnostic]:
        """What is said of too many processes and devices, and of rows that do not tell theirs."""
        notes = units_beyond(self.beyond) if self.beyond else []
        if self.untold:
            values: dict[str, Value] = {"unit": self.untold_in}
            notes.append(Diagnostic("warning", "units_untold", self.untold, values=values))
        return notes


def units_beyond(count: int) -> list[Diagnostic]:
    """A note on a file of so many processes and devices, which stay together."""
    return [Diagnostic("warning", "units_beyond", count, values={"limit": MAX_UNITS})]


def several_processes(of_rows: Iterable[Hashable | None]) -> list[Diagnostic]:
    """A note with the number of processes where rows are of more than one; None is unknown."""
    counts = Counter(of_row for of_row in of_rows if of_row is not None)
    if len(counts) < 2:
        return []
    rows = ", ".join(f"{_text(of_row)}: {count}" for of_row, count in counts.most_common(4))
    return [Diagnostic("warning", "several_processes", len(counts), clean_text(rows, 120))]


def units_of(
    processes: Sequence[object],
    devices: Sequence[object],
    is_kernel: Sequence[object],
    process_name: Callable[[object], str] = str,
) -> Units:
    """The rows of each process, and of each of its devices where kernels ran on several: its name,
    `process:7`, `device:1` or `process:7+device:1`, and the positions of its rows.

    A copy to a device without kernels of its process belongs to the first device of that, a row of
    no known process to the first one.
    """
    kernels: dict[object, dict[object, int]] = {}
    known: dict[object, None] = {}
    for process, device, has_kernel in zip(processes, devices, is_kernel, strict=True):
        if process is not None:
            known.setdefault(process)
        if has_kernel and device is not None:
            kernels.setdefault(process, {}).setdefault(device, len(kernels))
    order = sorted(known, key=lambda one: (_first_device(kernels.get(one, ())), _rank(one)))
    first = order[0] if order else None
    found: dict[tuple[object, object], list[int]] = {}
    first_device: dict[object, object] = {}
    for process in order or [None]:
        for device in sorted(kernels.get(process, ()), key=_rank) or [None]:
            found[process, device] = []
            first_device.setdefault(process, device)
    untold: Counter[tuple[object, object]] = Counter()
    for row, (process, device) in enumerate(zip(processes, devices, strict=True)):
        own = process if process is not None else first
        key = (own, device) if (own, device) in found else (own, first_device[own])
        found[key].append(row)
        if own is not process or (device is None and key[1] is not None):
            untold[key] += 1
    filled = {key: rows for key, rows in found.items() if rows}
    if not 1 < len(filled) <= MAX_UNITS:
        return Units.one(len(processes), len(filled) if len(filled) > 1 else 0)
    of_process = Counter(process for process, _ in filled)
    names = {process: process_name(process) for process in of_process}
    if len(set(names.values())) < len(names):  # of two machines
        names = {process: str(process) for process in of_process}
    called = {
        (process, device): _unit_name(
            names[process] if len(names) > 1 else "", device, of_process[process]
        )
        for process, device in filled
    }
    several = {process for process, count in of_process.items() if count > 1}
    lacking = {key: n for key, n in untold.items() if len(names) > 1 or key[0] in several}
    most = max(lacking, key=lambda key: lacking[key], default=None)
    return Units(
        tuple((called[key], rows) for key, rows in filled.items()),
        untold=sum(lacking.values()),
        untold_in="" if most is None else called[most],
    )


def devices_of(devices: Sequence[object]) -> Units:
    """The rows of each device, in a file whose every row is of one process and ran on a device."""
    if len(set(devices) - {None}) < 2:
        return Units.one(len(devices))
    return units_of([None] * len(devices), devices, [True] * len(devices))


def _first_device(devices: Iterable[object]) -> tuple[int, int, str]:
    """The rank of a process by its devices; one without kernels comes last."""
    return min(map(_rank, devices), default=(2, 0, ""))


def _unit_name(process: str, device: object, devices: int) -> str:
    parts = [f"process:{process}"] if process else []
    if devices > 1:
        parts.append(f"device:{device}")
    return clean_text("+".join(parts), 80)


def _rank(value: object) -> tuple[int, int, str]:
    """Numbers by their size, also those that are text, in front of other texts."""
    text = str(value)
    is_number = text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS
    return (0, int(text), "") if is_number else (1, 0, text)


def rows_of(
    columns: Mapping[str, Sequence[object]], rows: Sequence[int]
) -> Mapping[str, Sequence[object]]:
    """The columns of a unit's rows: as they are where these are all."""
    if rows == range(len(next(iter(columns.values()), ()))):
        return columns
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def taken_apart(units: Units, build: Callable[[Sequence[int]], Trace]) -> Trace:
    """The trace that is shown of these units, which `build` makes of their rows; a unit without a
    single valid time is left out and its rows are counted. Raises FuseScopeError where no unit has
    one, and what `build` raises."""
    if units.is_one:
        whole = build(units.parts[0][1])
        return replace(whole, diagnostics=(*whole.diagnostics, *units.notes))
    found: dict[str, Trace] = {}
    untimed = 0
    for name, rows in units.parts:
        try:
            trace = build(rows)
            found[name] = replace(trace, diagnostics=(*trace.diagnostics, *units.notes))
        except FuseScopeError as error:
            if error.code != "no_valid_times":
                raise
            untimed, refused = untimed + len(rows), error
    if not found:
        raise refused
    shown = shown_of(found)
    if not untimed:
        return shown
    total = sum(len(rows) for _, rows in units.parts)
    note = Diagnostic("warning", "bad_time", untimed, values={"of": total})
    return replace(shown, diagnostics=(*shown.diagnostics, note))


def shown_of(traces: Mapping[str, Trace]) -> Trace:
    """The trace that stands for a file of several processes or devices, by their names: the first
    that computes at least half as long as the longest, with the others behind it.

    Each says which one it is, and what the others are: how many of all are `computing`, not only
    copying or filling memory, and how many are `alike`, which run an operator of its own, with
    itself. A single one is returned as it is.
    """
    if len(traces) == 1:
        return next(iter(traces.values()))
    times = {name: int(trace.calls["dur_ns"].sum()) for name, trace in traces.items()}
    shown = next(name for name, time in times.items() if 2 * time >= max(times.values()))
    code: DiagnosticCode = (
        "one_of_processes"
        if any(name.startswith("process:") for name in traces)
        else "one_of_devices"
    )
    computes = {name: _computes(trace) for name, trace in traces.items()}
    figures = {
        name: _figures(name, trace, times[name], computes=computes[name])
        for name, trace in traces.items()
    }
    names = {name: frozenset(trace.texts("name")) for name, trace in traces.items()}

    def told(name: str) -> Trace:
        others = [other for other in traces if other != name]
        note = Diagnostic(
            "info",
            code,
            len(traces),
            values={
                "shown": figures[name],
                "others": _listed([figures[other] for other in others]),
                "computing": sum(computes.values()),
                "alike": 1 + sum(not names[name].isdisjoint(names[other]) for other in others),
            },
        )
        trace = traces[name]
        return replace(
            trace,
            meta=replace(trace.meta, variant=name),
            diagnostics=(note, *trace.diagnostics),
        )

    every = {name: told(name) for name in traces}
    others = tuple(trace for name, trace in every.items() if name != shown)
    return replace(every[shown], others=others)


def _computes(trace: Trace) -> bool:
    """Return whether anything runs but copies and fills of memory."""
    return not all(of.startswith(_COPIES) for of in trace.texts("op_type"))


def _figures(name: str, trace: Trace, ns: int, *, computes: bool) -> Said:
    n = int(trace.calls["n"].sum())
    if computes:
        return _FIGURES.of(name=name, executions=n, time=ns)
    return _COPIES_ALONE.of(name=name, n=n, time=ns)


def _listed(figures: Sequence[Said]) -> Said:
    listed = figures[0]
    for one in figures[1:_NAMED]:
        listed = _NEXT_FIGURES.of(start=listed, next=one)
    return listed if len(figures) <= _NAMED else _NEXT_FIGURES.of(start=listed, next="…")


def _text(value: Hashable) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
