"""A gate between two engines: what it refuses there, with the reason, and what it still judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast
from xml.etree import ElementTree

import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.compare import compare
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.compare.comparison import Comparison
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.gate.condition import parse_condition
from fusescope.analysis.gate.fusion_changes import fusion_changes
from fusescope.analysis.gate.judgement import judge
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.wording.gate import judged_sentence
from fusescope.app.cli.gating.gate import gate
from tests.engine_experiments import SAMPLES, two_engines

REASON = "Each has operators of its own, so none is lost where the other one runs something else."


@pytest.fixture(scope="module")
def engines() -> Comparison:
    experiment = cast(Experiment, read(Source("engines.zip", two_engines())))
    return compare(*choose_sides(experiment))


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(gate)
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize(
    "text",
    [
        "fusion.lost > 0", "fusion.won > 0", "fusion.changed > 0", "fusion.lost_gain > 1%",
        "light_operators up 1%", "small_op_ratio down 1%", "bytes_moved up 1%",
    ],
)  # fmt: skip
def test_operators_of_two_engines_are_not_held_against_each_other(
    text: str, engines: Comparison
) -> None:
    changes = fusion_changes(engines.fusion)
    assert changes is not None and changes.changes  # there would be something to count
    (one,) = judge([parse_condition(text)], engines)
    assert (one.outcome, one.reason, one.value, one.changes) == (
        "unknown", "engines_differ", None, (),
    )  # fmt: skip
    assert REASON in judged_sentence(one)


def test_what_is_of_runs_or_of_the_candidate_alone_is_judged(engines: Comparison) -> None:
    asked = (
        "operators < 1000", "fusion.count(Convolution) < 1000", "light_operators < 1000",
        "memory up 900%", "compute_utilisation > 200%",
    )  # fmt: skip
    found = judge([parse_condition(text) for text in asked], engines)
    assert [one.outcome for one in found] == ["failed", "failed", "failed", "passed", "passed"]
    # No engine lost a fusion because another one runs other operators.
    assert all(one.changes == () for one in found)
    (timed,) = judge([parse_condition("speedup < 0.97")], engines)
    assert timed.reason == "few_blocks"  # three blocks


def test_conditions_that_are_refused_do_not_widen_the_intervals_of_others(
    engines: Comparison,
) -> None:
    sample = read(Source("e.zip", (SAMPLES / "engines" / "transformer_encoder.zip").read_bytes()))
    pair = compare(*choose_sides(sample, None, "onnxruntime:fused", "openvino:fused"))
    asked = [parse_condition(text) for text in ("speedup < 0.9", "fusion.lost_gain > 1%")]
    both, alone = judge(asked, pair), judge(asked[:1], pair)
    assert both[0] == alone[0] and both[0].level is not None


def test_every_output_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    Path("e.zip").write_bytes(two_engines())
    asked = ("e.zip", "--fail-if", "fusion.lost > 0")
    told = invoke(*asked, "--junit", "g.xml", "--markdown", "g.md")
    assert told.exit_code == 2 or told.exception is not None
    assert REASON in told.stdout and REASON in Path("g.md").read_text()
    error = ElementTree.parse("g.xml").find("testsuite/testcase/error")
    assert error is not None and REASON in error.attrib["message"]
    (one,) = json.loads(invoke(*asked, "--json").stdout)["conditions"]
    assert (one["outcome"], one["reason"], one["groups"]) == ("unknown", "engines_differ", [])
    assert REASON in one["sentence"]
    assert REASON in invoke(*asked, "--structure").stdout


def test_a_kept_structure_of_another_engine_is_no_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "400")
    openvino = str(SAMPLES / "openvino" / "mobilenetv2.zip")
    onnxruntime = str(SAMPLES / "mobilenetv2.zip")
    kept = invoke(openvino, "--head", "fused", "--structure", "--keep", "k.zip")
    assert kept.exit_code == 0, kept.output
    asked = ("--structure", "--fail-if", "fusion.lost > 0")
    assert REASON in invoke("k.zip", onnxruntime, *asked).stdout
    assert REASON not in invoke(onnxruntime, onnxruntime, *asked).stdout
