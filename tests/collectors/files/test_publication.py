"""A file gets its name once it is complete, and never that of another file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from fusescope.collectors.files import publication
from fusescope.collectors.files.publication import Draft


@pytest.fixture(params=[True, False], ids=["links", "no links"])
def target(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A free name, in a folder on either kind of file system."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    if not request.param:
        monkeypatch.setattr(os, "link", refuse)
    return tmp_path / "x.zip"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_complete_file_gets_the_name(target: Path) -> None:
    with Draft(target) as draft:
        assert [name.startswith(".x.zip.") for name in names(target.parent)] == [True]
        draft.path.write_bytes(b"ours")
        assert draft.publish() == target
    assert names(target.parent) == ["x.zip"]
    assert target.read_bytes() == b"ours"


def test_what_has_the_name_keeps_it(target: Path) -> None:
    target.write_bytes(b"theirs")
    with Draft(target) as draft, pytest.raises(FileExistsError):
        draft.publish()
    assert names(target.parent) == ["x.zip"]
    assert target.read_bytes() == b"theirs"


def test_a_link_to_nowhere_is_not_followed(target: Path) -> None:
    target.symlink_to(target.with_name("elsewhere"))
    with Draft(target) as draft:
        with pytest.raises(FileExistsError):
            draft.publish()
        assert draft.publish_numbered().name == "x-2.zip"
    assert names(target.parent) == ["x-2.zip", "x.zip"]
    assert target.is_symlink()


def test_numbers_go_on_to_the_first_free_name(target: Path) -> None:
    for name in ("x.zip", "x-2.zip", "x-4.zip"):
        target.with_name(name).write_bytes(b"theirs")
    with Draft(target) as draft:
        assert draft.publish_numbered() == target.with_name("x-3.zip")
    assert target.with_name("x-3.zip").read_bytes() == b""
    assert target.read_bytes() == b"theirs"


def test_a_name_without_an_ending_is_numbered_too(target: Path) -> None:
    with Draft(target.with_name("x")) as draft:
        assert draft.publish_numbered().name == "x"
    with Draft(target.with_name("x")) as draft:
        assert draft.publish_numbered().name == "x-2"


def test_numbers_come_to_an_end(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication, "_MAX_NUMBERS", 2)
    target.write_bytes(b"theirs")
    with (
        Draft(target) as draft,
        pytest.raises(FileExistsError, match=r"no free name beside x\.zip"),
    ):
        draft.publish_numbered()
    assert names(target.parent) == ["x.zip"]


def test_nothing_stays_of_work_that_fails(target: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Draft(target):
        raise KeyboardInterrupt
    assert names(target.parent) == []


def test_a_folder_that_refuses_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        Draft(tmp_path / "file" / "x.zip")
    with pytest.raises(FileNotFoundError):
        Draft(tmp_path / "missing" / "x.zip")


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 251 + ".zip")  # as long as a name may be
    publication.replace(path, b"first")
    publication.replace(path, b"second")
    assert path.read_bytes() == b"second"
    assert names(tmp_path) == [path.name]


def test_what_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "a disk that breaks")

    path = tmp_path / "x.html"
    publication.replace(path, b"old")
    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="a disk that breaks"):
        publication.replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["x.html"]
