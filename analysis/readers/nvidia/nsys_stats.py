"""Tables that `nsys stats --format csv` prints: the GPU trace, and sums by kernel.

Heads and units vary with the version ('Total Time (ns)', 'Duration(usec)'), messages of the tool
may stand before the head, and one file may hold several tables, each after an empty line. Sums
give the total of k launches; the trace gives each one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages import mark
from fusescope.analysis.operators.kernel_names import memory_type
from fusescope.analysis.readers.building.columns import Columns
from fusescope.analysis.readers.building.kernels import kernel_columns
from fusescope.analysis.readers.building.trace_tables import build_trace
from fusescope.analysis.readers.input.beside import Beside
from fusescope.analysis.readers.input.csv_table import CsvTable, column_key, name_and_unit, read_csv
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import ALWAYS, Reader, anything
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, Trace

Kind = Literal["trace", "kernels", "memory", "ranges", "all"]

# What tells the tables apart: columns that each must have.
_TABLES: Mapping[Kind, Sequence[tuple[str, ...]]] = MappingProxyType(
    {
        "trace": (("start",), ("duration",), ("strm", "grdx"), ("name",)),
        "all": (("totaltime",), ("instances",), ("category",), ("operation",)),
        "kernels": (("totaltime",), ("instances",), ("name", "kernelname")),
        "ranges": (("totaltime",), ("kerninst",), ("kernelname",)),
        "memory": (("totaltime",), ("count", "operations", "instances"), ("operation",)),
    }
)
_ORDER: Sequence[Kind] = ("trace", "kernels", "all", "ranges", "memory")  # the most telling first
_MAY_HEAD = re.compile(r"total\s*time|duration", re.IGNORECASE)
_CELL = re.compile(r'"((?:[^"]|"")*)"|([^,]*)')
_SKIPPED = re.compile(r"does not contain [^\n]{0,120}|could not be (?:found|opened)[^\n]{0,80}")
_COUNTERS = ("Bytes", "Throughput", "Reg/Trd", "StcSMem", "DymSMem")
_MAX_HEAD = 4000


def _sniff(head: bytes) -> bool:
    """Text in which a line heads one of the tables."""
    text = utf8(head[:64]).lstrip()
    if not text or text[:1] in b"[{<" or b"\x00" in head[:4096]:
        return False
    return next(_heads(utf8(head).decode("utf-8", errors="replace")), None) is not None


def _read(source: Source) -> Trace:
    """The trace; all of a file is one run, for the tables mark none."""
    tables = _tables(source)
    if not tables:
        skipped = _SKIPPED.search(source.content[:_MAX_HEAD].decode("utf-8", "replace"))
        if skipped:
            reason = clean_text(skipped[0], 120)
            raise FuseScopeError("nsys_table_skipped", where=source.name, reason=reason)
        raise FuseScopeError("nsys_table_empty", where=source.name)
    notes: list[Diagnostic] = []
    files = _join(tables, source, Beside(source, notes).each(_sniff, _tables))
    chosen = _chosen(tables)
    columns = Columns()
    for part in chosen:
        notes += part.table.notes
        columns.extend(_rows(part, notes))
    return build_trace(
        source.meta(NSYS_STATS.name, "Nsight Systems", device=_device(columns), files=files),
        columns,
        notes=notes,
        limits=source.limits,
    )


NSYS_STATS = Reader(
    name="nsys_stats",
    title=mark("Nsight Systems tables (nsys stats, CSV)"),
    fields={
        **dict.fromkeys(("types", "communication"), ALWAYS),
        **dict.fromkeys(("start", "stream"), mark("Give the report cuda_gpu_trace.")),
        "members": mark("Compile with torch.compile: inductor names its kernels by their members."),
    },
    recording=(
        "`nsys profile --trace=cuda,nvtx --output=report <command>`, then `nsys stats --format "
        "csv --report cuda_gpu_trace --output . report.nsys-rep`. Better: `nsys export --type "
        "sqlite report.nsys-rep`, which also tells runs apart."
    ),
    sniff=_sniff,
    read=_read,
    takes=anything,
)


@dataclass(frozen=True, eq=False)
class _Part:
    """One table of a file."""

    kind: Kind
    table: CsvTable


def _heads(text: str) -> Iterator[tuple[int, int, Kind]]:
    """Start and end of each line that heads a table, and which."""
    done = -1
    for match in _MAY_HEAD.finditer(text):
        if match.start() < done:
            continue
        start = text.rfind("\n", max(0, match.start() - _MAX_HEAD), match.start()) + 1
        done = text.find("\n", match.end(), match.end() + _MAX_HEAD)
        if done < 0:
            done = match.end() + _MAX_HEAD
        if done - start < 2 * _MAX_HEAD and (kind := _kind(text[start:done])) is not None:
            yield start, min(done, len(text)), kind


def _kind(line: str) -> Kind | None:
    keys = set()
    for quoted, bare in _CELL.findall(line.strip("\r\n \t\ufeff")):
        keys.add(column_key(name_and_unit(quoted or bare)[0]))
    for kind, groups in _TABLES.items():
        if all(any(name in keys for name in group) for group in groups):
            return kind
    return None


def _tables(source: Source) -> list[_Part]:
    """The tables of a file that have rows. Raises FuseScopeError when one is damaged."""
    text = utf8(source.content).decode("utf-8", errors="replace")
    found = []
    done = -1
    for start, end, kind in _heads(text):
        if start < done:
            continue
        blank = re.compile(r"\n[ \t\r]*\n|\n \*\* ").search(text, end)
        done = blank.start() if blank else len(text)
        table = read_csv(Source(source.name, text[start:done].encode(), source.limits))
        if len(table):
            found.append(_Part(kind, table))
    return found


def _join(
    tables: list[_Part], source: Source, beside: Sequence[tuple[Source, list[_Part]]]
) -> list[str]:
    """Add the tables beside these that are of the same report; paths of their files.

    A trace and sums are when the sums agree. Copies of memory stand in no sum of kernels, so
    they are taken by the file's name where several reports lie side by side.
    """
    files = []
    alone = not any(part.kind == "kernels" for _, found in beside for part in found)
    copies = [other for other, found in beside if {part.kind for part in found} == {"memory"}]
    for other, found in beside:
        near = (alone and len(copies) == 1) or _stem(other.name) == _stem(source.name)
        fitting = [part for part in found if _fits(tables, part, near=near)]
        if fitting:
            files.append(other.path)
            tables += fitting
    return files


def _fits(tables: Sequence[_Part], other: _Part, *, near: bool) -> bool:
    kinds = {part.kind for part in tables}
    if other.kind in kinds:
        return False
    if "trace" not in kinds and other.kind != "trace":
        return near if other.kind == "memory" else _totals([other]) == _totals(tables)
    trace, sums = (tables, [other]) if "trace" in kinds else ([other], tables)
    timed = _totals([part for part in trace if part.kind == "trace"])
    summed = _totals([part for part in sums if part.kind != "trace"])
    return bool(summed) and all(timed.get(name) == total for name, total in summed.items())


def _stem(name: str) -> str:
    """What the names of one report's tables share: 'report1' of 'report1_cuda_gpu_kern_sum.csv'."""
    return re.split(r"_?(?:cuda_?)?gpu|_nvtx", name.lower())[0]


