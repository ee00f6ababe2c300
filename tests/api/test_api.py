"""The Python API says what the terminal says, as values that a notebook can work with."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fusescope
from fusescope.api.comparison import Comparison
from fusescope.api.tables import FINDING, table_of
from tests.command_line import app
from tests.factories import experiment_zip

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "sample_traces"
EAGER = SAMPLES / "torch_compile" / "eager.json.gz"
COMPILED = SAMPLES / "torch_compile" / "compiled.json.gz"
RECORDING = SAMPLES / "mobilenetv2.zip"


@pytest.fixture(scope="module")
def pair() -> Comparison:
    return fusescope.compare(EAGER, COMPILED)


@pytest.fixture(scope="module")
def recorded() -> Comparison:
    return fusescope.compare(RECORDING)


def test_a_comparison_is_that_of_the_terminal(pair: Comparison) -> None:
    printed = CliRunner().invoke(app, ["compare", str(EAGER), str(COMPILED), "--json"])
    values = json.loads(printed.stdout)
    assert json.loads(json.dumps(pair.to_dict())) == values
    assert (pair.verdict.outcome, pair.verdict.reason) == ("noise_unknown", "few_runs")
    assert (pair.verdict.low, pair.verdict.high) == (None, None)
    assert pair.verdict.baseline_ns == values["verdict"]["times"]["baseline_ns"]
    assert pair.text.startswith(pair.verdict.sentence)
    first, *others = pair.explanation.to_dict("records")
    assert first["code"] == "fused" and len(others) + 1 == len(values["explanation"]["changes"])
    # What changed, and the rest that no change accounts for, is the change of a step.
    unit = values["explanation"]["unit"]
    accounted = pair.explanation["change_ns"].sum() + values["explanation"]["rest_ns"]
    assert accounted == unit["after_ns"] - unit["before_ns"]
    assert len(pair.operators) == len(values["operators"])
    assert list(pair.diagnostics["code"]) == [note["code"] for note in values["diagnostics"]]


def test_a_recording_alone_is_compared_with_its_own_baseline(
    recorded: Comparison, tmp_path: Path
) -> None:
    assert (recorded.baseline, recorded.candidate) == ("unfused", "fused")
    assert recorded.verdict.outcome == "faster"
    assert recorded.verdict.low < recorded.verdict.speedup < recorded.verdict.high
    assert recorded.explanation.empty and "sentence" in recorded.explanation
    ledger = recorded.ledger
    verdict = recorded.verdict
    saved = verdict.baseline_ns - verdict.candidate_ns
    assert ledger["gain_ns"].sum() == pytest.approx(saved, abs=len(ledger))  # whole ns a row
    small = tmp_path / "small.zip"
    times = {"unfused": [10.0, 10.1] * 3, "fused": [5.0, 5.1] * 3, "eager": [20.0, 20.1] * 3}
    small.write_bytes(experiment_zip(times))
    other = fusescope.compare(small, baseline="eager", candidate="unfused")
    assert (other.baseline, other.candidate) == ("eager", "unfused")
    assert other.verdict.outcome == "faster"
    traces = [fusescope.read(small, name) for name in ("eager", "unfused")]
    assert fusescope.compare(*traces).verdict == other.verdict


def test_a_trace_has_its_tables_and_what_need_not_be() -> None:
    trace = fusescope.read(EAGER)
    assert (trace.name, trace.format, trace.names) == ("eager.json.gz", "kineto", ())
    assert len(trace.runs) == 3 and len(trace.calls) == 879
    time_of_addmm = trace.calls.merge(trace.operators, on="operator").query(
        "op_type == 'aten::addmm'"
    )["dur_ns"]
    assert len(time_of_addmm) == 27
    assert list(trace.explanation["code"]) == ["idle"]
    assert trace.sentence.startswith("A step takes ")
    runs = trace.runs
    runs["dur_ns"] = 0  # of a copy
    assert trace.runs["dur_ns"].min() > 0
    assert fusescope.read(RECORDING).name == "fused"
    assert set(fusescope.read(RECORDING).names) >= {"eager", "unfused", "fused"}


def test_findings_are_those_of_advise(recorded: Comparison) -> None:
    printed = CliRunner().invoke(app, ["advise", str(RECORDING), "--json"])
    codes = [one["code"] for one in json.loads(printed.stdout)["findings"]]
    assert list(fusescope.findings(RECORDING)["code"]) == codes
    assert list(fusescope.findings(recorded)["code"]) == codes
    assert list(fusescope.findings(fusescope.read(RECORDING))["code"]) == codes


def test_columns_have_types_where_no_row_has_a_value() -> None:
    rows = [dict.fromkeys(FINDING, "x") | {"gain_ns": None, "share": 0.5, "at_most_ns": 2**60}]
    for table in (table_of([], FINDING), table_of(rows, FINDING)):
        assert list(table) == list(FINDING)
        assert str(table["gain_ns"].dtype) == "Float64"
    table = table_of(rows, FINDING)
    assert table["gain_ns"].isna().all() and table["at_most_ns"].item() == 2**60


def test_errors_have_a_code_a_place_and_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(fusescope.FuseScopeError) as missing:
        fusescope.read(tmp_path / "none.json")
    assert missing.value.code == "no_such_file"
    assert "none.json" in str(missing.value.where) and missing.value.hint
    with pytest.raises(fusescope.FuseScopeError) as unknown:
        fusescope.read(RECORDING, "fusd")
    assert unknown.value.code == "no_such_variant" and "'fused'" in unknown.value.hint
    with pytest.raises(fusescope.FuseScopeError) as alone:
        fusescope.compare(EAGER)
    assert alone.value.code == "one_side"
    with pytest.raises(AttributeError):
        fusescope.compress  # noqa: B018


@pytest.mark.parametrize("name", ["", "a" * 300, "a\0b", "\ud800", "library:none", "baseline:none"])
def test_a_path_that_no_file_can_have_is_an_error_of_ours(
    name: str, pair: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with pytest.raises(fusescope.FuseScopeError) as read:
        fusescope.read(name)
    assert len(str(read.value)) < 400
    if ":" not in name:
        with pytest.raises(fusescope.FuseScopeError):
            pair.report(name)


def test_reports_are_not_written_over_what_was_read_through_links(tmp_path: Path) -> None:
    copy = tmp_path / "trace.json.gz"
    copy.write_bytes(EAGER.read_bytes())
    (tmp_path / "soft.html").symlink_to(copy)
    (tmp_path / "hard.html").hardlink_to(copy)
    for name in ("soft.html", "hard.html"):
        with pytest.raises(fusescope.FuseScopeError) as refused:
            fusescope.read(copy).report(tmp_path / name)
        assert refused.value.code == "output_is_an_input"
    assert copy.read_bytes() == EAGER.read_bytes()


def test_reports_are_written_but_never_over_what_was_read(
    pair: Comparison, recorded: Comparison, tmp_path: Path
) -> None:
    written = pair.report(tmp_path / "pair.html")
    assert written.read_bytes().startswith(b"<!doctype html")
    assert fusescope.read(EAGER).report(tmp_path / "one.html", redact=True).stat().st_size > 10_000
    copy = tmp_path / "trace.json.gz"
    copy.write_bytes(EAGER.read_bytes())
    for write in (fusescope.compare(copy, COMPILED).report, fusescope.read(copy).report):
        with pytest.raises(fusescope.FuseScopeError, match="report()"):
            write(copy)
    with pytest.raises(fusescope.FuseScopeError):
        recorded.report(tmp_path)
    assert copy.read_bytes() == EAGER.read_bytes()


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = []
    for folder, source in (("before", EAGER), ("after", COMPILED)):
        path = tmp_path / folder / "trace.json.gz"
        path.parent.mkdir()
        path.write_bytes(source.read_bytes())
        paths.append(path)
    found = fusescope.compare(*paths)
    assert (found.baseline, found.candidate) == ("before/trace.json.gz", "after/trace.json.gz")


@pytest.mark.parametrize("hostile", ["<img src=x onerror=alert(1)>", "\x1b[31m\u202e"])
def test_a_notebook_shows_the_answer_and_interprets_nothing(hostile: str, tmp_path: Path) -> None:
    events = [
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": at * 100, "dur": dur,
         "args": {"stream": 7, "device": 0}}
        for at, (name, dur) in enumerate([(hostile, 50), ("plain", 20)] * 6)
    ]  # fmt: skip
    files = []
    for name, factor in (("a", 1), ("b", 2)):
        path = tmp_path / f"{name}.json"
        scaled = [{**event, "dur": event["dur"] * factor} for event in events]
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": scaled}))
        files.append(path)
    cells = [fusescope.compare(*files)._repr_html_(), fusescope.read(files[0])._repr_html_()]
    for cell in cells:
        assert (
            "<img" not in cell
            and "<script" not in cell
            and "http" not in cell.lower().replace("http://www.w3.org/2000/svg", "")
        )
        assert not set(cell) & {"\x1b", "\u202e"}
        assert cell.startswith('<div class="tex2jax_ignore mathjax_ignore"')


def test_a_cell_leads_with_the_verdict_and_its_first_rows(recorded: Comparison) -> None:
    cell = recorded._repr_html_()
    assert recorded.verdict.sentence in cell
    assert cell.count("groups of ") == 3 and "unfused" in cell


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, fusescope; print('pandas' in sys.modules, sorted(dir(fusescope)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout
    assert printed.startswith("False ") and "'compare'" in printed


def test_a_model_is_recorded_and_compared(tmp_path: Path) -> None:
    shown = []
    path = fusescope.record(
        "mul_add",
        ("unfused", "fused"),
        out=tmp_path / "recorded.zip",
        blocks=1,
        rounds=2,
        on_progress=shown.append,
    )
    assert path == tmp_path / "recorded.zip" and shown
    assert fusescope.read(path).names == ("unfused", "fused")
    assert fusescope.compare(path).verdict.outcome == "noise_unknown"
