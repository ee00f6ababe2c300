"""`fusescope inspect` and `compare` from their arguments to exit codes: output, refusals."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from fusescope.analysis.releases.history import history_file
from fusescope.app.cli import inspect
from fusescope.app.cli.main import main
from tests import two_processes
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.releases.test_changes import FUSED, PLAIN, history
from tests.step_traces import Kernel, steps_of

ROOT = Path(__file__).resolve().parents[2]
TIMES = {"unfused": [10.0, 10.1, 10.2, 10.0, 10.1, 10.3], "fused": [5.0, 5.1, 5.0, 5.0, 5.2, 5.1]}


class Ended(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Ended]


@pytest.fixture
def fusescope(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """`fusescope("compare", "e.zip")`, in `folder` and in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: str | Path) -> Ended:
        monkeypatch.setattr(sys, "argv", ["fusescope", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Ended(int(ended.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "e.zip").write_bytes(experiment_zip(TIMES))
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    (tmp_path / "net.zip").write_bytes(history_file(history(FUSED, PLAIN)))
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "cut.json").write_bytes(b'[{"cat":"Node","na')
    (tmp_path / "folder").mkdir()
    return tmp_path


def test_the_sentence_comes_first(fusescope: Run) -> None:
    result = fusescope("compare", "e.zip")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("fused is 2.00× faster than unfused (95 % interval 1.9")
    assert "small-op ratio" in result.stdout and "Can I trust this?" in result.stdout


def test_json_is_the_documented_object(fusescope: Run) -> None:
    values = json.loads(fusescope("compare", "before.json", "after.json", "--json").stdout)
    assert values["schema_version"] == 2
    assert values["verdict"]["reason"] == "one_process"
    assert values["verdict"]["speedup"]["of"] == "run_span"
    facts = json.loads(fusescope("inspect", "e.zip", "--json").stdout)
    assert [variant["name"] for variant in facts["variants"]] == ["unfused", "fused"]


def test_a_comparison_reads_two_variants_and_a_report_all(fusescope: Run, folder: Path) -> None:
    data = experiment_zip(TIMES | {"extended": TIMES["fused"]})
    with zipfile.ZipFile(io.BytesIO(data)) as whole, zipfile.ZipFile(folder / "x.zip", "w") as cut:
        for name in whole.namelist():
            if not name.startswith("profiles/extended/"):
                cut.writestr(name, whole.read(name))
    result = fusescope("compare", "x.zip")
    assert result.returncode == 0, result.stderr
    assert "Also recorded: extended." in result.stdout
    for option in (("--html", "x.html"), ("--redact",)):
        result = fusescope("compare", "x.zip", *option)
        assert result.returncode == 2 and "profiles/extended" in result.stderr


def test_variants_can_be_named(fusescope: Run) -> None:
    arguments = ("compare", "e.zip", "--baseline", "fused", "--candidate", "unfused", "--json")
    verdict = json.loads(fusescope(*arguments).stdout)["verdict"]
    assert verdict["outcome"] == "slower"


def test_processes_of_one_file_can_be_named(fusescope: Run, folder: Path) -> None:
    two_processes.write(folder / "ranks.sqlite")
    out = fusescope("inspect", "ranks.sqlite").stdout
    assert (
        "\nprocess:40\nA run takes 350 ns, the mean of 6." in out
        and "\n6 runs (6 profiled) of 2 executions each" in out
        and "\nprocess:41\n" in out
    )
    told = " ".join(out.split())
    assert "This is one of them: process:40 (12 executions, 900 ns)." in told
    assert "Also in the file: process:41 (12 executions, 1.50 µs)." in told
    assert "outside every run" not in told and "file of a single process" not in told
    values = json.loads(fusescope("inspect", "ranks.sqlite", "--json").stdout)
    assert values["total_kernel_ns"] == 900
    assert [(unit["name"], unit["total_kernel_ns"]) for unit in values["units"]] == [
        ("process:40", 900), ("process:41", 1500),
    ]  # fmt: skip
    pair = json.loads(fusescope("compare", "ranks.sqlite", "--json").stdout)
    assert [pair[side]["variant"] for side in ("baseline", "candidate")] == [
        "process:40", "process:41",
    ]  # fmt: skip
    named = ("compare", "ranks.sqlite", "ranks.sqlite", "--candidate", "process:41", "--json")
    pair = json.loads(fusescope(*named).stdout)
    assert pair["candidate"]["label"] == "ranks.sqlite · process:41"
    table = fusescope("compare", "ranks.sqlite", "--variants", "all", "--json").stdout
    assert [one["variant"] for one in json.loads(table)["variants"]] == ["process:40", "process:41"]
    advice = fusescope("advise", "ranks.sqlite", "--variant", "process:41").stdout
    assert "process:41" in advice.splitlines()[0]
    assert "Also in the file: process:40 (12 executions, 900 ns)." in advice
    refused = fusescope("compare", "ranks.sqlite", "--candidate", "process:43")
    assert refused.returncode == 2 and "Did you mean 'process:41'?" in refused.stderr


def test_several_variants_and_files_are_one_table(fusescope: Run, folder: Path) -> None:
    out = fusescope("compare", "e.zip", "--variants", "fused,unfused").stdout
    assert out.startswith("fused is 2.00× faster than unfused\n")
    assert "Un-profiled wall time, 6 blocks of fresh processes, paired." in out
    assert "Pareto front" in out
    rows = [line.split() for line in out.splitlines() if line.startswith(("unfused ", "fused "))]
    assert [row[:2] for row in rows[1:3]] == [["unfused", "–"], ["fused", "2.00×"]]
    shutil.copytree(folder, folder / "moved")
    files = ("before.json", "after.json", "moved/after.json", "--json", "--redact")
    values = json.loads(fusescope("compare", *files).stdout)
    assert values["baseline"].endswith("/before.json") and len(values["best"]["members"]) == 3
    assert [one["figures"]["latency"]["value"] for one in values["variants"]] == [
        pytest.approx(ns) for ns in (210e3, 166e3, 166e3)
    ]


def test_what_each_step_brings(fusescope: Run, folder: Path) -> None:
    """A pair that is two steps apart has the ladder that the table of all has."""
    times = {"eager": [20.0] * 8, "unfused": [10.0] * 8, "fused": [5.0] * 8}
    (folder / "steps.zip").write_bytes(experiment_zip(times, control=(1.0,)))
    sentence = (
        "Of 15.0 ms that fused saves against eager, one graph brings 10.0 ms and optimisation "
        "brings 5.00 ms."
    )
    for way in (("--variants", "all"), ("--baseline", "eager", "--candidate", "fused")):
        out = fusescope("compare", "steps.zip", *way, "--brief").stdout
        assert sentence in " ".join(out.split()) and "one graph: " not in out
        out = fusescope("compare", "steps.zip", *way).stdout
        rows = [line.split() for line in out.splitlines()]
        assert ["unfused", "10.0", "one", "graph", "−10.0"] in [row[:5] for row in rows]
        assert ["together", "−15.0"] in [row[:2] for row in rows]
        files = ("--json", "--html", "steps.html", "--markdown", "steps.md")
        found = json.loads(fusescope("compare", "steps.zip", *way, *files).stdout)["ladder"]
        assert [step["gain_ns"]["value"] for step in found["steps"]] == [10_000_000, 5_000_000]
        assert found["total_gain_ns"]["value"] == 15_000_000 and found["sentence"] == sentence
        assert sentence in (folder / "steps.md").read_text()
        page = (folder / "steps.html").read_text()
        assert page.count('<section id="ladder">') == 1 and "eager → unfused" in page
        again = json.loads(fusescope("compare", "steps.html", "--json").stdout)["ladder"]
        assert again == found


def test_several_variants_are_written_in_every_form(fusescope: Run, folder: Path) -> None:
    forms = (
        "--html", "s.html", "--markdown", "s.md", "--csv", "tables", "--perfetto", "s.json",
        "--parquet", "typed",
    )  # fmt: skip
    result = fusescope("compare", "e.zip", "--variants", "all", *forms)
    assert result.returncode == 0 and "Report: s.html" in result.stdout, result.stderr
    assert (folder / "s.html").read_text().rstrip().endswith("</html>")
    assert (folder / "s.md").read_text().startswith("### fused is 2.00× faster than unfused\n")
    assert {path.name for path in (folder / "tables").iterdir()} == {"variants.csv", "figures.csv"}
    # Of a table of two a pair comes back.
    again = fusescope("compare", "s.html")
    assert again.returncode == 0 and again.stdout.startswith("fused is 2.00× faster than unfused")
    assert {path.stem for path in (folder / "typed").iterdir()} == {
        "variants", "figures", "operators", "op_types", "fusion_ledger", "findings", "runs", "calls"
    }  # fmt: skip
    processes = [one for one in json.loads((folder / "s.json").read_text())["traceEvents"]]
    names = [one["args"]["name"] for one in processes if one["name"] == "process_name"]
    assert names == ["unfused", "fused"]


def test_heads_of_several_variants_are_whole_words(
    fusescope: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = fusescope("compare", "e.zip", "--variants", "all").stdout
    table = out[: out.index("Pareto front")].splitlines()
    assert max(map(len, table)) <= 80
    assert {"utilisation", "latency", "memory"} <= {word for line in table for word in line.split()}


def test_inspect_prints_what_a_file_can_answer(fusescope: Run) -> None:
    out = fusescope("inspect", "before.json").stdout
    assert "6 runs (6 profiled) of 4 executions each" in out
    assert "It contains start times, " in out
    assert "hardware counters, names of the operators inside fused ones" in out


def test_what_ran_in_no_run_is_in_the_totals_and_not_per_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two steps of 10 us, and 5 us that the file has in no step: 25 us in all, 10 per run."""
    trace = steps_of([[Kernel("gemm", 10)], [Kernel("gemm", 10)], [Kernel("gemm", 5)]])
    run = trace.calls["run"].where(trace.calls["run"] < 2)
    outside = replace(trace, calls=trace.calls.assign(run=run), runs=trace.runs.iloc[:2])
    console = Console(width=160)
    inspect._print_trace(console, outside)
    lines = capsys.readouterr().out.splitlines()
    assert "Count, total and ratio are of the whole file, with 1 execution in no run." in lines[1]
    assert lines[-1].split() == ["gemm", "3", "25.0", "10.0", "100.0", "%"]


def test_a_report_is_written_whole(fusescope: Run, folder: Path) -> None:
    result = fusescope("compare", "e.zip", "--html", "report.html")
    assert result.returncode == 0, result.stderr
    assert "Report: report.html" in result.stdout
    assert (folder / "report.html").read_text().rstrip().endswith("</html>")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("inspect", "missing.json", "--json"), "There is no such file (missing.json)"),
        (("inspect", "empty.json"), "This file is empty"),
        (("inspect", "picture.json"), "a PNG image, not a trace"),
        (("inspect", "cut.json"), "cut short before its first operator"),
        (("inspect", "folder"), "No file here is a trace"),
        (("inspect", "net.zip"), "page Releases, or with: fusescope serve net.zip."),
        (
            ("compare", "net.zip"),
            "what releases of an engine make of a model; it is not a recording",
        ),
        (("compare", "before.json", "net.zip"), "page Releases, or with: fusescope serve net.zip."),
        (("compare", "before.json"), "only one side"),
        (("compare", "e.zip", "--candidate", "fussed"), "Did you mean 'fused'"),
        (("compare", "before.json", "missing.json"), "no such file"),
        (("compare", "e.zip", "--variants", "fused"), "needs at least two variants"),
        (("compare", *("e.zip",) * 9), "too many to compare at once"),
        (("compare", "e.zip", "--variants", "all", "--ascend", "x"), "not go together"),
        (("compare", "e.zip", "--html", "no/where.html"), "report cannot be written"),
        (("compare", "e.zip", "--html", "."), "This is a folder (.)"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    fusescope: Run, folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    before = sorted(folder.rglob("*"))
    result = fusescope(*arguments)
    assert result.returncode == 2
    assert says in result.stderr and result.stderr.startswith("fusescope: ")
    assert result.stderr.count("\n") == 1 and "Traceback" not in result.stderr
    assert sorted(folder.rglob("*")) == before  # nothing half-written
    if "--json" in arguments:
        error = json.loads(result.stdout)["error"]
        assert (error["code"], error["where"]) == ("no_such_file", "missing.json")
    else:
        assert result.stdout == ""


def test_help_names_every_verb(fusescope: Run) -> None:
    out = fusescope("--help").stdout
    for verb in ("collect", "inspect", "compare", "serve"):
        assert verb in out


def test_unknown_options_are_bad_usage(fusescope: Run) -> None:
    assert fusescope("compare", "--nonsense").returncode == 2


def test_a_closed_pipe_is_no_error(folder: Path) -> None:
    shell = f"{sys.executable} -m fusescope.app.cli.main compare e.zip --json | head -c 10"
    result = subprocess.run(
        ["bash", "-o", "pipefail", "-c", shell],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in result.stderr


def test_a_path_that_no_system_takes_is_one_sentence(fusescope: Run) -> None:
    result = fusescope("compare", "a" * 5000 + ".zip")
    assert result.returncode == 2
    assert result.stderr.startswith("fusescope: A path is too long ('aaa")
    assert result.stderr.endswith("aaa.zip'). Shorten it.\n") and len(result.stderr) < 120


def test_a_file_that_ends_early_has_no_figure_in_any_verb(fusescope: Run, folder: Path) -> None:
    data = (folder / "before.json").read_bytes()
    (folder / "cut.json").write_bytes(data[: data.index(b"model_run") - 60])
    ended = fusescope("inspect", "cut.json")
    assert ended.returncode == 0
    assert "cut.json ends early" in ended.stdout and "OP Type" not in ended.stdout
    assert "Latency per run" not in ended.stdout
    told = json.loads(fusescope("inspect", "cut.json", "--json").stdout)
    assert (told["ends_early"], told["total_kernel_ns"], told["by_type"]) == ("cut_short", None, [])
    assert {one["code"] for one in told["doctor"]["figures"]} <= {"ends_early", "starts"}
    advice = json.loads(fusescope("advise", "cut.json", "--json").stdout)
    assert (advice["findings"], advice["run_ns"]) == ([], None)
    assert {one["reason"] for one in advice["not_answerable"]} == {"ends_early"}
    assert "cut.json ends early" in fusescope("advise", "cut.json").stdout
    ended = fusescope("inspect", "cut.json", "--ascend", "tables")
    assert ended.returncode == 2 and not (folder / "tables").exists()
    for sides in (("cut.json", "after.json"), ("after.json", "cut.json")):
        ended = fusescope("compare", *sides, "--json")
        assert ended.returncode == 2
        error = json.loads(ended.stdout)["error"]
        assert (error["code"], error["where"]) == ("side_ends_early", "cut.json")
    ended = fusescope("compare", "before.json", "cut.json", "--html", "r.html")
    assert ended.returncode == 2 and not (folder / "r.html").exists()
    ended = fusescope("compare", "before.json", "after.json", "cut.json")
    assert ended.returncode == 2 and "cut.json" in ended.stderr


def test_a_cut_file_among_several_of_a_side_is_named(fusescope: Run, folder: Path) -> None:
    data = (folder / "before.json").read_bytes()
    (folder / "cut.json").write_bytes(data[: data.index(b"model_run") - 60])
    ended = fusescope(
        "compare", "--baseline", "before.json", "--baseline", "cut.json",
        "--candidate", "after.json",
    )  # fmt: skip
    assert ended.returncode == 2
    assert "This file ends early" in ended.stderr and "(cut.json)" in ended.stderr
