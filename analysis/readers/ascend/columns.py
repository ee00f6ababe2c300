"""Columns of Ascend kernel tables: kernel_details.csv and op_summary_*.csv, of every toolkit.

One row a device task. The column sets differ by product, toolkit, profiler level and aic_metrics,
so columns are found by name; what is known as no counter is named here, every other column of
numbers is a counter of the device and keeps its head.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from analysis.messages import Message, Said
from analysis.messages.places import in_row, row_of
from analysis.operators import flops
from analysis.operators.classes import kernel_class, op_class
from analysis.readers.building.repeats import TOTALS
from analysis.readers.building.trace_tables import dtype_name, shape_text
from analysis.readers.input.csv_numbers import plain
from analysis.readers.input.csv_table import MISSING, CsvTable, column_key
from analysis.readers.input.times import LATEST_NS
from analysis.text import clean_text
from analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, noted

NAME = ("Name", "Op Name", "kernel_name")
TYPE = ("Type", "OP Type")
CORE = ("Accelerator Core", "Task Type", "Core Type", "kernel_type")
START = ("Start Time", "Task Start Time", "task_start")
DURATION = ("Duration", "Task Duration", "task_time")
WAIT = ("Wait Time", "Task Wait Time")
STEP = ("Step Id",)
DEVICE = ("Device_id",)
STREAM = ("Stream ID",)
TASK = ("Task ID",)
# How a task is split over cores: numbers of the launch, not counters, by the names of a Trace.
BLOCKS = {
    "block_dim": ("Block Dim", "Block Num"),
    "mix_block_dim": ("Mix Block Dim", "Mix Block Num"),
}

COUNTED = "counter"  # flops_source of counted operations
# As the runtime and the schedulers of all products name their tasks.
_CONTROL = re.compile(
    r"(DAVID_)?(EVENT|NOTIFY|PROFIL(ING|ER)|TASK_TIMEOUT|TASK_SQE|PLACE_?HOLDER|WRITE_VALUE"
    r"|WRITE_BACK|MEM_(WRITE|WAIT)|CAPTURE|LABEL|STREAM|MODEL|MAINTENANCE|CALLBACK|HOSTFUNC"
    r"|BARRIER|END_?GRAPH|FUSION_ISSUE|FUSIONDUMP|CMO|DATADUMP|NOP|FLIP|OVERFLOW|IPC|ALLOC|GET"
    r"|SET|CREATE|DEBUG|ONLINE_PROF|ADC_PROF|PC_TRACE|DEVICE_RINGBUFFER|AICPU_LOADINFO|ACTIVE"
    r"|RDMA|ROCCE|CDQM|INVALID)(_SQE)?(?=[ _]|$)"
    r"|\w+[ _](WAIT|RECORD|CONTEXT)$|INVALIDATE |WRITEBACK ",
    re.IGNORECASE,
)
_WAIT = re.compile(r"(?:^|[ _])wait(?:[ _]|$)|\wwait$", re.IGNORECASE)  # EventWait, wait_value
# Older toolkits say task types in words ('remote event wait task') or by number; these compute.
_IN_WORDS = re.compile(r".* task", re.IGNORECASE)
_COMPUTES = re.compile(
    r"(kernel )?AI ?(core|cpu|vec(tor)?) task|stars common|ffts|kernel mix", re.IGNORECASE
)
_COMPUTES_BY_NUMBER = ("0", "1", "50", "51", "52", "66")
_COLLECTIVE = re.compile(r"(hcom|hccl)_", re.IGNORECASE)
_NO_COUNTERS = {
    column_key(name)
    for name in (
        *NAME, *TYPE, *CORE, *START, *DURATION, *WAIT, *STEP, *DEVICE, *STREAM, *TASK,
        *BLOCKS["block_dim"], *BLOCKS["mix_block_dim"], "Model Name", "OP State",
        "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats", "Output Shapes",
        "Output Data Types", "Output Formats", "End Time", "Task End Time", "task_stop", "Index",
        "Pid", "Tid", "attr_info",
    )
}  # fmt: skip
_DIMS = re.compile(r"(-?\d{1,18}(,-?\d{1,18})*)?", re.ASCII)
_NO_LAYOUT = ("", "ND", "NULL", "N/A", "UNDEFINED", "RESERVED")
_FOPS = re.compile(r"ai[cv]_(cube|vector|vec)_fops")
# A spreadsheet shows long numbers as 1.69512E+15, and saves them so.
_ROUNDED = re.compile(r"\d(?:[.,](\d*))?E\+?(\d+)", re.IGNORECASE)
_MIN_SORTED = 8
_MAX_JOINED = 64  # tables put one after the other
_FAR_BACK = 3  # of the whole span of the table, at least this part
_CORE_TIMES = {
    "aicore_time(us)": ("us", 1e3), "aiv_time(us)": ("us", 1e3), "Aicore Time(ms)": ("ms", 1e6),
}  # fmt: skip
_TOLERANCE = 1.05  # cores are timed by cycles, tasks by the scheduler: they differ by a little

Kind = Literal["operator", "communication", "control"]


@dataclass(frozen=True)
class AscendRows:
    """Rows of operators and communication, as `build_trace` takes them.

    `columns` are all equally long; `tasks` and `steps` go with them: Task ID and Step Id as text.
    """

    columns: dict[str, list[object]]
    tasks: list[str | None]
    steps: list[str | None]
    notes: list[Diagnostic]


def ascend_rows(table: CsvTable) -> AscendRows:
    """The table's operators and communication; tasks that are neither are counted in the notes."""
    durations = table.times(*DURATION, named=True)
    waits = table.times(*WAIT)
    notes = list(table.notes)
    starts, impossible = _starts(table, notes)
    cores = _texts(table, CORE)
    types = [None if op_type == "0" else op_type for op_type in _texts(table, TYPE)]
    names = [
        name or op_type or core or "unnamed"
        for name, op_type, core in zip(_texts(table, NAME), types, cores, strict=True)
    ]
    kinds = [task_kind(*row) for row in zip(cores, types, names, strict=True)]
    inputs, outputs = _tensors(table, "Input"), _tensors(table, "Output")
    columns: dict[str, list[object]] = {
        "name": list(names),
        "op_type": list(types),
        "provider": list(cores),
        "level": ["device_kernel"] * len(names),
        "launched_by": [launched_by(name) for name in names],
        "inputs": list(inputs),
        "outputs": list(outputs),
        "is_communication": [kind == "communication" for kind in kinds],
        "device": list(_texts(table, DEVICE)),
        "stream": list(_texts(table, STREAM)),
        "start_ns": starts,
        # without a duration build_trace drops the row and counts it
        "dur_ns": [None if at in impossible else dur for at, dur in enumerate(durations)],
        "wait_ns": list(waits),
        "source_row": list(table.rows),
        **_blocks(table),
        **_counters(table),
    }
    counted = _counted_flops(columns)
    if counted is not None:
        columns["flops"], columns["flops_source"] = counted
    columns["op_class"] = device_classes(columns)
    _check_order(columns, notes)
    check_core_times(columns, notes)
    tasks, steps = table.texts(*TASK), table.texts(*STEP)
    control = [index for index, kind in enumerate(kinds) if kind == "control"]
    if control:
        notes += noted("info", "not_operators", [cores[p] or types[p] or "" for p in control])
        kept = [index for index, kind in enumerate(kinds) if kind != "control"]
        columns = {name: [values[p] for p in kept] for name, values in columns.items()}
        tasks, steps = [tasks[p] for p in kept], [steps[p] for p in kept]
    return AscendRows(columns, tasks, steps, notes)


