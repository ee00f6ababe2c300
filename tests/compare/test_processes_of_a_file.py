"""Several processes or devices of one file: which one is shown, and which two are compared."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import alike, choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.compare.trust import trust
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.fleet.ingest import ingest_rank
from fusescope.analysis.readers import read_path
from fusescope.analysis.redaction import redacted
from fusescope.analysis.report.origins import origins
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording.single import units_opened_text
from fusescope.analysis.wording.trust import trust_line
from tests import two_processes


def trace_at(path: Path) -> Trace:
    trace = read_path(path)
    assert isinstance(trace, Trace)
    return trace


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return trace_at(two_processes.write(tmp_path_factory.mktemp("units") / "ranks.sqlite"))


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = tmp_path_factory.mktemp("units") / "rank.sqlite"
    return trace_at(two_processes.write(path, processes=(two_processes.FIRST,)))


def codes(comparison: Comparison) -> dict[str, str]:
    return {note.code: note.severity for note in comparison.diagnostics}


def test_two_processes_of_one_file_are_two_sides(both: Trace) -> None:
    """From the start of the first kernel to the end of the second: 350 ns in both."""
    comparison = compare(*choose_sides(both))
    sides = (comparison.baseline, comparison.candidate)
    assert [side.label for side in sides] == [
        "ranks.sqlite · process:40", "ranks.sqlite · process:41",
    ]  # fmt: skip
    assert [int(side.trace.calls["dur_ns"].sum()) for side in sides] == [900, 1500]
    told = codes(comparison)
    assert told["one_recording"] == "info"
    line = trust_line(trust(comparison.diagnostics))
    assert line.endswith("All times are those under a profiler.")
    assert not told.keys() & {"unpaired", "same_file", "machines_unknown", "outside_runs"}
    other_way = choose_sides(both, None, "process:41")
    assert [side.trace.meta.variant for side in other_way] == ["process:41", "process:40"]


def test_a_process_beside_itself_is_the_same_file(both: Trace) -> None:
    told = codes(compare(*choose_sides(both, None, "process:40", "process:40")))
    assert told["same_file"] == "warning" and "one_recording" not in told


def test_a_file_of_one_process_against_one_of_two(first: Trace, both: Trace) -> None:
    comparison = compare(*choose_sides(first, both))
    (note,) = [one for one in comparison.diagnostics if one.code == "device_counts_differ"]
    assert (note.values["before"], note.values["after"], note.severity) == (1, 2, "warning")
    assert comparison.figure("latency").candidate.value == pytest.approx(350)
    alike = compare(*choose_sides(both, both, "process:40", "process:41"))
    assert "device_counts_differ" not in codes(alike)


def test_the_same_name_is_compared_where_it_does_as_much(both: Trace, first: Trace) -> None:
    (second,) = both.others
    assert alike(second, second) == (second, second)
    assert alike(first, both) == (first, both) and alike(both, first) == (both, first)


def test_the_order_of_two_files_does_not_choose_their_processes(both: Trace) -> None:
    """100 of 300 ns a call under one name, 200 of 300 ns under the other: that may stand for its
    file."""
    (second,) = both.others

    def timed(trace: Trace, dur_ns: int, others: tuple[Trace, ...] = ()) -> Trace:
        return replace(trace, calls=trace.calls.assign(dur_ns=dur_ns), others=others)

    one = timed(both, 300, (timed(second, 100),))
    other = timed(second, 300, (timed(both, 200),))
    assert [trace.meta.variant for trace in (one, other)] == ["process:40", "process:41"]
    for files in ((one, other), (other, one)):
        chosen = [side.trace for side in choose_sides(*files)]
        assert [trace.meta.variant for trace in chosen] == ["process:40", "process:40"]
        assert sorted(int(trace.calls["dur_ns"].iloc[0]) for trace in chosen) == [200, 300]


def test_an_unknown_name_says_which_there_are(both: Trace, first: Trace) -> None:
    with pytest.raises(FuseScopeError) as unknown:
        choose_sides(both, None, "process:4")
    assert unknown.value.code == "no_such_unit"
    assert "process:40, process:41" in str(unknown.value)
    with pytest.raises(FuseScopeError) as alone:
        choose_sides(first, both, "process:40")
    assert alone.value.code == "profile_has_no_variants"


def test_what_is_said_of_a_file_is_said_of_every_process(tmp_path: Path) -> None:
    path = two_processes.write(tmp_path / "ranks.sqlite")
    packed = tmp_path / "ranks.sqlite.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()) + b"junk")
    trace = trace_at(packed)
    found = [{note.code for note in one.diagnostics} for one in trace.units.values()]
    assert len(found) == 2 and all("gzip_junk" in codes for codes in found)


def test_a_fleet_takes_no_file_of_several_ranks(tmp_path: Path) -> None:
    path = two_processes.write(tmp_path / "rank0.sqlite")
    with pytest.raises(FuseScopeError) as caught:
        ingest_rank(path)
    assert caught.value.code == "fleet_file_of_several"
    assert "process:40, process:41" in str(caught.value)


def test_every_process_is_redacted(both: Trace) -> None:
    named = redacted(both)
    assert isinstance(named, Trace) and len(named.units) == 2


def test_an_opened_file_is_not_said_to_be_one_of_its_processes(both: Trace, first: Trace) -> None:
    assert units_opened_text(first) == ""
    assert units_opened_text(both) == (
        "The file contains 2 processes, each of which can be chosen: process:40 (12 executions, "
        "900 ns), process:41 (12 executions, 1.50 µs)."
    )
    comparison = compare(*choose_sides(first, both))
    assert [one.file_name for one in origins(comparison)] == [
        "rank.sqlite", "ranks.sqlite · process:40",
    ]  # fmt: skip
