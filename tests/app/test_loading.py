"""Where files come from, and what may be opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import FuseScopeError
from analysis.trace import Trace
from app import choices, loading, places
from app.state import Opened
from tests.app.conftest import BLOCKS
from tests.factories import FUSED_OPERATORS, experiment_zip, profile_json

PROFILE = profile_json(FUSED_OPERATORS, runs=2)


def profile(name: str) -> Opened:
    opened = loading.open_upload(name, PROFILE)
    return Opened(f"upload:{name}", name, opened.value)


@pytest.mark.parametrize(
    ("names", "baseline", "candidate"),
    [
        (["fused.json", "unfused.json"], "unfused.json", "fused.json"),
        (["after.json", "before.json"], "before.json", "after.json"),
        (["ORT_ENABLE_ALL.json", "ORT_DISABLE_ALL.json"], "ORT_DISABLE_ALL.json", None),
        (["b.json", "a.json"], "a.json", "b.json"),
        (["new.json", "run.json"], "run.json", "new.json"),
        (["c.json", "baseline.json", "a.json"], "baseline.json", "c.json"),
    ],
)
def test_names_say_which_profile_is_the_baseline(
    names: list[str], baseline: str, candidate: str | None
) -> None:
    pair = choices.suggested([profile(name) for name in names])
    assert pair == (f"upload:{baseline}", f"upload:{candidate or names[0]}")


def test_a_lone_profile_has_no_baseline() -> None:
    assert choices.suggested([profile("a.json")]) == (None, "upload:a.json")
    assert choices.suggested([]) == (None, None)


def test_an_experiment_of_one_variant_is_a_side_like_a_profile() -> None:
    single = loading.open_upload("one.zip", experiment_zip({"unfused": [5.0] * 8}))
    baseline, candidate = choices.suggested([single, profile("fused.json")])
    assert {baseline, candidate} == {f"{single.id}/unfused", "upload:fused.json"}


def test_the_same_bytes_have_the_same_id_under_any_name() -> None:
    first, second = loading.open_upload("a", PROFILE), loading.open_upload("b", PROFILE)
    assert first.id == second.id
    assert loading.is_upload(first.id)
    assert loading.is_upload(f"{first.id}/fused")


@pytest.mark.parametrize("text", ["upload:", "upload:xyz", "sample:a", "upload:0123456789abX", ""])
def test_what_is_no_upload(text: str) -> None:
    assert not loading.is_upload(text)


@pytest.mark.parametrize(
    "id_",
    ["sample:none/fused", "sample:mobilenetv2/none", "other:x", "file:x", "recorded:a.zip/fused"],
)
def test_an_unknown_id_is_missing(tree: Path, id_: str) -> None:
    with pytest.raises(loading.Missing):
        loading.side(id_, {})


@given(st.text(max_size=40))
def test_no_id_opens_anything_by_itself(text: str) -> None:
    """Whatever stands in an address: a side, or Missing, and never another error."""
    for kind in ("sample", "recorded", "file", "upload"):
        with pytest.raises(loading.Missing):
            loading.side(f"{kind}:{text}", {})


@given(st.text(alphabet="./\\~ab\0\u202e", max_size=24))
def test_no_path_leaves_the_configured_folder(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "open").mkdir()
    (root / "a").write_text("secret")
    (root / "open" / "b").write_text("open")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(places.FOLDERS_VARIABLE, str(root / "open"))
        try:
            path = places.path_below_folders(text)
        except FuseScopeError:
            return
        assert path == root / "open" / "b"


def test_a_folder_or_a_fifo_is_no_file(tree: Path) -> None:
    (tree / "open" / "folder").mkdir()
    os.mkfifo(tree / "open" / "pipe")
    for name in ("folder", "pipe", "", ".", "./"):
        with pytest.raises(FuseScopeError, match="no such file below"):
            places.path_below_folders(name)


def test_a_replaced_recording_is_read_anew(tree: Path) -> None:
    path = tree / "recordings" / "r.zip"
    path.write_bytes(experiment_zip(BLOCKS, model_name="one"))
    assert "one · fused (2026-01-02 03:04)" in {c.label for c in choices.choices({})}
    path.unlink()
    path.write_bytes(experiment_zip(BLOCKS, model_name="another"))
    assert "another · fused (2026-01-02 03:04)" in {c.label for c in choices.choices({})}


def test_damaged_recordings_are_left_out(tree: Path) -> None:
    for name, data in (("a.zip", b""), ("b.zip", b"PK"), ("c.zip", b"\0" * 100)):
        (tree / "recordings" / name).write_bytes(data)
    assert {choice.id.split(":")[0] for choice in choices.choices({})} == {"sample"}
    assert choices.recorded_pair(tree / "recordings" / "a.zip") == (None, None)


def test_the_same_path_below_two_folders_is_two_files(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tree / "other"
    other.mkdir()
    folders = (tree / "open", other)
    for folder, runs in zip(folders, (2, 3), strict=True):
        (folder / "a.json").write_bytes(profile_json(FUSED_OPERATORS, runs=runs))
    monkeypatch.setenv(places.FOLDERS_VARIABLE, os.pathsep.join(map(str, folders)))
    opened = [loading.open_path(str(folder / "a.json")) for folder in folders]
    assert [file.id for file in opened] == ["file:1:a.json", "file:2:a.json"]
    for file, runs in zip(opened, (2, 3), strict=True):
        [linked], told = loading.open_link(file.id, {})
        assert (linked.id, told) == (file.id, [])
        assert isinstance(linked.value, Trace)
        assert len(linked.value.profiled_runs) == runs
    labels = [choice.label for choice in choices.choices({file.id: file for file in opened})]
    assert "a.json · file:1:a.json" in labels
    assert "a.json · file:2:a.json" in labels


@pytest.mark.parametrize("id_", ["file:0:a", "file:3:a", "file:1:../secret", "file:9999:", "file:"])
def test_a_numbered_link_opens_nothing_else(tree: Path, id_: str) -> None:
    (tree / "secret").write_bytes(PROFILE)
    (tree / "open" / "a").write_bytes(PROFILE)
    assert loading.open_link(id_, {}) == ([], [])


@pytest.mark.parametrize("name", ["a.json", "1:a.json", "sub/a.json"])
def test_a_link_to_a_file_below_one_folder(tree: Path, name: str) -> None:
    for number, path in enumerate(("a.json", "1:a.json", "sub/a.json")):
        (tree / "open" / path).parent.mkdir(exist_ok=True)
        (tree / "open" / path).write_bytes(profile_json(FUSED_OPERATORS, runs=2 + number))
    file = loading.open_path(name)
    [linked], _ = loading.open_link(file.id, {})
    assert linked.value is file.value


def test_a_file_of_the_command_line_is_not_the_one_below_a_folder(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tree, tree / "open"):
        (folder / "a.json").write_bytes(PROFILE)
    monkeypatch.setenv(places.FILES_VARIABLE, str(tree / "a.json"))
    [given_], _ = loading.open_given()
    assert {given_.id, loading.open_path("a.json").id} == {"file:a.json", "file:1:a.json"}
