"""action.yml, run as a runner does: the scripts of its steps by bash, inputs as variables."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.docs.examples import ROOT, blocks

SAMPLES = ROOT / "sample_traces" / "torch_compile"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
HOSTILE = "k\n::error title=x::y"


@dataclass(frozen=True)
class Done:
    """What a run of the step *Judge* left."""

    code: int
    printed: str
    outputs: dict[str, str]
    summary: str
    files: dict[str, Path]


def filled(text: str, inputs: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)


def judge(tmp_path: Path, **given: str) -> Done:
    """Run the step with these inputs, the others as they are without any."""
    named = {name.replace("_", "-"): value for name, value in given.items()}
    inputs = {
        name: named.get(name, one.get("default", "")) for name, one in ACTION["inputs"].items()
    }
    assert set(named) <= set(inputs)
    (step,) = (one for one in ACTION["runs"]["steps"] if one.get("id") == "gate")
    program = tmp_path / "fusescope" / "bin" / "fusescope"
    program.parent.mkdir(parents=True)
    verb = "import sys; sys.argv[0] = 'fusescope'; from fusescope.app.cli.main import main; main()"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{verb}" "$@"\n')
    program.chmod(0o755)
    written, summary = tmp_path / "outputs", tmp_path / "summary"
    summary.write_text("before\n")
    ran = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **{name: filled(text, inputs) for name, text in step["env"].items()},
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "PYTHONPATH": str(ROOT),
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_OUTPUT": str(written),
            "GITHUB_STEP_SUMMARY": str(summary),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    outputs = dict(line.split("=", 1) for line in written.read_text().splitlines())
    return Done(
        ran.returncode,
        ran.stdout,
        outputs,
        summary.read_text(),
        {path.name: path for path in Path(outputs.pop("folder")).iterdir()},
    )


def commands(printed: str) -> list[str]:
    """Return the lines that a runner takes for commands: none behind stop-commands, until its
    token."""
    told, token = [], None
    for line in printed.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.startswith("::"):
            told.append(line)
    return told


def test_two_traces_fail_with_causes_an_annotation_and_files(tmp_path: Path) -> None:
    done = judge(
        tmp_path,
        file=str(SAMPLES / "compiled.json.gz"),
        against=str(SAMPLES / "eager.json.gz"),
        fail_if="explanation.slower 5%\n  explanation.cause 90%\n",
    )
    assert done.code == 1 and done.outputs["outcome"] == "failed"
    [annotation] = commands(done.printed)
    assert annotation.startswith("::error title=FuseScope::The gate failed: 1 of its 2 conditions")
    assert "one recording, so this includes how processes differ by chance.%0A" in annotation
    assert "No longer fused in 14 places" in done.printed
    assert done.summary.startswith("before\n### The gate failed")
    assert set(done.files) == {"gate.html", "gate.xml", "gate.txt", "log.txt"}
    assert done.outputs["report"] == str(done.files["gate.html"])
    assert ElementTree.parse(done.files["gate.xml"]).getroot().get("failures") == "1"


def test_what_passes_annotates_nothing(tmp_path: Path) -> None:
    done = judge(
        tmp_path,
        file=str(SAMPLES / "eager.json.gz"),
        against=str(SAMPLES / "compiled.json.gz"),
        fail_if="explanation.slower 5%",
        arguments="--redact\n",
    )
    assert (done.code, done.outputs["outcome"], commands(done.printed)) == (0, "passed", [])


def test_what_cannot_be_judged_says_so(tmp_path: Path) -> None:
    done = judge(tmp_path, file="no such file; touch hacked", fail_if="explanation.slower 5%")
    assert done.code == 2 and done.outputs == {"outcome": "not-judged", "report": ""}
    [annotation] = commands(done.printed)
    assert annotation.startswith("::error title=FuseScope::") and "Traceback" not in done.printed
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"file": "--help"},
        {"file": str(SAMPLES / "eager.json.gz"), "against": "--version"},
        {"file": str(SAMPLES / "eager.json.gz"), "base": "--json", "head": "--help"},
        {"file": str(SAMPLES / "eager.json.gz"), "arguments": "--help"},
        {"file": ""},
        {"file": "a\n::error::x", "against": "%0A::error::x"},
    ],
)
def test_an_input_that_is_an_option_or_a_command_judges_nothing(
    tmp_path: Path, given: dict[str, str]
) -> None:
    done = judge(tmp_path, fail_if="explanation.slower 5%", **given)
    assert done.code == 2 and done.outputs == {"outcome": "not-judged", "report": ""}
    assert [line.startswith("::error title=FuseScope::") for line in commands(done.printed)] == [
        True
    ]


def test_conditions_are_lines_and_nothing_of_them_is_executed(tmp_path: Path) -> None:
    hostile = '$(touch hacked) `touch hacked` * "x" 5%'
    done = judge(
        tmp_path,
        file=str(SAMPLES / "eager.json.gz"),
        against=str(SAMPLES / "compiled.json.gz"),
        fail_if=f"{hostile}\r\n",
    )
    assert done.outputs["outcome"] == "not-judged" and "$(touch hacked)" in done.printed
    assert not (tmp_path / "hacked").exists()
    again = tmp_path / "again"
    again.mkdir()
    done = judge(
        again,
        file=str(SAMPLES / "eager.json.gz"),
        against=str(SAMPLES / "compiled.json.gz"),
        fail_if="\r\n  explanation.slower 5%  \r\n\r\n",
    )
    assert done.outputs["outcome"] == "passed"


def test_names_of_kernels_are_no_commands_of_the_runner(tmp_path: Path) -> None:
    for name, us in (("a", 50), ("b", 90)):
        events = [
            {"ph": "X", "cat": "kernel", "name": f"{HOSTILE}{at % 2}", "pid": 0, "tid": 7,
             "ts": 200 * at, "dur": us if at % 2 else 20, "args": {"stream": 7, "device": 0}}
            for at in range(24)
        ]  # fmt: skip
        (tmp_path / f"{name}.json").write_text(
            json.dumps({"schemaVersion": 1, "traceEvents": events})
        )
    done = judge(tmp_path, file="a.json", against="b.json", fail_if="explanation.slower 5%")
    assert [line for line in commands(done.printed) if "title=x" in line[:20]] == []
    assert len(commands(done.printed)) <= 1


def test_the_step_before_makes_an_environment_of_the_action_itself(tmp_path: Path) -> None:
    install = ACTION["runs"]["steps"][0]
    asked = tmp_path / "asked"
    python = tmp_path / "python"
    made = tmp_path / "fusescope" / "bin"
    python.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> "{asked}"\nmkdir -p "{made}"\n'
                      f'[ -e "{made}/python" ] || cp "$0" "{made}/python"\n')  # fmt: skip
    python.chmod(0o755)
    subprocess.run(
        ["bash", "-e", "-c", install["run"]],
        env={"PATH": os.environ["PATH"], "PYTHON": str(python), "RUNNER_TEMP": str(tmp_path),
             "GITHUB_ACTION_PATH": str(ROOT)},
        check=True,
    )  # fmt: skip
    words = asked.read_text().split()
    assert words[:3] == ["-m", "venv", str(tmp_path / "fusescope")]
    assert words[-3:] == ["--constraint", f"{ROOT}/constraints.txt", f"{ROOT}[collect]"]


def test_the_lines_for_gitlab_run_as_written(tmp_path: Path) -> None:
    (job,) = yaml.safe_load(blocks((ROOT / "docs/ci.md").read_text("utf-8"), "yaml")[-1]).values()
    programs = tmp_path / "bin"
    programs.mkdir()
    verb = "import sys; sys.argv[0] = 'fusescope'; from fusescope.app.cli.main import main; main()"
    for name, text in {
        "pip": "exit 0",
        "python": f'cp "{SAMPLES / "eager.json.gz"}" after.json',  # the program under its profiler
        "fusescope": f'exec "{sys.executable}" -c "{verb}" "$@"',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    (tmp_path / "baseline.json").write_bytes((SAMPLES / "compiled.json.gz").read_bytes())
    codes = [
        subprocess.run(
            ["sh", "-c", line],
            cwd=tmp_path,
            env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
                 "HOME": str(tmp_path)},
            check=False,
        ).returncode
        for line in job["script"]
    ]  # fmt: skip
    assert codes == [0, 0, 1]
    kept = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    assert all((tmp_path / name).stat().st_size for name in kept)


@pytest.mark.parametrize("page", ["docs/ci.md", "docs/zh/ci.md"])
def test_the_page_gives_inputs_that_there_are(page: str) -> None:
    given: list[dict[str, Any]] = []
    for text in blocks((ROOT / page).read_text("utf-8"), "yaml"):
        for job in (yaml.safe_load(text).get("jobs") or {}).values():
            given += [step["with"] for step in job["steps"] if "fusescope" in step.get("uses", "")]
    assert given, "no step of the page uses the action"
    for inputs in given:
        assert set(inputs) <= set(ACTION["inputs"])
        needed = {name for name, one in ACTION["inputs"].items() if one.get("required")}
        assert needed <= set(inputs)
