"""`fusescope bisect` from its arguments to what is printed and kept."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.releases.history import parse_history
from fusescope.app.cli.releases.bisect import bisect
from fusescope.collectors import bisect as collector
from tests.releases.test_changes import FUSED, PLAIN, history
from tests.stand_in_releases import use_as_index, write_wheel

SPAN = "onnxruntime==1.0..1.3"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four releases, of which the second lost a fusion and the third was left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("net.onnx").write_bytes(b"model")
    seen = history(FUSED, PLAIN, None, PLAIN)
    found = collector.Found(("1.0", "1.1", "1.3"), ("1.1",), ("1.2",))
    monkeypatch.setattr(collector, "find", lambda span: found)
    monkeypatch.setattr(collector, "optimise", lambda recording, found, on_step: seen)


def invoke(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(bisect)
    return CliRunner().invoke(app, list(arguments))


def test_the_release_that_lost_a_fusion_is_named(recorded: None) -> None:
    result = invoke("net.onnx", "--engine", SPAN, "--out", "kept.zip")
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert lines[:2] == ["1 of 3 releases from 1.0 to 1.3 changes the operators that run.", "net"]
    assert lines[3:8] == [
        "Release  Operators  Change",
        "1.0              3",
        "1.1              5  Gelu 1 → 0, Erf 0 → 1, Exp 0 → 1, Sqrt 0 → 1",
        "1.2              –  left out: there is no wheel for this Python and machine",
        "1.3              5",
    ]
    assert any(line.startswith("1.0 → 1.1: 3 operators became 5: Gelu 1 → 0,") for line in lines)
    assert "- Gelu became Erf + Sqrt + Exp in 1 group: Erf_b." in lines
    said = "1 release has to be fetched: at most 30 MB with pip, and at most 80 MB on the disk"
    assert said in result.stderr
    assert parse_history(Path("kept.zip").read_bytes(), "kept.zip").nodes is not None


def test_nothing_that_is_kept_or_shown_names_a_user(
    recorded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default folders stay here, of the command and of what engines said; with --redact users,
    hosts and paths in names as well."""
    seen = history(FUSED, PLAIN, None, PLAIN)
    [first, *rest] = seen.releases
    refused = "Load model from /home/alice/secret/m.onnx failed"
    releases = (first, *(msgspec.structs.replace(one, said=refused) for one in rest))
    [node, *others] = seen.graph.nodes
    named = msgspec.structs.replace(node, scope="/home/alice/secret/net.py")
    graph = msgspec.structs.replace(seen.graph, nodes=(named, *others))
    seen = msgspec.structs.replace(seen, releases=releases, graph=graph)
    monkeypatch.setattr(collector, "optimise", lambda recording, found, on_step: seen)
    files = ("--out", "kept.zip", "--report", "r.html", "--issue", "i.md")
    assert invoke("net.onnx", "--engine", SPAN, *files[:4], "--json").exit_code == 0
    kept = parse_history(Path("kept.zip").read_bytes(), "kept.zip")
    assert [one.said for one in kept.releases[1:]] == ["Load model from <path>/m.onnx failed"] * 3
    assert kept.graph.nodes[0].scope == "/home/alice/secret/net.py"
    told = invoke("net.onnx", "--engine", SPAN, *files, "--redact", "--json")
    assert told.exit_code == 0, told.exception
    kept = parse_history(Path("kept.zip").read_bytes(), "kept.zip")
    assert kept.graph.nodes[0].scope == "<path>/net.py"
    page = Path("r.html").read_text(encoding="utf-8") + Path("i.md").read_text(encoding="utf-8")
    assert "alice" not in page + told.stdout and "Gelu 1 → 0" in page + told.stdout
    assert not Path("i.onnx").exists()  # it would have the names of the model


def test_json_is_alone_on_stdout(recorded: None) -> None:
    values = json.loads(invoke("net.onnx", "--engine", SPAN, "--json").stdout)
    assert [one["version"] for one in values["releases"]] == ["1.0", "1.1", "1.2", "1.3"]
    assert values["changes"][0]["lost"] == [{"op_type": "Gelu", "count": 1}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), "bisect_needs_model"),
        (("net.onnx",), "bisect_needs_model"),
        (("net.onnx", "--engine", "1.20.1"), "release_malformed"),
        (("net.onnx", "--engine", "jax==0.4..0.5"), "release_other_engine"),
        (("other.onnx", "--engine", SPAN), "model_unknown"),
        (("net.onnx", "--engine", SPAN, "--shape", "x"), "shape_malformed"),
        (("net.onnx", "--engine", SPAN, "--out", "net.onnx"), "output_is_an_input"),
        (("--remove", "1.0"), "release_not_kept"),
    ],
)
def test_what_is_refused(recorded: None, arguments: tuple[str, ...], code: str) -> None:
    result = invoke(*arguments)
    assert isinstance(result.exception, FuseScopeError)
    assert result.exception.code == code


def test_one_release_cannot_be_compared(recorded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = history(FUSED)
    monkeypatch.setattr(collector, "optimise", lambda recording, found, on_step: alone)
    result = invoke("net.onnx", "--engine", SPAN)
    assert isinstance(result.exception, FuseScopeError)
    assert result.exception.code == "release_none_compared"
    left = history(FUSED, None)
    monkeypatch.setattr(collector, "optimise", lambda recording, found, on_step: left)
    told = invoke("net.onnx", "--engine", SPAN).exception
    assert isinstance(told, FuseScopeError)
    assert "1.1 was left out: there is no wheel for this Python and machine" in told.text


def test_releases_are_listed_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fusescope.collectors.releases import fetching

    write_wheel(tmp_path / "links", "9.1.0")
    use_as_index(monkeypatch, tmp_path / "links", tmp_path / "cache")
    assert invoke("--releases").stdout == "No release was fetched yet.\n"
    fetching.fetch("9.1.0", lambda said: None)
    assert "onnxruntime 9.1.0" in invoke("--releases").stdout
    listed = json.loads(invoke("--releases", "--json").stdout)
    assert [one["version"] for one in listed["releases"]] == ["9.1.0"]
    assert listed["releases"][0]["disk_bytes"] > 0
    assert invoke("--remove", "onnxruntime==9.1.0").stdout.startswith("1 release was removed")
    assert invoke("--releases", "--json").stdout.count("version") == 1  # of the schema
