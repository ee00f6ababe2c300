"""Files that come by the button for larger ones or by their path lead where dropped ones do."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from benchmarks.fleet_job import Job, write
from fusescope.analysis.releases.history import history_file
from fusescope.app.parts.upload import large
from fusescope.app.server.spool import Received
from fusescope.app.sources import places
from tests.app.pages import address, headline, is_clean, texts
from tests.compare.multiple.test_scaling import recorded_zip
from tests.factories import FUSED_OPERATORS, UNFUSED_OPERATORS, experiment_zip, profile_json
from tests.releases.test_changes import BLOCKED, FUSED, PLAIN, history

Start = Callable[..., AppTest]
RELEASES = history_file(history(FUSED, PLAIN))
BEFORE = profile_json(UNFUSED_OPERATORS, runs=6)
AFTER = profile_json(FUSED_OPERATORS, runs=6)


@pytest.fixture
def send(land: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """`send(name=data)` opens the landing page, to which these files were sent by the button."""

    def sent(files: dict[str, bytes]) -> AppTest:
        waiting = []
        for number, (name, data) in enumerate(files.items()):
            path = tmp_path / f"spooled{number}"  # the disk has no names of senders
            path.write_bytes(data)
            waiting.append(Received(path, name))

        def received() -> list[Received]:
            found, waiting[:] = list(waiting), []
            return found

        monkeypatch.setattr(large, "received", received)
        page = land()
        assert is_clean(page)
        assert not list(tmp_path.glob("spooled*")), "what was read goes from the disk"
        return page

    return sent


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_file_of_releases_leads_to_releases(send: Callable[..., AppTest]) -> None:
    """Whatever it is called."""
    for name in ("net.zip", "net.releases"):
        page = send({name: RELEASES})
        assert page.header[0].value == "Releases"
        assert address(page)["releases"] == name
        assert len(page.dataframe[0].value) == 2, "a row a release"


def test_of_two_files_of_releases_the_last_is_shown_and_the_other_can_be_chosen(
    send: Callable[..., AppTest],
) -> None:
    page = send({"a.zip": RELEASES, "b.zip": history_file(history(FUSED, PLAIN, BLOCKED))})
    assert address(page)["releases"] == "b.zip"
    [chosen] = [one for one in page.selectbox if one.label == "Model"]
    assert chosen.options == ["a.zip", "b.zip"]
    page._page_hash = calc_hash("releases")
    chosen.select("a.zip").run()
    assert len(page.dataframe[0].value) == 2


def test_releases_beside_traces_are_kept_for_their_page(send: Callable[..., AppTest]) -> None:
    page = send({"net.zip": RELEASES, "before.json": BEFORE, "after.json": AFTER})
    assert "after.json" in headline(page)
    assert list(page.session_state["fusescope"].histories) == ["net.zip"]


def test_a_pair_a_zip_and_a_recording_are_compared(send: Callable[..., AppTest]) -> None:
    pair = {"before.json": BEFORE, "after.json": AFTER}
    for files in (pair, {"both.zip": zipped(pair)}):
        page = send(files)
        assert "after.json" in headline(page) and "before.json" in headline(page)
    recording = experiment_zip({"unfused": [9.0] * 8, "fused": [5.0] * 8}, model_name="mine")
    page = send({"mine.zip": recording})
    assert headline(page).startswith("fused is 1.80× faster than unfused")


def test_one_trace_is_shown_by_itself(send: Callable[..., AppTest]) -> None:
    page = send({"before.json": BEFORE})
    assert page.header[0].value.startswith("A run of ` before.json ` takes")


def test_a_sweep_leads_to_scaling(send: Callable[..., AppTest]) -> None:
    page = send({f"{n}.zip": recorded_zip(n, 1, 10.0 * n, model="grows") for n in (1, 2, 4)})
    assert page.header[0].value == "Scaling of grows"


def test_ranks_lead_to_fleet(send: Callable[..., AppTest], tmp_path: Path) -> None:
    write(Job(nodes=1, devices=4, steps=2, layers=2), tmp_path / "traces")
    files = {path.name: path.read_bytes() for path in sorted((tmp_path / "traces").iterdir())}
    for sent in (files, {"job.zip": zipped(files)}):
        page = send(sent)
        assert address(page)["fleet"] == "open"
        assert page.subheader[0].value.startswith("Open files: ranks 0-3 of one job")


def test_what_is_no_trace_is_a_sentence(send: Callable[..., AppTest]) -> None:
    page = send({"half.zip": RELEASES[: len(RELEASES) // 2]})
    assert any("half.zip" in text for text in texts(page))


def test_a_file_of_releases_by_its_path(
    land: Start, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree / "mine"
    folder.mkdir()
    (folder / "net.releases").write_bytes(RELEASES)
    monkeypatch.setenv(places.FOLDERS_VARIABLE, str(folder))
    page = land()
    page.text_input(key="path").set_value("net.releases")
    page.button(key="open_path").click().run()
    assert is_clean(page) and page.header[0].value == "Releases"
    assert address(page)["releases"] == "net.releases"