def _totals(parts: Sequence[_Part]) -> dict[str, int]:
    """Total ns by the name of the operator."""
    totals: Counter[str] = Counter()
    for part in parts:
        rows = _rows(part, [])
        for name, dur in zip(rows["name"], rows["dur_ns"], strict=True):
            if isinstance(dur, int):
                totals[memory_type(str(name)) or str(name)] += dur
    return dict(totals)


def _chosen(tables: Sequence[_Part]) -> list[_Part]:
    """The most telling table, and the copies of memory where it leaves them out."""
    by_kind = {part.kind: part for part in reversed(tables)}
    first = next(by_kind[kind] for kind in _ORDER if kind in by_kind)
    if first.kind in ("kernels", "ranges") and "memory" in by_kind:
        return [first, by_kind["memory"]]
    return [first]


def _rows(part: _Part, notes: list[Diagnostic]) -> dict[str, list[object]]:
    table, kind = part.table, part.kind
    names = [name or "unnamed" for name in table.texts("Name", "Kernel Name", "Operation")]
    columns = kernel_columns(names)
    columns["source_row"] = list(table.rows)
    if kind == "trace":
        columns["start_ns"] = list(table.times("Start", unit="ns"))
        columns["dur_ns"] = list(table.times("Duration", unit="ns"))
        columns["device"] = list(table.texts("Device"))
        columns["stream"] = list(table.texts("Strm", "Stream"))
        for name in _COUNTERS:
            column = table.find(name)
            if column is not None:
                columns[column.head] = list(column.numbers())
        return columns
    columns["dur_ns"] = list(table.times("Total Time", unit="ns"))
    columns["n"] = list(table.integers("Instances", "Kern Inst", "Count", "Operations"))
    if kind == "ranges":
        columns["launched_by"] = list(table.texts("NVTX Range"))
    if kind == "all":
        categories = table.texts("Category")
        kept = [row for row, text in enumerate(categories) if "API" not in (text or "").upper()]
        if len(kept) < len(names):
            notes.append(Diagnostic("info", "not_operators", len(names) - len(kept), "CUDA_API"))
        columns = {name: [cells[row] for row in kept] for name, cells in columns.items()}
    return columns


def _device(columns: Mapping[str, list[object]]) -> str | None:
    names = dict.fromkeys(
        re.sub(r"\s*\(\d{1,4}\)$", "", str(device))
        for device, dur in zip(columns.get("device", []), columns["dur_ns"], strict=False)
        if device is not None and dur is not None
    )
    return clean_text(", ".join(names), 120) or None
