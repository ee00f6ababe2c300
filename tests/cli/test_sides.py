"""`fusescope compare --baseline a/*.json --candidate b/*.json`: several files a side."""

from __future__ import annotations

import json
import shlex
import zipfile
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.app.cli.given.sides import spread
from tests.command_line import app
from tests.factories import CONV, FUSED_OPERATORS, UNFUSED_OPERATORS, profile_json, profiles
from tests.miniatures import FOLDER

DRIFT = (1.0, 1.2, 1.5, 1.4, 1.1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a and b were recorded by turns, c after them."""
    here = tmp_path_factory.mktemp("sides")
    sides = (("a", UNFUSED_OPERATORS, 0), ("b", FUSED_OPERATORS, 1), ("c", FUSED_OPERATORS, 100))
    for side, operators, first in sides:
        (here / side).mkdir()
        for name, data in profiles(operators, DRIFT, first).items():
            (here / side / name).write_bytes(data)
    (here / "other.json").write_bytes(
        profile_json((("x/Lstm", "LSTM", 900, [(9, 1, 77)], [(9, 1, 78)]),))
    )
    return here


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> str:
    """What a shell in `folder` would see."""
    monkeypatch.chdir(folder)
    words = [
        str(path)
        for word in shlex.split(command)
        for path in (sorted(Path().glob(word)) if "*" in word else [word])
    ]
    result = CliRunner().invoke(app, ["compare", *words])
    if result.exception:
        raise result.exception
    return result.stdout


def test_files_of_two_sides(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = run(folder, monkeypatch, "--baseline a/*.json --candidate b/*.json --html r.html")
    assert text.startswith("b is 1.26× faster than a (95 % interval 1.2")
    assert "5 pairs of files recorded alternately" in " ".join(text.split())
    assert "\nA: 5 files: a/run_2026-11-24_08-00-00_000.json" in text
    report = (folder / "r.html").read_text()
    assert "b/run_2026-11-24_08-00-09_000.json" in report and "pair 5" in report
    # The report holds both sides with their files: opened again, it says the same.
    assert run(folder, monkeypatch, "r.html --brief").startswith(text.splitlines()[0])
    values: dict[str, Any] = json.loads(run(folder, monkeypatch, "r.html --json"))
    assert values["verdict"]["pairing"] == "paired_files"
    assert [len(values[side]["files"]) for side in ("baseline", "candidate")] == [5, 5]
    assert values["baseline"]["files"][0]["started_ns"] == 1_795_507_200_000_000_000


def test_a_folder_a_side_and_one_side_after_the_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = json.loads(run(folder, monkeypatch, "--json --baseline a --candidate c"))
    assert (values["verdict"]["pairing"], values["verdict"]["outcome"]) == (
        "separate_files",
        "cannot_tell",
    )
    assert values["candidate"]["label"] == "c"
    few = run(folder, monkeypatch, "--baseline a/*0_000.json a/*2_000.json --candidate b --brief")
    assert "fewer than 5 files" in " ".join(few.split())


@pytest.mark.parametrize(
    ("command", "code", "where"),
    [
        ("--baseline a/*.json other.json --candidate b", "models_on_one_side", "other.json"),
        ("--baseline a --candidate a", "file_on_both_sides", "a/run_2026-11-24_08-00-00_000.json"),
        ("--baseline a", "side_without_files", "--candidate"),
        ("", "side_without_files", "--baseline"),
        ("--baseline a --candidate b --baseline-runs 3", "runs_of_several_files", None),
        ("--baseline a --candidate b --variants all", "options_exclude", None),
        ("a b --baseline one --baseline two", "options_exclude", None),
        ("--baseline nothing/*.jsn none.json --candidate b", "no_such_file", "none.json"),
    ],
)
def test_what_is_no_side_is_told_in_a_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, command: str, code: str, where: str | None
) -> None:
    with pytest.raises(FuseScopeError) as refused:
        run(folder, monkeypatch, command)
    assert (refused.value.code, refused.value.where) == (code, where)


def test_files_behind_an_option_and_variants(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    takes = {"--baseline", "--candidate", "--html"}
    words = ["--html", "r.html", "--baseline", "a", "b", "--json", "--candidate", "c", "b"]
    assert " ".join(spread(words, takes)) == (
        "--html r.html --baseline a --baseline b --json --candidate c --candidate b"
    )
    for variants in ("e.zip --baseline a --candidate c", "--baseline unfused e.zip", "-- a b"):
        assert list(spread(variants.split(), takes)) == variants.split()


def test_files_that_one_was_read_with_are_no_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of trtexec leaves a profile and what belongs to it; `a/*/*` names all of them."""
    for number, place in enumerate(("a/0", "a/1", "b/0", "b/1")):
        here = tmp_path / place
        here.mkdir(parents=True)
        for file in (FOLDER / "tensorrt_profile").iterdir():
            (here / file.name).write_bytes(file.read_bytes() + b"\n" * number)
    values = json.loads(
        run(tmp_path, monkeypatch, "--json --baseline a/*/*.json --candidate b/*/*.json")
    )
    assert [len(values[side]["files"]) for side in ("baseline", "candidate")] == [2, 2]
    assert values["verdict"]["processes"] == [2, 2]


def test_several_sides_of_several_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "d").mkdir()
    slower = tuple(1.02 * factor for factor in DRIFT)
    for name, data in profiles(FUSED_OPERATORS, slower, 100).items():
        (folder / "d" / name).write_bytes(data)
    values = json.loads(run(folder, monkeypatch, "a b d --json"))
    assert [one["name"] for one in values["variants"]] == ["a", "b", "d"]
    b, d = (one["verdict"] for one in values["variants"][1:])
    # b was recorded by turns with a, d after it; 0.05 / 2 for two candidates.
    assert (b["pairing"], b["outcome"], b["alpha"]) == ("paired_files", "faster", 0.025)
    assert d["pairing"] == "separate_files"
    with pytest.raises(FuseScopeError, match="This file is on both sides"):
        run(folder, monkeypatch, "a b a")


def test_one_file_a_side_is_a_plain_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "before.json").write_bytes(profile_json((CONV,), runs=6))
    (tmp_path / "after.json").write_bytes(profile_json(FUSED_OPERATORS, runs=6))
    text = run(tmp_path, monkeypatch, "--baseline before.json --candidate after.json --brief")
    assert "after.json" in text and "before.json" in text
    runs = "--baseline before.json --candidate after.json --baseline-runs 3 --brief"
    assert run(tmp_path, monkeypatch, runs) == text  # it marks its own


def test_archives_of_files_of_one_name_are_told_apart_by_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their archives, as on the page, not by digests of what is in them."""
    for name, operators in (("rank0", UNFUSED_OPERATORS), ("rank2", FUSED_OPERATORS)):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr("trace.json", profile_json(operators))
    text = run(tmp_path, monkeypatch, "rank0.zip rank2.zip --brief")
    assert "rank0.zip" in text and "rank2.zip" in text
    assert "trace.json (" not in text
