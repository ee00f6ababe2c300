"""`msprof op`: one operator measured alone, an OPPROF_* folder of small tables.

OpBasicInfo.csv names the operator and its duration; the other tables have one row per block and
core (`cube0`, `vector0`, `vector1`), with N/A in the columns of the other kind of core. A
counter of the operator is, over its blocks: a time the longest one, a count, an amount of data or
a bandwidth the sum (all blocks are measured against the same duration), a hit rate hits over
accesses, and another ratio the mean weighted by the time of the core.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.csv_table import (
    Column,
    CsvTable,
    column_key,
    has_columns,
    read_csv,
)
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader, anything
from fusescope.analysis.text import display_name
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, Trace, noted

_BASIC = ("Op Name", "Task Duration", ("Block Dim", "Block Num"))
_OF_A_TASK = ("Task Start Time", "Start Time", "Task Type", "Task Wait Time", "Task ID")
_BLOCKS = ("block_id", "sub_block_id")
_NOT_COUNTERS = {"blockid", "subblockid", "aictotalcycles", "aivtotalcycles"}
_CORES = ("aic", "aiv")


@dataclass(frozen=True)
class _Table:
    """One per-block table and where it lies."""

    source: Source
    table: CsvTable

    @property
    def kind(self) -> tuple[str, ...]:
        """What it measures: its column heads."""
        return tuple(column_key(column.head) for column in self.table.columns)

    @property
    def blocks(self) -> frozenset[tuple[str | None, str | None]]:
        return frozenset(
            zip(self.table.texts("block_id"), self.table.texts("sub_block_id"), strict=True)
        )

    @property
    def cycles(self) -> list[tuple[str | None, ...]]:
        """What tells two measurements of the same blocks apart."""
        names = (*_BLOCKS, "aic_total_cycles", "aiv_total_cycles")
        return sorted(
            zip(*(self.table.texts(name) for name in names), strict=True),
            key=lambda row: tuple(cell or "" for cell in row),
        )


def _sniff(head: bytes) -> bool:
    """OpBasicInfo.csv, or a table with a row per block."""
    return _is_basic(head) or has_columns(head, *_BLOCKS)


def _read(source: Source) -> Trace:
    """The operator with its counters; blocks are brought together as the module says."""
    notes: list[Diagnostic] = []
    basic, tables = _files(source, notes)
    read = [t.source for t in tables] + ([basic.source] if basic else [])
    others = tuple(s.path for s in read if s.path != source.path)
    shown = display_name(source.path.split("/")[-2]) if "/" in source.path else source.name
    if basic is None:
        rows = _without_basic(tables, shown, source, notes)
    else:
        rows = _operators(basic.table, tables, notes)
    meta = source.meta(MSPROF_OP.name, "msprof op", files=others)
    return build_trace(meta, rows, notes=notes, limits=source.limits)


MSPROF_OP = Reader(
    name="msprof_op",
    title=mark("msprof op, OPPROF_* folder"),
    fields={
        "counters": mark("Give the whole OPPROF_* folder, recorded with --aic-metrics=Default."),
        "flops": mark("Record with --aic-metrics=ArithmeticUtilization."),
    },
    recording=(
        "`msprof op --aic-metrics=Default --output=DIR ./application`, and give the whole "
        "`OPPROF_*` folder."
    ),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


def _is_basic(head: bytes) -> bool:
    return has_columns(head, *_BASIC) and not has_columns(head, _OF_A_TASK)


def _kind(file: Source) -> Literal["basic", "blocks"] | None:
    """Which of the tables a file is by its head; None for all others, and for what has none."""
    try:
        head = file.head
    except FuseScopeError:
        return None
    if _is_basic(head):
        return "basic"
    return "blocks" if has_columns(head, *_BLOCKS) else None


def _files(source: Source, notes: list[Diagnostic]) -> tuple[_Table | None, list[_Table]]:
    """OpBasicInfo.csv and the per-block tables of the folder that belong to `source`."""
    folder = source.path.rpartition("/")[0]
    basics: list[_Table] = []
    blocks: list[_Table] = []
    for file in (source, *source.beside):
        if file.path.rpartition("/")[0] != folder:
            continue
        kind = _kind(file)
        if kind is None:
            continue
        is_basic = kind == "basic"
        try:
            table = read_csv(file, (_BLOCKS[0], _BASIC[0]))
        except FuseScopeError:
            if file is source:
                raise
            notes.append(Diagnostic("warning", "companion_unreadable", 1, file.name))
            continue
        notes.extend(table.notes)
        (basics if is_basic else blocks).append(_Table(file, table))
    main_is_basic = bool(basics) and basics[0].source is source
    main = None if main_is_basic else next((t for t in blocks if t.source is source), None)
    if main is None and blocks:
        main = _fitting(basics[0], blocks)
    tables = _one_a_kind(main, blocks) if main is not None else []
    if main_is_basic:
        basic: _Table | None = basics[0]
    else:
        basic = next((b for b in basics if main is not None and _fits(b, main)), None)
    left = len(blocks) - len(tables)
    notes += noted("info", "companion_unmatched", left, "tables of another operator")
    return basic, tables


def _fits(basic: _Table, blocks: _Table) -> bool:
    """True unless OpBasicInfo.csv tells of another number of blocks than the table has."""
    told = [n for n in basic.table.integers("Block Dim", "Block Num") if n]
    seen = {block for block, _ in blocks.blocks}
    return not told or len(basic.table) != 1 or told[0] == len(seen)


def _fitting(basic: _Table, blocks: Sequence[_Table]) -> _Table | None:
    return next((table for table in blocks if _fits(basic, table)), None)


def _one_a_kind(main: _Table, blocks: Sequence[_Table]) -> list[_Table]:
    """The tables of the same blocks as `main`; of two of a kind the one with the same cycles."""
    chosen: dict[tuple[str, ...], _Table] = {}
    cycles = main.cycles
    for table in (main, *(t for t in blocks if t is not main)):
        if table.blocks != main.blocks:
            continue
        known = chosen.get(table.kind)
        if known is None or (known is not main and known.cycles != cycles == table.cycles):
            chosen[table.kind] = table
    return list(chosen.values())


def _operators(
    basic: CsvTable, tables: Sequence[_Table], notes: list[Diagnostic]
) -> dict[str, Sequence[object]]:
    count = len(basic)
    rows: dict[str, Sequence[object]] = {
        "name": [name or "unnamed operator" for name in basic.texts("Op Name")],
        "provider": basic.texts("Op Type"),
        "level": ["device_kernel"] * count,
        "device": basic.texts("Device Id"),
        "dur_ns": basic.times("Task Duration", named=True),
        "source_row": basic.rows,
    }
    notes += [note for note in basic.notes if note.code == "unit_assumed"]
    if count == 1:
        counters, flops = _counters([table.table for table in tables])
        rows.update({name: [value] for name, value in counters.items()})
        if flops:
            rows.update({"flops": [flops], "flops_source": ["counter"]})
    elif tables:
        # A row per block does not say of which of several operators it is.
        notes.append(
            Diagnostic(
                "warning",
                "companion_unmatched",
                sum(len(table.table) for table in tables),
                tables[0].source.name,
            )
        )
    return rows


def _without_basic(
    tables: Sequence[_Table], shown: str, source: Source, notes: list[Diagnostic]
) -> dict[str, Sequence[object]]:
    """An operator without OpBasicInfo.csv: it takes as long as its longest block."""
    longest = [
        time
        for table in tables
        for core in _CORES
        for time in table.table.times(f"{core}_time")
        if time is not None
    ]
    if not longest:
        raise FuseScopeError("block_table_empty", where=source.name)
    notes.append(Diagnostic("warning", "longest_block"))
    counters, flops = _counters([table.table for table in tables])
    rows: dict[str, Sequence[object]] = {name: [value] for name, value in counters.items()}
    if flops:
        rows.update({"flops": [flops], "flops_source": ["counter"]})
    return {
        "name": [shown],
        "level": ["device_kernel"],
        "dur_ns": [max(longest)],
        **rows,
    }


def _counters(tables: Sequence[CsvTable]) -> tuple[dict[str, float | None], int | None]:
    """Counters of the whole operator by the head of their column, and its FLOPs."""
    counters: dict[str, float | None] = {}
    flops = 0.0
    for table in tables:
        hits = _hit_rates(table)
        for column in table.columns:
            key = column_key(column.name)
            if key in _NOT_COUNTERS or column.head in counters:
                continue
            name = column.head.replace("(%)", "").strip()  # also of 'x(%)(estimate)'
            if name in CALL_COLUMNS or name in OPERATOR_COLUMNS:
                continue
            value = hits[key] if hits.get(key) is not None else _whole(column, table)
            counters.setdefault(name, value)
            if key in ("aiccubefops", "aivvecfops", "aivvectorfops") and value:
                flops += value
        if "total" in hits:
            counters.setdefault("l2_hit_rate", hits["total"])
    return counters, round(flops) if 0 < flops < 2**62 else None


def _whole(column: Column, table: CsvTable) -> float | None:
    """One figure of a column of blocks: longest, sum or weighted mean, by what it measures."""
    values = column.numbers()
    name = column.head.lower()
    if name.startswith(("aic_time", "aiv_time")) or "_time(" in name:
        return max((v for v in values if v is not None), default=None)
    if column.unit == "%" or "(%)" in name or "ratio" in name or "rate" in name:
        scale = 0.01 if column.unit != "%" and "(%)" in name else 1.0  # 'x(%)(estimate)'
        return _mean(values, _weights(column, table), scale)
    known = [v for v in values if v is not None]
    return math.fsum(known) if known else None


def _weights(column: Column, table: CsvTable) -> list[float | None]:
    """The core's own time of each block; of both cores where a column is of both."""
    cores = [core for core in _CORES if column.head.lower().startswith(core)] or list(_CORES)
    times = [found.numbers() for core in cores if (found := table.find(f"{core}_time"))]
    weights: list[float | None] = []
    for row in range(len(table)):
        here = [cells[row] for cells in times if cells[row] is not None]
        weights.append(max((t for t in here if t is not None), default=None))
    return weights


