"""What a verb writes never takes the place of what it reads, nor of a recording."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.writing.outputs import refuse_lost
from tests.command_line import app
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

TIMES = {"unfused": [10.0, 10.1] * 4, "fused": [5.0, 5.1] * 4, "rules:mine.toml": [6.0, 6.1] * 4}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.zip").write_bytes(experiment_zip(TIMES))
    (tmp_path / "other.zip").write_bytes(b"PK\x03\x04 of somebody else")
    (tmp_path / "before.json").write_bytes(profile_json(UNFUSED_OPERATORS, runs=6))
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    (tmp_path / "link.html").symlink_to("e.zip")
    os.link(tmp_path / "e.zip", tmp_path / "hard.html")
    (tmp_path / "prof").mkdir()
    # Content decides what a file is: the name is one that --ascend writes.
    (tmp_path / "prof" / "kernel_details.csv").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("compare e.zip --html e.zip", "--html would overwrite a file that is read (e.zip)"),
        ("compare e.zip --html prof/../e.zip", "would overwrite a file that is read"),
        ("compare e.zip --html link.html", "would overwrite a file that is read"),
        ("compare e.zip --html hard.html", "would overwrite a file that is read"),
        ("compare e.zip --html other.zip", "would overwrite a zip file"),
        ("compare e.zip --ascend x --html e.zip", "--html would overwrite a file that is read"),
        ("compare before.json after.json --html after.json", "a file that is read (after.json)"),
        ("compare e.zip --markdown e.zip", "--markdown would overwrite a file that is read"),
        ("compare e.zip --perfetto other.zip", "--perfetto would overwrite a zip file"),
        ("inspect prof/kernel_details.csv --ascend prof", "--ascend would overwrite a file that"),
        ("inspect prof --ascend prof", "--ascend would overwrite a file that"),
        ("recipe mul_add --from e.zip --html e.zip", "--html would overwrite a file that is read"),
        ("recipe mul_add --from e.zip --csv other.zip", "--csv would overwrite a zip file"),
        ("recipe mul_add --out new.zip --html new.zip", "would overwrite a file that is read"),
    ],
)
def test_an_input_or_a_recording_is_never_overwritten(
    here: Path, arguments: str, says: str
) -> None:
    before = contents(here)
    result = CliRunner().invoke(app, arguments.split())
    assert isinstance(result.exception, FuseScopeError), result.output
    assert says in result.exception.text and "\n" not in result.exception.text
    assert contents(here) == before


def test_a_report_may_replace_an_earlier_one(here: Path) -> None:
    for _ in range(2):
        result = CliRunner().invoke(app, ["compare", "e.zip", "--html", "r.html"])
        assert result.exit_code == 0, (result.output, result.exception)
    assert (here / "r.html").read_text().startswith("<!doctype html")
    # A report of the folder may lie in it; what else lies there is read.
    (here / "prof" / "r.html").write_bytes((here / "r.html").read_bytes())
    refuse_lost({"--html": here / "prof" / "r.html", "--csv": None}, [here / "prof", None])
    refuse_lost({"--html": here / "prof" / "new.html"}, [here / "prof"])
    with pytest.raises(FuseScopeError):
        refuse_lost({"--html": here / "prof" / "kernel_details.csv"}, [here / "prof"])


def test_other_variants_are_named_and_no_head_is_cut(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = CliRunner().invoke(app, ["compare", "e.zip"]).output
    assert "Also recorded: rules:mine.toml. Choose with --baseline and --candidate, or" in out
    names = {"segments:depthwise_conv": [10.0] * 8, "custom:depthwise_conv": [5.0] * 8}
    (here / "long.zip").write_bytes(experiment_zip(names))
    out = CliRunner().invoke(app, ["compare", "long.zip"]).output
    head = out[out.index("\n\n") : out.index("\nlatency")]
    assert "…" not in head and "Also recorded" not in out
    joined = "".join(head.split())
    for part in ("segments:", "custom:"):
        assert part in joined


def test_a_comparison_in_every_form(here: Path) -> None:
    """A folder that is not there is made; where a table cannot be written, none is."""
    forms = ["--markdown", "c.md", "--perfetto", "p.json", "--csv", "new/tables"]
    result = CliRunner().invoke(app, ["compare", "before.json", "after.json", *forms])
    assert result.exit_code == 0, (result.output, result.exception)
    assert (here / "c.md").read_text().startswith("### ")
    assert (here / "p.json").read_bytes().startswith(b"{")
    assert len(list((here / "new" / "tables").iterdir())) == 5
    (here / "blocked" / "operators.csv").mkdir(parents=True)
    result = CliRunner().invoke(app, ["compare", "e.zip", "--csv", "blocked"])
    assert isinstance(result.exception, FuseScopeError)
    assert "The tables cannot be written" in result.exception.text
    assert [path.name for path in (here / "blocked").iterdir()] == ["operators.csv"]


def test_the_largest_alone_are_of_json(here: Path) -> None:
    pair = ["compare", "before.json", "after.json", "--top", "1"]
    refused = CliRunner().invoke(app, pair)
    assert isinstance(refused.exception, FuseScopeError)
    assert refused.exception.code == "option_needs_other"
    told = CliRunner().invoke(app, [*pair, "--json"])
    assert told.exit_code == 0 and len(json.loads(told.stdout)["operators"]) == 1
