"""Where files come from, and what may be opened."""

from __future__ import annotations

import gc
import os
import shutil
import tracemalloc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.experiment import Experiment
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import read
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.trace import Trace
from fusescope.app.sources import choices, loading, places, uploads
from fusescope.app.state.opened import Opened
from fusescope.app.store import keeping, records, settings
from tests.app.conftest import BLOCKS, Upload
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

SAMPLE = Path(__file__).resolve().parents[3] / "sample_traces/formats/ascend_kernel_details"

PROFILE = profile_json(FUSED_OPERATORS, runs=2)


def upload(name: str, data: bytes) -> Opened:
    """What becomes of one uploaded file."""
    (opened,), _ = uploads.open_uploads([Upload(name, data)])
    return opened


def profile(name: str) -> Opened:
    return Opened(f"upload:{name}", name, upload(name, PROFILE).value)


@pytest.mark.parametrize(
    ("names", "baseline", "candidate"),
    [
        (["fused.json", "unfused.json"], "unfused.json", "fused.json"),
        (["after.json", "before.json"], "before.json", "after.json"),
        (["ORT_ENABLE_ALL.json", "ORT_DISABLE_ALL.json"], "ORT_DISABLE_ALL.json", None),
        (["b.json", "a.json"], "b.json", "a.json"),
        (["new.json", "run.json"], "run.json", "new.json"),
        (["c.json", "baseline.json", "a.json"], "baseline.json", "c.json"),
    ],
)
def test_names_say_which_profile_is_the_baseline(
    names: list[str], baseline: str, candidate: str | None
) -> None:
    pair = choices.suggested([profile(name) for name in names])
    assert pair == (f"upload:{baseline}", f"upload:{candidate or names[0]}")


def test_two_profiles_stand_as_they_came_unless_names_say_otherwise_which_is_said() -> None:
    """The first of two is the baseline, as of two arguments; of arguments names say nothing."""
    plain = [profile("z.json"), profile("a.json")]
    pair = choices.suggested(plain)
    assert pair == ("upload:z.json", "upload:a.json")
    assert choices.why_suggested(plain, pair) is None
    named = [profile("fused.json"), profile("unfused.json")]
    pair = choices.suggested(named)
    assert pair == ("upload:unfused.json", "upload:fused.json")
    note = choices.why_suggested(named, pair)
    assert note is not None and note.read is None
    assert note.text == (
        "unfused.json came second and is the baseline, because of its name. Swap turns them around."
    )
    given = choices.suggested(named, in_order=True)
    assert given == ("upload:fused.json", "upload:unfused.json")
    assert choices.why_suggested(named, given) is None


def test_of_many_files_those_of_one_model_are_compared_and_it_is_said() -> None:
    other = [(name, "TopK", *rest) for name, _, *rest in UNFUSED_OPERATORS]
    files = [
        Opened(f"upload:{name}", name, upload(name, data).value)
        for name, data in (
            ("a.json", profile_json(other[:1])),
            ("net_before.json", profile_json(UNFUSED_OPERATORS)),
            ("net_then.json", profile_json(FUSED_OPERATORS)),
        )
    ]
    pair = choices.suggested(files)
    assert pair == ("upload:net_before.json", "upload:net_then.json")
    note = choices.why_suggested(files, pair)
    assert note is not None and note.read is None
    assert note.text == (
        "Of 3 files, net_before.json and net_then.json are compared: their operators and names are "
        "most alike. Choose others in the lists above."
    )
    assert choices.why_suggested(files[1:], pair) is None


def test_a_lone_profile_has_no_baseline() -> None:
    assert choices.suggested([profile("a.json")]) == (None, "upload:a.json")
    assert choices.suggested([]) == (None, None)


def test_an_experiment_of_one_variant_is_a_side_like_a_profile() -> None:
    single = upload("one.zip", experiment_zip({"unfused": [5.0] * 8}))
    baseline, candidate = choices.suggested([single, profile("fused.json")])
    assert {baseline, candidate} == {f"{single.id}/unfused", "upload:fused.json"}


@pytest.mark.parametrize(
    "names",
    [
        ("unfused", "segments:mul_add", "custom:mul_add"),
        ("unfused", "segments:mul_add", "custom:mul_add", "fused"),
        ("eager", "unfused", "basic", "fused", "without:X"),
        ("unfused", "rules:O3", "eager", "int8"),
    ],
)
def test_a_recording_opens_as_in_the_terminal(names: tuple[str, ...]) -> None:
    """Whichever variant was the fastest, here a later one."""
    times = {name: [9.0 - place] * 8 for place, name in enumerate(names)}
    file = upload("one.zip", experiment_zip(times))
    assert isinstance(file.value, Experiment)
    sides = choose_sides(file.value)
    assert choices.suggested([file]) == tuple(f"{file.id}/{side.label}" for side in sides)


@pytest.mark.parametrize("others", [("fused", "int8"), ("int8",)])
def test_fewer_bits_are_no_fusion(others: tuple[str, ...]) -> None:
    """The quantised variant is the fastest, and first only where it is alone."""
    times = {"unfused": 5.0, "fused": 3.0, "int8": 1.0}
    walls = {name: [times[name]] * 8 for name in ("unfused", *others)}
    plain = read(Source("a.zip", experiment_zip(walls)))
    assert isinstance(plain, Experiment)
    variants = [
        msgspec.structs.replace(variant, settings={"quantisation": "static"})
        if variant.name == "int8"
        else variant
        for variant in plain.record.variants
    ]
    file = upload("one.zip", experiment_zip(walls, changes={"variants": variants}))
    assert choices.suggested([file]) == (f"{file.id}/unfused", f"{file.id}/{others[0]}")