def guarded(text: str) -> str:
    """The text as a cell: with a ' in front where a spreadsheet would take it for a formula, or a
    reader for a missing value. `unguarded` takes it off again."""
    is_total = text.strip(" :").lower() in TOTALS  # a last row of that name would count as the sum
    return f"'{text}" if is_total or _needs_guard(text.lstrip("'")) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` made this cell of; other cells as they are."""
    return cell[1:] if cell.startswith("'") and _needs_guard(cell.lstrip("'")) else cell


def _needs_guard(text: str) -> bool:
    start = unicodedata.normalize("NFKC", text.lstrip(" \u00a0\u3000")[:1])[:1]
    return text != "" and (
        start in ("=", "+", "-", "@") or text.lower() in MISSING or text != text.strip()
    )


@lru_cache(maxsize=4096)
def task_kind(core: str | None, op_type: str | None = None, name: str | None = None) -> Kind:
    """What a device task is, by its core type; by type and name where the file gives no core."""
    if core:
        upper = core.upper()
        if upper.startswith(("HCCL", "COMMUNICATION", "CCU")):
            return "communication"
        return "control" if _is_control(core) else "operator"
    known = (op_type or "", (name or "").rpartition("/")[2])
    return "communication" if any(_COLLECTIVE.match(text) for text in known) else "operator"


def _is_control(core: str) -> bool:
    if core.isdigit():
        return core not in _COMPUTES_BY_NUMBER
    if _IN_WORDS.fullmatch(core):
        return not _COMPUTES.match(core)
    return _CONTROL.match(core) is not None or _WAIT.search(core) is not None


def device_classes(columns: Mapping[str, Sequence[object]]) -> list[object]:
    """Operator classes of rows whose names pass for collectives although they are none; else None.

    The profiler tells collectives by their core type. A kernel of another core that fuses one with
    a matrix product, or that launches one, is a row of its own, and its time counts as a kernel's.
    """
    said = (columns[name] for name in ("op_type", "name", "provider", "is_communication"))
    return [
        None
        if is_communication
        else _class_beside_collectives(_text(op_type), str(name), core is not None)
        for op_type, name, core, is_communication in zip(*said, strict=True)
    ]


@lru_cache(maxsize=65536)
def _class_beside_collectives(op_type: str | None, name: str, has_core: bool) -> str | None:
    known = op_class(op_type)
    if (known if known != "unknown" else kernel_class(name)) != "communication":
        return None
    names = (op_type or "", name.rpartition("/")[2])
    if any("matmul" in text.lower() for text in names):
        return "matrix_product"
    is_collective = any(_COLLECTIVE.match(text) for text in names)
    return "unknown" if has_core and not is_collective else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


@lru_cache(maxsize=4096)
def launched_by(name: str) -> str | None:
    """The call that a kernel's name begins with: 'aclnnMatmul_MatMulV3Common_MatMulV3' names the
    operator library's, and 'Mul-op0/aclnnMul_…' the framework's; None for other names."""
    path, _, kernel = name.rpartition("/")
    if not kernel.startswith("aclnn"):
        return None
    return path or kernel.partition("_")[0]


def tensor_text(shapes: str | None, dtypes: str | None, formats: str | None) -> str:
    """Canonical text of '"4096,1024;1024"', 'DT_BF16;FLOAT' and 'ND;NC1HWC0'; '' for no tensor.

    An empty slot is a scalar, and without a type an input that was not given.
    """
    if shapes is None:
        return ""
    slots = [_dims(slot) for slot in shapes.split(";")]
    types = [dtype_name(_bare(text)) for text in (dtypes or "").split(";")]
    layouts = [_layout(_bare(text)) for text in (formats or "").split(";")]
    while slots and not slots[-1] and not (types[len(slots) - 1 :] or [""])[0]:
        slots.pop()
    return shape_text(types, slots, layouts)


def _bare(text: str) -> str:
    return text.strip(' \t"')


def _dims(slot: str) -> str:
    """Dimensions as they stand, '?' for text that only looks like some."""
    text = _bare(slot).strip("[]()").replace(" ", "")
    is_odd = not _DIMS.fullmatch(text) and re.fullmatch(r"[-\d,]*", text)
    return "?" if is_odd else text


def _layout(text: str) -> str:
    is_prefixed = text.upper().startswith("FORMAT_")
    layout = text[len("FORMAT_") :] if is_prefixed else text
    return "" if layout.upper() in _NO_LAYOUT else layout


def _tensors(table: CsvTable, side: str) -> list[str]:
    columns = [_texts(table, (f"{side} {what}",)) for what in ("Shapes", "Data Types", "Formats")]
    known: dict[tuple[str | None, ...], str] = {}
    out = []
    for row in zip(*columns, strict=True):
        if row not in known:
            known[row] = tensor_text(*row)
        out.append(known[row])
    return out


def _texts(table: CsvTable, names: Sequence[str]) -> list[str | None]:
    return [cell and unguarded(cell) for cell in table.texts(*names)]


def _starts(table: CsvTable, notes: list[Diagnostic]) -> tuple[list[object], set[int]]:
    """Start times in ns, None and a note for those that a spreadsheet has rounded; and the
    positions of rows whose start is impossible: what is no time, or too far away."""
    column = table.find(*START)
    if column is None:
        return [None] * len(table), set()
    times = table.times(*START)
    impossible = {
        index
        for index, (cell, start) in enumerate(zip(column.cells, times, strict=True))
        if (plain(cell, column.marks) != "" if start is None else abs(start) >= LATEST_NS)
    }
    rounded = [
        index
        for index, cell in enumerate(column.cells)
        if index not in impossible
        and (match := _ROUNDED.fullmatch(cell))
        and int(match[2][:4]) > len(match[1] or "")
    ]
    starts: list[object] = list(times)
    for index in rounded:
        starts[index] = None
    examples = [row_of(table.rows[index], clean_text(column.cells[index], 80)) for index in rounded]
    notes += noted("warning", "rounded_starts", examples)
    return starts, impossible


def may_be_counter(name: str) -> bool:
    """False for heads that name, number or time a task, and for columns of a Trace."""
    key = column_key(name.partition("(")[0])
    is_known = key in _NO_COUNTERS or name in OPERATOR_COLUMNS or name in CALL_COLUMNS
    return not is_known and not key.endswith("id")


def _blocks(table: CsvTable) -> dict[str, list[object]]:
    columns = {name: table.find(*heads) for name, heads in BLOCKS.items()}
    return {name: list(column.numbers()) for name, column in columns.items() if column}


def _counters(table: CsvTable) -> dict[str, list[object]]:
    """Further columns of numbers by their heads; percent as fractions, without '(%)'."""
    found: dict[str, list[object]] = {}
    for column in table.columns:
        name = unguarded(column.name if column.unit == "%" else column.head)
        if not may_be_counter(name) or name in found:
            continue
        numbers = column.numbers()
        if any(value is not None for value in numbers):
            found[name] = list(numbers)
    return found


def _counted_flops(
    columns: dict[str, list[object]],
) -> tuple[list[object], list[object]] | None:
    """Operations that the device counted, where all calls of an operator agree; else from shapes.

    None without such counters. Counts of equal calls may differ by a few percent, and one number
    of several would be a choice.
    """
    counters = [values for name, values in columns.items() if _FOPS.fullmatch(name)]
    if not counters:
        return None
    sums = [
        sum((v for v in row if isinstance(v, float)), 0.0) if set(row) != {None} else None
        for row in zip(*counters, strict=True)
    ]
    names = ("name", "op_type", "provider", "inputs", "outputs")
    keys = list(zip(*(columns[name] for name in names), strict=True))
    counts: dict[tuple[object, ...], set[float]] = {}
    for key, value in zip(keys, sums, strict=True):
        if value is not None:
            counts.setdefault(key, set()).add(value)
    known: dict[tuple[object, ...], tuple[object, object]] = {}
    for key in dict.fromkeys(keys):
        seen = counts.get(key, set())
        agreed = seen.pop() if len(seen) == 1 else -1.0
        if 0 <= agreed < 2**62:
            known[key] = (int(agreed), COUNTED)
            continue
        texts = [str(text or "") for text in key[3:]]
        known[key] = (flops.from_tensors(str(key[1]), *texts) if key[1] else None) or (None, None)
    return [known[key][0] for key in keys], [known[key][1] for key in keys]


def _check_order(columns: dict[str, list[object]], notes: list[Diagnostic]) -> None:
    """A note where starts go back by much, a few times, in a table that is sorted otherwise."""
    first: dict[tuple[int, object], object] = {}  # rows that stand twice are told elsewhere
    told = zip(columns["start_ns"], columns["name"], columns["source_row"], strict=True)
    for start, name, row in told:
        if isinstance(start, int):
            first.setdefault((start, name), row)
    starts = [(start, row) for (start, _), row in first.items()]
    if len(starts) < _MIN_SORTED:
        return
    span = max(start for start, _ in starts) - min(start for start, _ in starts)
    steps = [(after[0] - before[0], after[1]) for before, after in itertools.pairwise(starts)]
    back = [row for step, row in steps if step < 0]
    far = [row for step, row in steps if step < -span / _FAR_BACK]
    if far and len(far) == len(back) <= _MAX_JOINED:
        notes.append(Diagnostic("warning", "starts_go_back", len(far), in_row(int(str(far[0])))))


_LONGER = Message("{name:name}: {head:name} is {core}, the duration is {duration}")


def check_core_times(columns: Mapping[str, Sequence[object]], notes: list[Diagnostic]) -> None:
    """A note where cores are said to have worked longer than the task took: a unit is wrong."""
    wrong: list[Said] = []
    for head, (unit, scale) in _CORE_TIMES.items():
        rows = zip(columns["name"], columns["dur_ns"], columns.get(head, ()), strict=False)
        for name, dur, core in rows:
            if isinstance(core, float) and isinstance(dur, int) and core * scale > dur * _TOLERANCE:
                wrong.append(
                    _LONGER.of(
                        name=clean_text(str(name), 80),
                        head=head,
                        core=f"{core:g}",
                        duration=f"{dur / scale:g} {unit}",
                    )
                )
    notes += noted("warning", "contradiction", wrong)
