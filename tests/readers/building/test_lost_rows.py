"""Records that were lost in great number: how many, of how many, in the first place and on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.readers import read
from fusescope.analysis.readers.building.checks.lost_rows import lost_notes
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.analysis.trace import Diagnostic, Trace
from fusescope.analysis.wording import diagnostic_sentence
from fusescope.analysis.wording.diagnostics.early_end import end_caution
from tests.command_line import app
from tests.readers.pytorch.test_kineto import GEMM, kernel, launch, op, trace_of

TABLE = "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n"


def kineto(lost: int, count: int = 20) -> Trace:
    """So many kernels of which some lack a duration, each launched by an operator without one."""
    events = []
    for at in range(count):
        one = kernel(GEMM, 100 * at + 50, 20, at)
        host = op("aten::mm", 100 * at, 20, at)
        if at < lost:
            del one["dur"]
        if at % 2:
            del host["dur"]  # operators of the host are not what figures are of
        events += [host, launch(100 * at + 5, at), one]
    return trace_of(events)


def table(lost: int, count: int = 20) -> Trace:
    rows = [f"1,mm{at},MatMul,AI_CORE,{10 * at},{5 if at >= lost else ''}\n" for at in range(count)]
    trace = read(Source("kernel_details.csv", (TABLE + "".join(rows)).encode()))
    assert isinstance(trace, Trace)
    return trace


@pytest.mark.parametrize("made", [kineto, table])
def test_more_than_a_tenth_is_said_first(made: Callable[[int], Trace]) -> None:
    """3 of 20 are 15 %, 2 of 20 are not more than a tenth."""
    few, many = made(2), made(3)
    assert "rows_lost" not in {note.code for note in few.diagnostics} and end_caution(few) == ""
    (note,) = [note for note in many.diagnostics if note.code == "rows_lost"]
    assert (note.severity, note.count) == ("warning", 3)
    assert dict(note.values) == {"of": 20, "share": 0.15}
    assert end_caution(many).startswith("3 of 20 records (15.0 %) were lost")
    assert inspection(many)["rows_lost"] == {"lost": 3, "of": 20}
    assert "rows_lost" not in inspection(few)


def test_a_comparison_doubts_the_side_that_lost_them() -> None:
    comparison = compare(*choose_sides(table(0), table(5)))
    doubts = trust(comparison.diagnostics).first
    (note,) = [note for note in doubts if note.code == "compared_rows_lost"]
    assert diagnostic_sentence(note).startswith(
        "5 of 20 records (25.0 %) of the candidate were lost"
    )


def test_every_device_of_a_file_says_it_with_its_own_counts() -> None:
    rows = [f"{at % 2},mm,MatMul,AI_CORE,{10 * at},{5 if at > 5 else ''}\n" for at in range(20)]
    head = TABLE.replace("Step Id", "Device_id")
    trace = read(Source("kernel_details.csv", (head + "".join(rows)).encode()))
    assert isinstance(trace, Trace) and len(trace.units) == 2
    for one in trace.units.values():
        (note,) = [note for note in one.diagnostics if note.code == "rows_lost"]
        assert (note.count, note.values["of"]) == (3, 10)


@pytest.mark.parametrize(
    ("notes", "executions", "told"),
    [
        ([("bad_event", 3, {})], 27, None),  # 3 of 30
        ([("bad_event", 3, {})], 26, (3, 29)),
        ([("bad_event", 2, {}), ("bad_time", 2, {"of": 12})], 10, (4, 14)),
        ([("bad_time", 9, {"lost": 0})], 1, None),  # of what no figure is of
        ([("other_events", 900, {})], 1, None),
        ([("bad_time", 1, {})], 1, None),  # half of two are not many
    ],
)
def test_the_bound(
    notes: list[tuple[str, int, dict[str, object]]],
    executions: int,
    told: tuple[int, int] | None,
) -> None:
    given = [Diagnostic("warning", code, n, "", values) for code, n, values in notes]  # type: ignore[arg-type]
    found = [(note.count, note.values["of"]) for note in lost_notes(given, executions, executions)]
    assert found == ([] if told is None else [told])


def test_the_terminal_says_it_below_the_headline(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = [{"name": "a", "ph": "X", "ts": at, "pid": 1, "tid": 1} for at in range(40)]
    for one in events[5:]:
        one["dur"] = 1
    path.write_text(json.dumps(events))
    shown = CliRunner().invoke(app, ["inspect", str(path)]).output
    assert "5 of 40 records (12.5 %) were lost" in " ".join(shown.split())
