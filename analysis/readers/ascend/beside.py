"""What lies beside kernel_details.csv: cache hits, step times, statistics, memory, settings, ranks.

Every file is known by its content, and joined only where it fits the kernels: files of two
recordings may lie side by side. One that is damaged costs what it says and nothing else.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fusescope.analysis.job import Collectives, Job
from fusescope.analysis.memory import MemoryUse
from fusescope.analysis.readers.ascend.columns import (
    DEVICE,
    STREAM,
    TASK,
    plain_type,
    task_kind,
    unguarded,
)
from fusescope.analysis.readers.ascend.communication import (
    collectives_of,
    holds_transfers,
    ids_of,
    read_communication,
)
from fusescope.analysis.readers.ascend.memory import memory_of, recorded_memory, sizes
from fusescope.analysis.readers.ascend.ranks import is_metadata, joined, read_metadata
from fusescope.analysis.readers.ascend.rows import AscendRows
from fusescope.analysis.readers.ascend.settings import Settings, is_settings, read_settings
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.csv_table import CsvTable, has_columns, head_cells, read_csv
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Diagnostic, Value, noted

_NOISE_NS = 1000  # step times went through doubles: a quarter of a µs is lost
_HOUR_NS = 3600 * 10**9
_STRANGERS = 0.02  # how far a step time may be off where several recordings lie side by side


@dataclass(frozen=True)
class StepTime:
    """One line of step_trace_time.csv, in ns; `period_ns` is Stage and Bubble together."""

    computing_ns: int | None
    period_ns: int | None


class AscendBeside(Beside):
    """What the files beside one kernel table add to it."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.steps: dict[str | None, StepTime] = {}
        self.columns: dict[str, list[object]] = {}
        self.settings: dict[str, Value] = {}
        self.memory: tuple[MemoryUse, ...] = ()
        self.job: Job | None = None
        self.collectives: Collectives | None = None


def may_add(head: bytes) -> bool:
    """Whether `read_beside` may look into a file with this head."""
    return any(sniff(head) for sniff, _ in _JOINED)


def read_beside(source: Source, rows: AscendRows, is_main: Callable[[bytes], bool]) -> AscendBeside:
    """What fits `rows` among `source.beside`; `is_main` knows files of the kernels' own format."""
    found = AscendBeside(source)
    is_alone = not found.those(is_main)
    for sniff, join in _JOINED:
        if candidates := found.those(sniff):
            join(sorted(candidates, key=nearest_first(source)), rows, found, is_alone)
    return found


def nearest_first(source: Source) -> Callable[[Source], tuple[bool, str]]:
    """A key that sorts files by path, those of the folder of `source` before the others."""
    folder = source.path.rpartition("/")[0]
    return lambda other: (other.path.rpartition("/")[0] != folder, other.path)


def is_statistic(head: bytes) -> bool:
    """True for op_statistic.csv and msprof's op_statistic_*.csv, not for the totals of collectives
    in communication_statistic_*.csv, which has no core types."""
    if not has_columns(head, "OP Type", "Count", "Total Time"):
        return False
    return has_columns(head, "Core Type") or not any(
        task_kind(None, cell) == "communication" for row in head_cells(head) for cell in row
    )


def statistic_rows(table: CsvTable) -> list[tuple[str | None, str | None, int | None, int | None]]:
    """(type, core type, calls, their time in ns) of each line; None where the file says none."""
    return list(
        zip(
            (cell and plain_type(unguarded(cell)) for cell in table.texts("OP Type")),
            (cell and unguarded(cell) for cell in table.texts("Core Type")),
            table.integers("Count"),
            table.ns("Total Time"),
            strict=True,
        )
    )


def union_ns(spans: Sequence[tuple[int, int]]) -> int:
    """Length of the union of (start, end) in ns."""
    total, reached = 0, None
    for start, end in sorted(spans):
        if reached is None or start > reached:
            total, reached = total + end - start, end
        elif end > reached:
            total, reached = total + end - reached, end
    return total


