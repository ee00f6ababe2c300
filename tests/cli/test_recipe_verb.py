"""`fusescope recipe`: the list, a recording with its table, and the table of an experiment."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.recipes import RECIPES, find
from tests.command_line import app
from tests.factories import Operator, experiment_zip, profile_json

ROOT = Path(__file__).resolve().parents[2]
MUL: Operator = ("Mul", "Mul", 40, [(1, 1000)], [(1, 1000)])
ADD: Operator = ("Add", "Add", 40, [(1, 1000)], [(1, 1000)])
KERNEL: Operator = ("Mul", "FusedElementwise", 30, [(1, 1000)], [(1, 1000)])
MS = {"unfused": 18.2, "segments:mul_add": 19.0, "custom:mul_add": 7.5, "fused": 18.2}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("x.zip").write_bytes(mynet())


@cache
def mynet(
    blocks: int = 8, model: str = "mynet", op_type: str = "FusedElementwise", cpu: str = ""
) -> bytes:
    times = {name: [ms * (1 + 0.01 * (b % 3)) for b in range(blocks)] for name, ms in MS.items()}
    kernel = (KERNEL[0], op_type, *KERNEL[2:])
    operators = {name: (MUL, ADD) for name in MS} | {"custom:mul_add": (kernel,)}
    data = experiment_zip(times, operators, model_name=model)
    if not cpu:
        return data
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.readers import read
    from fusescope.analysis.readers.input.source import Source

    whole = read(Source("x.zip", data))
    assert isinstance(whole, Experiment)
    machine = msgspec.structs.replace(whole.record.machine, cpu_model=cpu)
    return experiment_zip(times, operators, model_name=model, changes={"machine": machine})


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["recipe", *arguments])


def invoke(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def refusal(*arguments: str) -> str:
    """The sentence that the command ends with; nothing is left behind."""
    before = sorted(Path.cwd().iterdir())
    result = run(*arguments)
    assert isinstance(result.exception, FuseScopeError), result.output
    assert sorted(Path.cwd().iterdir()) == before
    assert "\n" not in result.exception.text
    return result.exception.text


def line(output: str, start: str) -> str:
    [found] = [line for line in output.splitlines() if line.startswith(start)]
    return " ".join(found.split())


def test_the_list_has_every_recipe() -> None:
    output = invoke()
    flat = " ".join(output.split())
    for one in RECIPES:
        [head] = [text for text in output.splitlines() if text.startswith(f"{one.name}  ")]
        assert head.startswith(f"{one.name}  about ") and head.endswith(", estimated")
        assert one.question in flat
        assert all(step.variant in flat for step in one.steps)
    listed = json.loads(invoke("--json"))
    assert [one["name"] for one in listed["recipes"]] == [one.name for one in RECIPES]
    conv3x3 = next(one for one in listed["recipes"] if one["name"] == "conv3x3")
    assert conv3x3["published"][0]["values"] == {"unfused": 18.2e6, "int8": 7.5e6}


def test_the_table_of_an_experiment() -> None:
    output = invoke("mul_add", "--from", "x.zip")
    verdict = "custom kernel is 2.43× faster than unfused (95 % interval 2.43× to 2.43×). "
    assert 0 < output.index(verdict) < output.index("latency change")
    assert "8 blocks of fresh processes, paired" in output
    assert line(output, "latency change") == "latency change – +4.4 % −58.8 % 0.0 % measured"
    assert line(output, "throughput change").endswith("−4.2 % +142.7 % 0.0 % measured")
    assert "2.43× (2.43× to 2.43×)" in line(output, "vs first step")
    assert line(output, "operators") == "operators 2 2 1 2 measured"
    assert line(output, "  published") == "published 2 1 measured"
    assert line(output, "graph ") == "graph Mul → Add Mul → Add FusedElementwise Mul → Add measured"
    assert "Test CPU, 2 cores; onnxruntime 1.31.1, 2 threads; 8 blocks of 3 rounds" in output
    assert "recorded 2026-01-02" in output
    assert "over the same cut without the kernel: 2.53×" in output
    assert "--baseline unfused --candidate custom:mul_add" in output


def test_json_csv_and_html() -> None:
    told = json.loads(invoke("mul_add", "--from", "x.zip", "--json", "--csv", "t.csv"))
    written = invoke("mul_add", "--from", "x.zip", "--html", "t.html", "--markdown", "t.md")
    assert "Written: t.html" in written and "Written: t.md" in written
    assert "| latency change | – | +4.4 % | −58.8 % | 0.0 % | measured |" in (
        Path("t.md").read_text(encoding="utf-8")
    )
    assert told["schema_version"] == 2
    assert told["recipe"]["name"] == "mul_add"
    own = {step["variant"]: step["figures"] for step in told["steps"]}
    change = own["custom:mul_add"]["latency_change"]
    assert change["value"] == pytest.approx(7.5 / 18.2 - 1, abs=1e-3)
    assert (change["unit"], change["basis"]) == ("fraction", "measured")
    assert change["profiled"] is False
    assert own["unfused"]["latency_change"]["value"] is None
    assert own["unfused"]["latency_change"]["reason"] == "nothing comes before it"
    rows = list(csv.DictReader(io.StringIO(Path("t.csv").read_text("utf-8-sig"))))
    assert len({len(row) for row in rows}) == 1
    [row] = [r for r in rows if r["source"] == "recorded" and r["variant"] == "custom:mul_add"
             and r["figure"] == "speedup_first"]  # fmt: skip
    speedup = own["custom:mul_add"]["speedup_first"]
    assert float(row["value"]) == speedup["value"]
    assert float(row["low"]) == speedup["low"] < speedup["value"] < float(row["high"])
    published = [r for r in rows if r["source"] == "published"]
    assert [(r["variant"], r["figure"], float(r["value"])) for r in published] == [
        ("unfused", "operators", 2.0), ("custom:mul_add", "operators", 1.0),
    ]  # fmt: skip
    page = Path("t.html").read_text(encoding="utf-8")
    assert "\N{MINUS SIGN}58.8\N{NO-BREAK SPACE}%" in page
    assert "<script" not in page and "default-src 'none'" in page


def test_a_name_that_is_none() -> None:
    assert "Did you mean 'mul_add'?" in refusal("muladd")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--csv", "t.csv"), "--csv needs the name of a recipe"),
        (("--blocks", "3"), "--blocks needs the name of a recipe"),
        (("mul_add", "--from", "x.zip", "--blocks", "3"), "--blocks is an option for recording"),
        (("mul_add", "--from", "x.zip", "--seconds", "3"), "--seconds is an option for recording"),
        (("mul_add", "--from", "x.zip", "--out", "y.zip"), "--out is an option for recording"),
        (("mul_add", "--from", "none.zip"), "none.zip"),
        (("conv3x3", "--from", "x.zip"), "the recipe conv3x3: it is of the model 'mynet', not of"),
        (("mul_add", "--from", "x.zip", "--csv", "no/t.csv"), "--csv cannot be written there"),
        (("mul_add", "--from", "x.zip", "--html", "."), "--html cannot be written there"),
        (("mul_add", "--from", "x.zip", "--csv", "t", "--html", "t"), "name the same file"),
        (("mul_add", "--from", "x.zip", "--html", "t", "--markdown", "t"), "name the same file"),
        (("--markdown", "t.md"), "--markdown needs the name of a recipe"),
    ],
)
def test_bad_usage_is_one_sentence(arguments: tuple[str, ...], expected: str) -> None:
    assert expected in refusal(*arguments)


def test_an_experiment_of_another_baseline() -> None:
    times = {name: [ms] * 8 for name, ms in reversed(MS.items())}
    operators = {name: (MUL, ADD) for name in times}
    Path("other.zip").write_bytes(experiment_zip(times, operators, model_name="mynet"))
    text = refusal("mul_add", "--from", "other.zip")
    assert "compared with those of 'fused', not with those of 'unfused'" in text
    assert "Record one with: fusescope recipe mul_add." in text


def test_a_profile_is_no_experiment() -> None:
    Path("p.json").write_bytes(profile_json([MUL]))
    assert "a profile, not an experiment" in refusal("mul_add", "--from", "p.json")


def test_an_experiment_of_another_model() -> None:
    Path("other.zip").write_bytes(mynet(model="\x1b[31mevil"))
    text = refusal("mul_add", "--from", "other.zip")
    assert "evil" in text and "\x1b" not in text


def test_names_of_the_file_are_not_interpreted() -> None:
    hostile = "\x1b]0;x\x07<img src=x onerror=alert(1)>[b]|`_*"
    Path("h.zip").write_bytes(mynet(op_type=hostile, cpu=f"=1+1{hostile}"))
    output = invoke("mul_add", "--from", "h.zip", "--csv", "t.csv", "--html", "t.html")
    assert "\x1b" not in output and "\x07" not in output
    assert "[b]" in output, "shown as it is"
    page = Path("t.html").read_text(encoding="utf-8")
    assert "<img" not in page and "&lt;img" in page and "\x1b" not in page
    assert "\x1b" not in Path("t.csv").read_text("utf-8-sig")
    from fusescope.analysis.experiment import Experiment
    from fusescope.analysis.readers import read_path
    from fusescope.analysis.recipes import recipe_table
    from fusescope.analysis.report.recipe import recipe_markdown

    whole = read_path(Path("h.zip"))
    assert isinstance(whole, Experiment)
    markdown = recipe_markdown(recipe_table(find("mul_add"), whole))
    assert "\\<img" in markdown and "\\`\\_\\*" in markdown
    assert not [c for c in markdown if c in "\x1b\x07"]
    tables = [text for text in markdown.splitlines() if text.startswith("|")]
    assert len({text.replace("\\|", "").count("|") for text in tables}) == 1


def test_the_module_loads_nothing_heavy() -> None:
    code = (
        "import sys, fusescope.app.cli.recipe; heavy = {'numpy', 'pandas', 'onnx', 'onnxruntime',"
        " 'fusescope.collectors', 'psutil'} & {*sys.modules};"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.exhaustive  # test_cli collect records; tables of files are above
def test_a_recording_ends_with_the_table(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")
    done = subprocess.run(
        [sys.executable, "-m", "fusescope.app.cli.main", "recipe", "conv_bn", "--blocks", "1"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Recorded 1 block" in done.stderr
    [path] = Path.cwd().glob("conv_bn-*.zip")
    assert f"Next: fusescope compare {path.name} --baseline unfused --candidate rules:O1" in (
        done.stdout
    )
    assert line(done.stdout, "operators").startswith("operators 2 1 ")
    assert "! Only 1 block" in done.stdout
    again = invoke("conv_bn", "--from", path.name)
    assert again == done.stdout


def test_a_machine_without_the_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="recording needs the extra 'collect'")
    monkeypatch.setattr("fusescope.collectors.kernels.find_spec", lambda name: None)
    assert "numba" in refusal("mul_add", "--blocks", "1")
