"""Baselines under a name: what was read is kept whole, and later files are compared with it."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers import read_path
from fusescope.app.library import baselines
from tests.command_line import app
from tests.factories import experiment_zip

SAMPLES = Path(__file__).resolve().parents[2] / "sample_traces"
EAGER = SAMPLES / "torch_compile" / "eager.json.gz"
COMPILED = SAMPLES / "torch_compile" / "compiled.json.gz"
ASCEND = SAMPLES / "formats" / "ascend_kernel_details"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(baselines.FOLDER_VARIABLE, str(tmp_path / "baselines"))
    return tmp_path / "baselines"


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def code_of(result: Result) -> str:
    assert isinstance(result.exception, FuseScopeError), result.output
    return result.exception.code


def test_a_trace_is_saved_compared_with_and_removed(tmp_path: Path) -> None:
    given = tmp_path / "trace.json.gz"
    shutil.copyfile(COMPILED, given)
    saved = invoke("baseline", "save", "main", given)
    assert saved.exit_code == 0 and "--baseline main" in saved.stdout
    given.unlink()
    assert invoke("baseline").stdout.split() == ["main"]
    compared = invoke("compare", "--baseline", "main", EAGER, "--brief")
    assert "eager.json.gz took 1.36× the time of trace.json.gz" in " ".join(compared.stdout.split())
    gated = invoke("gate", EAGER, "--base", "main", "--fail-if", "explanation.slower 5%")
    assert gated.exit_code == 1
    assert "kineto" in invoke("inspect", "baseline:main", "--json").stdout
    assert invoke("baseline", "remove", "main").exit_code == 0
    assert invoke("baseline").stdout == ""
    assert code_of(invoke("baseline", "remove", "main")) == "no_such_baseline"


@pytest.mark.parametrize("given", [ASCEND, ASCEND / "ASCEND_PROFILER_OUTPUT/kernel_details.csv"])
def test_what_is_read_with_a_trace_is_saved_with_it(given: Path, tmp_path: Path) -> None:
    baselines.save("npu", given)
    before, after = read_path(given), read_path(baselines.path_of("npu"))
    assert sorted(after.meta.files) == sorted(before.meta.files) and len(before.meta.files) >= 4
    assert after.calls.equals(before.calls) and after.operators.equals(before.operators)


def test_a_name_is_replaced_by_what_is_saved_last(folder: Path) -> None:
    baselines.save("main", EAGER)
    baselines.save("main", COMPILED)
    assert baselines.path_of("main").name == "compiled.json.gz"
    assert baselines.names() == ["main"]
    assert not any(path.name.startswith(".") for path in folder.iterdir())


def test_a_variant_of_a_recording_comes_before_a_baseline_of_its_name(tmp_path: Path) -> None:
    baselines.save("eager", EAGER)
    recording = tmp_path / "recording.zip"
    times = {"unfused": [10.0, 10.1] * 3, "fused": [5.0, 5.1] * 3, "eager": [20.0, 20.1] * 3}
    recording.write_bytes(experiment_zip(times))
    compared = invoke("compare", recording, "--baseline", "eager", "--brief")
    assert compared.stdout.startswith("fused is ")
    baselines.save("nightly", recording)
    again = invoke("compare", recording, "--baseline", "nightly", "--json")
    assert '"fused"' in again.stdout and again.exit_code == 0


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", ".hidden", "x" * 81, "a\0b"])
def test_a_name_leads_nowhere_else(name: str, folder: Path) -> None:
    with pytest.raises(FuseScopeError) as refused:
        baselines.save(name, EAGER)
    assert refused.value.code == "baseline_name_impossible"
    with pytest.raises(FuseScopeError) as missing:
        baselines.path_of(name)
    assert missing.value.code == "no_such_baseline"


def test_a_path_that_was_changed_leads_to_nothing_outside(folder: Path) -> None:
    baselines.save("main", EAGER)
    (folder / "main" / "path.txt").write_text("../../../etc/passwd")
    with pytest.raises(FuseScopeError) as damaged:
        baselines.path_of("main")
    assert damaged.value.code == "baseline_damaged"


def test_what_is_not_whole_or_not_read_is_no_baseline(tmp_path: Path, folder: Path) -> None:
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(EAGER.read_bytes()[:20_000])
    with pytest.raises(FuseScopeError):
        baselines.save("main", cut)
    with pytest.raises(FuseScopeError):
        baselines.save("main", tmp_path / "none.json")
    assert baselines.names() == []


def test_a_disk_that_refuses_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(baselines.FOLDER_VARIABLE, str(tmp_path / "file" / "below"))
    with pytest.raises(FuseScopeError) as refused:
        baselines.save("main", EAGER)
    assert refused.value.code == "baseline_unwritable"


def test_links_and_what_never_ends_are_not_copied_from_a_folder(tmp_path: Path) -> None:
    inside = tmp_path / "out"
    shutil.copytree(ASCEND, inside)
    (tmp_path / "key").write_text("secret")
    (inside / "notes.txt").symlink_to(tmp_path / "key")
    (inside / "around").symlink_to(tmp_path)  # in which the baselines lie, too
    os.mkfifo(inside / "pipe")
    baselines.save("npu", inside)
    home = tmp_path / "baselines" / "npu"
    kept = [path for path in home.rglob("*") if path.is_file()]
    given = [path for path in ASCEND.rglob("*") if path.is_file()]
    assert len(kept) == len(given) + 1 and not any("secret" in path.read_text() for path in kept)


def test_a_folder_that_the_baselines_lie_in_is_copied_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given"
    shutil.copytree(ASCEND, given)
    monkeypatch.setenv(baselines.FOLDER_VARIABLE, str(given / "kept"))
    count = sum(path.is_file() for path in given.rglob("*"))
    baselines.save("npu", given)
    assert sum(path.is_file() for path in given.rglob("*")) == 2 * count + 1


def test_names_of_files_that_a_trace_gives_lead_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    given = tmp_path / "a" / "trace.json.gz"
    shutil.copyfile(COMPILED, given)
    (tmp_path / "key").write_text("secret")
    (tmp_path / "a" / "linked").symlink_to(tmp_path / "key")
    read = read_path(given)
    lied = dataclasses.replace(
        read, meta=dataclasses.replace(read.meta, files=("../key", str(tmp_path / "key"), "linked"))
    )
    monkeypatch.setattr("fusescope.analysis.readers.read_path", lambda *_: lied)
    baselines.save("main", given)
    home = tmp_path / "baselines" / "main"
    assert sorted(path.name for path in home.rglob("*")) == ["path.txt", "trace.json.gz"]


@pytest.mark.parametrize("said", [b"\xff\xfe", b"../../key", b"x" * 100_000, b"", b"/etc/passwd"])
def test_a_damaged_baseline_is_a_sentence_and_can_be_removed(
    said: bytes, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "key").write_bytes(EAGER.read_bytes())
    baselines.save("main", EAGER)
    (folder / "main" / "path.txt").write_bytes(said)
    with pytest.raises(FuseScopeError) as raised:
        baselines.path_of("main")
    assert raised.value.code == "baseline_damaged"
    baselines.remove("main")
    assert baselines.names() == []


def test_a_link_among_the_baselines_is_none(folder: Path, tmp_path: Path) -> None:
    baselines.save("main", EAGER)
    elsewhere = shutil.copytree(folder / "main", tmp_path / "elsewhere")
    (folder / "linked").symlink_to(elsewhere)
    assert baselines.names() == ["main"]
    assert code_of(invoke("baseline", "remove", "linked")) == "no_such_baseline"
    assert sorted(path.name for path in elsewhere.iterdir()) == ["eager.json.gz", "path.txt"]


def test_a_full_disk_leaves_what_was_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    baselines.save("main", EAGER)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copyfile", full)
    with pytest.raises(FuseScopeError, match="no space left on device"):
        baselines.save("main", COMPILED)
    assert [path.name for path in folder.iterdir()] == ["main"]
    assert baselines.path_of("main").name == "eager.json.gz"
