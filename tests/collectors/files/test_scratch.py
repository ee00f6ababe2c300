"""A recorder that was killed leaves its folder; the next one removes it, and nothing else."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.files import ownership, scratch
from fusescope.collectors.files.publication import Draft

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def recorder(temporary: Path) -> subprocess.Popen[str]:
    """A process that holds the folders of a recording and of a worker, and a draft, until it is
    killed."""
    script = (
        "import sys, tempfile, time; tempfile.tempdir = sys.argv[1]\n"
        "from pathlib import Path\n"
        "from fusescope.collectors.files import publication, scratch\n"
        "with (scratch.folder() as folder, scratch.folder(scratch.WORKER) as worker,\n"
        "    publication.Draft(Path(sys.argv[1], 'x.zip')) as draft):\n"
        "    for path in (folder, worker):\n"
        "        (path / 'model.onnx').write_bytes(b'x')\n"
        "    print(folder, worker, draft.path, flush=True)\n"
        "    time.sleep(60)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, str(temporary)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_what_a_killed_recorder_left_goes_and_what_a_living_one_has_stays(
    temporary: Path,
) -> None:
    with recorder(temporary) as child:
        assert child.stdout is not None
        left = [Path(name) for name in child.stdout.readline().split()]
        assert len(left) == 3
        try:
            with scratch.folder(), Draft(temporary / "y.zip"):
                assert all(path.exists() for path in left)
        finally:
            child.kill()
    assert all(path.exists() for path in left)
    with scratch.folder() as folder:
        assert [path.exists() for path in left] == [False, False, True]
        assert list(folder.iterdir()) == []
    with Draft(temporary / "y.zip"):
        assert not left[2].exists()
    assert list(temporary.iterdir()) == []


def test_links_and_names_of_others_stay(temporary: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (temporary / f"{scratch.RECORDING}link").symlink_to(mine)
    (temporary / "other").mkdir()
    (temporary / ".x.zip.partial").write_text("")
    (temporary / ".x.zip.0123456.fusescope.partial").write_text("")
    (temporary / ".y.zip.01234567.fusescope.partial").symlink_to(mine)
    before = sorted(temporary.iterdir())
    scratch.remove_stale()
    with Draft(temporary / "z.zip"):
        pass
    assert sorted(temporary.iterdir()) == before
    assert mine.exists()


def test_links_inside_a_stale_folder_are_not_followed(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("kept")
    stale = temporary / f"{scratch.WORKER}stale"
    stale.mkdir()
    (stale / "link").symlink_to(tmp_path / "mine")
    scratch.remove_stale()
    assert not stale.exists()
    assert (tmp_path / "mine" / "file").read_text() == "kept"


def test_folders_of_other_users_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = temporary / f"{scratch.WORKER}stale"
    stale.mkdir()
    monkeypatch.setattr("os.geteuid", lambda: stale.stat().st_uid + 1)
    scratch.remove_stale()
    assert stale.exists()


def test_what_was_taken_for_stale_before_it_was_locked_is_made_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may look between the making of a folder and its lock."""
    take, raced = ownership.take, []

    def late(path: Path) -> int:
        if not raced:
            raced.append(path)
            scratch.remove_stale()
            ownership.remove_stale(path.parent, lambda name: name == path.name)
            assert not path.exists()
        return take(path)

    monkeypatch.setattr(ownership, "take", late)
    with scratch.folder() as folder:
        assert folder.is_dir() and folder != raced[0]
    raced.clear()
    with Draft(temporary / "x.zip") as draft:
        assert draft.path.is_file() and draft.path != raced[0]


def test_a_full_temporary_folder_is_named(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.mkdir", refuse)
    with pytest.raises(FuseScopeError) as caught, scratch.folder():
        pass
    assert caught.value.where == str(temporary)
    assert "temporary folder cannot be written to: no space left" in caught.value.what
    assert "TMPDIR" in caught.value.hint


def test_no_temporary_folder_at_all_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/t', '/t']")

    monkeypatch.setattr("os.mkdir", refuse)
    monkeypatch.setattr("tempfile.gettempdir", refuse)
    monkeypatch.setenv("TMPDIR", "/t")
    with pytest.raises(FuseScopeError) as caught, scratch.folder():
        pass
    assert caught.value.text == (
        "No temporary folder can be written to (/t). It is read-only or full: free some space "
        "there, or set TMPDIR in the environment to another folder."
    )


def test_room_that_ends_on_the_way_is_told_from_other_failures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(OSError, match="No space left"), scratch.folder():
        fail()  # of another disk: there is room here
    monkeypatch.setattr(scratch, "is_full", lambda path: True)
    with pytest.raises(FuseScopeError, match="temporary folder"), scratch.folder():
        fail()


def test_an_interruption_right_after_a_folder_was_made_leaves_nothing(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signals are handled as soon as the call of the system is back."""
    make = os.mkdir

    def interrupted(path: str, mode: int = 0o777) -> None:
        make(path, mode)
        raise KeyboardInterrupt

    monkeypatch.setattr("os.mkdir", interrupted)
    for prefix in (scratch.RECORDING, scratch.WORKER):
        with pytest.raises(KeyboardInterrupt), scratch.folder(prefix):
            raise AssertionError
    assert list(temporary.iterdir()) == []