def _is_step_time(head: bytes) -> bool:
    # the table of a whole cluster has one line a rank
    is_step = has_columns(head, "Computing", "Overlapped", "Free")
    return is_step and not has_columns(head, "Computing", "Index")


def _join_steps(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    best: tuple[float, Source, dict[str | None, StepTime]] | None = None
    own = _computing(rows)
    for source in sources:
        table = found.load(source, read_csv)
        steps = _step_times(table, rows) if table is not None else {}
        if not set(steps) & set(own) and not (None in steps and is_alone):
            continue
        off = max(
            (
                min(abs(time.computing_ns - own[step][0]), abs(time.computing_ns - own[step][1]))
                / max(1, own[step][1])
                for step, time in steps.items()
                if step in own and time.computing_ns is not None
            ),
            default=0.0,
        )
        if (is_alone or off <= _STRANGERS) and (best is None or off < best[0]):
            best = off, source, steps
    if best is None:
        return
    found.files.append(best[1].path)
    found.steps = best[2]
    _compare_steps(own, found)


def _step_times(table: CsvTable, rows: AscendRows) -> dict[str | None, StepTime]:
    computing, stage, bubble = (table.ns(name) for name in ("Computing", "Stage", "Bubble"))
    devices = {device for device in rows.columns["device"] if device is not None}
    found: dict[str | None, StepTime] = {}
    lines = zip(table.texts("Step"), table.texts(*DEVICE), computing, stage, bubble, strict=True)
    for step, device, busy, end_to_end, idle in lines:
        if device is None or not devices or device in devices:
            period = None if end_to_end is None else end_to_end + (idle or 0)
            found.setdefault(step, StepTime(busy, period))
    return found


def _computing(rows: AscendRows) -> dict[str | None, tuple[int, int]]:
    """Time of the kernels of each step in ns: their union, and their sum."""
    spans: dict[str | None, list[tuple[int, int]]] = {}
    sums: Counter[str | None] = Counter()
    columns = rows.columns
    for step, start, dur, is_communication in zip(
        rows.steps, columns["start_ns"], columns["dur_ns"], columns["is_communication"], strict=True
    ):
        if is_communication or not isinstance(dur, int) or dur < 0:
            continue
        sums[step] += dur
        if isinstance(start, int):
            spans.setdefault(step, []).append((start, start + dur))
    return {step: (union_ns(spans.get(step, [])) or sums[step], sums[step]) for step in sums}


def _compare_steps(own: dict[str | None, tuple[int, int]], found: AscendBeside) -> None:
    """Notes where the file's Computing is not the sum of the step's kernels."""
    differing, explained = [], True
    for step, time in found.steps.items():
        if step not in own or time.computing_ns is None:
            continue
        union, total = own[step]
        noise = max(_NOISE_NS, total // 10_000)
        if abs(time.computing_ns - total) > noise:
            differing.append((step, time.computing_ns, union, total))
            explained &= union - noise <= time.computing_ns <= total
    if differing:
        step, computing, union, total = differing[0]
        values: dict[str, Value] = {
            "step": step, "computing_ns": computing, "union_ns": union, "sum_ns": total,
        }  # fmt: skip
        found.notes.append(
            Diagnostic("info", "step_time_overlaps", len(differing), values=values)
            if explained
            else Diagnostic("warning", "step_time_differs", len(differing), values=values)
        )


def _is_cache(head: bytes) -> bool:
    return has_columns(head, "Stream Id", "Task Id", "Hit Rate", "Victim Rate")


def _join_cache(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    best: tuple[int, Source, CsvTable, list[int | None]] | None = None
    for source in sources:
        table = found.load(source, read_csv)
        if table is None:
            continue
        partners = _cache_partners(table, rows)
        joined = sum(index is not None for index in partners)
        fits = joined * 2 >= len(table) or (is_alone and not any(rows.tasks))
        if fits and (best is None or joined > best[0]):
            best = joined, source, table, partners
    if best is None:
        return
    _, source, table, partners = best
    found.files.append(source.path)
    partner_of = zip(table.texts("Op Name"), partners, strict=True)
    unmatched = [name or "" for name, index in partner_of if index is None]
    found.notes += noted("info", "companion_unmatched", unmatched, chars=80)
    for head, name in (("Hit Rate", "l2_hit_rate"), ("Victim Rate", "l2_victim_rate")):
        values: list[object] = [None] * len(rows.tasks)
        for value, index in zip(table.numbers(head), partners, strict=True):
            if index is not None:
                values[index] = value
        found.columns[name] = values


def _cache_partners(table: CsvTable, rows: AscendRows) -> list[int | None]:
    """The kernel of each line: same stream, task and name, in order; without the name where the
    task is the only one of its number."""
    by_name: dict[tuple[object, ...], list[int]] = {}
    by_task: dict[tuple[object, ...], list[int]] = {}
    columns = rows.columns
    for index, (stream, number, name) in enumerate(
        zip(columns["stream"], rows.tasks, columns["name"], strict=True)
    ):
        if number is not None:
            by_name.setdefault((stream, number, name), []).append(index)
            by_task.setdefault((stream, number), []).append(index)
    lines = list(zip(table.texts(*STREAM), table.texts(*TASK), table.texts("Op Name"), strict=True))
    often = Counter((stream, task) for stream, task, _ in lines)
    seen: Counter[tuple[object, ...]] = Counter()
    partners: list[int | None] = []
    for line in lines:
        task = (line[0], line[1])
        indices = by_name.get(line, [])
        if not indices and often[task] == 1 and len(by_task.get(task, [])) == 1:
            indices = by_task[task]
        partners.append(indices[seen[line]] if seen[line] < len(indices) else None)
        seen[line] += 1
    return partners


def _check_statistic(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Takes the statistics of these kernels, and notes types whose count or time differs."""
    own: dict[tuple[object, object], list[int]] = {}
    columns = rows.columns
    for op_type, core, dur, is_communication in zip(
        columns["op_type"],
        columns["provider"],
        columns["dur_ns"],
        columns["is_communication"],
        strict=True,
    ):
        if not is_communication and isinstance(dur, int) and op_type is not None:
            sums = own.setdefault((op_type, core), [0, 0])
            sums[0] += 1
            sums[1] += dur
    best: tuple[int, Source, list[str]] | None = None
    for source in sources:
        table = found.load(source, read_csv)
        if table is None or not own:
            continue
        listed: dict[tuple[object, object], list[int]] = {}
        for op_type, core, count, total in statistic_rows(table):
            if op_type is not None:
                sums = listed.setdefault((op_type, core), [0, 0])
                sums[0] += count or 0
                sums[1] += total or 0
        differing = [
            str(key[0])
            for key in dict.fromkeys((*own, *listed))
            if not _agree(own.get(key, [0, 0]), listed.get(key, [0, 0]))
        ]
        shared = len(set(own) & set(listed))
        fits = shared * 2 >= len(listed) and (is_alone or len(differing) * 2 <= shared)
        if fits and (best is None or len(differing) < best[0]):
            best = len(differing), source, differing
    if best is None:
        return
    found.files.append(best[1].path)
    found.notes += noted("warning", "statistic_differs", best[2], chars=80)


def _agree(own: list[int], listed: list[int]) -> bool:
    return own[0] == listed[0] and abs(own[1] - listed[1]) <= max(_NOISE_NS, own[0])


def _is_memory(head: bytes) -> bool:
    return has_columns(head, "Name", "Size", "Allocation Time", "Allocation Total Allocated")


def _note_memory(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Notes the most device memory that was allocated and reserved while the kernels ran."""
    starts = [start for start in rows.columns["start_ns"] if isinstance(start, int)]
    for source in sources:
        table = found.load(source, read_csv)
        if table is None:
            continue
        if not _is_near(table.ns("Allocation Time"), starts, is_alone=is_alone):
            continue
        found.files.append(source.path)
        values: dict[str, Value] = {}
        for what in ("Allocated", "Reserved"):
            columns = (sizes(table, f"{when} Total {what}") for when in ("Allocation", "Release"))
            known = [size for size in itertools.chain.from_iterable(columns) if size is not None]
            values[f"{what.lower()}_mb"] = max(known) / 10**6 if known else None
        found.notes.append(Diagnostic("info", "device_memory", values=values))
        found.memory, notes = memory_of(table, source.limits)
        found.notes += notes
        return


def _is_record(head: bytes) -> bool:
    return has_columns(head, "Component", "Timestamp", "Total Allocated")


def _take_record(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Memory over time where no table of operators has told it."""
    starts = [start for start in rows.columns["start_ns"] if isinstance(start, int)]
    for source in [] if found.memory else sources:
        table = found.load(source, read_csv)
        if table is None or not _is_near(table.ns("Timestamp"), starts, is_alone=is_alone):
            continue
        memory, notes = recorded_memory(table, source.limits)
        if memory:
            found.files.append(source.path)
            found.memory = memory
            found.notes += notes
            return


def _is_near(times: Sequence[int | None], starts: Sequence[int], *, is_alone: bool) -> bool:
    """Whether times are within an hour of the kernels, or nothing is known of them and no other
    recording is there."""
    known = [ns for ns in times if ns is not None]
    if not known or not starts:
        return is_alone and not starts
    return min(known) <= max(starts) + _HOUR_NS and max(known) >= min(starts) - _HOUR_NS


def _take_settings(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Takes the settings of these kernels: of several files the one written soonest after them."""
    starts = [start for start in rows.columns["start_ns"] if isinstance(start, int)]
    best: tuple[int, Source, Settings] | None = None
    for source in sources:
        settings = found.load(source, read_settings)
        if settings is None:
            continue
        ended = settings.ended_ns
        after = ended - max(starts) if ended is not None and starts else None
        if after is not None and not is_alone and not 0 <= after < _HOUR_NS:
            continue
        distance = abs(after) if after is not None else _HOUR_NS
        if best is None or distance < best[0]:
            best = distance, source, settings
    if best is None:
        return
    found.files.append(best[1].path)
    found.settings = best[2].values
    found.job = joined(best[2].rank, best[2].world, found.job)
    shown = {key: value for key, value in found.settings.items() if value is not None}
    if shown:
        found.notes.append(Diagnostic("info", "recorded_with", values=shown))


def _take_groups(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Takes the groups that ranks communicate in: of several files that of the nearest folder
    around the kernels."""
    around = [one for one in sources if found.source.path.startswith(_folder(one))]
    chosen = max(around, key=lambda one: len(_folder(one)), default=None)
    if chosen is None and is_alone and len(sources) == 1:
        chosen = sources[0]
    job = found.load(chosen, read_metadata) if chosen is not None else None
    if chosen is not None and job is not None:
        found.files.append(chosen.path)
        found.job = joined(None, None, job, found.job)


def _folder(source: Source) -> str:
    folder, slash, _ = source.path.rpartition("/")
    return folder + slash


def _take_transfers(
    sources: list[Source], rows: AscendRows, found: AscendBeside, is_alone: bool
) -> None:
    """Takes when data moved inside the collectives: of the file whose times are those of the
    kernels."""
    columns = rows.columns
    for source in sources:
        tasks = found.load(source, read_communication)
        if tasks is None:
            continue
        told = (columns["name"], rows.steps, columns["source_row"], columns["dur_ns"])
        collectives = collectives_of(*told, tasks)
        if collectives is not None:
            found.files.append(source.path)
            found.collectives = collectives
            found.job = joined(None, None, found.job, Job(ids=ids_of(tasks)))
            return


_JOINED = (
    (_is_step_time, _join_steps),
    (_is_cache, _join_cache),
    (is_statistic, _check_statistic),
    (_is_memory, _note_memory),
    (_is_record, _take_record),
    (is_metadata, _take_groups),
    (holds_transfers, _take_transfers),
    (is_settings, _take_settings),
)
