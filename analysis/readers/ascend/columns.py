"""Columns of Ascend kernel tables: kernel_details.csv and op_summary_*.csv, of every toolkit.

One row a device task. The column sets differ by product, toolkit, profiler level and aic_metrics,
so columns are found by name; what is known as no counter is named here, every other column of
numbers is a counter of the device and keeps its head.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from fusescope.analysis.messages import Message, Said
from fusescope.analysis.operators.classes import kernel_class, op_class
from fusescope.analysis.readers.building.coded import Whole
from fusescope.analysis.readers.building.repeats import TOTALS
from fusescope.analysis.readers.building.trace_tables import dtype_name, shape_text
from fusescope.analysis.readers.input.csv_columns import MISSING
from fusescope.analysis.readers.input.csv_table import column_key
from fusescope.analysis.text import clean_text
from fusescope.analysis.trace import CALL_COLUMNS, OPERATOR_COLUMNS, Diagnostic, noted

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
_BFLOAT = {"bfp16": "bfloat16"}  # of HCCL
_MAX_DIGITS = 18
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


def task_kind(core: str | None, op_type: str | None = None, name: str | None = None) -> Kind:
    """What a device task is, by its core type; by type and name where the file gives no core."""
    if core:
        upper = core.upper()
        if upper.startswith(("HCCL", "COMMUNICATION", "CCU")):
            return "communication"
        return "control" if _is_control(core) else "operator"
    known = (op_type or "", (name or "").rpartition("/")[2])
    return "communication" if any(_COLLECTIVE.match(text) for text in known) else "operator"


@lru_cache(maxsize=4096)
def plain_type(op_type: str) -> str:
    """Return the op type of a collective as all files of the profiler are read, 'hcom_allReduce' of
    'hcom_allReduce_', which is what its name begins with in front of numbers; others as they
    are."""
    return op_type.rstrip("_") if _COLLECTIVE.match(op_type) else op_type


@lru_cache(maxsize=4096)
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


def may_be_counter(name: str) -> bool:
    """False for heads that name, number or time a task, and for columns of a Trace."""
    key = column_key(name.partition("(")[0])
    is_known = key in _NO_COUNTERS or name in OPERATOR_COLUMNS or name in CALL_COLUMNS
    return not is_known and not key.endswith("id")


_LONGER = Message("{name:name}: {head:name} is {core}, the duration is {duration}")


def check_core_times(columns: Mapping[str, Sequence[object]], notes: list[Diagnostic]) -> None:
    """A note where cores are said to have worked longer than the task took: a unit is wrong."""
    wrong: list[Said] = []
    for head, (unit, scale) in _CORE_TIMES.items():
        for name, dur, core in _maybe_longer(columns, columns.get(head, ()), scale):
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


def _maybe_longer(
    columns: Mapping[str, Sequence[object]], cores: Sequence[object], scale: float
) -> Iterator[tuple[object, object, object]]:
    """Name, duration and time of cores of each row, without those that are plainly no longer."""
    names, durations = columns["name"], columns["dur_ns"]
    if isinstance(cores, np.ndarray) and isinstance(durations, Whole):
        longer = cores * scale > durations.numbers * _TOLERANCE
        for at in np.flatnonzero(longer & durations.known).tolist():
            yield names[at], durations[at], float(cores[at])
        return
    yield from zip(names, durations, cores, strict=False)


def message_text(count: str, data_type: str) -> str | None:
    """Return the message of a collective as a tensor, 'float32[4097000]' of '4097000' and 'FP32';
    None where its number of elements or their type is not known."""
    dtype = dtype_name(data_type)
    is_known = dtype not in ("n/a", "none", "invalid_type", "")
    is_count = count.isascii() and count.isdecimal() and len(count) <= _MAX_DIGITS
    return f"{_BFLOAT.get(dtype, dtype)}[{int(count)}]" if is_known and is_count else None
