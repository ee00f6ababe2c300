"""A folder that replaces another one: somebody who looks finds one of them, and a whole one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fusescope.collectors.files import folder
from fusescope.collectors.files.folder import FolderDraft


def put(target: Path, text: bytes) -> None:
    with FolderDraft(target) as draft:
        with draft.opened("a") as file:
            file.write(text)
        draft.publish()


def test_a_folder_is_exchanged_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    if not folder._exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this file system does not exchange two folders")
    put(tmp_path / "kept", b"old")

    def refuse(*_: object) -> None:
        raise AssertionError("for a moment there would be none")

    monkeypatch.setattr(os, "rename", refuse)
    put(tmp_path / "kept", b"new")
    assert (tmp_path / "kept" / "a").read_bytes() == b"new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "one", "other"]


def test_without_an_exchange_it_is_replaced_by_renames(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "_exchange", lambda one, other: False)
    for text in (b"old", b"new"):
        put(tmp_path / "kept", text)
    assert (tmp_path / "kept" / "a").read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
