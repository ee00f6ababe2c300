"""A file that ends early, of every format: no run is claimed of it but whole ones."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import msgspec
import pytest

from fusescope.analysis.advice import Subject, findings
from fusescope.analysis.compare.side import side_of_trace
from fusescope.analysis.compare.single import run_facts
from fusescope.analysis.doctor import examine
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.csv_end import ends_in_part_of_a_cell
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.readers.recordings import read_value
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import ENDS_EARLY, Diagnostic, Trace
from fusescope.analysis.wording import trace_facts
from tests import miniatures
from tests.factories import UNFUSED_OPERATORS, profile_json

every_format = pytest.mark.parametrize(
    "reader", miniatures.FORMATS, ids=lambda reader: str(reader.name)
)
# Where a format lets a part pass for a whole: entries that are whole runs, or runs one by one.
_WHOLE_RUNS = {"tensorrt_times", "onnxruntime"}
_TABLE = (
    "Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"
    "conv,Conv2D,AI_CORE,1000,100\nrelu,Relu,AI_CORE,1100,20\n"
)


def _read(name: str, data: bytes) -> Trace | None:
    """The trace of these bytes; None where they are refused."""
    try:
        value = read(Source(name, data))
    except FuseScopeError as error:
        assert error.text
        return None
    assert isinstance(value, Trace)
    return value


def _check(trace: Trace, reader: Reader) -> None:
    """Nothing is said of a run."""
    if not trace.ends_early:
        kept = {note.code for note in trace.diagnostics} & {"whole_runs_kept"}
        assert reader.name in _WHOLE_RUNS and kept, [note.code for note in trace.diagnostics]
        return
    side = side_of_trace(trace)
    assert not trace.has_runs and run_facts(side).small_op_ratio is None
    assert findings(Subject(side)).found == () and findings(Subject(side)).run_ns is None
    assert "No run in it is known to be complete" in trace_facts(side)
    found = inspection(trace)
    assert found["ends_early"] in ENDS_EARLY
    assert (found["runs"], found["total_kernel_ns"], found["by_type"]) == (0, None, [])
    assert {one.figure for one in examine(trace).answers if one.available} <= {"timeline"}
    assert trace.meta.device != "CPU"


@every_format
@pytest.mark.parametrize("tenths", [3, 6, 8, 9])
def test_a_packed_file_cut_anywhere(reader: Reader, tenths: int) -> None:
    main = miniatures.main_file(reader)
    data = gzip.compress(main.content, mtime=0)
    trace = _read(f"{main.name}.gz", data[: len(data) * tenths // 10])
    if trace is not None:
        _check(trace, reader)


@every_format
@pytest.mark.parametrize("tenths", [3, 6, 8, 9])
def test_a_plain_file_cut_inside_an_entry(reader: Reader, tenths: int) -> None:
    """A table may end at any line, and in its last cell; everything else shows its end."""
    main = miniatures.main_file(reader)
    data = main.content[: len(main.content) * tenths // 10]
    if reader.name != "xplane" and not data.lstrip().startswith((b"{", b"[", b"<", b"SQLite")):
        begin = data.rfind(b"\n") + 1  # of the last line, of which three letters are left
        data = data[: begin + 3]
    trace = _read(main.name, data)
    if trace is not None and not {"open_last_line"} & {n.code for n in trace.diagnostics}:
        is_line = data.endswith(b"\n")
        assert trace.ends_early or reader.name in _WHOLE_RUNS or is_line
        if not is_line:
            _check(trace, reader)


def test_the_whole_runs_of_a_profile_of_onnx_runtime_are_used() -> None:
    """Four operators of 122 µs in all run three times; the file ends inside the third run."""
    data = profile_json(UNFUSED_OPERATORS, runs=3)
    third = [at for at in range(len(data)) if data.startswith(b'"model_run"', at)][2]
    trace = _read("profile.json", data[: third - 40])
    assert trace is not None and not trace.ends_early
    whole = _read("profile.json", profile_json(UNFUSED_OPERATORS, runs=2))
    assert whole is not None
    assert trace.runs["dur_ns"].tolist() == whole.runs["dur_ns"].tolist()
    assert trace.calls["dur_ns"].tolist() == whole.calls["dur_ns"].tolist()
    assert trace.operators["name"].tolist() == whole.operators["name"].tolist()


def test_a_run_that_overlaps_the_next_in_the_file_is_not_whole() -> None:
    """Runs of two threads lie among each other: nothing shows which of them is complete."""
    events = json.loads(profile_json(UNFUSED_OPERATORS, runs=2))
    session = [event for event in events if event["name"] == "model_run"]
    nodes = [event for event in events if event["cat"] == "Node"]
    mixed = [*session, *nodes[0::2], *nodes[1::2]]
    data = json.dumps(mixed).encode()
    trace = _read("profile.json", data[:-20])
    assert trace is not None and trace.ends_early and not trace.has_runs


@pytest.mark.parametrize(
    ("end", "codes"),
    [
        ("add,Add,AI_CORE,1200,30\n", set()),
        ("add,Add,AI_CORE,1200,30", {"open_last_line"}),
        ("add,Add", {"cut_short"}),
    ],
)
def test_the_last_line_of_a_table(end: str, codes: set[str]) -> None:
    trace = _read("kernel_details.csv", (_TABLE + end).encode())
    assert trace is not None
    found = {note.code for note in trace.diagnostics}
    assert found & {"open_last_line", "cut_short"} == codes
    assert trace.ends_early == (codes == {"cut_short"})


def test_an_object_that_is_not_closed_ends_early_and_an_array_of_events_may() -> None:
    """The format of trace events lets writers leave out the bracket behind an array alone."""
    events = [
        {"ph": "X", "name": f"op{at}", "pid": 1, "tid": 1, "ts": 10 * at, "dur": 5}
        for at in range(4)
    ]
    array = json.dumps(events).encode()
    open_array, open_object = array[:-1], b'{"traceEvents": ' + array[:-1]
    first, second = _read("t.json", open_array), _read("t.json", open_object)
    assert first is not None and not first.ends_early
    assert second is not None and second.ends_early
    assert second.early_end is not None and second.early_end.code == "cut_short"


def test_a_database_with_fewer_pages_than_it_says() -> None:
    reader = next(one for one in miniatures.FORMATS if one.name == "nsys_db")
    main = miniatures.main_file(reader)
    for size in (60, 5_000, len(main.content) - 1):
        with pytest.raises(FuseScopeError) as refused:
            read(Source(main.name, main.content[:size]))
        assert refused.value.code in ("database_cut_short", "not_nsys_database", "other_file")


def test_a_packed_file_cut_before_its_first_entry_says_so() -> None:
    data = gzip.compress(profile_json(UNFUSED_OPERATORS))
    with pytest.raises(FuseScopeError) as refused:
        read(Source("profile.json.gz", data[:40]))
    assert refused.value.code == "cut_before_operators"


_NSYS = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Device,Ctx,Strm,Name\n"
    "1000,500,1,1,1,1,NVIDIA A10G (0),1,7,void gemm<float>(float*)\n"
    "2000,500,2,1,1,1,NVIDIA A10G (0),1,7,[CUDA memset]\n"
)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("3000,500,3,1,1,1,NVIDIA A10G (0),1,7,void gemm<fl", "cut_short"),  # a name up to there
        ("3000,500,3,1,1,1,NVIDIA A10G (0),1,7,other(fl", "cut_short"),  # a bracket is open
        ("3000,500,3,1,1,1,NVIDIA A10G (0),1,7,void gemm<float>(float*)", "open_last_line"),
        ("3000,500,3,1,1,1,NVIDIA A10G (0),1,7,relu", "open_last_line"),
    ],
)
def test_a_last_cell_that_is_only_a_part_shows_the_cut(end: str, code: str) -> None:
    trace = _read("gpu_trace.csv", (_NSYS + end).encode())
    assert trace is not None
    assert {note.code for note in trace.diagnostics} & {"cut_short", "open_last_line"} == {code}
    assert trace.ends_early == (code == "cut_short")


@pytest.mark.parametrize(
    ("last", "is_part"), [("12.5", True), ("12", True), ("12.345", False), ("x", False)]
)
def test_a_number_with_fewer_decimals_than_all_others_is_only_a_part(
    last: str, is_part: bool
) -> None:
    table = f"Name,Duration\na,10.125\nb,11.250\nc,{last}"
    assert ends_in_part_of_a_cell(table.encode()) == is_part


def test_every_process_of_a_file_that_ends_early_does() -> None:
    """The reader notes the end once, for the first of them."""
    whole = _read("p.json", profile_json(UNFUSED_OPERATORS, runs=2))
    assert whole is not None
    meta = replace(whole.meta, format="kineto")  # which proves no run to be complete
    other = replace(whole, meta=meta)
    cut = replace(other, diagnostics=(Diagnostic("warning", "cut_short"),), others=(other,))
    reader = msgspec.structs.replace(miniatures.FORMATS[0], read=lambda source: cut)
    value = read_value(reader, Source("p.json", b"{}"))
    assert isinstance(value, Trace)
    assert [one.ends_early for one in (value, *value.others)] == [True, True]
    assert not value.others[0].has_runs
