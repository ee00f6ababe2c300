"""What is executed from a cache: only what nobody else could have put there."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fusescope.analysis.errors import FuseScopeError
from fusescope.collectors.environments import adding, state
from fusescope.collectors.environments.catalogue import engine_of
from fusescope.collectors.files import cache, trust
from fusescope.collectors.kernels import compiled
from fusescope.collectors.releases import fetching, kept

SOMEBODY = 54321  # a user and a group that nobody here is


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of caches, of this user, that others may look into, unlike a test's own folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "cache"
        folder.mkdir()
        for open_to_all in (folder.parent, folder):
            open_to_all.chmod(0o755)
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


def _writable(place: Path) -> None:
    place.chmod(0o777)


def _of_a_group(place: Path) -> None:
    if os.geteuid() == 0:
        os.chown(place, -1, SOMEBODY)
    place.chmod(0o775 if os.geteuid() == 0 else 0o777)


def _of_somebody(place: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only the administrator gives files away")
    os.chown(place, SOMEBODY, SOMEBODY)


FAULTS = (_writable, _of_a_group, _of_somebody)


def _planted(place: Path) -> Path:
    """A file that would be run, in a folder whose parents are there and open."""
    package = place / "package"
    package.mkdir(parents=True)
    for folder in (package, *package.parents):
        if folder == cache.folder().parent.parent:
            break
        folder.chmod(0o755)
    (package / "__init__.py").write_text("raise SystemExit")
    return package / "__init__.py"


@pytest.mark.parametrize("spoil", FAULTS)
def test_every_folder_and_file_on_the_way_counts(own: Path, spoil: Callable[[Path], None]) -> None:
    place = own / "fusescope" / "releases" / "1.0"
    file = _planted(place)
    assert trust.foreign(place) is None
    trust.check(place)
    for one in (own, own / "fusescope", place.parent, place, file.parent, file):
        before = one.stat()
        spoil(one)
        assert trust.foreign(place) == one
        with pytest.raises(FuseScopeError) as refused:
            trust.check(place)
        assert refused.value.code == "place_of_others"
        if os.geteuid() == 0:
            os.chown(one, before.st_uid, before.st_gid)
        one.chmod(before.st_mode & 0o777)
    assert trust.foreign(place) is None


def test_what_is_in_a_closed_folder_nobody_changes(own: Path) -> None:
    place = own / "fusescope" / "releases"
    file = _planted(place)
    file.chmod(0o666)
    assert trust.foreign(place) == file
    place.chmod(0o700)
    assert trust.foreign(place) is None


def test_a_sticky_folder_above_is_one_where_others_replace_nothing(own: Path) -> None:
    place = own / "fusescope" / "releases"
    _planted(place)
    own.chmod(0o1777)
    assert trust.foreign(place) is None
    place.chmod(0o1777)  # others add files to it
    assert trust.foreign(place) == place


def test_a_link_leads_to_a_folder_that_counts(own: Path) -> None:
    elsewhere = own.parent / "elsewhere"
    _planted(elsewhere / "releases")
    (own / "fusescope").symlink_to(elsewhere)
    place = own / "fusescope" / "releases"
    for folder in (elsewhere, elsewhere / "releases"):
        folder.chmod(0o755)
    assert trust.foreign(place) is None
    elsewhere.chmod(0o777)
    assert trust.foreign(place) == elsewhere


def test_a_place_that_is_not_there_yet(own: Path) -> None:
    assert trust.foreign(own / "fusescope" / "releases") is None
    own.chmod(0o777)
    assert trust.foreign(own / "fusescope" / "releases") == own


def test_releases_of_others_are_neither_imported_nor_loaded_nor_added_to(own: Path) -> None:
    (_planted(kept.folder_of("1.20.0"))).parent.rename(kept.folder_of("1.20.0") / "onnxruntime")
    assert kept.is_kept("1.20.0")
    assert kept.folder_to_import("1.20.0") == kept.folder_of("1.20.0")
    kept.root().chmod(0o777)
    for use in (
        lambda: kept.folder_to_import("1.20.0"),
        lambda: kept.library_of("1.20.0"),
        lambda: fetching.fetch("1.20.0", lambda said: None),
        lambda: fetching.fetch("1.21.0", lambda said: None),
    ):
        with pytest.raises(FuseScopeError) as refused:
            use()
        assert refused.value.code == "place_of_others"


def test_engines_of_others_are_neither_started_nor_added_to(own: Path) -> None:
    engine = engine_of("openvino")
    folder = state.folder_of(engine)
    (folder / "bin").mkdir(parents=True)
    state.python_in(folder).symlink_to(sys.executable)
    for name in (engine.module, *engine.shared):
        (state.packages_in(folder) / name).mkdir(parents=True)
    ready = state.Ready(engine.name, engine.version, "openvino", state.base_python(), 1)
    state.write_ready(folder, ready)
    own.chmod(0o777)
    with pytest.raises(FuseScopeError) as refused:
        state.python_of("openvino")
    assert refused.value.code == "place_of_others"
    with pytest.raises(FuseScopeError) as refused, adding.adding(engine, lambda said, n: None):
        pass
    assert refused.value.code == "place_of_others"
    own.chmod(0o755)
    assert state.python_of("openvino") == state.python_in(folder)


def test_kernels_go_elsewhere_where_others_can_change_them(own: Path) -> None:
    first, second = cache.folder() / "kernels", own.parent / "second"
    source = "def kernel(): pass\n"
    assert compiled.store(source, (first, second))[0].parent == first
    own.chmod(0o777)
    assert compiled.store(source, (first, second))[0].parent == second


def test_new_folders_of_the_cache_are_for_this_user_alone(own: Path) -> None:
    before = os.umask(0o002)
    try:
        assert cache.write_atomic(cache.folder() / "models" / "a.onnx", b"1")
        compiled.store("def kernel(): pass\n", (cache.folder() / "kernels",))
    finally:
        os.umask(before)
    for folder in (cache.folder(), cache.folder() / "models", cache.folder() / "kernels"):
        assert folder.stat().st_mode & 0o777 == 0o700
