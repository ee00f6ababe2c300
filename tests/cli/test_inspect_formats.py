"""`fusescope inspect` and `compare` on any format: what the doctor prints, names of sides."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.reader import Reader
from fusescope.analysis.report.exports.inspection import inspection
from fusescope.app.cli.compare import compare
from fusescope.app.cli.inspect import inspect
from fusescope.app.sources import places
from tests import miniatures
from tests.command_line import app
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

FORMATS = Path(__file__).resolve().parents[2] / "sample_traces" / "formats"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")


def test_the_doctor_in_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3)[:-60])
    inspect(path)
    out = capsys.readouterr().out
    assert out.startswith("p.json: ONNX Runtime profile, written by ONNX Runtime.")
    assert "dropped: The file is cut off before its end. Its last" in out
    assert "Verdict              no   Only a point estimate: " in out
    assert "Idle time            yes  From start times." in out
    assert "Missing: un-profiled run times, hardware counters" in out


def test_the_doctor_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, data in (
        ("p.json", profile_json(UNFUSED_OPERATORS, runs=3)),
        ("e.zip", experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        inspect(path, json=True)
        found = json.loads(capsys.readouterr().out)["doctor"]
        assert found["read"]["rows"] > 0
        assert {"format", "title", "files", "dropped", "repaired", "noted"} <= set(found)
        assert {one["figure"] for one in found["figures"]} >= {"latency", "verdict", "fusion"}
        assert all(one["sentence"].endswith((".", "…")) for one in found["figures"])


def test_files_of_one_name_are_told_apart_by_their_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = []
    for name, operators in (("before", UNFUSED_OPERATORS), ("after", FUSED_OPERATORS)):
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "p.json")
        paths[-1].write_bytes(profile_json(operators, runs=6))
    compare(paths[0], paths[1], json=True)
    values = json.loads(capsys.readouterr().out)
    assert values["baseline"]["label"] == "before/p.json"
    assert values["candidate"]["label"] == "after/p.json"
    compare(paths[0].parent, paths[1].parent, json=True)
    values = json.loads(capsys.readouterr().out)
    assert (values["baseline"]["label"], values["candidate"]["label"]) == ("before", "after")
    assert values["baseline"]["file"] == "p.json"


def test_a_file_without_runs_has_no_figures_per_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = next((FORMATS / "rocprof_stats").glob("*.csv"))
    inspect(path)
    out = capsys.readouterr().out
    assert "Per run" not in out
    assert " a run" not in out
    compare(path, path)
    out = capsys.readouterr().out
    assert out.startswith("No change stands out between 4711_kernel_stats.csv (baseline) and ")
    rows = path.read_text().splitlines()
    slower = tmp_path / "slower.csv"  # the first kernel is not there
    slower.write_text("\n".join([rows[0], *rows[2:]]))
    compare(slower, path)
    assert "Each file has one time, so the noise is unknown" in " ".join(
        capsys.readouterr().out.split()
    )
    assert "one file each" in out
    assert (
        "Not known: runs per second, idle share and idle time. Reason: the file does not mark its "
        "runs." in out
    )


def test_counts_and_times_are_of_the_same_executions(capsys: pytest.CaptureFixture[str]) -> None:
    """The trace runs seven: 42.75 + 6.125 + 9.5 + 5.375 + 2.5 + 1.25 us = 67.5 us, and 88 us of a
    collective."""
    sample = FORMATS / "kineto"
    inspect(sample)
    out = capsys.readouterr().out
    told = " ".join(out.split())
    assert (
        "the whole file: 7 rows, 156 µs in operators. Of this 88.0 µs in 1 execution is "
        "communication, which ratios leave out." in told
    )
    table = out[out.index("OP Type") : out.index("What the file says")]
    rows = [line.replace(" %", "").split() for line in table.splitlines()[1:] if line]
    assert sum(int(row[-4]) for row in rows) == 7
    assert rows[-1] == ["communication", "1", "88.0", "44.00", "–"]  # in two runs
    inspect(sample, json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["communication"] == {"count": 1, "total_ns": 88_000, "per_run_ns": 44_000}
    assert facts["total_kernel_ns"] == 67_500


@pytest.mark.parametrize("reader", miniatures.FORMATS, ids=lambda reader: str(reader.name))
def test_types_and_communication_are_all_executions(reader: Reader) -> None:
    trace = miniatures.only_trace(miniatures.files(reader))
    facts = inspection(trace)
    rows = [*facts["by_type"], *([facts["communication"]] if facts["communication"] else [])]
    assert sum(row["count"] for row in rows) == trace.calls["n"].sum()
    assert sum(row["total_ns"] for row in rows) == trace.calls["dur_ns"].sum()


def test_a_file_without_communication_tells_none(capsys: pytest.CaptureFixture[str]) -> None:
    inspect(FORMATS / "onnxruntime")
    assert "communication" not in capsys.readouterr().out.partition("What the file says")[0]


@pytest.mark.parametrize("verb", ["inspect", "compare"])
def test_the_option_that_a_refusal_names_works_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(profile_json(UNFUSED_OPERATORS, runs=3))
    given = [verb, str(path)] + [str(path)] * (verb == "compare")
    monkeypatch.setenv(places.LIMITS_VARIABLE, "")  # what is set meanwhile goes with the test
    refused = CliRunner().invoke(app, ["--limit", "events=5", *given])
    assert isinstance(refused.exception, FuseScopeError)
    told = re.search(r"`fusescope (--limit \S+) …`", refused.exception.hint)
    assert told
    monkeypatch.setenv(places.LIMITS_VARIABLE, "")
    done = CliRunner().invoke(app, [*told[1].split(), *given])
    assert done.exception is None and done.output
