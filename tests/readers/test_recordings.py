"""Which of many files belong together: by folder, by format, and nothing is lost."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.analysis.limits import Limits
from fusescope.analysis.readers import find, read, read_all, read_path
from fusescope.analysis.readers.input import csv_table, folder
from fusescope.analysis.readers.input.folder import folder_sources, source_with_neighbours
from fusescope.analysis.readers.input.source import Source
from fusescope.analysis.readers.recordings import Found
from fusescope.analysis.trace import Trace
from fusescope.analysis.wording import diagnostic_sentence
from tests import miniatures


def sample(name: str, prefix: str) -> list[Source]:
    """The miniature of a format below a folder."""
    reader = next(reader for reader in miniatures.FORMATS if reader.name == name)
    return [
        Source(source.name, source.data, path=f"{prefix}{source.path}")
        for source in miniatures.files(reader)
    ]


def mains(found: Found) -> list[str]:
    return [recording.source.path for recording in found.recordings]


def everything(found: Found) -> list[str]:
    """Every path that the result speaks of."""
    read = [path for recording in found.recordings for path in recording.files]
    return sorted([*read, *found.covered, *(path for path, _ in found.failed), *found.unknown])


def test_two_folders_are_two_recordings_with_their_own_files() -> None:
    sources = [*sample("ascend_kernel_details", "before/"), *sample("ascend_kernel_details", "b/")]
    found = find(sources)
    assert len(found.recordings) == 2
    for recording in found.recordings:
        top = recording.source.path.partition("/")[0]
        assert {path.partition("/")[0] for path in recording.files} == {top}
        assert len(recording.files) > 2
    assert everything(found) == sorted(source.path for source in sources)


def test_an_ascend_folder_is_one_recording_whatever_lies_in_it() -> None:
    sources = [
        *sample("ascend_db", "run_ascend_pt/ASCEND_PROFILER_OUTPUT/"),
        *sample("ascend_db", "run_ascend_pt/PROF_000001/"),
        *sample("ascend_op_summary", "run_ascend_pt/PROF_000001/mindstudio_profiler_output/"),
        *sample("ascend_kernel_details", "run_ascend_pt/ASCEND_PROFILER_OUTPUT/"),
    ]
    found = find(sources)
    assert [path.rpartition("/")[2] for path in mains(found)] == ["kernel_details.csv"]
    assert everything(found) == sorted({source.path for source in sources})
    databases = [source for source in sources if source.name.endswith(".db")]
    assert mains(find(databases)) == [databases[0].path]
    assert find(databases).covered == (databases[1].path,)


def test_a_damaged_recording_does_not_take_the_others_with_it() -> None:
    good = sample("kineto", "good/")
    bad = [Source(source.name, source.data[:300], path=f"bad/{source.name}") for source in good]
    found = find([*bad, *good])
    assert [path for path in mains(found) if path.startswith("good/")]
    assert everything(found) == sorted(source.path for source in [*bad, *good])


def test_unknown_files_are_named() -> None:
    found = read_all([*sample("kineto", ""), Source("notes.txt", b"remember the milk")])
    assert found.unknown == ("notes.txt",)


def test_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    inside = tmp_path / "inside"
    inside.mkdir()
    for source in sample("ascend_kernel_details", ""):
        (secret / source.name).write_bytes(source.data)
    os.symlink(secret, inside / "folder")
    os.symlink(secret / "kernel_details.csv", inside / "kernel_details.csv")
    assert folder_sources(inside) == ()
    with pytest.raises(FuseScopeError, match="No file here is a trace"):
        read_path(inside)


def test_only_with_leave_a_file_is_read_with_what_lies_above_it(tmp_path: Path) -> None:
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    output.mkdir()
    for source in sample("ascend_kernel_details", ""):
        folder = tmp_path if source.name.startswith("profiler_info") else output
        (folder / source.name).write_bytes(source.data)
    path = output / "kernel_details.csv"
    above = read_path(path)
    alone = read_path(path, above=False)
    assert isinstance(above, Trace) and isinstance(alone, Trace)
    names = [above.meta.files, alone.meta.files]
    lost = set(names[0]) - set(names[1])
    assert lost and all(name.startswith("profiler_info") for name in lost)


def test_a_zip_packed_in_another_way_is_one_sentence() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        for source in sample("ascend_kernel_details", ""):
            archive.writestr(source.path, source.data)
    with pytest.raises(FuseScopeError, match="cannot unpack"):
        read(Source("x.zip", buffer.getvalue()))


def test_the_members_of_a_zip_are_unpacked_once() -> None:
    files = sample("ascend_kernel_details", "")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for source in files:
            archive.writestr(source.path, source.data)
    limits = Limits(unpacked_bytes=sum(len(source.data) for source in files))
    found = read_all([Source("x.zip", buffer.getvalue(), limits)])
    (recording,) = found.recordings
    (loose,) = find(files).recordings
    assert recording.sha256 == loose.sha256


def test_files_that_cannot_be_looked_at_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_bytes(b"[]")
    real = Path.lstat

    def hidden(path: Path) -> os.stat_result:
        if path.name == "a.json":
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "lstat", hidden)
    assert [source.path for source in folder_sources(tmp_path)] == ["b.json"]
    source = source_with_neighbours(tmp_path / "b.json")
    assert source.beside == ()


def test_companions_are_found_among_a_thousand_files(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"a{number}").touch()
    for source in sample("rocprof", ""):
        (tmp_path / f"z{source.name}").write_bytes(source.data)
    trace = read_path(tmp_path / "z4711_kernel_trace.csv")
    assert isinstance(trace, Trace)
    assert len(trace.meta.files) == 3
    assert "neighbours_left" not in {note.code for note in trace.diagnostics}


def test_files_that_are_not_looked_at_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more than are looked at those written at the same time come first."""
    monkeypatch.setattr(folder, "_NEIGHBOURS", 3)
    for number in range(6):
        (tmp_path / f"a{number}").touch()
        os.utime(tmp_path / f"a{number}", (1, 1))
    for source in sample("rocprof", ""):
        (tmp_path / f"z{source.name}").write_bytes(source.data)
    trace = read_path(tmp_path / "z4711_kernel_trace.csv")
    assert isinstance(trace, Trace)
    assert len(trace.meta.files) == 3
    [note] = [note for note in trace.diagnostics if note.code == "neighbours_left"]
    assert note.count == 6 and tmp_path.name in str(note.example)
    assert "6 more files in the folder were not read" in diagnostic_sentence(note)


