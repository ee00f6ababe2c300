"""Ranks that are dropped: shown on Fleet, kept in the library from there, opened and removed."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from benchmarks.fleet_job import Job, write
from fusescope.app.fleet.keeping import KEEPER
from fusescope.app.fleet.place import Place
from fusescope.app.sources import kept_fleets
from fusescope.app.state import session
from fusescope.app.store import settings
from fusescope.app.store.store import Store
from tests.app.pages import address, is_clean, markdown_texts, texts
from tests.patience import GIVE_UP_S
from tests.store.test_store import key, put

Start = Callable[..., AppTest]
JOB = Job(nodes=1, devices=4, steps=2, layers=2)


@pytest.fixture
def library(tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(tree / "library"))
    yield tree / "library"
    until_kept()
    KEEPER.forget()


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    write(JOB, tmp_path / "traces")
    return {path.name: path.read_bytes() for path in sorted((tmp_path / "traces").iterdir())}


def until_kept() -> None:
    deadline = time.monotonic() + GIVE_UP_S
    while KEEPER.status is not None and KEEPER.status.is_running:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def drop(page: AppTest, files: dict[str, bytes]) -> AppTest:
    page.file_uploader[0].set_value(
        [(name, data, "application/octet-stream") for name, data in files.items()]
    )
    page.run()
    page._page_hash = calc_hash("fleet")
    return page


def labels(page: AppTest) -> list[str]:
    return [button.label for button in page.button]


def kept(page: AppTest) -> AppTest:
    """The page after a click on Keep, when all of it is kept."""
    page.button(key="fleet_keep").click().run()
    until_kept()
    return page.run()


def test_ranks_are_kept_opened_and_removed(
    land: Start, library: Path, files: dict[str, bytes]
) -> None:
    page = drop(land(), files)
    assert is_clean(page) and address(page)["fleet"] == "open"
    assert not any("are compared" in text for text in texts(page)), "as on Compare"
    offered = "4 ranks are open, and are gone when the dashboard ends."
    assert offered in [one.value for one in page.caption]
    page = kept(page)
    assert is_clean(page)
    [folder] = (library / "fleets").iterdir()
    assert folder.name.startswith("4-ranks-2024-11-02-") and folder.stat().st_mode & 0o077 == 0
    assert f"4 ranks are kept in the library: {folder.name}" in texts(page)
    assert "Keep in the library" not in labels(page)
    page.button(key="fleet_open_kept").click().run()
    assert is_clean(page) and address(page)["fleet"] == folder.name
    assert sorted(page.dataframe[0].value["rank"]) == [0, 1, 2, 3]
    # In a new session it stands in front.
    KEEPER.forget()
    later = land()
    later._page_hash = calc_hash("fleet")
    later.run()
    assert is_clean(later) and address(later)["fleet"] == folder.name
    later.button(key="fleet_remove_sure").click().run()
    assert is_clean(later) and not list((library / "fleets").iterdir())
    assert later.subheader[0].value == "Open files: ranks 0-3 of one job"
    assert "Keep in the library" in labels(later)


def test_the_same_ranks_are_not_offered_again(
    land: Start, library: Path, files: dict[str, bytes]
) -> None:
    page = kept(drop(land(), files))
    page.button(key="fleet_kept_dismiss").click().run()
    assert "Keep in the library" not in labels(page)
    assert any(text.startswith("4 ranks are kept in the library") for text in texts(page))


def test_a_damaged_rank_is_named_and_the_others_are_shown_and_kept(
    land: Start, library: Path, files: dict[str, bytes]
) -> None:
    page = drop(land(), {**files, "rank3.json": b"\x89PNG\r\n\x1a\n" + bytes(100)})
    assert is_clean(page) and address(page)["fleet"] == "open"
    assert page.subheader[0].value == "Open files: ranks 0-2 of one job"
    assert any("This is a PNG image" in text and "rank3.json" in text for text in texts(page))
    page = kept(page)
    assert any(text == "rank3.json: This is a PNG image, not a trace." for text in texts(page)), (
        texts(page)
    )
    page.button(key="fleet_open_kept").click().run()
    assert is_clean(page)
    told = " ".join([*texts(page), *markdown_texts(page), *(one.value for one in page.caption)])
    assert "rank3.json" in told and "Rank 3" in told, "it cannot be read, and is missing"


def test_a_full_disk_is_a_sentence_and_the_next_try_goes(
    land: Start, library: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Place, name: str, data: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    page = drop(land(), files)
    monkeypatch.setattr(Place, "write", full)
    page = kept(page)
    assert [error.value for error in page.error] == ["The ranks were not kept."]
    assert "no space left on device" in " ".join(texts(page))
    assert not list((library / "fleets").iterdir())
    monkeypatch.undo()
    monkeypatch.setenv(settings.FOLDER_VARIABLE, str(library))


def test_ranks_that_do_not_fit_are_a_sentence(
    land: Start, library: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.SIZE_VARIABLE, "10K")
    page = kept(drop(land(), files))
    assert [error.value for error in page.error] == ["The ranks were not kept."]
    assert "FUSESCOPE_LIBRARY_SIZE" in " ".join(texts(page))


def test_ranks_that_make_room_for_others_are_kept_by_themselves(
    land: Start, library: Path, files: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four are dropped, and three stay open: all four are in the library."""
    monkeypatch.setattr(session, "MAX_OPENED", 3)
    page = drop(land(), files)
    until_kept()
    page.run()
    [folder] = (library / "fleets").iterdir()
    assert f"4 ranks are kept in the library: {folder.name}" in texts(page)
    page.button(key="fleet_open_kept").click().run()
    assert sorted(page.dataframe[0].value["rank"]) == [0, 1, 2, 3]


def test_a_dashboard_that_answers_others_offers_and_shows_none(
    land: Start, library: Path, files: dict[str, bytes], answers_others: None
) -> None:
    page = drop(land(), files)
    assert is_clean(page) and address(page)["fleet"] == "open"
    assert "Keep in the library" not in labels(page)
    (library / "fleets" / "theirs").mkdir(parents=True)
    (library / "fleets" / "theirs" / "fusescope-fleet.json").write_text("{}")
    assert "theirs" not in kept_fleets.stores()


def test_links_and_other_folders_of_the_library_are_no_store(library: Path, tree: Path) -> None:
    elsewhere = tree / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "fusescope-fleet.json").write_text("{}")
    (library / "fleets" / "empty").mkdir(parents=True)
    (library / "fleets" / "linked").symlink_to(elsewhere)
    assert kept_fleets.stores() == {}
    assert not kept_fleets.is_kept(elsewhere)


def test_ranks_count_against_the_size_of_the_library_and_go_with_all_of_it(library: Path) -> None:
    """Traces make room for one another, never ranks for traces."""
    store = Store(settings.folder(), 10**9)
    put(store, 1)
    of_one = store.bytes
    ranks = library / "fleets" / "own"
    ranks.mkdir(parents=True)
    (ranks / "rows.parquet").write_bytes(bytes(of_one))
    assert of_one * 2 <= store.bytes < of_one * 2 + 64 * 1024, "folders have bytes of their own"
    small = Store(settings.folder(), store.bytes + of_one // 2)
    put(small, 2)
    assert [held.entry.key for held in small.held()] == [key(2)]
    assert (ranks / "rows.parquet").is_file()
    assert small.clear() > of_one and not (library / "fleets").exists()
