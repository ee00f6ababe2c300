"""`--work`: one of several kinds of work, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from fusescope.analysis.errors import FuseScopeError
from tests.command_line import app
from tests.serving_traces import DECODE, PREFILL, serving_json


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "200"})


def printed(*arguments: object) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Three decoding steps whose kernel takes 100 us and then 200, two prefills of 500 us."""
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, decode_us in zip(paths, (100, 200), strict=True):
        steps = [(PREFILL, 500), (DECODE, decode_us), (DECODE, decode_us)] + [
            (PREFILL, 500), (DECODE, decode_us),
        ]  # fmt: skip
        path.write_bytes(serving_json(steps))
    return paths


def test_a_pair_is_compared_by_the_kind_that_is_named(files: tuple[Path, Path]) -> None:
    found = printed("compare", *files)
    assert [kind["code"] for kind in found["kinds_of_work"]] == ["decode-4", "prefill-2-64"]
    assert found["kinds_of_work"][0]["before"] == {"count": 3, "mean_ns": 1_000_000.0}
    assert found["explanation"]["unit"]["work"]["before"]["phase"] == "decode"
    assert found["explanation"]["changes"][0]["change_ns"] == 100_000
    prefill = printed("compare", *files, "--work", "prefill-2-64")
    assert prefill["explanation"]["unit"]["work"]["before"]["phase"] == "prefill"
    assert prefill["explanation"]["unit"]["count"] == 2
    assert prefill["explanation"]["outcome"] == "no_change"


def test_one_trace_is_told_by_the_kind_that_is_named(files: tuple[Path, Path]) -> None:
    assert [kind["code"] for kind in printed("advise", files[0])["kinds_of_work"]] == [
        "decode-4", "prefill-2-64",
    ]  # fmt: skip
    found = printed("advise", files[0], "--work", "prefill-2-64")
    assert found["explanation"]["unit"]["work"]["phase"] == "prefill"
    assert found["explanation"]["unit"]["count"] == 2


def test_another_kind_is_refused_with_those_that_there_are(files: tuple[Path, Path]) -> None:
    result = run("compare", *files, "--work", "decode-99")
    assert isinstance(result.exception, FuseScopeError)
    assert "There is no kind of work decode-99 in these files" in result.exception.text
    assert "decode-4, prefill-2-64" in result.exception.text