def test_names_of_files_on_disk_are_fit_to_be_shown(tmp_path: Path) -> None:
    for source in sample("ascend_kernel_details", ""):
        (tmp_path / f"a\x1b[31m\u202e{source.name}").write_bytes(source.data)
    broken = os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.txt")
    Path(broken).write_bytes(b"x")
    found = find(folder_sources(tmp_path))
    assert len(found.recordings) == 1 and len(everything(found)) > 2
    for path in everything(found):
        assert path.isprintable() and path.encode()


def test_each_head_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files side by side: every reader asks of each, and each recording of all others."""
    seen = []
    real = csv_table.head_cells

    def counted(head: bytes) -> list[list[str]]:
        seen.append(head)
        return real(head)

    monkeypatch.setattr(csv_table, "head_cells", counted)
    (main,) = (s for s in sample("ascend_kernel_details", "") if s.name == "kernel_details.csv")
    files = [Source("k.csv", main.data + b"\n" * (n + 100), path=f"{n}.csv") for n in range(12)]
    assert len(find(files).recordings) == 12
    assert len(seen) == 12


def test_more_recordings_than_the_limit_are_refused() -> None:
    limits = Limits(recordings=3)
    sources = [
        Source(source.name, source.data, limits, path=f"{number}/{source.path}")
        for number in range(5)
        for source in sample("kineto", "")
    ]
    with pytest.raises(FuseScopeError, match="more recordings here than the limit of 3"):
        find(sources)
    assert len(find(sources[:3]).recordings) == 3