def _mean(
    values: Sequence[float | None], weights: Sequence[float | None], scale: float
) -> float | None:
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None and w]
    total = math.fsum(w for _, w in pairs)
    if total > 0:
        return math.fsum(v * w for v, w in pairs) / total * scale
    known = [v for v in values if v is not None]
    return math.fsum(known) / len(known) * scale if known else None


def _hit_rates(table: CsvTable) -> dict[str, float | None]:
    """Rates of L2Cache.csv from its hits and misses; 'total' over both kinds of core."""
    rates: dict[str, float | None] = {}
    all_hits = all_misses = 0.0
    for core in _CORES:
        found = {}
        for part in ("write", "r0_read", "r1_read"):
            hit = table.find(f"{core}_{part}_cache_hit")
            miss = table.find(f"{core}_{part}_cache_miss_allocate")
            if hit is None or miss is None:
                break
            found[part] = (_sum(hit), _sum(miss))
        if len(found) < 3:
            continue
        write, reads = found["write"], (found["r0_read"], found["r1_read"])
        read = (reads[0][0] + reads[1][0], reads[0][1] + reads[1][1])
        rates[f"{core}writehitrate"] = _rate(*write)
        rates[f"{core}readhitrate"] = _rate(*read)
        rates[f"{core}totalhitrate"] = _rate(write[0] + read[0], write[1] + read[1])
        all_hits += write[0] + read[0]
        all_misses += write[1] + read[1]
    if rates:
        rates["total"] = _rate(all_hits, all_misses)
    return rates


def _sum(column: Column) -> float:
    return math.fsum(v for v in column.numbers() if v is not None)


def _rate(hits: float, misses: float) -> float | None:
    return hits / (hits + misses) if hits + misses > 0 else None
