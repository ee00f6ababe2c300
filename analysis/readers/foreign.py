"""Well-known files of other tools that no reader opens, recognised by their first bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.messages.errors.inputs.foreign import ForeignError
from fusescope.analysis.readers.input.csv_table import has_columns
from fusescope.analysis.readers.input.encoding import utf8
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.input.sqlite import MAGIC

_SIGNS: tuple[tuple[bytes, ForeignError], ...] = (
    (b"NVIDIA Tegra Profiler Report", "nsys_report"),
    (b"NVR\0", "ncu_report"),
    (b"version https://git-lfs.github.com/spec/", "lfs_pointer"),
    (b"PK\x07\x08", "zip_in_parts"),
)
_NVPROF = re.compile(rb"\A(?:==\d+== [^\n]*\n)*==\d+== (?:NVPROF is |Profiling result)")
_NSYS_TEXT = re.compile(
    rb"^[ \t]*Time \(%\)[ \t]{2,}Total Time \(\w+\)[ \t]{2,}(?:Instances|Num Calls|Count)",
    re.MULTILINE,
)
_NSYS_TRACE_TEXT = re.compile(
    rb"^[ \t]*Start \(\w+\)[ \t]{2,}Duration \(\w+\)[ \t]{2,}CorrId[ \t]{2,}", re.MULTILINE
)
_KEY_AVERAGES = re.compile(
    rb"^[- \t]{20,}\r?\n[ \t]*Name[ \t]{2,}(?:Self CPU %|Self CPU|Self CUDA|CPU total)",
    re.MULTILINE,
)
_ROCPROF_V1 = (b"BeginNs", b"EndNs")  # columns of its tables
_TEXT_BYTES = 8 * 1024
# Number and wire type of the fields with which a packet of Perfetto begins.
_PACKET_FIELDS = frozenset(
    number << 3 | kind
    for kind, numbers in ((0, (8, 10, 13)), (2, (1, 2, 6, 11, 12)))
    for number in numbers
)
_LONG_PACKET_FIELDS = (33, 36, 43, 44, 59, 60)  # of two bytes, all messages


def foreign_error(source: Source, where: str | None = None) -> FuseScopeError | None:
    """The error that names what the file is, and what to give instead; None for any other file."""
    code = _code(source)
    return None if code is None else FuseScopeError(code, where=where or source.name)


def spreadsheet_among(sources: Iterable[Source]) -> bool:
    """True for the members of an .xlsx file."""
    paths = {source.path for source in sources}
    return any(path.endswith("xl/workbook.xml") for path in paths)


def _code(source: Source) -> ForeignError | None:
    try:
        head = source.head
    except FuseScopeError:
        return None
    for sign, code in _SIGNS:
        if head.startswith(sign):
            return code
    if head.startswith(MAGIC):
        data = source.content
        return "rocprof_v1_database" if all(sign in data for sign in _ROCPROF_V1) else None
    if _is_perfetto(head):
        return "perfetto_protobuf"
    return next((code for code, known in _TEXTS if known(head)), None)


def _is_perfetto(head: bytes) -> bool:
    """True where the file begins with a packet in a field 1, as nothing that is text does."""
    if head[:1] != b"\n" or not any(byte < 9 for byte in head[:64]):
        return False
    at = 1
    while at < min(6, len(head)) and head[at] >= 0x80:
        at += 1
    first = head[at + 1 : at + 3]
    if not first:
        return False
    if first[0] < 0x80:
        return first[0] in _PACKET_FIELDS
    number = (first[0] & 0x7F | first[1] << 7) >> 3 if len(first) > 1 and first[1] < 0x80 else 0
    return first[0] & 7 == 2 and number in _LONG_PACKET_FIELDS


def _is_ncu_table(head: bytes) -> bool:
    return has_columns(head, "ID", "Process ID", "Kernel Name", ("Block Size", "Metric Name"))


def _is_nvprof_table(head: bytes) -> bool:
    text = utf8(head)[:_TEXT_BYTES]
    return _NVPROF.search(text) is not None or has_columns(
        head, "Type", "Time(%)", "Time", "Calls", "Avg", "Min", "Max", "Name"
    )


def _is_nsys_text(head: bytes) -> bool:
    text = utf8(head)[:_TEXT_BYTES]
    return bool(_NSYS_TEXT.search(text) or _NSYS_TRACE_TEXT.search(text))


def _is_key_averages(head: bytes) -> bool:
    return _KEY_AVERAGES.search(utf8(head)[:_TEXT_BYTES]) is not None


_TEXTS: tuple[tuple[ForeignError, Callable[[bytes], bool]], ...] = (
    ("nvprof_table", _is_nvprof_table),
    ("ncu_table", _is_ncu_table),
    ("nsys_stats_text", _is_nsys_text),
    ("key_averages_table", _is_key_averages),
)
