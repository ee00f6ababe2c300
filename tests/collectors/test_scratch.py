"""A recorder that was killed leaves its folder; the next one removes it, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from collectors import scratch

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def recorder(temporary: Path) -> subprocess.Popen[str]:
    """A process that holds a recording folder until it is killed."""
    script = (
        "import sys, tempfile, time; tempfile.tempdir = sys.argv[1]\n"
        "from collectors import scratch\n"
        "with scratch.folder() as folder:\n"
        "    (folder / 'model.onnx').write_bytes(b'x')\n"
        "    print(folder, flush=True)\n"
        "    time.sleep(60)\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, str(temporary)],
        cwd=ROOT, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_the_folder_of_a_killed_recorder_goes_and_that_of_a_living_one_stays(
    temporary: Path,
) -> None:
    with recorder(temporary) as child:
        assert child.stdout is not None
        left = Path(child.stdout.readline().strip())
        try:
            with scratch.folder():
                assert (left / "model.onnx").exists()
        finally:
            child.kill()
    assert (left / "model.onnx").exists()
    with scratch.folder() as folder:
        assert not left.exists()
        assert (folder / scratch.OWNER).read_text().strip().isdigit()
    assert list(temporary.iterdir()) == []


def test_links_and_folders_without_an_owner_stay(temporary: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / scratch.OWNER).write_text("1")
    (temporary / f"{scratch.PREFIX}link").symlink_to(mine)
    (temporary / f"{scratch.PREFIX}unknown").mkdir()
    linked_owner = temporary / f"{scratch.PREFIX}linked-owner"
    linked_owner.mkdir()
    (linked_owner / scratch.OWNER).symlink_to(mine / scratch.OWNER)
    (temporary / "other").mkdir()
    before = sorted(temporary.iterdir())
    scratch.remove_stale()
    assert sorted(temporary.iterdir()) == before
    assert (mine / scratch.OWNER).exists()


def test_links_inside_a_stale_folder_are_not_followed(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").write_text("kept")
    stale = temporary / f"{scratch.PREFIX}stale"
    stale.mkdir()
    (stale / scratch.OWNER).write_text("1")
    (stale / "link").symlink_to(tmp_path / "mine")
    scratch.remove_stale()
    assert not stale.exists()
    assert (tmp_path / "mine" / "file").read_text() == "kept"


def test_folders_of_other_users_stay(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = temporary / f"{scratch.PREFIX}stale"
    stale.mkdir()
    (stale / scratch.OWNER).write_text("1")
    monkeypatch.setattr("os.geteuid", lambda: stale.stat().st_uid + 1)
    scratch.remove_stale()
    assert stale.exists()
