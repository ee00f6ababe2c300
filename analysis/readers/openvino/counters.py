"""benchmark_app's reports of performance counters, CSV or JSON: one table an inference request.

`detailed_counters` holds a table for each request, `average_counters` one table of means,
`sort_detailed_counters` those that ran only. The CSV has ';' between cells and no quotes, the
sorted one of the Python tool ',' and quotes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages.places import in_row
from fusescope.analysis.readers.input.csv_numbers import unit_of
from fusescope.analysis.readers.input.csv_table import column_key, name_and_unit
from fusescope.analysis.readers.input.encoding import decoded, utf8
from fusescope.analysis.readers.input.json_array import check_length
from fusescope.analysis.readers.input.json_value import decode, decoded_whole, refused
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.times import Unit, exact_ns
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import Diagnostic, noted

_HEAD = re.compile(
    rb"^\"?layer ?name\"?\s*([;,])(?=[^\n]*exec ?status)(?=[^\n]*layer ?type)",
    re.IGNORECASE | re.MULTILINE,
)
_JSON = re.compile(rb'"(?:detailed_performance|avg_performance)"\s*:')
_MAX_COLUMNS = 64


@dataclass(frozen=True)
class Counted:
    """One layer in one table; `table` counts them from 0, `row` is its row or node in the file."""

    table: int
    row: int
    name: str
    status: str
    op_type: str
    implementation: str
    dur_ns: int | None

    @property
    def ran(self) -> bool:
        """False for what the engine left out or folded into another layer."""
        ran = self.status.upper().rpartition(".")[2] == "EXECUTED"
        return ran or (self.dur_ns or 0) > 0


def holds_counters(head: bytes) -> bool:
    """True for the head of a counters report."""
    text = utf8(head)
    if text.lstrip().startswith(b"{"):
        return _JSON.search(text) is not None and b'"exec_type"' in text
    return _HEAD.search(text[:4096]) is not None


def read_counters(source: Source) -> tuple[list[Counted], list[Diagnostic]]:
    """All layers in file order, and what was odd. Raises FuseScopeError for a damaged file."""
    data = utf8(source.content)
    notes: list[Diagnostic] = []
    if data.lstrip().startswith(b"{"):
        return _from_json(data, source, notes), notes
    text = decoded(data, notes)
    match = _HEAD.search(data[:4096])
    comma = match is not None and match[1] == b","
    found: list[Counted] = []
    indices: dict[str, int] = {}
    unit: Unit = "us"
    table, short, short_row = -1, 0, 0
    try:
        for number, cells in enumerate(_lines(text, comma), start=1):
            cells = [cell.strip() for cell in cells]
            keys = _heads(cells)
            if keys:
                indices = {key: index for index, key in reversed(list(enumerate(keys)))}
                real_head = _cell(cells, indices.get("realtime"))
                unit = unit_of(name_and_unit(real_head)[1], real_head, source.name, "us")
                table += 1
                continue
            if table < 0 or not any(cells) or _is_total(cells):
                continue
            source.limits.check_events(len(found) + 1, "more_rows_than_limit", source.name)
            name, status, kind, how, real = (
                _cell(cells, indices.get(key))
                for key in ("layername", "execstatus", "layertype", "exectype", "realtime")
            )
            if not real:
                short, short_row = short + 1, short_row or number
            found.append(Counted(table, number, name, status, kind, how, exact_ns(real, unit)))
    except csv.Error as error:
        raise FuseScopeError(
            "openvino_report_damaged", where=source.name, reason=clean_text(str(error), 80)
        ) from error
    notes += noted("info", "short_rows", short, in_row(short_row))
    return found, notes


def _lines(text: str, comma: bool) -> Iterable[list[str]]:
    if comma:
        return csv.reader(io.StringIO(text, newline=""))
    return (line.split(";", _MAX_COLUMNS) for line in io.StringIO(text))


def _heads(cells: list[str]) -> list[str]:
    """The keys of a row of heads; empty for any other row."""
    if not cells or not cells[0].lower().startswith("layer"):
        return []
    keys = [column_key(cell.partition("(")[0]) for cell in cells[:_MAX_COLUMNS]]
    return keys if keys[0] == "layername" and "execstatus" in keys else []


def _cell(cells: list[str], index: int | None) -> str:
    return cells[index] if index is not None and index < len(cells) else ""


def _is_total(cells: list[str]) -> bool:
    """The last row of a table: 'Total;;;;1.5;1.5', or a sentence in the sorted one."""
    first = cells[0].lower()
    return (first == "total" and not any(cells[1:4])) or (
        first.startswith("total ") and not any(cells[1:])
    )


_Cell = str | int | float | bool | None


class _Node(msgspec.Struct, gc=False):
    name: _Cell = None
    node_name: _Cell = None
    status: _Cell = None
    node_type: _Cell = None
    exec_type: _Cell = None
    real_time: msgspec.Raw = msgspec.Raw(b"")


class _Report(msgspec.Struct, gc=False):
    detailed_performance: msgspec.Raw = msgspec.Raw(b"")
    avg_performance: msgspec.Raw = msgspec.Raw(b"")


class _Table(msgspec.Struct, gc=False):
    nodes: msgspec.Raw = msgspec.Raw(b"[]")


def _from_json(data: bytes, source: Source, notes: list[Diagnostic]) -> list[Counted]:
    with refused(source.name, "openvino_report_damaged"):
        report = decoded_whole(data, _Report, notes)
        raw = report.detailed_performance or report.avg_performance
        check_length(raw, source.name, source.limits, objects=True)
        tables = msgspec.json.decode(raw, type=list[_Table] | _Table)
    found: list[Counted] = []
    for table, part in enumerate(tables if isinstance(tables, list) else [tables]):
        for row, item in enumerate(_nodes(part, source), start=1):
            node = decode(item, _Node, _Node())
            source.limits.check_events(len(found) + 1, "more_rows_than_limit", source.name)
            found.append(
                Counted(
                    table,
                    row,
                    str(node.name or node.node_name or ""),
                    str(node.status or ""),
                    str(node.node_type or ""),
                    str(node.exec_type or ""),
                    exact_ns(node.real_time, "ms"),
                )
            )
    return found


def _nodes(table: _Table, source: Source) -> list[msgspec.Raw]:
    check_length(table.nodes, source.name, source.limits)
    with refused(source.name, "openvino_report_damaged"):
        return msgspec.json.decode(table.nodes, type=list[msgspec.Raw])
