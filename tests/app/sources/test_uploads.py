"""Many files at once: what is read together, what is left aside, what is told."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from fusescope.analysis import readers
from fusescope.analysis.compare import compare as compare_sides
from fusescope.analysis.compare.assumptions import Assumptions
from fusescope.analysis.compare.choice import choose_sides
from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.report.html import report_html
from fusescope.app.sources import choices, comparisons, loading, places, uploads
from fusescope.app.state.opened import Fate, Opened
from tests.app.conftest import BLOCKS, Upload
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json

FORMATS = Path(__file__).resolve().parents[3] / "sample_traces" / "formats"
ASCEND = FORMATS / "ascend_kernel_details"
BEFORE = profile_json(UNFUSED_OPERATORS, runs=3)
AFTER = profile_json(FUSED_OPERATORS, runs=2)


def opened(**files: bytes) -> tuple[list[Opened], list[Fate]]:
    return uploads.open_uploads([Upload(n.replace("__", "."), d) for n, d in files.items()])


def packed(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def ascend_files() -> dict[str, bytes]:
    files = (
        path for path in sorted(ASCEND.rglob("*")) if path.is_file() and path.name != "make.py"
    )
    return {path.relative_to(ASCEND).as_posix(): path.read_bytes() for path in files}


def flat(files: dict[str, bytes]) -> list[Upload]:
    return [Upload(name.rpartition("/")[2], data) for name, data in files.items()]


def test_two_profiles_are_two_recordings() -> None:
    files, told = opened(before__json=BEFORE, after__json=AFTER)
    assert [file.name for file in files] == ["before.json", "after.json"]
    assert [fate.id for fate in told] == [file.id for file in files]
    assert all(fate.read for fate in told)


def reports() -> dict[str, bytes]:
    """A report of two profiles whose names say the opposite, and one of a recording."""
    before, after = (
        readers.read(Source(name, data))
        for name, data in (("zz_new.json", BEFORE), ("aa_old.json", AFTER))
    )
    recording = readers.read(Source("e.zip", experiment_zip(BLOCKS)))
    pair = choose_sides(recording, None, "fused", "unfused")
    return {
        "two.html": report_html(compare_sides(*choose_sides(before, after))).encode(),
        "one.html": report_html(compare_sides(*pair)).encode(),
    }


def test_a_report_is_opened_with_the_sides_that_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(tmp_path))
    for name, data in reports().items():
        (tmp_path / name).write_bytes(data)
        uploaded, told = uploads.open_uploads([Upload(name, data)])
        linked, _ = loading.open_paths([name])
        assert all(fate.read for fate in told)
        for files in (uploaded, linked):
            opened_ = {file.id: file for file in files}
            ids = choices.suggested(files)
            sides = [loading.side(str(id_), opened_) for id_ in ids]
            names = {"two.html": ["zz_new.json", "aa_old.json"], "one.html": ["fused", "unfused"]}
            assert [side.label for side in sides] == names[name]
        if name == "two.html":
            assert [file.id for file in linked] == [
                f"file:two.html/{role}" for role in ("baseline", "candidate")
            ]
            again, _ = loading.open_link("file:two.html/candidate", {})
            assert [file.id for file in again] == [file.id for file in linked]
    values = [readers.read(Source(f"{n}.zip", experiment_zip(BLOCKS))) for n in "ab"]
    recordings = compare_sides(*choose_sides(values[0], values[1], "unfused", "fused"))
    (tmp_path / "both.html").write_text(report_html(recordings), encoding="utf-8")
    linked, _ = loading.open_link("file:both.html/candidate/fused", {})
    assert [file.name for file in linked] == ["a.zip", "b.zip"]
    monkeypatch.setenv(places.FILES_VARIABLE, str(tmp_path / "two.html"))
    given_, _ = loading.open_given()
    assert choices.suggested(given_, in_order=True)[0] == "file:two.html/baseline"


def test_buffers_are_dropped() -> None:
    one = Upload("a.json", BEFORE)
    uploads.open_uploads([one])
    assert one.closed


def test_files_of_one_recording_are_read_together() -> None:
    files, told = uploads.open_uploads(flat(ascend_files()))
    assert len(files) == 1
    main = next(fate for fate in told if fate.id == files[0].id)
    assert "Read together with " in main.text


def test_a_zip_of_the_folder_is_the_same_recording_as_its_files() -> None:
    members = ascend_files()
    [loose], _ = uploads.open_uploads(flat(members))
    [zipped], _ = uploads.open_uploads([Upload("prof.zip", packed(members))])
    assert zipped.id == loose.id
    assert zipped.name == "prof.zip"
    [without], _ = uploads.open_uploads(flat({"kernel_details.csv": _main(members)}))
    assert without.id != loose.id, "another recording: less was read"


def _main(members: dict[str, bytes]) -> bytes:
    return next(data for name, data in members.items() if name.endswith("kernel_details.csv"))


def test_several_recordings_in_one_zip_become_several_files() -> None:
    data = packed({"old/a.json": BEFORE, "new/a.json": AFTER, "notes.txt": b"hello"})
    files, told = uploads.open_uploads([Upload("runs.zip", data)])
    assert [file.name for file in files] == ["runs.zip/old/a.json", "runs.zip/new/a.json"]
    assert len({file.id for file in files}) == 2
    [aside] = [fate for fate in told if fate.read is None]
    assert "runs.zip/notes.txt" in aside.text


def test_what_is_no_trace_is_told_one_by_one_or_together() -> None:
    files, told = opened(a__json=BEFORE, x__png=b"\x89PNG\r\n", y__txt=b"hello there")
    assert len(files) == 1
    bad = [fate for fate in told if fate.read is False]
    assert any("PNG" in fate.text for fate in bad)
    assert len(bad) == 2
    many = {f"n{n}__txt": b"hello there" for n in range(6)}
    _, told = opened(a__json=BEFORE, **many)
    [aside] = [fate for fate in told if not fate.read]
    assert aside.read is None
    assert "n5.txt" in aside.text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"PK\x03\x04", "ends early"),
        (packed({"a.txt": b"x" * 99}), "No file here is"),
    ],
)
def test_a_file_that_holds_nothing_is_one_sentence(data: bytes, says: str) -> None:
    files, [fate] = uploads.open_uploads([Upload("x.zip", data)])
    assert files == []
    assert fate.read is False
    assert says in fate.text


def test_what_is_wrong_with_one_file_is_told_beside_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(places.LIMITS_VARIABLE, "unpacked_bytes=100000")
    large = gzip.compress(b"remember the milk " * 10_000)  # nothing is wrong with its head
    zipped = packed({"info.txt": b"nothing", "notes.txt": b"either"})
    files, told = uploads.open_uploads(
        [Upload("a.json", BEFORE), Upload("x.gz", large), Upload("x.zip", zipped)]
    )
    assert [file.name for file in files] == ["a.json"]
    texts = {fate.name: fate.text for fate in told if fate.read is False}
    assert texts.keys() == {"x.gz", "x.zip"}
    assert "unpacked_bytes" in texts["x.gz"]
    assert texts["x.zip"].startswith("No file here is a trace (x.zip).")


def test_uploads_are_unpacked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = []
    real = readers.zip_sources
    monkeypatch.setattr(readers, "zip_sources", lambda s: (unpacked.append(s.name), real(s))[1])
    _, [fate] = uploads.open_uploads([Upload("x.zip", packed({"info.txt": b"nothing"}))])
    assert fate.read is False and unpacked == ["x.zip"]


def test_two_uploads_of_one_name_are_two_files() -> None:
    files, _ = uploads.open_uploads([Upload("a.json", BEFORE), Upload("a.json", AFTER)])
    assert [file.name for file in files] == ["a.json", "a.json (2)"]


def test_an_experiment_beside_profiles() -> None:
    data = experiment_zip({"unfused": [10.0] * 8, "fused": [5.0] * 8})
    files, told = uploads.open_uploads([Upload("e.zip", data), Upload("a.json", AFTER)])
    assert {file.name for file in files} == {"e.zip", "a.json"}
    assert [fate.read for fate in told] == [True, True]


def test_a_step_before_fusion_is_not_what_opens_first() -> None:
    """Even where it was faster by chance: what fusion brings is asked."""
    data = experiment_zip({"unfused": [10.0] * 8, "generated": [4.9] * 8, "fused": [5.0] * 8})
    files, _ = uploads.open_uploads([Upload("e.zip", data)])
    assert [str(id_).rpartition("/")[2] for id_ in choices.suggested(files)] == [
        "unfused",
        "fused",
    ]


# Folders.


def test_a_folder_below_a_configured_one_opens(tree: Path) -> None:
    for name, data in ascend_files().items():
        path = tree / "open" / "prof" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    [file], told = loading.open_paths(["prof"])
    assert file.id == "file:prof"
    assert file.name == "prof"
    assert "Read together with " in told[0].text
    [linked], _ = loading.open_link("file:prof", {})
    assert linked.value is file.value
    assert loading.side(file.id, {file.id: file}).label == "prof"


def test_a_folder_of_several_recordings_opens_each(tree: Path) -> None:
    for name, data in (("old", BEFORE), ("new", AFTER)):
        (tree / "open" / "runs" / name).mkdir(parents=True)
        (tree / "open" / "runs" / name / "a.json").write_bytes(data)
    files, _ = loading.open_paths(["runs"])
    assert {file.id for file in files} == {"file:runs/old/a.json", "file:runs/new/a.json"}
    assert {file.name for file in files} == {"runs/old/a.json", "runs/new/a.json"}
    by_id = {file.id: file for file in files}
    for id_, file in by_id.items():
        [linked], _ = loading.open_link(id_, {})
        assert linked.id == id_
        assert loading.side(id_, by_id).label == file.name


def test_a_folder_and_a_file_in_it_are_told_apart(tree: Path) -> None:
    (tree / "open" / "runs").mkdir()
    (tree / "open" / "runs" / "a.json").write_bytes(BEFORE)
    files, _ = loading.open_paths(["runs"])
    more, _ = loading.open_link("file:runs/a.json", {file.id: file for file in files})
    both = {file.id: file for file in (*files, *more)}
    assert set(both) == {"file:runs", "file:runs/a.json"}
    assert loading.side("file:runs/a.json", both).label == "a.json"


def test_a_folder_without_a_trace_says_so(tree: Path) -> None:
    (tree / "open" / "none").mkdir()
    files, [fate] = loading.open_paths(["none"])
    assert files == []
    assert "The folder none does not contain a trace." in fate.text


def test_no_folder_outside_the_configured_ones_opens(tree: Path) -> None:
    (tree / "secret").mkdir()
    (tree / "secret" / "a.json").write_bytes(BEFORE)
    (tree / "open" / "way").symlink_to(tree / "secret")
    for text in ("../secret", str(tree / "secret"), "way", ".."):
        files, [fate] = loading.open_paths([text])
        assert files == []
        assert "no such file below" in fate.text


def test_a_folder_of_the_command_line_opens(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tree / "open" / "prof"
    folder.mkdir()
    (folder / "a.json").write_bytes(BEFORE)
    monkeypatch.setenv(places.FILES_VARIABLE, str(folder))
    [file], _ = loading.open_given()
    assert file.name == "prof"
    [linked], _ = loading.open_link(file.id, {})
    assert linked.value is file.value
    monkeypatch.setattr(loading, "_MAX_BYTES", 10)
    files, [fate] = loading.open_given()
    assert files == []
    assert "prof is large" in fate.text


def test_a_folder_is_read_anew_when_a_file_in_it_changes(tree: Path) -> None:
    folder = tree / "open" / "prof"
    folder.mkdir()
    (folder / "a.json").write_bytes(BEFORE)
    [first], _ = loading.open_paths(["prof"])
    shutil.copy(folder / "a.json", folder / "b.txt")
    (folder / "a.json").write_bytes(AFTER)
    (folder / "b.txt").unlink()
    [second], _ = loading.open_paths(["prof"])
    assert len(first.value.operators) == 4  # type: ignore[union-attr]
    assert len(second.value.operators) == 2  # type: ignore[union-attr]


def test_what_is_taken_away_names_nobody(tree: Path) -> None:
    conv = ("/home/alice/m.py(3): conv", *UNFUSED_OPERATORS[0][1:])
    files, _ = uploads.open_uploads(
        [
            Upload(name, profile_json([conv], runs))
            for name, runs in (("alice_1.json", 2), ("b.json", 3))
        ]
    )
    sides = [loading.side(file.id, {one.id: one for one in files}) for file in files]
    shown = comparisons.compare(sides[0], sides[1], Assumptions(), private=False)
    hidden = shown.redacted.comparison
    assert shown.redacted.comparison is hidden, "taken away twice, compared once"
    assert hidden.baseline.label == "<user1>_1.json"
    assert list(hidden.operators["name"]) == ["<path>/m.py(3): conv"]
    assert hidden.tau == shown.comparison.tau


def test_a_folder_that_is_gone_is_one_sentence(tree: Path) -> None:
    with pytest.raises(FuseScopeError, match="no longer exists"):
        loading._value_at(tree / "open" / "gone")


def test_another_file_beside_the_same_one_is_another_comparison() -> None:
    members = ascend_files()
    changed = {
        name: data.replace(b"0.", b"1.") if name.endswith("l2_cache.csv") else data
        for name, data in members.items()
    }
    assert changed != members
    (before,), _ = uploads.open_uploads(flat(members))
    (after,), _ = uploads.open_uploads(flat(changed))
    sides = [loading.side(file.id, {file.id: file}) for file in (before, after)]
    sides = [replace(side, label="kernel_details.csv") for side in sides]
    shown = [
        comparisons.compare(side, sides[0], Assumptions(), private=False)
        for side in (*sides, sides[0])
    ]
    assert shown[0] is shown[2]
    assert shown[1] is not shown[0]
