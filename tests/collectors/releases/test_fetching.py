"""Releases are listed and fetched by pip, with an index of stand-ins that needs no network."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors import bisect
from fusescope.collectors.releases import fetching, index, kept
from fusescope.collectors.releases.version import Span
from tests.stand_in_releases import ANOTHER_PYTHON, use_as_index, write_wheel


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "links"
    for version in ("9.1.0", "9.2.0", "9.10.0"):
        write_wheel(folder, version)
    write_wheel(folder, "9.3.0", tag=ANOTHER_PYTHON)
    use_as_index(monkeypatch, folder, tmp_path / "cache")
    return folder


def test_the_index_is_listed_and_what_is_for_others_is_told_apart(
    links: Path, tmp_path: Path
) -> None:
    listed = index.listing(tmp_path)
    assert listed == index.Listing(("9.1.0", "9.2.0", "9.10.0"), ("9.3.0",))
    assert listed.within(Span("9.2", "9.3.0")) == index.Listing(("9.2.0",), ("9.3.0",))


def test_a_release_that_is_not_there_names_the_nearest(links: Path) -> None:
    with pytest.raises(FuseScopeError) as raised:
        bisect.find(Span("9.1.0", "9.11.0"))
    assert raised.value.code == "release_unknown"
    assert "'9.10.0'" in raised.value.text


def test_a_release_is_fetched_once_whole_and_removed(links: Path) -> None:
    told: list[str] = []
    assert kept.all_kept() == ()
    assert bisect.find(Span("9.1.0", "9.2.0")).missing == ("9.1.0", "9.2.0")
    (kept.folder_of("9.1.0") / "onnxruntime").mkdir(parents=True)  # half of it is not there
    assert not kept.is_kept("9.1.0")
    assert fetching.fetch("9.1.0", lambda said: told.append(str(said)))
    assert told == ["Installing 1 package"]
    assert [one.version for one in kept.all_kept()] == ["9.1.0"]
    found = bisect.find(Span("9.1.0", "9.2.0"))
    assert (found.usable, found.missing) == (("9.1.0", "9.2.0"), ("9.2.0",))
    assert [path.name for path in kept.root().iterdir()] == ["9.1.0"]
    names = {path.name for path in kept.folder_of("9.1.0").iterdir()}
    assert names == {"onnxruntime", "onnxruntime-9.1.0.dist-info"}
    (links / "onnxruntime-9.1.0-py3-none-any.whl").unlink()
    assert fetching.fetch("9.1.0", lambda said: pytest.fail(str(said)))
    assert kept.remove("9.1.0") > 0 and kept.all_kept() == ()
    assert kept.remove("9.1.0") == 0


def test_a_release_for_other_pythons_is_not_fetched(links: Path) -> None:
    assert not fetching.fetch("9.3.0", lambda said: None)
    assert list(kept.root().iterdir()) == []


def test_what_pip_does_not_find_is_told_apart(links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip has one sentence for a release that does not exist and for an index out of reach."""
    with pytest.raises(FuseScopeError) as raised:
        fetching.fetch("9.11.0", lambda said: None)
    assert raised.value.code == "release_unknown" and "'9.10.0'" in raised.value.text
    assert list(kept.root().iterdir()) == []


@pytest.mark.exhaustive  # the same answer of pip, and the same look at the index
def test_an_index_out_of_reach_is_told_apart(links: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "PIP_NO_INDEX": "0", "PIP_FIND_LINKS": "", "PIP_RETRIES": "0",
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_EXTRA_INDEX_URL": "",
        "PIP_CONFIG_FILE": "/dev/null",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    with pytest.raises(FuseScopeError) as raised:
        fetching.fetch("9.2.0", lambda said: None)
    assert raised.value.code == "release_no_network"
    assert list(kept.root().iterdir()) == []


def test_without_a_network_what_is_there_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(folder: Path) -> index.Listing:
        raise FuseScopeError("release_no_network", said="Connection refused")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(index, "listing", unreachable)
    for version in ("9.1.0", "9.10.0"):
        package = kept.folder_of(version) / "onnxruntime"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    found = bisect.find(Span("9.1.0", "9.10.0"))
    assert found.usable == ("9.1.0", "9.10.0") and found.missing == ()
    assert found.offline is not None
    with pytest.raises(FuseScopeError) as raised:
        bisect.find(Span("9.1.0", "9.2.0"))
    assert raised.value.code == "release_no_network"
    assert "package index that pip uses cannot be reached" in raised.value.text


def test_a_disk_without_room_is_refused_before(monkeypatch: pytest.MonkeyPatch) -> None:
    full = shutil.disk_usage("/")._replace(free=fetching.DISK_BYTES)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: full)
    fetching.check_disk(0)
    with pytest.raises(FuseScopeError) as raised:
        fetching.check_disk(12)
    assert raised.value.code == "release_little_disk"
    needed = 12 * fetching.DISK_BYTES + fetching.DOWNLOAD_BYTES
    assert raised.value.values["needed"] == needed


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
         "release_disk_full"),
        ("Retrying after 'NewConnectionError('x: [Errno 101] Network is unreachable')'",
         "release_no_network"),
        ("ERROR: something else", "release_pip_failed"),
        ("/usr/bin/python3: No module named pip", "release_pip_missing"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_one_sentence_and_nothing_stays(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, code: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(fetching, "_install", lambda version, folder, on_step: (1, said))
    with pytest.raises(FuseScopeError) as raised:
        fetching.fetch("9.1.0", lambda said: None)
    assert raised.value.code == code
    assert list(kept.root().iterdir()) == []