def test_the_same_bytes_have_the_same_id_under_any_name() -> None:
    first, second = upload("a", PROFILE), upload("b", PROFILE)
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
@example("./b")
@example("../a")
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


def test_recordings_older_than_those_that_are_listed_can_be_asked_for(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at, name in enumerate(("old.zip", "newer.zip", "newest.zip")):
        path = tree / "recordings" / name
        path.write_bytes(experiment_zip(BLOCKS, model_name=path.stem))
        os.utime(path, (at, at))
    (tree / "outside.zip").write_bytes(experiment_zip(BLOCKS))
    monkeypatch.setattr(places.experiments, "__defaults__", (2,))
    listed = [choice.id for choice in choices.choices({})]
    assert "recorded:newer.zip/fused" in listed and "recorded:old.zip/fused" not in listed
    asked = choices.choices({}, ["recorded:old.zip/fused", None, "recorded:gone.zip/fused"])
    assert "old · fused (2026-01-02 03:04)" in {choice.label for choice in asked}
    assert loading.side("recorded:old.zip/fused", {}).label == "fused"
    for name in ("../outside.zip", "..", ".zip", "", "old", "gone.zip", "a\0.zip"):
        assert places.recording(name) is None
        assert not any("outside" in one.id for one in choices.choices({}, [f"recorded:{name}/x"]))
        with pytest.raises(loading.Missing):
            loading.side(f"recorded:{name}/fused", {})


def test_damaged_recordings_are_left_out(tree: Path) -> None:
    for name, data in (("a.zip", b""), ("b.zip", b"PK"), ("c.zip", b"\0" * 100)):
        (tree / "recordings" / name).write_bytes(data)
    assert {choice.id.split(":")[0] for choice in choices.choices({})} == {"sample"}
    assert records.recorded_pair(tree / "recordings" / "a.zip") == (None, None)


def test_the_same_path_below_two_folders_is_two_files(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tree / "other"
    other.mkdir()
    folders = (tree / "open", other)
    for folder, runs in zip(folders, (2, 3), strict=True):
        (folder / "a.json").write_bytes(profile_json(FUSED_OPERATORS, runs=runs))
    monkeypatch.setenv(places.FOLDERS_VARIABLE, os.pathsep.join(map(str, folders)))
    opened = [loading.open_paths([str(folder / "a.json")])[0][0] for folder in folders]
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
    file = loading.open_paths([name])[0][0]
    [linked], _ = loading.open_link(file.id, {})
    assert linked.value is file.value


def test_a_file_of_the_command_line_is_not_the_one_below_a_folder(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tree, tree / "open"):
        (folder / "a.json").write_bytes(PROFILE)
    monkeypatch.setenv(places.FILES_VARIABLE, str(tree / "a.json"))
    [given_], _ = loading.open_given()
    assert {given_.id, loading.open_paths(["a.json"])[0][0].id} == {"file:a.json", "file:1:a.json"}


def test_what_is_kept_of_a_folder_is_not_its_bytes(tree: Path) -> None:
    folder = tree / "open" / "prof"
    shutil.copytree(SAMPLE, folder)
    memory = folder / "ASCEND_PROFILER_OUTPUT" / "operator_memory.csv"
    rows = memory.read_bytes()
    memory.write_bytes(rows + rows.splitlines(keepends=True)[-1] * 60_000)
    tracemalloc.start()
    try:
        [file], _ = loading.open_paths(["prof"])
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(file.value, Trace)
    assert any(name.endswith("operator_memory.csv") for name in file.value.meta.files)
    assert held < memory.stat().st_size / 2


def test_a_folder_of_too_many_files_is_refused_before_it_is_read(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree / "many"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.json").write_bytes(b"[]")
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tree))
    monkeypatch.setenv(places.LIMITS_VARIABLE, "zip_members=5")
    opened, told = loading.open_paths(["many"])
    assert opened == [] and "more files than the limit of 5" in told[0].text


def test_large_files_of_the_command_line_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / name for name in ("a.json", "b.json")]
    for path in paths:
        path.write_bytes(PROFILE.ljust(keeping.MIN_BYTES))
    asked: list[tuple[list[Path], bool]] = []

    @contextmanager
    def reading(files: Mapping[str, Path], _: Limits, *, above: bool) -> Iterator[None]:
        asked.append((list(files.values()), above))
        yield

    monkeypatch.setattr(keeping.ahead, "MIN_BYTES", keeping.MIN_BYTES)
    monkeypatch.setattr(keeping.ahead, "reading", reading)
    monkeypatch.setenv(places.FILES_VARIABLE, os.pathsep.join(map(str, paths)))
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tmp_path / "library"))
    monkeypatch.setattr(loading, "is_local", lambda: True)
    opened, _ = loading.open_given()
    assert [file.name for file in opened] == ["a.json", "b.json"]
    assert asked == [(paths, False)]  # what lies above them may not be open to the dashboard
    monkeypatch.setattr(loading, "is_local", lambda: False)  # the library is one user's
    loading.open_given()
    assert len(asked) == 1
